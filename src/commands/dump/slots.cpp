#include <fmt/format.h>

#include "dump/dumps.h"

namespace ptxopt::dump {

void appendSlots(std::string& out, FunctionView& view) {
  const SlotIndexes& slots = view.analyses.slotIndexes();
  out += fmt::format("{}: slot indexes\n", view.name());
  for (uint32_t n = 0; n < view.analyses.cfg().size(); ++n) {
    const BlockId b(n);
    out += fmt::format("  {} [{}, {})\n", view.blockTitle(b), slots.start(b).raw(), slots.end(b).raw());
    for (const InstrId id : slots.instructions(b))
      out += fmt::format("    {:>6}  {}\n", slots[id].raw(), view.instructionText(id));
  }
}

}  // namespace ptxopt::dump
