// A table from spellings to fields is made of modifiers.def. Two fields may share a spelling; the operation decides
// which is meant, and a word that is unknown or sets a field twice counts as Other.
#include "ir/opcode_fields.h"

#include <string_view>

#include "ir/opcodes.h"
#include "support/table_index.h"

namespace ptxopt {
namespace {

// In the order of the bits in opcode_fields.h.
enum class Field : uint8_t {
  Space,
  Order,
  Scope,
  Cache,
  Half,
  Rounding,
  Comparison,
  Operation,
  Lanes,
  Flag,
  Geometry
};

// The values of each field, by its name in modifiers.def.
namespace values {
using Space = StateSpace;
using Order = MemoryOrder;
using Scope = MemoryScope;
using Cache = CacheOperator;
using Half = ProductHalf;
using Rounding = RoundingMode;
using Comparison = ComparisonOperator;
using Operation = CombineOperation;
using Lanes = LaneSelection;
using Flag = ModifierFlag;
using Geometry = ptxopt::Geometry;
}  // namespace values

struct Modifier {
  std::string_view spelling;
  Field field;
  uint8_t value;
};

constexpr Modifier kModifiers[] = {
#define PTX_MODIFIER(field, value, spelling) {spelling, Field::field, static_cast<uint8_t>(values::field::value)},
#include "ir/modifiers.def"
};

// A spelling has one row, or two.
constexpr TableIndex kBySpelling(kModifiers, [](const Modifier& m) { return m.spelling; });

// Whether a spelling that two fields have means this one in the operation: a comparison has no halves, and only a vote asks
// for lanes that agree.
bool isFieldOf(Op op, Field f) {
  const bool compares = op == Op::Set || op == Op::Setp || op == Op::Vset || op == Op::Vset2 || op == Op::Vset4;
  switch (f) {
    case Field::Comparison: return compares;
    case Field::Half: return !compares;
    case Field::Lanes: return op == Op::Vote;
    default: return true;
  }
}

const Modifier* find(Op op, std::string_view word) {
  const auto rows = kBySpelling.rows(word);
  if (rows.empty()) return nullptr;
  return rows.size() == 1 || isFieldOf(op, rows.front().field) ? &rows.front() : &rows.back();
}

template <typename T>
void setOnce(T& field, uint8_t value, uint16_t bit, uint16_t& present) {
  if ((present & bit) != 0)
    present |= field::Other;
  else
    field = static_cast<T>(value);
  present = static_cast<uint16_t>(present | bit);
}

void apply(OpcodeFields& f, const Modifier& m) {
  const auto bit = static_cast<uint16_t>(1u << static_cast<unsigned>(m.field));
  switch (m.field) {
    case Field::Space:
      if ((f.present & bit) != 0 && f.secondSpace == StateSpace::None)
        f.secondSpace = static_cast<StateSpace>(m.value);
      else
        setOnce(f.space, m.value, bit, f.present);
      break;
    case Field::Order: setOnce(f.order, m.value, bit, f.present); break;
    case Field::Scope: setOnce(f.scope, m.value, bit, f.present); break;
    case Field::Cache: setOnce(f.cache, m.value, bit, f.present); break;
    case Field::Half: setOnce(f.half, m.value, bit, f.present); break;
    case Field::Rounding: setOnce(f.rounding, m.value, bit, f.present); break;
    case Field::Comparison: setOnce(f.comparison, m.value, bit, f.present); break;
    case Field::Operation: setOnce(f.operation, m.value, bit, f.present); break;
    case Field::Lanes: setOnce(f.lanes, m.value, bit, f.present); break;
    case Field::Geometry: setOnce(f.geometry, m.value, bit, f.present); break;
    case Field::Flag:
      f.flags |= 1u << m.value;
      f.present |= bit;
      break;
  }
}

}  // namespace

OpcodeFields decodeFields(Op op, std::span<const std::string_view> words) {
  OpcodeFields f;
  f.op = op;
  for (const std::string_view word : words) {
    if (const ScalarType type = scalarType(word); type != ScalarType::None) {
      if (f.typeCount++ == 0) f.type = type;
      f.sourceType = type;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      f.vector = static_cast<uint8_t>(word[1] - '0');
      f.present |= field::Vector;
    } else if (const Modifier* m = find(op, word); m != nullptr) {
      apply(f, *m);
    } else if (word.starts_with("L1::") || word.starts_with("L2::")) {
      f.present |= field::CacheHint;
    } else {
      f.present |= field::Other;
    }
  }
  return f;
}

}  // namespace ptxopt
