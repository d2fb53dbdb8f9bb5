#include "ir/types.h"

#include <unordered_map>

namespace ptxopt {

std::string_view name(RegisterClass c) {
  constexpr std::string_view kNames[] = {"pred", "b8", "b16", "b32", "b64", "b128", "f32", "f64", "carry"};
  return kNames[static_cast<std::size_t>(c)];
}

namespace {

constexpr SpecialRegisterInfo kSpecialRegisters[] = {
#define PTX_SPECIAL_REGISTER(name, bits, isVolatile) {#name, bits, isVolatile},
#include "ir/special_registers.def"
#undef PTX_SPECIAL_REGISTER
};

}  // namespace

ScalarType scalarType(std::string_view text) {
  static const auto index = [] {
    std::unordered_map<std::string_view, ScalarType> map;
    for (std::size_t i = 1; i < std::size(kScalarTypes); ++i)
      map.emplace(kScalarTypes[i].name, static_cast<ScalarType>(i));
    return map;
  }();
  const auto it = index.find(text);
  return it == index.end() ? ScalarType::None : it->second;
}

bool isSignedType(ScalarType type) { return isInteger(type) && info(type).name.front() == 's'; }

bool isIntegerOrBits(ScalarType type) { return isInteger(type) && info(type).bits != 8; }

const SpecialRegisterInfo* specialRegister(std::string_view text) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const SpecialRegisterInfo*> map;
    for (const auto& reg : kSpecialRegisters) map.emplace(reg.name, &reg);
    return map;
  }();
  if (text.starts_with('%')) text.remove_prefix(1);
  const auto it = index.find(text);
  return it == index.end() ? nullptr : it->second;
}

}  // namespace ptxopt
