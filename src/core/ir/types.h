// Scalar types, register classes and special registers, from their tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ptxopt {

enum class RegisterClass : uint8_t { Pred, B8, B16, B32, B64, B128, F32, F64, Carry };
std::string_view name(RegisterClass c);

enum class ScalarType : uint8_t {
  None,
#define PTX_TYPE(name, bits, cls) name,
#include "ir/types.def"
#undef PTX_TYPE
};

struct ScalarTypeInfo {
  std::string_view name;  // without the dot
  unsigned bits;
  RegisterClass registerClass;
};
inline constexpr ScalarTypeInfo kScalarTypes[] = {
    {"", 0, RegisterClass::B32},
#define PTX_TYPE(name, bits, cls) {#name, bits, RegisterClass::cls},
#include "ir/types.def"
#undef PTX_TYPE
};
inline const ScalarTypeInfo& info(ScalarType type) { return kScalarTypes[static_cast<std::size_t>(type)]; }
// ScalarType::None when `text` (without the dot) names no type.
ScalarType scalarType(std::string_view text);
// A plain integer or bits (.b32, .u32, .s32) of 8, 16, 32 or 64 bits; signed: .s8 to .s64.
inline constexpr bool isInteger(ScalarType type) {
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
bool isSignedType(ScalarType type);
// Such a one of 16 bits or more: what every integer instruction of that size takes.
bool isIntegerOrBits(ScalarType type);

struct SpecialRegisterInfo {
  std::string_view name;  // without the percent sign
  unsigned bits;
  bool isVolatile;
};
// The special register called `text` (with or without `%`, without a component such as .x), or nullptr.
const SpecialRegisterInfo* specialRegister(std::string_view text);

}  // namespace ptxopt
