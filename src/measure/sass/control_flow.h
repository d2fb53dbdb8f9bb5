// Blocks and loops of a function's machine code.
//
// Blocks: code is cut at targets of branches and calls and after what may go elsewhere. The padding at its end is in
// no block. Edges follow Instruction::flow(): a call goes on at the next instruction, and the end of a region of
// divergence (BSSY, BSYNC, WARPSYNC.COLLECTIVE) is not an edge, since threads get there by branches of their own. A
// branch to itself that is always taken has no successor: it does no work, and ptxas puts one after each function to
// stop it. An indirect branch goes to the targets that the caller names; without them it has no successor. A branch out
// of the code has none there.
//
// Loops: a loop is a maximal strongly connected set of blocks, and, inside it, those that remain when its entries are
// taken out. An entry is a block where control comes in from a block outside the loop, the first block of the code, or
// one that a call leads to. Code that is never reached enters no loop: ptxas leaves some.
// One entry: a natural loop, with the entry as header; several back edges to one header are one loop. Several entries:
// an irreducible loop, whose header is the entry at the lowest address. Without any (code that only an unknown indirect
// branch or a call reaches) the header is the block at the lowest address. So each loop is found, whatever its shape,
// and for reducible code the loops are those of dominators.
// Instructions of functions that a loop calls are not the loop's, although ptxas may put them into the same section.
//
// Algorithm and cost: nestedLoops() (support/graph.h).
#pragma once

#include <span>
#include <vector>

#include "sass/instruction.h"

namespace ptxopt::sass {

// An indirect branch and where it may go, in bytes from the beginning of the code.
struct IndirectBranch {
  int64_t at = 0;
  std::vector<int64_t> targets;
};

// Numbers of instructions count from 0.
struct Block {
  uint32_t first = 0, end = 0;       // its instructions; `end` is the one after the last
  bool isCalled = false;             // a call in the code leads to its beginning
  std::vector<uint32_t> successors;  // blocks, ascending and without duplicates

  uint32_t size() const { return end - first; }
};

struct Loop {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t header = 0;        // a block
  uint32_t parent = kNone;    // the loop around it; it comes before this one
  uint32_t depth = 1;         // 1: in no other loop
  uint32_t instructions = 0;  // in its blocks, those of loops in it included
  bool isInnermost = true;
  bool isIrreducible = false;
  std::vector<uint32_t> blocks;  // those of loops in it included; ascending
};

class ControlFlow {
 public:
  // `code` begins at the beginning of the section and may end with padding.
  explicit ControlFlow(const std::vector<Instruction>& code, std::span<const IndirectBranch> branches = {});

  // In the order of addresses; together all instructions but the padding.
  const std::vector<Block>& blocks() const { return blocks_; }
  // A loop comes after the one around it; those side by side in the order of addresses.
  const std::vector<Loop>& loops() const { return loops_; }

 private:
  std::vector<Block> blocks_;
  std::vector<Loop> loops_;
};

}  // namespace ptxopt::sass
