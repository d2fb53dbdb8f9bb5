// Statements of function bodies: dropped, or turned into something simpler.
#include <algorithm>

#include "ir/opcode_words.h"
#include "reduce/literals.h"
#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

// The only register that the instruction writes, as its whole first operand; nullptr if it is not so.
const Operand* onlyResult(const Function& f, const Instruction& i) {
  const auto operands = f.operandsOf(i);
  const Operand* result = nullptr;
  for (const Operand& o : operands) {
    if (!o.isRegister() || !o.writes() || o.is(Operand::Implicit)) continue;
    if (result != nullptr) return nullptr;
    result = &o;
  }
  const std::size_t at = firstAfterGuard(i);
  if (result == nullptr || result != operands.data() + at || f.registers[result->payload].lanes != 1)
    return nullptr;
  const std::size_t next = afterEntry(operands, at);
  const bool whole = next == at + 1 && (next == operands.size() || operands[next].is(Operand::Implicit) ||
                                        operands[next].join == Join::Comma);
  return whole ? result : nullptr;
}

// The first register of the same class that the instruction reads, outside its guard; nullptr if there is none.
const Operand* firstSource(const Function& f, const Instruction& i, const Register& like) {
  const auto operands = f.operandsOf(i);
  for (std::size_t k = firstAfterGuard(i); k < operands.size(); k = k + 1) {
    const Operand& o = operands[k];
    if (!o.isRegister() || o.role != Role::Use || o.is(Operand::Implicit)) continue;
    if (k + 1 < operands.size() && operands[k + 1].kind == OperandKind::Selector) continue;
    const Register& reg = f.registers[o.payload];
    if (reg.lanes == 1 && reg.registerClass() == like.registerClass()) return &o;
  }
  return nullptr;
}

std::string_view moveFor(RegisterClass c) {
  switch (c) {
    case RegisterClass::Pred: return "mov.pred";
    case RegisterClass::B16: return "mov.b16";
    case RegisterClass::B32: return "mov.b32";
    case RegisterClass::B64: return "mov.b64";
    case RegisterClass::F32: return "mov.f32";
    case RegisterClass::F64: return "mov.f64";
    default: return {};
  }
}

void replaceByMove(Edit& edit, Choices& choices, bool ofSource) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    const Instruction i = f[id];
    const OpcodeForm& form = edit.module.form(i);
    if (form.op == Op::Mov || form.is(effect::kControl)) return;
    const Operand* result = onlyResult(f, i);
    if (result == nullptr) return;
    const Register& reg = f.registers[result->payload];
    const std::string_view move = moveFor(reg.registerClass());
    if (move.empty()) return;
    std::vector<Operand> operands(f.operandsOf(i).begin(), f.operandsOf(i).begin() + 1);
    if (i.is(Instruction::Guarded)) operands.push_back(*result);
    operands.back().join = Join::None;
    Operand source;
    if (ofSource) {
      const Operand* first = firstSource(f, i, reg);
      if (first == nullptr) return;
      source = registerOperand(first->reg(), Role::Use);
    }
    if (!choices.take()) return;
    if (!ofSource) source = literal(edit, f, literalKindOfClass(reg.registerClass()), 0);
    source.join = Join::Comma;
    operands.push_back(source);
    edit.setOperands(f, id, operands);
    edit.setOpcode(f, id, move);
  });
}

// Whether a word is one that most opcodes can do without. The others make an opcode what it is.
bool isOptional(const OpcodeFields& word) {
  switch (word.present) {
    case field::Flag:
      return word.has(ModifierFlag::FlushToZero) || word.has(ModifierFlag::Saturate) ||
             word.has(ModifierFlag::NonCoherent) || word.has(ModifierFlag::CarryOut) ||
             word.has(ModifierFlag::Uniform);
    case field::Order: return word.order == MemoryOrder::Volatile || word.order == MemoryOrder::Weak;
    case field::Lanes: return word.lanes == LaneSelection::Uniform;
    case field::Cache:
    case field::CacheHint: return true;
    default: return false;
  }
}

}  // namespace

// Everything but labels, declarations and braces.
void dropStatements(Edit& edit, Choices& choices) {
  edit.forEachStatement([&](Function& f, InstrId id) {
    const InstrKind kind = f[id].kind;
    if (kind == InstrKind::Label || kind == InstrKind::Declaration || kind == InstrKind::ScopeOpen ||
        kind == InstrKind::ScopeClose)
      return;
    if (choices.take()) f.erase(id);
  });
}

void dropUnusedLabels(Edit& edit, Choices& choices) {
  for (Function& f : edit.module.functions) {
    std::vector<bool> used(f.labels.size());
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.kind == OperandKind::Label) used[o.payload] = true;
    for (const InstrId id : f)
      if (f[id].kind == InstrKind::Label && !used[f[id].payload] && choices.take()) f.erase(id);
  }
}

// A pair of braces, not what is between.
void dropScopes(Edit& edit, Choices& choices) {
  for (Function& f : edit.module.functions) {
    std::vector<InstrId> open;
    std::vector<std::pair<InstrId, InstrId>> pairs;
    for (const InstrId id : f) {
      if (f[id].kind == InstrKind::ScopeOpen) open.push_back(id);
      if (f[id].kind != InstrKind::ScopeClose || open.empty()) continue;
      pairs.emplace_back(open.back(), id);
      open.pop_back();
    }
    for (const auto& [begin, end] : pairs) {
      if (!choices.take()) continue;
      f.erase(begin);
      f.erase(end);
    }
  }
}

void dropGuards(Edit& edit, Choices& choices) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    if (f[id].is(Instruction::Guarded) && choices.take()) edit.dropGuard(f, id);
  });
}

// Readers of the result read the first source of the same class instead, and the instruction goes.
void bypass(Edit& edit, Choices& choices) {
  for (Function& f : edit.module.functions) {
    std::vector<RegId> instead(f.registers.size());
    bool any = false;
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      if (!i.isInstruction() || i.is(Instruction::Guarded)) continue;
      const Operand* result = onlyResult(f, i);
      if (result == nullptr) continue;
      const Operand* source = firstSource(f, i, f.registers[result->payload]);
      if (source == nullptr || source->payload == result->payload || !choices.take()) continue;
      instead[result->payload] = source->reg();
      f.erase(id);
      any = true;
    }
    if (!any) continue;
    for (const InstrId id : f) {
      for (Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister() || o.role != Role::Use || o.is(Operand::Implicit)) continue;
        // A chain of bypassed instructions; in a loop it may be a circle.
        RegId reg = o.reg();
        for (int steps = 0; instead[reg.value].valid() && steps < 1000; ++steps) reg = instead[reg.value];
        if (reg == o.reg()) continue;
        o.payload = reg.value;
        f.touch(id);
      }
    }
  }
}

void replaceByMoveOfZero(Edit& edit, Choices& choices) { replaceByMove(edit, choices, false); }
void replaceByMoveOfSource(Edit& edit, Choices& choices) { replaceByMove(edit, choices, true); }

// `ld.v4 {a, b, c, d}` to `ld.v2 {a, b}`, and that to `ld a`.
void shortenVectors(Edit& edit, Choices& choices) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    const Instruction i = f[id];
    const OpcodeForm& form = edit.module.form(i);
    if (form.vector < 2) return;
    std::vector<Operand> operands(f.operandsOf(i).begin(), f.operandsOf(i).end());
    const auto isVector = [&](const Operand& o) {
      return o.kind == OperandKind::Vector && o.inside() == form.vector;
    };
    const auto group = std::find_if(operands.begin(), operands.end(), isVector);
    if (group == operands.end() || std::count_if(operands.begin(), operands.end(), isVector) != 1) return;
    if (!choices.take()) return;
    const uint8_t half = form.vector / 2;
    const auto at = group - operands.begin();
    operands.erase(operands.begin() + at + 1 + half, operands.begin() + at + 1 + form.vector);
    if (half == 1) {
      operands[static_cast<std::size_t>(at) + 1].join = operands[static_cast<std::size_t>(at)].join;
      operands.erase(operands.begin() + at);
    } else {
      operands[static_cast<std::size_t>(at)].payload = half;
    }
    OpcodeWords words(edit.module, i);
    words.setVector(half);
    edit.setOperands(f, id, operands);
    edit.setOpcode(f, id, words.spelling());
  });
}

void dropModifiers(Edit& edit, Choices& choices) {
  edit.forEachInstruction([&](Function& f, InstrId id) {
    OpcodeWords words(edit.module, f[id]);
    bool any = false;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (!isOptional(words.fields(k)) || !choices.take()) continue;
      words.drop(k);
      any = true;
    }
    if (any) edit.setOpcode(f, id, words.spelling());
  });
}

}  // namespace ptxopt::reduce
