#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {
namespace {

std::string units(const RegisterPressure::Units& u) {
  return fmt::format("data {}, predicate {}, uniform {}", u.data, u.predicate, u.uniform);
}

// "at most 6 after line 19: %rd1(2) %r9 %h1(half)"
void appendMaximum(std::string& out, FunctionView& view, RegisterFile file) {
  const RegisterPressure& pressure = view.analyses.registerPressure();
  out += fmt::format("  {}: at most {}", name(file), pressure.maximum()[file]);
  if (pressure.maximum()[file] != 0) {
    const std::size_t place = pressure.place(file);
    const PressurePoints::Point& point = pressure.points()[place];
    out += point.instruction.valid() ? fmt::format(" after line {}:", view.line(point.instruction))
                                     : fmt::format(" at the start of {}:", view.blockTitle(point.block));
    for (const RegId r : pressure.liveAt(place, file)) {
      out += fmt::format(" {}", view.registerName(r));
      if (pressure.sizeOf(r).isHalf) out += "(half)";
      if (pressure.sizeOf(r).units > 1) out += fmt::format("({})", pressure.sizeOf(r).units);
    }
  }
  out += '\n';
}

}  // namespace

void appendPressure(std::string& out, FunctionView& view) {
  const RegisterPressure& pressure = view.analyses.registerPressure();
  const Loops& loops = view.analyses.loops();
  out += fmt::format("{}: register pressure (estimate), in 32-bit registers and predicates\n", view.name());
  for (const RegisterFile file : kRegisterFiles) appendMaximum(out, view, file);
  out += "  at most, in each block (estimate)\n";
  for (uint32_t b = 0; b < view.analyses.cfg().size(); ++b)
    out += fmt::format("    {}: {}\n", view.blockTitle(BlockId(b)), units(pressure.maximumOf(BlockId(b))));
  if (loops.size() != 0) out += "  at most, in each loop (estimate)\n";
  for (uint32_t l = 0; l < loops.size(); ++l) {
    const Loop& loop = loops[LoopId(l)];
    out += fmt::format("    L{} depth {}, header {}: {}\n", l, loop.depth, view.blockTitle(loop.header),
                       units(pressure.maximumOf(loops, LoopId(l))));
  }
  out += "  after each instruction (estimate): data, predicate, uniform\n";
  for (std::size_t p = 0; p < pressure.points().size(); ++p) {
    const PressurePoints::Point& point = pressure.points()[p];
    const RegisterPressure::Units& u = pressure.at(p);
    out += fmt::format(
        "  {:>6} {:>4} {:>4}  {}\n", u.data, u.predicate, u.uniform,
        point.instruction.valid() ? "  " + view.instructionText(point.instruction) : view.blockTitle(point.block));
  }
}

}  // namespace ptxopt::dump
