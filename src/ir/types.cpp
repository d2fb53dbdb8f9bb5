#include "ir/types.h"

#include <array>
#include <unordered_map>

namespace ptxopt {

std::string_view name(RegisterClass c) {
  constexpr std::string_view kNames[] = {"pred", "b8", "b16", "b32", "b64", "b128", "f32", "f64", "carry"};
  return kNames[static_cast<std::size_t>(c)];
}

namespace {

constexpr ScalarTypeInfo kTypes[] = {
    {"", 0, RegisterClass::B32},
#define PTX_TYPE(name, bits, cls) {#name, bits, RegisterClass::cls},
#include "ir/types.def"
#undef PTX_TYPE
};

constexpr SpecialRegisterInfo kSpecialRegisters[] = {
#define PTX_SPECIAL_REGISTER(name, bits, isVolatile) {#name, bits, isVolatile},
#include "ir/special_registers.def"
#undef PTX_SPECIAL_REGISTER
};

}  // namespace

const ScalarTypeInfo& info(ScalarType type) { return kTypes[static_cast<std::size_t>(type)]; }

ScalarType scalarType(std::string_view text) {
  static const auto index = [] {
    std::unordered_map<std::string_view, ScalarType> map;
    for (std::size_t i = 1; i < std::size(kTypes); ++i) map.emplace(kTypes[i].name, static_cast<ScalarType>(i));
    return map;
  }();
  const auto it = index.find(text);
  return it == index.end() ? ScalarType::None : it->second;
}

bool isInteger(ScalarType type) {
  switch (type) {
    case ScalarType::b8:
    case ScalarType::u8:
    case ScalarType::s8:
    case ScalarType::b16:
    case ScalarType::u16:
    case ScalarType::s16:
    case ScalarType::b32:
    case ScalarType::u32:
    case ScalarType::s32:
    case ScalarType::b64:
    case ScalarType::u64:
    case ScalarType::s64: return true;
    default: return false;
  }
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
