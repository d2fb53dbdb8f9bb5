// Fields become pointers, handles or scalars by the facts collected; the element of memory is the type used most. They
// are ordered by offset, then fields in memory after those that hold their addresses.
#include <fmt/format.h>

#include <algorithm>

#include "verify/field_facts.h"

namespace ptxopt::verify {
namespace {

bool isFloatType(ScalarType type) { return type == ScalarType::f32 || type == ScalarType::f64; }

bool liesIn(const exec::KernelParameter& p, uint32_t offset) {
  return offset >= p.place.offset && offset < p.place.offset + p.place.bytes;
}

// Parameters that nothing reads still need a value.
void addUnread(const FieldContext& context, FieldFacts& facts) {
  for (const auto& p : context.program.parameters()) {
    bool any = false;
    for (uint32_t k = 0; k < facts.fields.size(); ++k) {
      const Field& x = facts.fields[k];
      any = any || (x.place == Field::Place::Parameter && liesIn(p, x.offset));
    }
    if (any || p.isArray) continue;
    const uint32_t field = facts.fields.inParameters(p.place.offset, p.place.bytes, isFloatType(p.type));
    if (p.isPointer) facts.sure.insert(field);
  }
}

void describeField(const FieldContext& context, FieldFacts& facts, uint32_t k) {
  Field& x = facts.fields[k];
  x.use = facts.handles.contains(k) ? Field::Use::Handle
          : facts.sure.contains(k)  ? Field::Use::Pointer
          : facts.maybe.contains(k) ? Field::Use::MaybePointer
                                    : Field::Use::Scalar;
  unsigned most = 0;
  for (const auto& [type, count] : facts.elements[k])
    if (count > most) {
      most = count;
      x.element = type;
    }
  if (x.place == Field::Place::Variable) x.use = Field::Use::Pointer;
  if (x.place != Field::Place::Parameter) return;
  for (const auto& p : context.program.parameters()) {
    if (!liesIn(p, x.offset)) continue;
    x.parameter = p.isArray ? fmt::format("{}+{}", p.name, x.offset - p.place.offset) : p.name;
    x.isFloat = x.isFloat || isFloatType(p.type);
  }
}

// Those in parameters by offset, then what slots need, holders first.
std::vector<uint32_t> orderOf(const FieldContext& context, const FieldFacts& facts,
                              const std::vector<Slot>& slots) {
  const FieldTable& fields = facts.fields;
  std::vector<uint32_t> order;
  for (uint32_t k = 0; k < fields.size(); ++k)
    if (fields[k].place == Field::Place::Parameter) order.push_back(k);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return fields[a].offset < fields[b].offset; });
  std::set<uint32_t> needed;
  for (const Slot& slot : slots) needed.insert({slot.holder, slot.target});
  for (const auto& [variable, field] : fields.variables())
    if (context.isFilledByHost(*variable)) needed.insert(field);
  for (const uint32_t k : needed)
    if (fields[k].place != Field::Place::Parameter) order.push_back(k);
  return order;
}

}  // namespace

KernelUse resultOf(const FieldContext& context, FieldFacts& facts) {
  addUnread(context, facts);
  KernelUse use;
  use.shape = facts.shape;
  use.shape.bareShared = facts.usesShared && !facts.shape.dynamicShared && context.program.staticShared() == 0;
  use.constants.assign(facts.constants.begin(), facts.constants.end());
  use.literals.integers.assign(facts.integers.begin(), facts.integers.end());
  use.literals.numbers.assign(facts.numbers.begin(), facts.numbers.end());
  use.slots = joinSlots(facts);
  for (uint32_t k = 0; k < facts.fields.size(); ++k) describeField(context, facts, k);
  std::map<uint32_t, uint32_t> numberOf;
  for (const uint32_t k : orderOf(context, facts, use.slots)) {
    numberOf[k] = static_cast<uint32_t>(use.fields.size());
    use.fields.push_back(facts.fields[k]);
  }
  for (Slot& slot : use.slots) {
    slot.holder = numberOf[slot.holder];
    slot.target = numberOf[slot.target];
    Field& target = use.fields[slot.target];
    if (target.place == Field::Place::Memory && target.parameter.empty())
      target.parameter = fmt::format("*({}{:+}{})", use.fields[slot.holder].parameter, slot.at,
                                     slot.stride == 0 ? "" : fmt::format("+{}k", slot.stride));
  }
  use.images = facts.images;
  for (Image& image : use.images) image.field = image.variable.empty() ? numberOf[image.field] : 0;
  return use;
}

}  // namespace ptxopt::verify
