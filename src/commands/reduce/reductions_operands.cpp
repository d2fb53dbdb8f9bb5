// Operands: registers to literals or to each other, immediates towards zero.
#include <bit>
#include <cmath>

#include "reduce/literals.h"
#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

// Calls `visit(f, id, index, group)` for each operand of each instruction, the guard and implicit ones left out;
// group is Memory or Paren inside an address or an argument list, otherwise Sink.
template <typename Visit>
void forEachOperand(Edit& edit, Visit visit) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    const Instruction i = f[id];
    std::size_t groupEnd = 0;
    OperandKind group = OperandKind::Sink;
    for (std::size_t k = firstAfterGuard(i); k < i.operandCount; ++k) {
      const Operand o = f.operandsOf(f[id])[k];
      if (k >= groupEnd) group = OperandKind::Sink;
      if (o.kind == OperandKind::Memory || o.kind == OperandKind::Paren) {
        group = o.kind;
        groupEnd = k + 1 + o.inside();
      }
      if (!o.is(Operand::Implicit)) visit(f, id, k, group);
    }
  });
}

void put(Function& f, InstrId id, std::size_t index, Operand now) {
  Operand& o = f.operandsOf(f[id])[index];
  now.join = o.join;
  o = now;
  f.touch(id);
}

bool hasSelector(const Function& f, InstrId id, std::size_t index) {
  const auto operands = f.operandsOf(f[id]);
  return index + 1 < operands.size() && operands[index + 1].kind == OperandKind::Selector;
}

void operandsTo(Edit& edit, Choices& choices, int value) {
  forEachOperand(edit, [&](Function& f, InstrId id, std::size_t k, OperandKind group) {
    const Operand o = f.operandsOf(f[id])[k];
    const OpcodeForm form = edit.module.form(f[id]);
    if (group != OperandKind::Sink || form.is(effect::Call) || hasSelector(f, id, k)) return;
    std::optional<LiteralKind> kind;
    switch (o.kind) {
      case OperandKind::Register:
        if (o.role == Role::Use) kind = literalFor(form, f.registers[o.payload]);
        break;
      case OperandKind::SpecialRegister:
      case OperandKind::Symbol:
      case OperandKind::Variable:
      case OperandKind::Builtin: kind = LiteralKind::Integer; break;
      default: break;
    }
    if (kind && choices.take()) put(f, id, k, literal(edit, f, *kind, value));
  });
}

// An immediate as a number.
std::optional<double> valueOf(const Function& f, const Operand& o) {
  switch (o.kind) {
    case OperandKind::Integer: return static_cast<int32_t>(o.payload);
    case OperandKind::WideInteger:
      return o.is(Operand::Unsigned) ? static_cast<double>(f.constants[o.payload])
                                     : static_cast<double>(static_cast<int64_t>(f.constants[o.payload]));
    case OperandKind::Float32: return std::bit_cast<float>(o.payload);
    case OperandKind::Float64:
    case OperandKind::Decimal: return std::bit_cast<double>(f.constants[o.payload]);
    default: return std::nullopt;
  }
}

LiteralKind literalKindOfImmediate(const Operand& o) {
  return o.kind == OperandKind::Float32                                     ? LiteralKind::Float32
         : o.kind == OperandKind::Float64 || o.kind == OperandKind::Decimal ? LiteralKind::Float64
                                                                            : LiteralKind::Integer;
}

// For instructions, outside addresses: offsets have a reduction of their own.
template <typename Change>
void changeImmediates(Edit& edit, Choices& choices, Change change) {
  forEachOperand(edit, [&](Function& f, InstrId id, std::size_t k, OperandKind group) {
    const Operand o = f.operandsOf(f[id])[k];
    if (group == OperandKind::Memory) return;
    const std::optional<double> value = valueOf(f, o);
    if (!value) return;
    change(f, id, k, o, *value, choices);
  });
}

void immediatesTo(Edit& edit, Choices& choices, int wanted) {
  changeImmediates(edit, choices,
                   [&](Function& f, InstrId id, std::size_t k, const Operand& o, double value, Choices& c) {
                     const bool isSimple = (value == 0 && !std::signbit(value)) || value == 1;
                     if ((wanted == 0 ? value == 0 && !std::signbit(value) : isSimple) || !c.take()) return;
                     put(f, id, k, literal(edit, f, literalKindOfImmediate(o), wanted));
                   });
}

}  // namespace

void operandsToZero(Edit& edit, Choices& choices) { operandsTo(edit, choices, 0); }
void operandsToOne(Edit& edit, Choices& choices) { operandsTo(edit, choices, 1); }

// A register to the first one of its class that the same instruction reads.
void operandsToFirst(Edit& edit, Choices& choices) {
  forEachOperand(edit, [&](Function& f, InstrId id, std::size_t k, OperandKind) {
    const auto operands = f.operandsOf(f[id]);
    const Operand o = operands[k];
    if (!o.isRegister() || o.role != Role::Use || hasSelector(f, id, k)) return;
    const Register& reg = f.registers[o.payload];
    for (std::size_t first = firstAfterGuard(f[id]); first < k; ++first) {
      const Operand& other = operands[first];
      if (!other.isRegister() || other.role != Role::Use || hasSelector(f, id, first)) continue;
      const Register& otherReg = f.registers[other.payload];
      if (otherReg.registerClass() != reg.registerClass() || otherReg.lanes != reg.lanes) continue;
      if (other.payload != o.payload && choices.take()) {
        Operand now = o;
        now.payload = other.payload;
        put(f, id, k, now);
      }
      return;
    }
  });
}

void immediatesToZero(Edit& edit, Choices& choices) { immediatesTo(edit, choices, 0); }
void immediatesToOne(Edit& edit, Choices& choices) { immediatesTo(edit, choices, 1); }

void halveImmediates(Edit& edit, Choices& choices) {
  changeImmediates(
      edit, choices, [&](Function& f, InstrId id, std::size_t k, const Operand& o, double value, Choices& c) {
        if (std::abs(value) < 2 || literalKindOfImmediate(o) != LiteralKind::Integer || !c.take()) return;
        Operand now = o;
        if (o.kind == OperandKind::Integer) {
          now.payload = static_cast<uint32_t>(static_cast<int32_t>(o.payload) / 2);
        } else {
          const uint64_t bits = f.constants[o.payload];
          const uint64_t half =
              o.is(Operand::Unsigned) ? bits / 2 : static_cast<uint64_t>(static_cast<int64_t>(bits) / 2);
          now = edit.constant64(f, OperandKind::WideInteger, half);
          now.flags = static_cast<uint8_t>(o.flags & Operand::Hex);
        }
        put(f, id, k, now);
      });
}

// `[%rd1+8]` to `[%rd1]`
void dropOffsets(Edit& edit, Choices& choices) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    const auto operands = f.operandsOf(f[id]);
    std::vector<Operand> now;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      now.push_back(operands[k]);
      if (operands[k].kind != OperandKind::Memory || operands[k].inside() != 2) continue;
      const Operand& offset = operands[k + 2];
      if (offset.kind != OperandKind::Integer || (offset.join != Join::Plus && offset.join != Join::Minus))
        continue;
      if (!choices.take()) continue;
      now.back().payload = 1;
      now.push_back(operands[k + 1]);
      k += 2;
    }
    if (now.size() != operands.size()) edit.setOperands(f, id, now);
  });
}

}  // namespace ptxopt::reduce
