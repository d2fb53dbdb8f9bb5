// Running a function by tokens: a random walk through its control-flow graph on which every register holds a token.
//
// An instruction other than a move or one that packs or unpacks a pair gives each register that it writes a new
// token; a move passes on the one that is there, or that of its constant, a guarded one where the token of its
// predicate is even; so does a selection of registers, which predicates choose from in the same way. Control goes a random way at the end of each block. So what two registers hold is the same on
// every walk exactly when it is one value. Roles are taken from the parsed function; what a move is comes from the
// note of the statement (random_function.h), not from the code that is tested.
#pragma once

#include <functional>
#include <map>
#include <random>

#include "analysis/dataflow/cfg.h"
#include "random_function.h"
#include "support.h"

namespace ptxopt::testing {

class TokenWalk {
 public:
  using Token = uint64_t;

  // Of `f`, which has the instructions of the random function, or is left of it.
  TokenWalk(const RandomFunction& notes, const Function& f) : notes_(notes), f_(f) {}

  // What a register holds: at first, what was there at the entry.
  Token operator[](RegId r) const {
    const auto at = held_.find(r.value);
    return at != held_.end() ? at->second : kUndefined + 4 * r.value;
  }
  static bool isUndefined(Token t) { return t >= kUndefined; }

  // New tokens depend on the operand and on `met`, how many instructions were met so far.
  void step(InstrId id, uint64_t met) {
    if (!f_[id].isInstruction() || f_[id].is(Instruction::Erased)) return;
    const auto operands = f_.operandsOf(f_[id]);
    if (notes_.statements[id.value].isMove) {
      const bool isGuarded = f_[id].is(Instruction::Guarded);
      if (isGuarded && ((*this)[operands[0].reg()] / 2 % 2 == 0) == operands[0].is(Operand::Not)) return;
      const Operand& from = operands[isGuarded + 1u];
      held_[operands[isGuarded].payload] = from.isRegister() ? (*this)[from.reg()] : 4 * Token{from.payload};
      return;
    }
    // A selection of registers passes one of them on.
    if (!f_[id].is(Instruction::Guarded) && notes_.statements[id.value].text.starts_with("selp.b32 ") &&
        operands.size() == 4 && operands[2].isRegister()) {
      const bool isFirst = ((*this)[operands[3].reg()] / 2 % 2 == 0) == operands[3].is(Operand::Not);
      held_[operands[0].payload] = (*this)[operands[isFirst ? 1 : 2].reg()];
      return;
    }
    // Pairs: the same parts make the same whole, and the other way about.
    uint64_t source = met;
    bool isKnown = true;
    if (notes_.statements[id.value].text.starts_with("mov.b64 ")) {
      source = 0;
      for (const Operand& o : operands) {
        if (!o.isRegister() || !o.reads()) continue;
        source = mixed(source + (*this)[o.reg()]);
        isKnown = isKnown && !isUndefined((*this)[o.reg()]);
      }
    }
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands[k].isRegister() && operands[k].writes())
        held_[operands[k].payload] = isKnown ? 2 * (mixed(source * 64 + k + 1) >> 3) : kUndefined;
  }

 private:
  static constexpr uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
  }

  static constexpr Token kUndefined = uint64_t{1} << 63;
  const RandomFunction& notes_;
  const Function& f_;
  std::map<uint32_t, Token> held_;
};

// Where control goes, block by block.
inline std::vector<BlockId> randomPath(const Cfg& cfg, std::mt19937_64& random, std::size_t blocks) {
  std::vector<BlockId> path{cfg.roots()[0]};
  while (path.size() < blocks && !cfg.successors(path.back()).empty()) {
    const auto next = cfg.successors(path.back());
    path.push_back(next[random() % next.size()]);
  }
  return path;
}

}  // namespace ptxopt::testing
