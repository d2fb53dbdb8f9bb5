// Inserts copies into a function without changing what it computes.
//
// At instructions: a definition goes to a new register that is copied to the old one; a use reads a copy. On edges
// of the control flow: registers that are live there are copied to new ones and back, in a block of its own where
// the edge is critical; or by parallel copies whose halves stand at the ends of the predecessors and the start of
// the block, as front ends leave them for phis. At the starts and ends of blocks: the same through rotations and
// swaps.
//
// Not changed: registers that an asynchronous instruction has outside addresses (wgmma accumulators, fragments),
// vectors (`.reg .v4`), byte registers, the carry flag, operands of unknown opcodes, lanes (`%v.x`, `%r.h0`).
// Cost: linear in instructions and in the registers that are live at the starts of blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "copier.h"

namespace coalescing {

enum class Mode { Definitions, Uses, Edges, Parallel, Mixed };

struct Options {
  Mode mode = Mode::Mixed;
  uint64_t seed = 1;
  double density = 1;    // the share of the places that get copies
  unsigned forms = 0;    // of Form
  int times = 1;         // copies in a chain
  int most = 8;          // registers at one place between blocks
  bool frame = false;    // make the blocks and branches only
  bool guarded = false;  // also definitions under a guard
  bool split = true;     // also on critical edges, by blocks of their own
};

struct Counts {
  std::size_t places = 0, copies = 0, branches = 0, labels = 0;
};

class Inserter {
 public:
  Inserter(Module& module, Function& function, const Options& options);
  Counts run();

 private:
  // In edges.cpp.
  struct EdgePlaces;
  void insertBetweenBlocks();
  void insertOnEdges(ptxopt::BlockId target, const std::vector<RegId>& live, EdgePlaces& places);
  void insertAcross(Place place, const std::vector<RegId>& registers);
  void insertRotation(Place place, const std::vector<RegId>& registers);
  void insertPhis(ptxopt::BlockId target, const std::vector<RegId>& registers, EdgePlaces& places);
  std::vector<RegId> choose(const std::vector<RegId>& live);
  Place blockStart(const ptxopt::Block& block) const;
  Place blockEnd(const ptxopt::Block& block) const;

  // In inserter.cpp.
  void findLeftAlone();
  void findNested();
  bool isWanted();
  Mode drawMode();
  void insertAtInstruction(InstrId id);
  void copyUse(InstrId id, std::size_t operand);
  void copyDefinition(InstrId id, std::size_t operand, std::vector<std::pair<RegId, RegId>>& renamed);
  Place inFrontOf(InstrId id) const;
  bool mayCopy(RegId reg) const { return !leftAlone_[reg.value] && copier_.canCopy(reg); }
  bool mayCopyAnywhere(RegId reg) const {
    return reg.value < isNested_.size() && !isNested_[reg.value] && mayCopy(reg);
  }

  Options options_;
  Editor editor_;
  Module& module_;
  Function& f_;
  kernels::Random random_;      // for the choice of places at instructions
  kernels::Random edgeRandom_;  // and between blocks
  Copier copier_;
  std::vector<uint8_t> leftAlone_;  // by RegId, of the source's registers
  std::vector<uint8_t> isNested_;   // likewise: it may be known only inside a scope of its own
  Counts counts_;
};

}  // namespace coalescing
