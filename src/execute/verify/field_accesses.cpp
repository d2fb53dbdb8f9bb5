#include <algorithm>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

// Whether of all that an address rests on the field is what points: no term of a sum, or the only one that is not
// loaded (what is loaded and added is an offset), or through cvta.
bool isBase(const FieldFacts& facts, const FieldSet& from, uint32_t field) {
  const auto others =
      std::count_if(from.begin(), from.end(), [&](const auto& x) { return !facts.fields.isLoaded(x.first); });
  return facts.viaCvta.contains(field) || !from.at(field).isTerm || (!facts.fields.isLoaded(field) && others == 1);
}

// What an access is to: the instruction's type, or the type of numbers that its values are used as.
ScalarType elementOf(const FunctionFacts& s, ScalarType type, std::span<const Operand> o, const Operand* base) {
  for (const Operand& x : o) {
    if (!x.isRegister() || &x == base) continue;
    for (const ScalarType number : {ScalarType::f64, ScalarType::f32, ScalarType::f16x2, ScalarType::bf16x2,
                                    ScalarType::f16, ScalarType::bf16})
      if (info(type).bits == info(number).bits && s.usedAs[x.payload].contains(number)) type = number;
  }
  return type;
}

}  // namespace

void findAccesses(const FieldContext& context, const Function& f, FieldFacts& facts) {
  const FunctionFacts& s = facts.functions.at(&f);
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = context.module.form(i);
    const auto o = withoutGuard(f, i);
    for (std::size_t k = 0; k < o.size(); ++k) {
      if (o[k].kind != OperandKind::Memory) continue;
      const Operand* const base = addressOf(o, k).base;
      if (base == nullptr || noteImage(context, s, form, *base, facts)) continue;
      const Variable* const variable = context.sharedVariable(*base);
      if (variable == nullptr && !base->isRegister()) continue;
      const FieldSet from =
          variable != nullptr
              ? FieldSet{{facts.fields.ofVariable(*variable, context.module.text(variable->name)), {}}}
              : s.registers[base->payload];
      const ScalarType element = elementOf(s, form.type, o, base);
      for (const auto& [field, spot] : from) {
        ++facts.elements[field][element];
        (isBase(facts, from, field) ? facts.sure : facts.maybe).insert(field);
      }
    }
  }
}

}  // namespace ptxopt::verify
