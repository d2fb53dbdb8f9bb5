// Where registers are mentioned, and where they may be named.
//
// A register may be named at a place only if it is mentioned in the same register scope. The scopes of PTX nest and
// may declare a name anew, so an instruction that is put into one could name another register than was meant. A
// register scope ends at a `.reg`, and at the end of a PTX scope that has one.
// Cost: linear in operands.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace ptxopt {

// Whether all declarations stand before the first instruction, label and brace, as compilers write them. One that a pass
// copied stands deeper, as does the one that it is a copy of.
bool declaresAllFirst(const Function& f);

// An instruction that names a register, once however often it does.
struct Occurrence {
  InstrId instruction;
  bool reads = false, writes = false;
};

class Occurrences;

class RegisterScopes {
 public:
  RegisterScopes(const Module& module, const Function& f);
  // Whether there is more than one: else every register may be named everywhere.
  bool areMany() const { return !scope_.empty(); }
  // Whether `r` may be named before `place`; no id is the end of the function.
  bool reaches(const Occurrences& occurrences, RegId r, InstrId place) const;
  // The scope that stands before `place`; there are many.
  uint32_t before(InstrId place) const { return place.valid() ? scope_[place.value] : 0; }

 private:
  std::vector<uint32_t> scope_;  // by InstrId: the scope before it; empty when there is only one
};

class Occurrences {
 public:
  explicit Occurrences(const Function& f);
  // In the order of the text.
  std::span<const Occurrence> of(RegId r) const { return {all_.data() + start_[r.value], count_[r.value]}; }

 private:
  std::vector<Occurrence> all_;
  std::vector<uint32_t> start_, count_;  // by RegId
};

// RegisterScopes::reaches for who seldom asks: all is made at the first question, of the function as it is then.
class RegisterReach {
 public:
  RegisterReach(const Module& module, const Function& f) : module_(module), f_(f) {}
  bool operator()(RegId r, InstrId place);

 private:
  void findScopes();

  const Module& module_;
  const Function& f_;
  std::optional<RegisterScopes> scopes_;
  std::vector<uint32_t> scopeOf_;                       // by RegId: one that mentions it
  std::vector<std::pair<uint32_t, uint32_t>> further_;  // other scopes: register and scope, sorted
};

}  // namespace ptxopt
