// What split-live-ranges and split-high-pressure share: where registers are mentioned, which of them may be split,
// and where instructions may be put.
//
// A range is split without renaming: a carrier takes the value over before the stretch where nobody reads it
// (`mov c, r`), and r is written again behind it (`mov r, c`). In between r is dead. Nothing else changes, so what
// has to hold is only that every way into the stretch passes a take-over and every way out to a use a copy back.
//
// A register may be named at a place only if it is mentioned in the same zone: the scopes of PTX nest and may
// declare a name anew, and an instruction put into one must not mean another register. Zones change at a `.reg` and
// at the end of a scope that has one.
// Cost: linear in operands.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "passes/manager/pass.h"

namespace ptxopt {

// An instruction that names a register, once however often it does.
struct Occurrence {
  InstrId instruction;
  bool reads = false, writes = false;
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

class Zones {
 public:
  Zones(const Module& module, const Function& f);
  // Whether there is more than one: else every register may be named everywhere.
  bool areMany() const { return !zone_.empty(); }
  // Whether `r` may be named in front of `place`; no id is the end of the function.
  bool reaches(const Occurrences& occurrences, RegId r, InstrId place) const;

 private:
  uint32_t before(InstrId place) const { return place.valid() ? zone_[place.value] : 0; }
  std::vector<uint32_t> zone_;  // by InstrId: in front of it; empty when there is only one
};

// Why a register is never split; empty when it may be.
//   register-class   neither a predicate nor a single register of 16, 32 or 64 bits
//   parameter        of the parameter or return list
//   async            an instruction that completes later may still read or write it
//   unknown-opcode   an opcode that is not in the table names it
//   undefined        it may be read before it is written
std::vector<std::string_view> whyUnsplittable(const Module& module, const Function& f,
                                              const LiveIntervals& intervals);

// Whether a register is only copied to and from: it carries already, and nothing would be gained by another
// carrier.
bool isOnlyCopied(const Module& module, const Function& f, const Occurrences& occurrences, RegId r);

// Declines are counted, and told once for each reason.
class Declines {
 public:
  void add(std::string_view reason) { ++counts_[reason]; }
  void tell(PassContext& context, std::string_view what) const;

 private:
  std::map<std::string_view, uint64_t> counts_;
};

// ---- places: an instruction is put in front of one; no id is the end of the function ----

// In front of an instruction, and of the pragma that describes it.
InstrId placeBefore(const Module& module, const Function& f, InstrId id);
// At the end of a block, in front of its branch.
InstrId placeAtEnd(const Module& module, const Function& f, const Block& block);
// At the start of a block, behind its label and the pragma of a loop.
InstrId placeAtStart(const Module& module, const Function& f, const Block& block);
// Where only what falls through from `from` to `to` passes, in a block of its own. False when there is none:
// `from` does not fall through to `to`, or jumps there too.
bool placeBetween(const Module& module, const Function& f, const Cfg& cfg, BlockId from, BlockId to,
                  InstrId& place);

// `mov` of bits or predicates, which takes every class that whyUnsplittable lets through, put in front of `place`; under `guard` (the first operand of a guarded instruction) if there is one.
void insertCopy(const Module& module, Function& f, RegId to, RegId from, InstrId place,
                const std::optional<Operand>& guard = {});

}  // namespace ptxopt
