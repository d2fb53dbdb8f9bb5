// Values are folded into a hash by a multiplication and a shift, FNV-1a on words. What an instruction reads is folded
// before it runs, what it writes after.
#include "verify/results.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "exec/first_arrival_filter.h"
#include "exec/warp.h"
#include "text/parse.h"
#include "text/print.h"

namespace ptxopt::verify {

namespace {

// FNV-1a, words instead of bytes, with a final shift so that high bits come down.
uint64_t fold(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x100000001B3ull;
  return hash ^ (hash >> 29);
}

constexpr uint64_t kBegin = 0xCBF29CE484222325ull;

uint64_t hashOf(std::string_view text) {
  uint64_t hash = kBegin;
  for (const char c : text) hash = fold(hash, static_cast<unsigned char>(c));
  return hash;
}

// An instruction's text without its guard, registers replaced by '%'.
std::string textOf(const Module& module, const Function& f, const Instruction& i) {
  const std::string text = text::printInstruction(module, f, i);
  const auto isWord = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
  };
  std::string out;
  std::size_t at = text.starts_with('@') ? text.find(' ') + 1 : 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && isWord(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = std::string_view(text).substr(at, end - at);
    const auto operands = f.operandsOf(i);
    const bool isRegister = std::any_of(operands.begin(), operands.end(), [&](const Operand& o) {
      return o.isRegister() && !o.is(Operand::Implicit) && module.text(f.registers[o.payload].name) == word;
    });
    out += isRegister ? "%" : word;
    at = end;
  }
  return out;
}

}  // namespace

Results::Known& Results::known(const exec::Routine& routine, const exec::Op& op) {
  const auto [found, isNew] = known_.try_emplace(&op);
  Known& k = found->second;
  if (!isNew || !exec::standsForInstruction(module_, routine, op)) return k;
  const Function& f = *routine.function;
  const Instruction& i = f.instructions[op.instruction];
  k.result = &byLine_.try_emplace(locate(module_.source, i.sourceBegin).line, 0).first->second;
  bool isGuard = i.is(Instruction::Guarded);
  for (const Operand& o : f.operandsOf(i)) {
    const bool skip = isGuard || !o.isRegister() || o.is(Operand::Implicit);
    isGuard = false;
    if (skip) continue;
    if (o.writes()) k.written.push_back(o.reg());
    if (o.reads()) k.read.push_back(o.reg());
  }
  k.hasEffects = k.written.empty() || module_.form(i).is(~(effect::Read | effect::CarryIn | effect::CarryOut |
                                                           effect::Convergent | effect::Volatile | effect::Side));
  k.text = hashOf(textOf(module_, f, i));
  return k;
}

uint64_t Results::valuesOf(const exec::Warp& warp, const exec::Routine& routine,
                           const std::vector<RegId>& registers, exec::Mask active, bool named) {
  uint64_t hash = kBegin;
  for (const RegId r : registers) {
    const exec::Arg& a = routine.registers[r.value];
    if (named) hash = fold(hash, r.value);
    if (a.bytes == 0) {
      hash = fold(hash, *warp.in<exec::Mask>(a) & active);
      continue;
    }
    for (unsigned c = 0; c < routine.function->registers[r.value].lanes; ++c) {
      exec::Arg part = a;
      part.offset += c * a.bytes * exec::kLanes;
      for (exec::Mask m = active; m != 0; m &= m - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(m));
        if (a.bytes == 16) {
          const auto* words = warp.in<uint64_t>(part) + std::size_t{2} * lane;
          hash = fold(fold(hash, words[0]), words[1]);
        } else {
          hash = fold(hash, warp.value(part, lane));
        }
      }
    }
  }
  return hash;
}

void Results::op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask mask,
                 exec::Mask active) {
  if (next_ != nullptr) next_->op(warp, routine, op, mask, active);
  if (active == 0) return;
  Known& k = known(routine, op);
  if (k.result == nullptr) return;
  *k.result = fold(*k.result, active);
  if (k.hasEffects)
    *k.result = fold(fold(*k.result, k.text), valuesOf(warp, routine, k.read, active, /*named=*/false));
}

void Results::after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) {
  if (next_ != nullptr) next_->after(warp, routine, op, active);
  Known& k = known(routine, op);
  if (k.result == nullptr || active == 0 || k.written.empty()) return;
  *k.result = fold(*k.result, valuesOf(warp, routine, k.written, active, /*named=*/true));
}

}  // namespace ptxopt::verify
