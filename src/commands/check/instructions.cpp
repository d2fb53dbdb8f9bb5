// Opcodes, their types, and their operands, by signatures.def. An opcode without a row, and an operand that is neither a plain
// register nor an address, are not looked at.
#include <fmt/format.h>

#include "check/checkers.h"
#include "ir/signatures.h"

namespace ptxopt::check {
namespace {

using OperandSpan = std::span<const Operand>;

class InstructionChecker {
 public:
  InstructionChecker(const Module& module, const Function& f, Findings& findings)
      : module_(module), f_(f), findings_(findings) {}

  void check(const Instruction& i) {
    const OpcodeForm& form = module_.form(i);
    at_ = i.sourceBegin;
    opcode_ = module_.printedOpcode(i);
    if (form.row == nullptr) {
      // The table has all opcodes up to this version.
      if (module_.versionMajor * 10 + module_.versionMinor <= 95)
        add(CheckId::UnknownOpcode, fmt::format("there is no opcode '{}'", opcode_));
      return;
    }
    if (const std::string_view missing = missingWord(form); !missing.empty())
      return add(CheckId::OpcodeType, fmt::format("'{}' does not say {}", opcode_, missing));
    const Signature* signature = signatureOf(form);
    if (signature == nullptr) return;
    if (!signature->takes(form.type)) {
      add(CheckId::OpcodeType, fmt::format("'{}' has no form of type .{}", form.row->base(), info(form.type).name));
      return;
    }
    const std::vector<OperandSpan> operands = topLevel(i);
    if (operands.size() < signature->least() || operands.size() > signature->most()) {
      add(CheckId::OperandCount, fmt::format("'{}' has {} operand{}, not {}", opcode_, signature->least(),
                                             signature->least() == 1 ? "" : "s", operands.size()));
      return;
    }
    for (std::size_t n = 0; n < operands.size(); ++n) checkOperand(form, *signature->letter(n), operands[n]);
  }

 private:
  void add(CheckId check, std::string message) { findings_.push_back({check, at_, std::move(message)}); }

  std::vector<OperandSpan> topLevel(const Instruction& i) const {
    std::vector<OperandSpan> found;
    const OperandSpan all = f_.operandsOf(i);
    for (std::size_t at = 0; at < all.size();) {
      const Operand& o = all[at];
      const std::size_t length = 1 + o.inside();
      if (!o.is(Operand::Guard) && !(o.isRegister() && o.is(Operand::Implicit))) {
        if (found.empty() || o.join == Join::Comma)
          found.push_back(all.subspan(at, length));
        else
          found.back() = {found.back().data(), found.back().size() + length};
      }
      at += length;
    }
    return found;
  }

  void checkOperand(const OpcodeForm& form, char letter, OperandSpan operand) {
    if (letter == 'x') return;
    if (letter == 'a') return checkAddress(form, operand);
    if (operand[0].kind == OperandKind::Vector && (form.op == Op::Ld || form.op == Op::St || form.op == Op::Mov))
      return checkVector(form, operand.subspan(1));
    if (operand.size() != 1 || !operand[0].isRegister() || operand[0].is(Operand::Compound)) return;
    const Register& r = f_.registers[operand[0].payload];
    if (r.lanes != 1) return;
    const bool isSource = letter == 's' || letter == 'S';
    const bool mayBeWider = letter == 'T' || letter == 'S';
    ScalarType wanted = isSource ? form.sourceType : form.type;
    if (letter == 'p') wanted = ScalarType::pred;
    if (letter == 'u') wanted = ScalarType::u32;
    if (letter == 'w') wanted = info(form.type).bits == 16 ? ScalarType::u32 : ScalarType::u64;
    if (!takesRegister(wanted, r.type, mayBeWider)) addUnfit(wanted, r);
  }

  // For a load, a store, or a move. The elements are of one width, where ptxas takes a predicate for 32 bits; one of
  // bits makes the others fit.
  void checkVector(const OpcodeForm& form, OperandSpan inside) {
    unsigned bits = 0;
    bool hasBits = false;
    const Register* unfit = nullptr;
    std::size_t elements = 0;
    for (std::size_t at = 0; at < inside.size(); at += 1 + inside[at].inside()) {
      const Operand& o = inside[at];
      elements += at == 0 || o.join == Join::Comma;
      if (!o.isRegister()) continue;
      const Register& r = f_.registers[o.payload];
      if (r.lanes != 1 || o.is(Operand::Compound)) return;
      const unsigned its = r.type == ScalarType::pred ? 32 : info(r.type).bits;
      if (bits != 0 && its != bits)
        return add(CheckId::OperandType,
                   fmt::format("the registers of a vector are of different widths: {} has {} bits",
                               module_.text(r.name), its));
      bits = its;
      hasBits |= isBitsType(r.type);
      if (!takesRegister(form.type, r.type, true)) unfit = &r;
    }
    if (form.op == Op::Mov || form.space == StateSpace::Param) return;
    if (elements != form.vector)
      return add(CheckId::OperandCount, fmt::format("'{}' has {} element{}, not {}", opcode_, form.vector,
                                                    form.vector == 1 ? "" : "s", elements));
    if (unfit != nullptr && (bits < info(form.type).bits || !hasBits)) addUnfit(form.type, *unfit);
  }

  void addUnfit(ScalarType wanted, const Register& r) {
    add(CheckId::OperandType, fmt::format("'{}' wants a register for .{} where {} is one of .{}", opcode_,
                                          info(wanted).name, module_.text(r.name), info(r.type).name));
  }

  // The space that a name lies in; None where that is not one that accesses name.
  StateSpace spaceOf(const Operand& o) const {
    const Variable* v = nullptr;
    if (o.kind == OperandKind::Variable) v = &f_.variables[o.payload];
    if (o.kind == OperandKind::Symbol && module_.symbols[o.payload].kind == SymbolKind::Variable)
      v = &module_.variables[module_.symbols[o.payload].index];
    if (v == nullptr) return StateSpace::None;
    switch (module_.declarationForms[v->form].space) {
      case DeclaredSpace::Global: return StateSpace::Global;
      case DeclaredSpace::Shared: return StateSpace::Shared;
      case DeclaredSpace::Local: return StateSpace::Local;
      case DeclaredSpace::Const: return StateSpace::Const;
      default: return StateSpace::None;
    }
  }

  void checkAddress(const OpcodeForm& form, OperandSpan operand) {
    if (operand[0].kind != OperandKind::Memory || operand.size() < 2) return;
    if (const StateSpace space = spaceOf(operand[1]); space != StateSpace::None && form.space != StateSpace::None) {
      const bool isShared = form.space == StateSpace::SharedCta || form.space == StateSpace::SharedCluster;
      if ((isShared ? StateSpace::Shared : form.space) != space)
        add(CheckId::OperandType, fmt::format("'{}' does not access the memory that the name is of", opcode_));
      return;
    }
    if (!operand[1].isRegister()) return;
    const Register& r = f_.registers[operand[1].payload];
    if (r.lanes != 1 || isAddressType(r.type)) return;
    add(CheckId::OperandType,
        fmt::format("the register {} of type .{} is not an address", module_.text(r.name), info(r.type).name));
  }

  static const ScalarTypeInfo& info(ScalarType type) { return ptxopt::info(type); }

  const Module& module_;
  const Function& f_;
  Findings& findings_;
  std::size_t at_ = 0;
  std::string_view opcode_;
};

}  // namespace

void checkInstructions(const Module& module, Findings& findings) {
  for (const Function& f : module.functions) {
    InstructionChecker checker(module, f, findings);
    for (const InstrId id : f)
      if (f[id].isInstruction()) checker.check(f[id]);
  }
}

}  // namespace ptxopt::check
