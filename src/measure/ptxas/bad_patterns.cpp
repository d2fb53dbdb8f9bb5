// A PatternReader indexes who writes and who reads each register, follows copies as ptxas does, and leaves out what
// nothing rests on. Each pattern is one predicate on an instruction.
#include "ptxas/bad_patterns.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "ir/stored_numbers.h"

namespace ptxopt::ptxas {
namespace {

using Words = std::vector<std::string_view>;

bool has(const Words& words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

// A function as patterns ask of it: what wrote a register, who reads it, the operands of an instruction one by one.
class PatternReader {
 public:
  PatternReader(const Module& module, const Function& f)
      : module_(module),
        f_(f),
        writers_(f.registers.size()),
        readers_(f.registers.size()),
        needed_(f.registers.size()) {
    std::vector<RegId> open;
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      const bool stays = !i.isInstruction() || !form(id).knowsOperands() || form(id).is(effect::kKeep);
      for (const Operand& o : f.operandsOf(i)) {
        if (!o.isRegister()) continue;
        if (o.writes()) writers_[o.payload].push_back(id);
        if (o.reads()) readers_[o.payload].push_back(id);
        if (o.reads() && stays) need(o.reg(), open);
      }
    }
    while (!open.empty()) {
      const RegId r = open.back();
      open.pop_back();
      for (const InstrId id : writers_[r.value])
        for (const Operand& o : f.operandsOf(f[id]))
          if (o.isRegister() && o.reads()) need(o.reg(), open);
    }
  }

  const OpcodeForm& form(InstrId id) const { return module_.form(f_[id]); }
  // Types and fields of PTX that have no field of OpcodeForm.
  Words words(InstrId id) const { return opcodeParts(module_.printedOpcode(f_[id])); }
  bool isUnguarded(InstrId id) const { return !f_[id].is(Instruction::Guarded); }
  // Whether anything that stays rests on it: ptxas removes the rest before the fault.
  bool isNeeded(RegId r) const { return needed_[r.value]; }

  // Who reads a register or a copy of it: ptxas sees through copies.
  std::vector<InstrId> readers(RegId r, int depth = kCopies) const {
    std::vector<InstrId> all;
    for (const InstrId id : readers_[r.value]) {
      if (const auto copy = depth > 0 ? copied(id) : std::nullopt; copy && result(id))
        for (const InstrId more : readers(*result(id), depth - 1)) all.push_back(more);
      else
        all.push_back(id);
    }
    return all;
  }

  // The only instruction that writes what the register is a copy of; none: invalid.
  InstrId writer(RegId r) const {
    for (int depth = 0;; ++depth) {
      if (writers_[r.value].size() != 1) return {};
      const InstrId id = writers_[r.value].front();
      const auto from = copied(id);
      if (!from || depth == kCopies) return id;
      r = *from;
    }
  }

  // The operands of the text, each with what is inside it; without the guard.
  std::vector<std::span<const Operand>> operands(InstrId id) const {
    std::vector<std::span<const Operand>> found;
    const auto all = f_.operandsOf(f_[id]);
    for (std::size_t k = 0; k < all.size(); k += 1 + all[k].inside())
      if (!all[k].is(Operand::Guard) && !all[k].is(Operand::Implicit))
        found.push_back(all.subspan(k, 1 + all[k].inside()));
    return found;
  }

  // For an operand that is a register and no more.
  static std::optional<RegId> plain(std::span<const Operand> operand) {
    return operand.size() == 1 && operand[0].isRegister() && operand[0].flags == 0 ? std::optional(operand[0].reg())
                                                                                   : std::nullopt;
  }
  static bool isZero(std::span<const Operand> operand) {
    return operand.size() == 1 && operand[0].kind == OperandKind::Integer && operand[0].payload == 0;
  }
  // What an instruction with one plain result writes.
  std::optional<RegId> result(InstrId id) const {
    const auto all = operands(id);
    return all.empty() ? std::nullopt : plain(all[0]);
  }

  bool isMinimumOrMaximum(InstrId id) const {
    return form(id).isExactly(Op::Max, ScalarType::s32) || form(id).isExactly(Op::Min, ScalarType::s32);
  }

  // A register whose bits are known, as far as movs say.
  bool isConstant(RegId r, int depth = 2) const {
    const InstrId id = writer(r);
    if (!id.valid() || depth == 0 || form(id).op != Op::Mov || !isUnguarded(id)) return false;
    const auto all = operands(id);
    return all.size() == 2 && std::ranges::all_of(all[1], [&](const Operand& o) {
             return o.isRegister() ? isConstant(o.reg(), depth - 1) : o.kind == OperandKind::Integer || o.isGroup();
           });
  }

 private:
  static constexpr int kCopies = 3;  // one after the other

  void need(RegId r, std::vector<RegId>& open) {
    if (needed_[r.value]) return;
    needed_[r.value] = true;
    open.push_back(r);
  }

  // Which register, for a mov of a whole 32-bit one.
  std::optional<RegId> copied(InstrId id) const {
    const OpcodeForm& form = module_.form(f_[id]);
    if (form.op != Op::Mov || form.present != 0 || form.typeCount != 1 || info(form.type).bits != 32 ||
        !isUnguarded(id))
      return std::nullopt;
    const auto all = operands(id);
    return all.size() == 2 ? plain(all[1]) : std::nullopt;
  }

  const Module& module_;
  const Function& f_;
  std::vector<std::vector<InstrId>> writers_, readers_;  // by RegId
  std::vector<bool> needed_;                             // by RegId
};

bool endsAtTrap(const Module& module, const Function& f, InstrId id) {
  const Instruction& trap = f[id];
  if (!trap.isInstruction() || module.form(trap).op != Op::Trap || trap.is(Instruction::Guarded)) return false;
  for (InstrId next = trap.next; next.valid(); next = f[next].next) {
    if (f[next].kind == InstrKind::Label) return true;
    if (f[next].isInstruction()) return false;
  }
  return true;
}

// Which halves of a packed register anyone reads: 1 the low one, 2 the high one.
unsigned halvesRead(const PatternReader& reader, RegId r) {
  unsigned read = 0;
  for (const InstrId id : reader.readers(r)) {
    const auto all = reader.operands(id);
    const OpcodeForm& form = reader.form(id);
    if (form.isConversion(ScalarType::u16, ScalarType::u32)) {
      read |= 1;
    } else if (form.isExactly(Op::Mov, ScalarType::b32) && all.size() == 2 && all[0].size() == 3) {
      for (unsigned half = 0; half < 2; ++half)
        if (const Operand& o = all[0][half + 1]; o.isRegister() && reader.isNeeded(o.reg())) read |= 1u << half;
    } else {
      return 3;
    }
  }
  return read;
}

bool isSumOfHalf(const PatternReader& reader, InstrId id) {
  if (reader.form(id).op != Op::Add) return false;
  if (const Words words = reader.words(id); words.size() != 2 || (words[1] != "s16x2" && words[1] != "u16x2"))
    return false;
  const auto all = reader.operands(id);
  const auto result = reader.result(id);
  if (all.size() != 3 || !result) return false;
  const auto isConstant = [&](std::span<const Operand> o) {
    const auto r = PatternReader::plain(o);
    return r && reader.isConstant(*r);
  };
  if (isConstant(all[1]) == isConstant(all[2])) return false;
  const unsigned read = halvesRead(reader, *result);
  return read == 1 || read == 2;
}

bool anyReader(const PatternReader& reader, InstrId id, const std::function<bool(InstrId, RegId)>& is) {
  const auto result = reader.result(id);
  return result && std::ranges::any_of(reader.readers(*result), [&](InstrId by) { return is(by, *result); });
}

bool isAbs(const PatternReader& reader, InstrId id) { return reader.form(id).isExactly(Op::Abs, ScalarType::s32); }

bool feedsRelu(const PatternReader& reader, InstrId id) {
  return isAbs(reader, id) && anyReader(reader, id, [&](InstrId by, RegId) {
           const OpcodeForm& form = reader.form(by);
           return (form.op == Op::Min || form.op == Op::Max) && form.type == ScalarType::s32 &&
                  form.has(ModifierFlag::Relu);
         });
}

bool feedsClamp(const PatternReader& reader, InstrId id) {
  return isAbs(reader, id) && anyReader(reader, id, [&](InstrId by, RegId) {
           return reader.isMinimumOrMaximum(by) && anyReader(reader, by, [&](InstrId last, RegId) {
                    const auto all = reader.operands(last);
                    return reader.form(last).isExactly(Op::Max, ScalarType::s32) && all.size() == 3 &&
                           (PatternReader::isZero(all[1]) || PatternReader::isZero(all[2]));
                  });
         });
}

bool isNegation(const PatternReader& reader, InstrId id) {
  if (!id.valid() || !reader.isUnguarded(id)) return false;
  if (reader.form(id).isExactly(Op::Neg, ScalarType::s32)) return true;
  const auto all = reader.operands(id);
  return reader.form(id).isExactly(Op::Sub, ScalarType::s32) && all.size() == 3 && PatternReader::isZero(all[1]);
}

// max(max(x, -y), z) of registers; the same of min.
bool isMaximumWithNegated(const PatternReader& reader, InstrId id) {
  if (!reader.isMinimumOrMaximum(id)) return false;
  const auto all = reader.operands(id);
  const auto negated = all.size() == 3 ? PatternReader::plain(all[2]) : std::nullopt;
  if (!negated || !isNegation(reader, reader.writer(*negated))) return false;
  return anyReader(reader, id, [&](InstrId by, RegId) {
    const auto its = reader.operands(by);
    return reader.form(by).op == reader.form(id).op && reader.isMinimumOrMaximum(by) && its.size() == 3 &&
           PatternReader::plain(its[1]) && PatternReader::plain(its[2]);
  });
}

bool isStride(const PatternReader& reader, InstrId id) {
  return reader.form(id).op == Op::TensormapReplace && has(reader.words(id), "global_stride");
}

bool writesWhatItReads(const PatternReader& reader, InstrId id) {
  const auto all = reader.operands(id);
  if (reader.form(id).op != Op::Setp || all.size() < 4) return false;
  const auto combined = PatternReader::plain(all.back());
  return combined && PatternReader::plain(all[0]) == combined;
}

bool takesRegisters(const PatternReader& reader, InstrId id) {
  const auto all = reader.operands(id);
  return reader.form(id).op == Op::WgmmaMmaAsync && all.size() > 1 && all[1][0].kind == OperandKind::Vector;
}

bool isIt(BadPattern pattern, const PatternReader& reader, InstrId id) {
  switch (pattern) {
    case BadPattern::Add16x2OfHalf: return isSumOfHalf(reader, id);
    case BadPattern::AbsThenRelu: return feedsRelu(reader, id);
    case BadPattern::AbsThenClamp: return feedsClamp(reader, id);
    case BadPattern::NegatedThirdOfMaximum: return isMaximumWithNegated(reader, id);
    case BadPattern::TensormapStride: return isStride(reader, id);
    case BadPattern::SetpOntoItself: return writesWhatItReads(reader, id);
    case BadPattern::WgmmaOfRegisters: return takesRegisters(reader, id);
    case BadPattern::AnyWgmma: return reader.form(id).op == Op::WgmmaMmaAsync;
    case BadPattern::MbarrierArrival: return reader.form(id).op == Op::MbarrierArrive;
    default: return false;
  }
}

}  // namespace

InstrId findPattern(BadPattern pattern, const Module& module, const Function& f) {
  if (pattern == BadPattern::NarrowNumberStore) return findNarrowNumberStore(module, f);
  if (pattern == BadPattern::TrapBeforeLabel) {
    for (const InstrId id : f)
      if (endsAtTrap(module, f, id)) return id;
    return {};
  }
  const PatternReader reader(module, f);
  for (const InstrId id : f)
    if (f[id].isInstruction() && isIt(pattern, reader, id)) return id;
  return {};
}

bool isAvoidable(BadPattern pattern) {
  return pattern == BadPattern::TrapBeforeLabel || pattern == BadPattern::NegatedThirdOfMaximum;
}

std::vector<InstrId> avoidable(BadPattern pattern, const Module& module, const Function& f) {
  std::vector<InstrId> found;
  if (pattern == BadPattern::TrapBeforeLabel) {
    for (const InstrId id : f)
      if (endsAtTrap(module, f, id)) found.push_back(id);
  } else if (pattern == BadPattern::NegatedThirdOfMaximum) {
    const PatternReader reader(module, f);
    for (const InstrId id : f) {
      if (!f[id].isInstruction() || !isMaximumWithNegated(reader, id)) continue;
      // Where both are negated, the other order has it as well.
      const auto first = PatternReader::plain(reader.operands(id)[1]);
      if (!first || !isNegation(reader, reader.writer(*first))) found.push_back(id);
    }
  }
  return found;
}

bool hasPattern(BadPattern pattern, const Module& module) {
  return pattern == BadPattern::DebugInformation &&
         (module.isDebug ||
          std::ranges::any_of(module.items, [](const Item& i) { return i.kind == ItemKind::Section; }));
}

}  // namespace ptxopt::ptxas
