// demanded-bits: values of which only the lower half is needed are computed in 32 bits.
//
// What:       clang and libNVVM compute addresses of shared memory in 64 bits, of which an access takes the lower 32. ptxas leaves out upper
//             halves that nobody reads, but not where it adds 64 bits in one instruction: there it also moves the half to a register of its
//             own in each round.
// Algorithm:  optimistic, over registers: all 64-bit integer registers are taken to be needed by their lower halves only; those that
//             something else reads are taken out, and what these are computed from, until nothing changes. Each that is left and is computed in a
//             way that 32 bits do as well gets a register of 32 bits.
// Invariants: the new register holds the lower half of what the old one held, wherever that is read: sums, products, shifts to the left and
//             operations on bits have lower halves that the lower halves of their operands decide. What writes the old register in another way
//             still does, and a conversion follows it.
// Targets:    those that add 64 bits in one instruction (costs.def): sm_107, sm_120 and sm_121.
// Cost:       linear in the operands.
// Declines:   by register, where some access to shared memory has an address of 64 bits: upper-half (something reads it), no-arithmetic, no-step (no
//             pointer moves on that it is computed with: ptxas has a form of access that adds such an offset), stored-through (a
//             pointer that moves on is that of a store, which reads it when what it stores is there: the copy that ptxas makes of a
//             pointer of 64 bits can move on before).
#include <algorithm>
#include <optional>

#include "ir/register_types.h"
#include "passes/loops/address_opcodes.h"
#include "passes/manager/pass.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/unguarded.h"
#include "support/union_find.h"

namespace ptxopt {
namespace {

// An access that takes the lower half of its address.
bool isSharedAccess(const OpcodeForm& form) {
  return (form.op == Op::Ld || form.op == Op::St || form.op == Op::Atom || form.op == Op::Red) &&
         form.space == StateSpace::Shared;
}

class DemandedBits {
 public:
  DemandedBits(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        isNarrow_(f.registers.size()),
        narrow_(f.registers.size()) {}

  bool run() {
    if (!accessesSharedBy64Bits()) return false;
    for (std::size_t r = 0; r < f_.registers.size(); ++r)
      isNarrow_[r] = integerBits(f_.registers[r]) == 64 && !f_.registers[r].isParameter;
    solve();
    keepSteps();
    missed_.tell(context_, "register");
    return apply();
  }

 private:
  // How an instruction is done in 32 bits: its opcode, and which of its operands after the result are halves.
  struct Form {
    SynthOpcode opcode;
    uint8_t halves;       // a bit for each source
    bool isArithmetic;    // more than a copy
    bool isPack = false;  // of which the first lane is the result
    static constexpr uint8_t kAll = 0xff;
  };

  std::optional<Form> narrowed(InstrId id) const {
    using S = SynthOpcode;
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = unguarded(f_, id);
    if (operands.size() < 2 || !isIntegerRegister(f_, operands[0], 64)) return std::nullopt;
    const auto sources = operands.subspan(1);
    const auto fit = [&](std::size_t count, S opcode, uint8_t halves = Form::kAll,
                         bool isArithmetic = true) -> std::optional<Form> {
      if (sources.size() != count) return std::nullopt;
      for (std::size_t k = 0; k < count; ++k)
        if (!isIntegerRegister(f_, sources[k], (halves >> k & 1) != 0 ? 64 : 32) && !immediate(f_, sources[k]))
          return std::nullopt;
      return Form{opcode, halves, isArithmetic};
    };
    if (isAddition(form)) return fit(2, S::AddS32);
    if (isSubtraction(form)) return fit(2, S::SubS32);
    if (isMultiplication(form)) return fit(2, S::MulLoS32);
    if (form.isExactly(Op::Mad, ProductHalf::Lo, ScalarType::s64) ||
        form.isExactly(Op::Mad, ProductHalf::Lo, ScalarType::u64))
      return fit(3, S::MadLoS32);
    if (isShift(form)) return fit(2, S::ShlB32, 1);
    if (form.isExactly(Op::And, ScalarType::b64)) return fit(2, S::AndB32);
    if (form.isExactly(Op::Or, ScalarType::b64)) return fit(2, S::OrB32);
    if (form.isExactly(Op::Xor, ScalarType::b64)) return fit(2, S::XorB32);
    if (isExactlyWide(form, Op::Mul)) return fit(2, S::MulLoS32, 0);
    if (isExactlyWide(form, Op::Mad)) return fit(3, S::MadLoS32, 4);
    if (isExtension(form)) return fit(1, S::MovB32, 0, false);
    if (!isMove64(form)) return std::nullopt;
    if (sources.size() == 1 && (sources[0].kind == OperandKind::Variable || sources[0].kind == OperandKind::Symbol))
      return isShared(sources[0]) ? std::optional(Form{S::MovU32, 0, false}) : std::nullopt;
    if (sources.size() == 3 && sources[0].kind == OperandKind::Vector && sources[0].inside() == 2 &&
        isIntegerRegister(f_, sources[1], 32))
      return Form{S::MovB32, 0, false, true};
    return fit(1, S::MovB32, Form::kAll, false);
  }

  // A variable of shared memory; ptxas gives no other one an address of 32 bits.
  bool isShared(const Operand& o) const {
    const bool isOfModule = o.kind == OperandKind::Symbol;
    if (isOfModule && module_.symbols[o.payload].kind != SymbolKind::Variable) return false;
    const Variable& v = isOfModule ? module_.variables[module_.symbols[o.payload].index] : f_.variables[o.payload];
    return module_.declarationForms[v.form].space == DeclaredSpace::Shared;
  }

  // cvt of a register of 64 bits to one of 32. What is converted to a wider one is extended.
  bool isNarrowing(InstrId id) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const bool isTruncation = form.isConversion(ScalarType::u32, ScalarType::u64) ||
                              form.isConversion(ScalarType::u32, ScalarType::s64) ||
                              form.isConversion(ScalarType::s32, ScalarType::u64) ||
                              form.isConversion(ScalarType::s32, ScalarType::s64);
    const auto operands = unguarded(f_, id);
    return isTruncation && operands.size() == 2 && isIntegerRegister(f_, operands[0], 32) &&
           isIntegerRegister(f_, operands[1], 64);
  }

  bool accessesSharedBy64Bits() const {
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction() || !isSharedAccess(module_.form(f_[id]))) continue;
      const auto operands = f_.operandsOf(f_[id]);
      for (std::size_t k = 0; k + 1 < operands.size(); ++k)
        if (operands[k].kind == OperandKind::Memory && isIntegerRegister(f_, operands[k + 1], 64)) return true;
    }
    return false;
  }

  std::vector<InstrId> instructions() const {
    std::vector<InstrId> all;
    for (const InstrId id : f_)
      if (f_[id].isInstruction()) all.push_back(id);
    return all;
  }

  // Registers that an instruction reads the lower halves of, if its result is one of isNarrow_; all others that it reads are
  // reported to `other`.
  template <typename Other>
  void visitReads(InstrId id, Other&& other) const {
    const OpcodeForm& form = module_.form(f_[id]);
    const auto operands = f_.operandsOf(f_[id]);
    if (isNarrowing(id)) return;
    if (isSharedAccess(form)) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].kind == OperandKind::Memory) {
          for (const Operand& o : operands.subspan(k + 1, operands[k].inside()))
            if (o.isRegister() && o.flags != 0) other(o.reg());
          k += operands[k].inside();
        } else if (operands[k].isRegister() && operands[k].reads()) {
          other(operands[k].reg());
        }
      }
      return;
    }
    const auto way = narrowed(id);
    const bool isTaken = way && isNarrow_[unguarded(f_, id)[0].payload];
    const std::size_t first = operands.size() - unguarded(f_, id).size() + 1;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (!o.isRegister() || !o.reads()) continue;
      if (isTaken && (k < first || way->isPack || (way->halves >> (k - first) & 1) != 0)) continue;
      other(o.reg());
    }
  }

  void solve() {
    // What narrowed() says of an instruction changes only with its result: instructions by their result.
    std::vector<InstrId> work = instructions();
    std::vector<std::vector<InstrId>> writers(f_.registers.size());
    for (const InstrId id : work)
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister() && o.writes() && isNarrow_[o.payload]) writers[o.payload].push_back(id);
    while (!work.empty()) {
      const InstrId id = work.back();
      work.pop_back();
      visitReads(id, [&](RegId r) {
        if (!isNarrow_[r.value]) return;
        isNarrow_[r.value] = false;
        work.insert(work.end(), writers[r.value].begin(), writers[r.value].end());
      });
    }
  }

  // Takes out registers that no instruction computes in a way that 32 bits do (a conversion would be all that they get), and what
  // no pointer that moves on is computed with.
  void keepSteps() {
    std::vector<bool> isComputed(f_.registers.size()), isMentioned(f_.registers.size()),
        hasStep(f_.registers.size()), isStored(f_.registers.size()), hasStoredStep(f_.registers.size());
    UnionFind groups(f_.registers.size());
    for (const InstrId id : instructions()) {
      for (const Operand& o : f_.operandsOf(f_[id]))
        if (o.isRegister()) isMentioned[o.payload] = true;
      noteStores(id, isStored);
      const auto way = narrowed(id);
      const auto operands = unguarded(f_, id);
      if (!way || !isNarrow_[operands[0].payload]) continue;
      const uint32_t result = operands[0].payload;
      isComputed[result] = true;
      for (const Operand& o : operands.subspan(1)) {
        if (!o.isRegister() || !isNarrow_[o.payload]) continue;
        if (o.payload == result) hasStep[result] = true;
        groups.unite(result, o.payload);
      }
    }
    for (uint32_t r = 0; r < isNarrow_.size(); ++r) {
      if (!hasStep[r]) continue;
      hasStep[groups.find(r)] = true;
      if (isStored[r]) hasStoredStep[groups.find(r)] = true;
    }
    for (std::size_t r = 0; r < isNarrow_.size(); ++r) {
      if (integerBits(f_.registers[r]) != 64 || !isMentioned[r]) continue;
      const std::string_view why = !isNarrow_[r]                                          ? "upper-half"
                                   : !isComputed[r]                                       ? "no-arithmetic"
                                   : !hasStep[groups.find(static_cast<uint32_t>(r))]      ? "no-step"
                                   : hasStoredStep[groups.find(static_cast<uint32_t>(r))] ? "stored-through"
                                                                                          : "";
      if (!why.empty()) missed_.add(why);
      isNarrow_[r] = why.empty();
    }
  }

  // Marks the address of a store.
  void noteStores(InstrId id, std::vector<bool>& isStored) const {
    if (module_.form(f_[id]).op != Op::St) return;
    const auto operands = f_.operandsOf(f_[id]);
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands[k].kind == OperandKind::Memory)
        for (const Operand& o : operands.subspan(k + 1, operands[k].inside()))
          if (o.isRegister()) isStored[o.payload] = true;
  }

  // The half of a register, made when first asked for.
  RegId half(RegId r) {
    if (!narrow_[r.value].valid()) narrow_[r.value] = f_.makeRegister(ScalarType::b32);
    return narrow_[r.value];
  }

  bool apply() {
    if (std::ranges::none_of(isNarrow_, [](bool b) { return b; })) return false;
    for (const InstrId id : instructions()) {
      if (isNarrowing(id) || isSharedAccess(module_.form(f_[id]))) readHalves(id);
      if (const auto way = narrowed(id); way && isNarrow_[unguarded(f_, id)[0].payload])
        narrow(id, *way);
      else
        follow(id);
    }
    return true;
  }

  void narrow(InstrId id, const Form& way) {
    std::vector<Operand> operands(f_.operandsOf(f_[id]).begin(), f_.operandsOf(f_[id]).end());
    const std::size_t first = operands.size() - unguarded(f_, id).size() + 1;
    operands[first - 1].payload = half(operands[first - 1].reg()).value;
    if (way.isPack) {
      const Operand lane = registerOperand(operands[first + 1].reg(), Role::Use, Join::Comma);
      operands.resize(first);
      operands.push_back(lane);
    }
    for (std::size_t k = first; k < operands.size(); ++k) {
      Operand& o = operands[k];
      if (const auto number = immediate(f_, o))
        o = integerOperand(static_cast<int32_t>(*number), o.join);
      else if (!way.isPack && (way.halves >> (k - first) & 1) != 0)
        o = registerOperand(lowerHalf(o.reg(), id), Role::Use, o.join);
    }
    f_[id].payload = module_.synthOpcode(way.opcode).value;
    f_.setOperands(id, operands);
    f_.touch(id);
    if (way.isArithmetic) context_.count("narrowed");
  }

  // What `at` reads of a register that is narrow, or of one that stays.
  RegId lowerHalf(RegId r, InstrId at) {
    if (isNarrow_[r.value]) return half(r);
    const RegId low = f_.makeRegister(ScalarType::b32);
    f_.insert(at, module_.synthOpcode(SynthOpcode::CvtU32U64),
              std::vector<Operand>{registerOperand(low, Role::Def), registerOperand(r, Role::Use, Join::Comma)});
    return low;
  }

  // A conversion of the lower half, or an access through it.
  void readHalves(InstrId id) {
    const bool converts = isNarrowing(id);
    bool isChanged = false;
    const std::size_t first = f_[id].firstOperand, count = f_[id].operandCount;
    for (std::size_t k = 0; k < count; ++k) {
      Operand& o = f_.operands[first + k];
      if (!o.isRegister() || !o.reads() || o.writes() || !isNarrow_[o.payload]) continue;
      o.payload = half(o.reg()).value;
      isChanged = true;
    }
    if (!isChanged) return;
    if (converts) f_[id].payload = module_.synthOpcode(SynthOpcode::MovB32).value;
    f_.touch(id);
  }

  // After an instruction that writes narrow registers in another way: what they hold goes to their halves. It has no guard: a guarded one
  // also reads what it writes, and so keeps its register as it is.
  void follow(InstrId id) {
    std::vector<RegId> written;
    for (const Operand& o : f_.operandsOf(f_[id]))
      if (o.isRegister() && o.writes() && isNarrow_[o.payload]) written.push_back(o.reg());
    for (const RegId r : written)
      f_.insert(
          f_[id].next, module_.synthOpcode(SynthOpcode::CvtU32U64),
          std::vector<Operand>{registerOperand(half(r), Role::Def), registerOperand(r, Role::Use, Join::Comma)});
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  std::vector<bool> isNarrow_;  // by RegId: whether only the lower half is needed
  std::vector<RegId> narrow_;   // by RegId: the register of 32 bits
  MissedRemarks missed_;
};

}  // namespace

bool demandedBits(Function& f, PassContext& context) {
  return context.costs().add64 <= 1 && DemandedBits(f, context).run();
}

}  // namespace ptxopt
