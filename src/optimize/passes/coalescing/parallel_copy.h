// Sequences of copies as parallel copies, and the shortest sequences for these.
//
// What a sequence of copies does is one parallel copy: each register that is needed afterwards takes what some
// register held before. `t = a; a = b; b = t` with t not needed is (a, b) <- (b, a).
// Algorithm: the sequence is run on names. Registers that end with what they began with drop out. In what is left
// each target has one source, so it is a set of cycles with trees hanging from registers. Copies of trees go from
// the leaves to the root. A cycle from which a tree hangs is opened there: the tree holds one of its values. A
// cycle by itself needs one copy more and a register: one that the sequence writes and nobody needs, which is free
// once the trees are written; where there is none, the first leaf, before it gets its own value. (Boissinot et al.,
// "Revisiting out-of-SSA translation for correctness, code quality, and efficiency", 2009, algorithm 1, with trees
// and cycles distinguished beforehand, so that trees read what they read and temporaries are found.)
// Keeps: the values of all registers that are needed or not written; writes no register that the sequence does not.
// The result is as short as any can be when the registers hold different values at first: each needed register that
// changes is written once, and each cycle by itself costs one copy.
// Cost: linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ptxopt {

struct Move {
  uint32_t to, from;
  friend bool operator==(const Move&, const Move&) = default;
};

// Registers are the numbers below `held.size()`.
struct CopySequence {
  std::vector<Move> moves;
  std::vector<uint32_t> held;  // by register: names what it holds before; equal names, equal values
  std::vector<bool> isNeeded;  // by register: whether somebody reads it afterwards
};

struct ShortCopies {
  std::vector<Move> moves;
  uint32_t swaps = 0, rotations = 0;  // cycles of two registers and of more
};

// A shortest sequence that leaves the same in the registers that are needed.
ShortCopies shortestCopies(const CopySequence& sequence);

}  // namespace ptxopt
