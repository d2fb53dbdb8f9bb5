#include "passes/manager/declined_blocks.h"

#include <fmt/format.h>

namespace ptxopt {

bool isOf(const Function& f, const Label& label, const DeclinedLabel& declined) {
  const bool isOfInput = label.name.valid();
  const uint32_t function = isOfInput ? f.index : label.copyFrom;
  return (isOfInput ? label.name : label.copyOf) == declined.name &&
         (declined.function == UINT32_MAX || declined.function == function);
}

void declineBlocks(const Function& f, const PassInfo& pass, std::span<const DeclinedLabel> labels,
                   PassContext& context) {
  if (labels.empty() || !context.analyses.cfg().complete()) return;
  const Cfg& cfg = context.analyses.cfg();
  const Loops& loops = context.analyses.loops();
  context.declinedBlocks = BitVector(cfg.size());
  for (const DeclinedLabel& declined : labels) {
    bool isThere = false, isLoop = false;
    for (const Label& label : f.labels) {
      if (!isOf(f, label, declined) || !label.place.valid() || f[label.place].is(Instruction::Erased)) continue;
      const BlockId block = cfg.blockOf(label.place);
      const LoopId loop = loops.of(block);
      isThere = true;
      if (loop.valid() && loops[loop].header == block) {
        isLoop = true;
        for (const BlockId b : loops.blocks(loop)) context.declinedBlocks.set(b.value);
      } else if (pass.declines == Declines::Blocks) {
        context.declinedBlocks.set(block.value);
      }
    }
    const std::string_view name = context.module.text(declined.name);
    if (!isThere)
      context.decline(kAsked, fmt::format("{} is no longer there", name));
    else if (isLoop)
      context.decline(kAsked, fmt::format("the loop at {}", name));
    else if (pass.declines == Declines::Blocks)
      context.decline(kAsked, fmt::format("the block at {}", name));
    else
      context.decline(kAsked, fmt::format("no loop begins at {}", name));
  }
}

}  // namespace ptxopt
