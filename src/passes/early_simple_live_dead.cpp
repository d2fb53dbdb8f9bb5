// early-simple-live-dead: removes what one look at a block shows to be dead.
//
// What:       instructions without an effect whose results are written again in full, or not read at all, before
// their
//             block ends, and which no other block reads first; with all in the block that only fed them.
// Algorithm:  one backward walk of each block. At the end of a block with successors every global register
//             (register_numbers.h) counts as live, so no dataflow problem is solved. Unreachable blocks are walked
//             too.
//             A second run may find more: what was removed may have been the last read in another block.
// Keeps:      whatever isRemovable() does not vouch for, and what is dead only on all paths together: live-dead
// does
//             the rest.
// Machine code of ptxas: identical (it removes the same itself).
// Cost:       linear.
// Declines:   too-large: the control-flow graph has too many edges.
#include <vector>

#include "passes/erase_dead.h"

namespace ptxopt {

bool earlySimpleLiveDead(Function& f, PassContext& context) {
  const Cfg& cfg = context.analyses.cfg();
  if (!cfg.complete()) {
    context.decline("too-large", "the control-flow graph has too many edges");
    return false;
  }
  const RegisterNumbers numbers(f, cfg, context.analyses.registerFiles());
  BitVector global(numbers.firstLocal());
  for (const RegisterFile file : kRegisterFiles)
    for (const RegId reg : numbers[file].registers) global.set(numbers[reg]);
  LivePoint live(f, numbers);
  DeadInstructions dead(context.module, f);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const BlockId block(b);
    live.restart();
    if (!cfg.successors(block).empty())
      live.makeAllLive(global);
    else if (cfg[block].returns)
      for (const RegId reg : f.returnRegisters) live.makeLive(reg);
    dead.collect(cfg[block], live);
  }
  const std::size_t removed = dead.erase().instructions;
  context.count("dead", removed);
  return removed != 0;
}

}  // namespace ptxopt
