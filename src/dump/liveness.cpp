#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt {
namespace {

void appendSet(std::string& out, const FunctionView& view, const Liveness& liveness, RegisterFile file,
               std::string_view where, const BitVector& set) {
  if (set.none()) return;
  out += fmt::format("    {} {}:", where, name(file));
  std::vector<RegId> registers;
  set.forEach([&](std::size_t bit) { registers.push_back(liveness.registerOf(file, bit)); });
  std::sort(registers.begin(), registers.end());
  for (const RegId r : registers) out += fmt::format(" {}", view.registerName(r));
  out += '\n';
}

}  // namespace

void appendLiveness(std::string& out, FunctionView& view) {
  const Cfg& cfg = view.cfg();
  const Liveness& liveness = view.liveness();
  out += fmt::format("{}: liveness\n", view.name());
  if (!view.function.returnRegisters.empty()) {
    out += "  live where it returns:";
    for (const RegId r : view.function.returnRegisters) out += fmt::format(" {}", view.registerName(r));
    out += '\n';
  }
  for (uint32_t n = 0; n < cfg.size(); ++n) {
    const BlockId b(n);
    out += fmt::format("  {}{}\n", view.blockTitle(b), cfg[b].reachable ? "" : ", unreachable");
    for (const RegisterFile file : kRegisterFiles)
      appendSet(out, view, liveness, file, "in ", liveness.liveIn(file, b));
    for (const RegisterFile file : kRegisterFiles) {
      BitVector set(liveness.liveIn(file, b).size());
      for (const BlockId to : cfg.successors(b)) set |= liveness.liveIn(file, to);
      appendSet(out, view, liveness, file, "out", set);
    }
  }
}

}  // namespace ptxopt
