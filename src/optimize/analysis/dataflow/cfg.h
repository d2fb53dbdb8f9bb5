// The control-flow graph of a function.
//
// A block begins at the function's start, at a label, and after an instruction that may leave: a branch, or a
// guarded or plain ret, exit or trap (a trap ends no block where Module::trapFallsThrough). Every instruction of the
// list, labels and directives included, is in exactly one block, and blocks are numbered in the order of the text. Edges: a branch to its label; brx.idx to all names
// of its .branchtargets; a guarded one also falls through; the end of the text leaves the function. A branch whose
// targets are not known goes to every label; an unknown opcode to those that it names and to what follows. Blocks
// whose label is used as a value (`mov.u64 %rd1, L`) count as reachable. Cost: linear in instructions and edges.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

using BlockId = Id<struct BlockTag>;

struct Block {
  InstrId first, last;
  bool leaves = false;     // control may leave the function at its end (ret, exit, or the end of the text)
  bool returns = false;    // ... by ret or the end of the text
  bool reachable = false;  // from the entry or from a label used as a value
  friend bool operator==(const Block&, const Block&) = default;
};

// The statements that labels name instead of code: .branchtargets, .calltargets, .callprototype. Cost: linear.
class LabelTables {
 public:
  explicit LabelTables(const Function& function);
  bool has(LabelId label) const { return statements_[label.value].valid(); }
  // The names in the list after `label`; empty when there is none.
  std::span<const Operand> targets(const Function& function, LabelId label) const;

 private:
  std::vector<InstrId> statements_;  // by LabelId
};

class Cfg {
 public:
  Cfg(const Module& module, const Function& function);
  // The same, with what was found of `before` where the two differ at most in the instructions of blocks, which
  // `hasSameEdges` says. `before` must not be used any more.
  Cfg(const Module& module, const Function& function, Cfg&& before, bool& hasSameEdges);

  // False when the graph has more edges than kMostEdges: it must not be used then.
  bool complete() const { return complete_; }
  std::size_t size() const { return blocks_.size(); }
  const Block& operator[](BlockId b) const { return blocks_[b.value]; }
  // The instructions of a block, in order, without labels, directives and braces.
  std::span<const InstrId> instructions(BlockId b) const {
    return {instructions_.data() + firstInstruction_[b.value],
            firstInstruction_[b.value + 1] - firstInstruction_[b.value]};
  }
  // How many stand before a block; size() stands for the end.
  std::size_t instructionsBefore(BlockId b) const { return firstInstruction_[b.value]; }
  std::span<const BlockId> successors(BlockId b) const { return edges(successors_, successorStart_, b); }
  std::span<const BlockId> predecessors(BlockId b) const { return edges(predecessors_, predecessorStart_, b); }
  BlockId blockOf(InstrId i) const { return blockOf_[i.value]; }
  // Blocks where control may enter: the first, and those whose label is used as a value.
  const std::vector<BlockId>& roots() const { return roots_; }
  // Reachable blocks, each before those that reach it only through it; the others follow.
  const std::vector<BlockId>& postOrder() const { return postOrder_; }

  friend bool operator==(const Cfg&, const Cfg&) = default;

 private:
  static constexpr std::size_t kMostEdges = 1u << 22;
  class EdgeList;

  static std::span<const BlockId> edges(const std::vector<BlockId>& all, const std::vector<uint32_t>& start,
                                        BlockId b) {
    return {all.data() + start[b.value], start[b.value + 1] - start[b.value]};
  }
  void findBlocks(const Module& module, const Function& f);
  void findEdges(const Module& module, const Function& f, EdgeList& list);
  bool hasEdges(const EdgeList& list, const Cfg& before) const;
  bool endsAs(const Module& module, const Function& f, const Cfg& before) const;
  void takeEdges(Cfg&& before);
  void findRoots(const Module& module, const Function& f, EdgeList& list);
  void storeEdges(std::span<const std::pair<uint32_t, uint32_t>> edges);
  uint32_t blockOfLabel(const Function& f, LabelId label) const {
    return blockOf_[f.labels[label.value].place.value].value;
  }
  void findReachable();

  bool complete_ = true;
  std::vector<Block> blocks_;
  std::vector<BlockId> blockOf_;            // by InstrId
  std::vector<InstrId> instructions_;       // in the order of the text
  std::vector<uint32_t> firstInstruction_;  // by block, and the end of the last
  std::vector<BlockId> successors_, predecessors_;
  std::vector<uint32_t> successorStart_, predecessorStart_;
  std::vector<BlockId> roots_;
  std::vector<BlockId> postOrder_;
};

}  // namespace ptxopt
