#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt {

void appendPressure(std::string& out, FunctionView& view) {
  const RegisterPressure& pressure = view.pressure();
  out += pressure.dump(view.module, view.loops());
  out += "  behind each instruction: data, predicate, uniform\n";
  for (std::size_t p = 0; p < pressure.points().size(); ++p) {
    const PressurePoints::Point& point = pressure.points()[p];
    const RegisterPressure::Units& units = pressure.at(p);
    out += fmt::format(
        "  {:>6} {:>4} {:>4}  {}\n", units.data, units.predicate, units.uniform,
        point.instruction.valid() ? "  " + view.instructionText(point.instruction) : view.blockTitle(point.block));
  }
}

}  // namespace ptxopt
