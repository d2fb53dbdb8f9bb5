// How long an iteration of a loop takes the units of an SM, estimated from PTX: for passes that choose between forms that
// fill different units. A pass of PTX cannot know more: ptxas decides what of it becomes.
//
// Instructions become kinds of machine instructions (machine_work.def), which take units for as long as the model of
// time says (target/uses.def). What several become together counts once: a product and the sum that reads it (IMAD,
// FFMA, IMAD.WIDE), a shift and a sum (LEA), two sums (IADD3), two bit operations (LOP3). What does not vary in the
// loop, ptxas moves out of it. Two ways that meet again count half each, as in the model; what a branch only skips
// counts. Sums of two registers ptxas computes on the ALU or on the FMA unit, more or less where there is room; they
// are counted apart (`either`).
// Only choices rest on this, never correctness. Cost: linear in the function once, and in the instructions of each
// loop.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "analysis/dataflow/dominators.h"
#include "analysis/dataflow/loops.h"
#include "ir/module.h"
#include "target/machine.h"

namespace ptxopt {

struct UnitCycles {
  std::array<double, target::kUnits> cycles{};
  double either = 0;     // of ALU or FMA, in cycles of the ALU; in neither of the two
  double bytes = 0;      // of global memory, of a warp
  double bandwidth = 0;  // cycles that these take where they lie in L1

  double operator[](target::Unit u) const { return cycles[static_cast<std::size_t>(u)]; }
  double& operator[](target::Unit u) { return cycles[static_cast<std::size_t>(u)]; }

  // What takes longest where data lies in L1, with so much more on the ALU.
  double longest(double onAlu) const {
    return std::max({bandwidth, (*this)[target::Unit::Alu] + onAlu, *std::ranges::max_element(cycles)});
  }
};

class LoopUnits {
 public:
  // All must live as long as this.
  LoopUnits(const Module& module, const Function& f, const Cfg& cfg, const DominatorTree& dominators,
            const Loops& loops, const target::Machine& machine);

  UnitCycles of(LoopId l);
  // ... without the loops in it.
  UnitCycles withoutInner(LoopId l);
  // Asks for nothing but what follows, of this loop.
  void enter(LoopId l) { enter(l, true); }
  // Whether every iteration executes what stands in the block; of the loop asked for last.
  bool isEveryIteration(BlockId b) const {
    return everyIteration_.valid() && dominators_.dominates(b, everyIteration_);
  }
  // How often an iteration executes what stands in the block; of the loop asked for last.
  double share(BlockId b) const;
  // Whether the instruction is executed once for all iterations; of the loop asked for last.
  bool isInvariant(InstrId id) const { return isInvariant_[id.value]; }
  // Whether it is one machine instruction with what it reads (IMAD), with what reads it, or with a sum that it reads (IADD3).
  bool isFused(InstrId id) const { return isFused_[id.value]; }
  bool isAbsorbed(InstrId id) const { return isAbsorbed_[id.value]; }
  bool absorbs(InstrId id) const { return absorbs_[id.value]; }
  // How many instructions of the function write the register, and read it; the caller counts, which writes parameters and
  // reads results.
  uint32_t writers(RegId r) const { return writers_[r.value]; }
  uint32_t readers(RegId r) const { return readers_[r.value]; }
  // The instruction that writes it, where there is one only.
  InstrId definition(RegId r) const { return writers(r) == 1 ? definition_[r.value] : InstrId(); }
  // ... read it in sums of 64 bits.
  uint32_t sumsOf(RegId r) const { return sums_[r.value]; }

 private:
  UnitCycles count(LoopId l, bool hasInner);
  void enter(LoopId l, bool hasInner);
  void findInvariants();
  bool varies(RegId r) const { return varyingIn_[r.value] == loop_; }
  void count(InstrId id, double share, UnitCycles& to);
  void countMemory(InstrId id, double share, UnitCycles& to);
  void addKind(target::Kind kind, double times, UnitCycles& to) const;
  bool fuse(InstrId id);
  bool addsProduct(InstrId id) const;
  bool isOnlyAdded(InstrId id) const;
  bool isCarry(InstrId id) const;
  InstrId producer(const Operand& o) const;

  const Module& module_;
  const Function& f_;
  const Cfg& cfg_;
  const DominatorTree& dominators_;
  const Loops& loops_;
  const target::Machine& machine_;
  std::vector<uint32_t> writers_, readers_, sums_;  // by RegId: how many write it, read it, add it to 64 bits
  std::vector<InstrId> definition_;                 // by RegId: of those that one instruction writes
  std::vector<LoopId> varyingIn_;                   // by RegId: the last loop in which it varies
  std::vector<bool> isInvariant_, isFused_, isAbsorbed_, absorbs_;  // by InstrId
  std::vector<InstrId> body_;  // of the loop asked for last, in reverse post-order of blocks
  LoopId loop_;                // the one asked for last
  BlockId everyIteration_;     // its last block that all iterations execute
};

}  // namespace ptxopt
