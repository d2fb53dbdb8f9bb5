// The fields that the analysis of a kernel's parameters has found (fields.h): each is made once, and has a number.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "verify/fields.h"

namespace ptxopt::verify {

class FieldTable {
 public:
  std::size_t size() const { return fields_.size(); }
  Field& operator[](uint32_t field) { return fields_[field]; }
  const Field& operator[](uint32_t field) const { return fields_[field]; }
  bool isLoaded(uint32_t field) const { return fields_[field].place == Field::Place::Memory; }

  // The field at an offset of the parameter space; it grows to the widest read.
  uint32_t inParameters(uint32_t offset, uint32_t bytes, bool isFloat);
  bool hasAt(uint32_t offset) const { return fieldOf_.contains(offset); }

  // The field that stands for a variable of the module.
  uint32_t ofVariable(const Variable& v, std::string_view name);
  const std::map<const Variable*, uint32_t>& variables() const { return variableOf_; }

  // The pointer that element `k` of a load brings from the memory of a field: one for each load, or the one that the
  // field itself rests on, for this is how lists are followed.
  uint32_t loaded(const Instruction& load, std::size_t k, uint32_t holder);
  std::size_t countOfLoaded() const { return loadedOf_.size(); }

 private:
  // Where a pointer in memory comes from: the load, the element of its vector, and the field whose pointer leads to it.
  struct Origin {
    const Instruction* load = nullptr;
    std::size_t element = 0;
    uint32_t holder = 0;
  };

  std::vector<Field> fields_;
  std::map<uint32_t, uint32_t> fieldOf_;  // by offset
  std::map<const Variable*, uint32_t> variableOf_;
  std::map<std::tuple<const Instruction*, std::size_t, uint32_t>, uint32_t> loadedOf_;
  std::map<uint32_t, Origin> origins_;
};

}  // namespace ptxopt::verify
