#include "verify/field_table.h"

#include <algorithm>

namespace ptxopt::verify {

// Pointers to pointers to pointers ...: beyond this they count as leading to their own kind.
constexpr unsigned kMostDepth = 4;

uint32_t FieldTable::inParameters(uint32_t offset, uint32_t bytes, bool isFloat) {
  const auto [at, isNew] = fieldOf_.try_emplace(offset, static_cast<uint32_t>(fields_.size()));
  if (isNew) {
    fields_.emplace_back();
    fields_.back().offset = offset;
    fields_.back().bytes = bytes;
  }
  Field& f = fields_[at->second];
  f.bytes = std::max(f.bytes, bytes);
  f.isFloat = f.isFloat || isFloat;
  return at->second;
}

uint32_t FieldTable::ofVariable(const Variable& v, std::string_view name) {
  const auto [at, isNew] = variableOf_.try_emplace(&v, static_cast<uint32_t>(fields_.size()));
  if (isNew) {
    fields_.emplace_back();
    fields_.back().place = Field::Place::Variable;
    fields_.back().bytes = 0;
    fields_.back().parameter = name;
  }
  return at->second;
}

uint32_t FieldTable::loaded(const Instruction& load, std::size_t k, uint32_t holder) {
  unsigned depth = 0;
  for (uint32_t f = holder; isLoaded(f); f = origins_[f].holder) {
    if (origins_[f].load == &load && origins_[f].element == k) return f;
    if (++depth == kMostDepth) return f;
  }
  const auto [at, isNew] = loadedOf_.try_emplace({&load, k, holder}, static_cast<uint32_t>(fields_.size()));
  if (isNew) {
    fields_.emplace_back();
    fields_.back().place = Field::Place::Memory;
    fields_.back().bytes = 8;
    origins_[at->second] = {&load, k, holder};
  }
  return at->second;
}

}  // namespace ptxopt::verify
