// An instruction is a copy, a constant, a pack or unpack, a move of a vector, or a selection; all others are opaque and
// are given only by what they read and write.
#include "passes/coalescing/check_steps.h"

#include <algorithm>

#include "analysis/dataflow/copies.h"

namespace ptxopt::coalescing {
namespace {

bool isConstant(const Operand& o) {
  return (o.kind == OperandKind::Integer || o.kind == OperandKind::WideInteger || o.kind == OperandKind::Float32 ||
          o.kind == OperandKind::Float64) &&
         (o.flags & (Operand::Negated | Operand::Not | Operand::Complement)) == 0;
}

uint64_t valueOf(const Function& f, const Operand& o, unsigned bits) {
  uint64_t value = o.payload;
  if (o.kind == OperandKind::Integer)
    value = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(o.payload)));
  else if (o.kind != OperandKind::Float32)
    value = f.constants[o.payload];
  return bits < 64 ? value & ((uint64_t{1} << bits) - 1) : value;
}

// `mov.b64 d, {x, y}` and back. Each part is a plain register that is as wide as it must be, or `_`.
void readParts(const Function& f, std::span<const Operand> parts, const Operand& whole, unsigned bits,
               CopyStepKind kind, CopyStep& s) {
  if ((parts.size() != 2 && parts.size() != 4) || info(f.registers[whole.payload].type).bits != bits) return;
  std::array<RegId, kMostParts> regs{};
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (parts[k].kind == OperandKind::Sink) continue;
    if (!parts[k].isRegister() || (parts[k].flags & ~Operand::Positive) != 0) return;
    const Register& r = f.registers[parts[k].payload];
    if (r.lanes != 1 || info(r.type).bits * parts.size() != bits) return;
    regs[k] = parts[k].reg();
    if (kind == CopyStepKind::Unpack && std::count(regs.begin(), regs.end(), regs[k]) != 1) return;
  }
  s.kind = kind;
  s.whole = whole.reg();
  s.parts = regs;
  s.count = static_cast<uint32_t>(parts.size());
}

// `mov.v2.b32 {a, b}, {c, d}`. All are plain registers of the type's width; instead of one that is written there may be `_`.
void readMoves(const Function& f, std::span<const Operand> operands, const OpcodeForm& form, CopyStep& s) {
  const std::size_t lanes = form.vector;
  if (lanes > kMostParts || operands.size() != 2 * lanes + 2 || operands[0].inside() != lanes ||
      operands[lanes + 1].inside() != lanes)
    return;
  const auto isPlain = [&](const Operand& o) {
    return o.isRegister() && o.flags == 0 && f.registers[o.payload].lanes == 1 &&
           info(f.registers[o.payload].type).bits == info(form.type).bits;
  };
  CopyStep moves = s;
  for (std::size_t k = 0; k < lanes; ++k) {
    const Operand &to = operands[1 + k], &from = operands[lanes + 2 + k];
    if (to.kind == OperandKind::Sink) continue;
    if (!isPlain(to) || !isPlain(from) || std::ranges::count(moves.parts, to.reg()) != 0) return;
    moves.parts[k] = to.reg();
    moves.sources[k] = from.reg();
  }
  s = moves;
  s.kind = CopyStepKind::Moves;
  s.count = static_cast<uint32_t>(lanes);
}

// `selp.b32 d, a, b, p` of registers.
void readSelect(const Function& f, std::span<const Operand> operands, unsigned bits, CopyStep& s) {
  if (operands.size() != 4 || !operands[3].isRegister() || (operands[3].flags & ~Operand::Not) != 0) return;
  for (const Operand& o : operands.first(3))
    if (!o.isRegister() || o.flags != 0 || f.registers[o.payload].lanes != 1 ||
        info(f.registers[o.payload].type).bits != bits)
      return;
  s.kind = CopyStepKind::Select;
  s.whole = operands[0].reg();
  s.guard = operands[3].reg();
  s.isNot = operands[3].is(Operand::Not);
  s.parts = {operands[1].reg(), operands[2].reg()};
}

}  // namespace

CopyStep readStep(const Module& module, const Function& f, InstrId id) {
  const Instruction& i = f[id];
  CopyStep s{.kind = i.isInstruction() ? CopyStepKind::Opaque : CopyStepKind::None, .id = id};
  if (s.kind == CopyStepKind::None) return s;
  auto operands = f.operandsOf(i);
  if (i.is(Instruction::Guarded)) {
    s.isGuarded = true;
    s.isNot = operands[0].is(Operand::Not);
    s.guard = operands[0].reg();
    operands = operands.subspan(1);
  }
  if (const auto copy = readCopy(module, f, id)) {
    s.kind = CopyStepKind::Move;
    s.whole = copy->to;
    s.parts[0] = copy->from;
    return s;
  }
  const OpcodeForm& form = module.form(i);
  const unsigned bits = info(form.type).bits;
  if (form.op == Op::Selp && !s.isGuarded) readSelect(f, operands, bits, s);
  if (form.op != Op::Mov || operands.size() < 2) return s;
  if (form.vector != 1) {
    if (!s.isGuarded) readMoves(f, operands, form, s);
    return s;
  }
  if (operands.size() == 2 && operands[0].isRegister() && isConstant(operands[1])) {
    s.kind = CopyStepKind::Constant;
    s.whole = operands[0].reg();
    const uint64_t kind = operands[1].kind == OperandKind::WideInteger ? static_cast<uint64_t>(OperandKind::Integer)
                                                                       : static_cast<uint64_t>(operands[1].kind);
    s.constant = {bits, kind, valueOf(f, operands[1], bits)};
    return s;
  }
  if (s.isGuarded) return s;
  if (operands[0].isRegister() && operands[1].kind == OperandKind::Vector)
    readParts(f, operands.subspan(2), operands[0], bits, CopyStepKind::Pack, s);
  else if (operands[0].kind == OperandKind::Vector && operands.back().isRegister())
    readParts(f, operands.subspan(1, operands.size() - 2), operands.back(), bits, CopyStepKind::Unpack, s);
  return s;
}

}  // namespace ptxopt::coalescing
