// fold-offsets: the constant that a pointer of a loop begins with goes into the offsets of its accesses.
//
// What:       compilers let a pointer begin in the middle of what a round accesses: p = base + 16 before the loop, [p-16] to [p+12] in it.
//             ptxas folds a constant into an offset, but not across the head of a loop: it adds the constant before. [base] to [base+28] need
//             no addition.
// Algorithm:  pointers that only addresses and their own steps read. Whatever else writes one adds the same constant to a register that
//             nothing else reads. Each value of the pointer then becomes less by the constant, and each offset more.
// Invariants: the same addresses. Of a guarded step too: what is not done leaves the difference as it is.
// Left out:   a base that something else reads, which stays in a register of its own beside the pointer: a copy takes the place of the addition.
// Targets:    all. (Observed on ptxas 13.0 and 13.5: sm_75 to sm_121.)
// Cost:       linear in the operands.
// Declines:   by pointer: other-use (something else reads it), other-start (it begins with several constants, or with what is no such sum),
//             guarded, base-read (something else reads the base), space (memory that is neither global nor generic), offset (beyond what an
//             access takes), register-class.
#include <optional>
#include <vector>

#include "ir/register_types.h"
#include "passes/loops/address_costs.h"
#include "passes/loops/address_edits.h"
#include "passes/loops/address_opcodes.h"
#include "passes/loops/address_operands.h"
#include "passes/util/insert_copy.h"
#include "passes/util/missed_remarks.h"
#include "passes/util/unguarded.h"

namespace ptxopt {
namespace {

constexpr unsigned kMostRounds = 4;  // for bases that begin with constants themselves

// A sum of 64 bits with a number: result, register, and what is added.
struct ConstantSum {
  RegId result, base;
  int64_t number;
};

std::optional<ConstantSum> constantSum(const Module& module, const Function& f, InstrId id) {
  const OpcodeForm& form = module.form(f[id]);
  const bool isSubtracted = isSubtraction(form);
  if (!isSubtracted && !isAddition(form)) return std::nullopt;
  const auto operands = unguarded(f, id);
  if (operands.size() != 3 || !operands[0].isRegister() || !isIntegerRegister(f, operands[1], 64))
    return std::nullopt;
  const auto number = immediate(f, operands[2]);
  if (!number) return std::nullopt;
  return ConstantSum{operands[0].reg(), operands[1].reg(), static_cast<int64_t>(isSubtracted ? -*number : *number)};
}

// The pointer that a sum moves on: it is also a summand, once.
RegId steppedBy(const Module& module, const Function& f, InstrId id) {
  const OpcodeForm& form = module.form(f[id]);
  const bool isSubtracted = isSubtraction(form), isProduct = isExactlyWide(form, Op::Mad);
  if (!isSubtracted && !isProduct && !isAddition(form)) return {};
  const auto operands = unguarded(f, id);
  if (operands.size() != (isProduct ? 4u : 3u) || !operands[0].isRegister()) return {};
  std::size_t same = 0, last = 0;
  for (std::size_t k = 1; k < operands.size(); ++k)
    if (operands[k].isRegister() && operands[k].payload == operands[0].payload) {
      ++same;
      last = operands[k].flags == 0 ? k : 0;
    }
  const bool isSummand = isProduct ? last == 3 : last == 1 || (last == 2 && !isSubtracted);
  return same == 1 && isSummand ? operands[0].reg() : RegId();
}

// A look at what many functions lack: a register that begins with a number and moves on.
bool hasPointer(const Module& module, const Function& f) {
  enum : uint8_t { Starts = 1, Steps = 2 };
  std::vector<uint8_t> does(f.registers.size());
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const Op op = module.form(f[id]).op;
    if (op != Op::Add && op != Op::Sub && op != Op::Mad) continue;
    const auto operands = unguarded(f, id);
    if (operands.size() < 3 || !operands[0].isRegister()) continue;
    uint8_t& of = does[operands[0].payload];
    if (steppedBy(module, f, id).valid())
      of = of | Steps;
    else if (constantSum(module, f, id))
      of = of | Starts;
    if (of == (Starts | Steps)) return true;
  }
  return false;
}

class OffsetFolding {
 public:
  OffsetFolding(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        reads_(f.registers.size()),
        writer_(f.registers.size()),
        pointers_(f.registers.size()) {}

  // Whether a pointer now begins with another constant, since a base did.
  bool hasNewStart() const { return hasNewStart_; }

  bool run() {
    findPointers();
    for (const InstrId id : f_)
      if (f_[id].isInstruction()) look(id);
    for (uint32_t r = 0; r < pointers_.size(); ++r)
      if (pointers_[r].isStepped && !pointers_[r].starts.empty()) decide(RegId(r));
    missed_.tell(context_, "pointer");
    if (chosen_.empty()) return false;
    for (const InstrId id : f_)
      if (f_[id].isInstruction()) editAccesses(id);
    edits_.apply(f_);
    for (const RegId p : chosen_)
      for (const InstrId start : pointers_[p.value].starts) dropConstant(start);
    return true;
  }

 private:
  struct Pointer {
    bool isStepped = false;
    bool isChosen = false;
    std::string_view why;         // it is not folded
    std::vector<InstrId> starts;  // sums with a number
    int64_t number = 0;
    int64_t least = 0, most = 0;  // offsets of accesses
  };

  static void decline(Pointer& p, std::string_view why) {
    if (p.why.empty()) p.why = why;
  }

  // What begins with a number and moves on. The writer of a register is none where there are several.
  void findPointers() {
    std::vector<uint8_t> writes(f_.registers.size());
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction()) continue;
      for (const Operand& o : f_.operandsOf(f_[id])) {
        if (!o.isRegister()) continue;
        if (o.reads()) ++reads_[o.payload];
        if (!o.writes()) continue;
        writer_[o.payload] = writes[o.payload] == 0 ? id : InstrId();
        writes[o.payload] = 1;
      }
      if (const RegId p = steppedBy(module_, f_, id); p.valid()) {
        pointers_[p.value].isStepped = true;
      } else if (const auto sum = constantSum(module_, f_, id); sum && sum->result != sum->base) {
        pointers_[sum->result.value].starts.push_back(id);
        pointers_[sum->result.value].number = sum->number;
      }
    }
  }

  bool isPointer(RegId r) const { return pointers_[r.value].isStepped && !pointers_[r.value].starts.empty(); }

  bool isStart(InstrId id) const {
    const auto sum = constantSum(module_, f_, id);
    return sum && sum->result != sum->base;
  }

  // Notes what speaks against the pointers that an instruction names, and the offsets of its accesses.
  void look(InstrId id) {
    const auto operands = f_.operandsOf(f_[id]);
    const RegId stepped = steppedBy(module_, f_, id);
    addressOperands(module_, f_, f_[id], addresses_);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (!o.isRegister() || !isPointer(o.reg()) || o.reg() == stepped) continue;
      Pointer& p = pointers_[o.payload];
      const auto address = std::ranges::find(addresses_, k, &AddressOperand::operand);
      if (address != addresses_.end()) {
        if (address->space != MemorySpace::Global && address->space != MemorySpace::Generic) decline(p, "space");
        p.least = std::min(p.least, address->immediate);
        p.most = std::max(p.most, address->immediate);
      } else if (o.writes()) {
        if (!isStart(id))
          decline(p, "other-start");
        else if (f_[id].is(Instruction::Guarded))
          decline(p, "guarded");
      } else {
        decline(p, "other-use");
      }
    }
  }

  void decide(RegId r) {
    Pointer& p = pointers_[r.value];
    if (integerBits(f_.registers[r.value]) != 64 || f_.registers[r.value].isParameter) decline(p, "register-class");
    for (const InstrId id : p.starts) {
      const auto sum = constantSum(module_, f_, id);
      if (sum->number != p.number) decline(p, "other-start");
      if (reads_[sum->base.value] != 1) decline(p, "base-read");
    }
    if (p.number < -kMostImmediate || p.number > kMostImmediate || p.least < -kMostImmediate ||
        p.most > kMostImmediate || p.least + p.number < -kMostImmediate || p.most + p.number > kMostImmediate)
      decline(p, "offset");
    if (!p.why.empty()) return missed_.add(p.why);
    p.isChosen = true;
    chosen_.push_back(r);
    context_.count("pointers");
  }

  void editAccesses(InstrId id) {
    addressOperands(module_, f_, f_[id], addresses_);
    for (const AddressOperand& a : addresses_) {
      const RegId r = f_.operandsOf(f_[id])[a.operand].reg();
      const Pointer& p = pointers_[r.value];
      if (p.isChosen)
        edits_.add({.at = id,
                    .operand = a.operand,
                    .reg = r,
                    .immediate = static_cast<int32_t>(a.immediate + p.number),
                    .isAddress = true});
    }
  }

  // pointer = base + number  becomes what makes the base, or a copy.
  void dropConstant(InstrId id) {
    const ConstantSum sum = *constantSum(module_, f_, id);
    if (const InstrId made = makerBefore(sum, id); made.valid()) {
      for (std::size_t k = 0; k < f_[made].operandCount; ++k) {
        Operand& o = f_.operands[f_[made].firstOperand + k];
        if (o.isRegister() && o.writes() && o.reg() == sum.base) o.payload = sum.result.value;
      }
      f_.touch(made);
      hasNewStart_ = hasNewStart_ || isStart(made);
    } else {
      insertCopy(module_, f_, sum.result, sum.base, id);
    }
    f_.erase(id);
  }

  // The instruction that makes the base, where it may as well write the pointer: from there to `id` nothing names the pointer, comes in
  // (a label), leaves, or declares registers.
  InstrId makerBefore(const ConstantSum& sum, InstrId id) {
    const InstrId made = writer_[sum.base.value];
    const Register &base = f_.registers[sum.base.value], &pointer = f_.registers[sum.result.value];
    if (!made.valid() || base.isParameter || base.type != pointer.type || f_[made].is(Instruction::Guarded) ||
        module_.form(f_[made]).op == Op::Call)
      return {};
    InstrId at = f_[id].previous;
    for (uint32_t steps = 0; at.valid() && steps < kMostSteps; ++steps, at = f_[at].previous) {
      if (!f_[at].isInstruction()) return {};
      for (const Operand& o : f_.operandsOf(f_[at]))
        if (o.isRegister() && o.reg() == sum.result) return {};
      if (at == made) return made;
      if (module_.form(f_[at]).is(effect::Branch | effect::IndirectBranch)) return {};
    }
    return {};
  }

  static constexpr uint32_t kMostSteps = 64;

  Function& f_;
  PassContext& context_;
  const Module& module_;
  std::vector<uint32_t> reads_;    // by RegId
  std::vector<InstrId> writer_;    // by RegId: the only one
  std::vector<Pointer> pointers_;  // by RegId
  std::vector<AddressOperand> addresses_;
  AddressEdits edits_;
  std::vector<RegId> chosen_;
  bool hasNewStart_ = false;
  MissedRemarks missed_;
};

}  // namespace

bool foldOffsets(Function& f, PassContext& context) {
  bool isChanged = false;
  for (unsigned round = 0; round < kMostRounds && hasPointer(context.module, f); ++round) {
    OffsetFolding folding(f, context);
    if (!folding.run()) break;
    isChanged = true;
    if (!folding.hasNewStart()) break;
  }
  return isChanged;
}

}  // namespace ptxopt
