#include "ir/types.h"

#include "support/table_index.h"

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
  static constexpr TableIndex kByName(kScalarTypes, &ScalarTypeInfo::name);
  const ScalarTypeInfo* const found = kByName.find(text);  // the first one has no name
  return found == nullptr ? ScalarType::None : static_cast<ScalarType>(found - kScalarTypes);
}

bool isSignedType(ScalarType type) { return isInteger(type) && info(type).name.front() == 's'; }

bool isIntegerOrBits(ScalarType type) { return isInteger(type) && info(type).bits != 8; }

const SpecialRegisterInfo* specialRegister(std::string_view text) {
  static constexpr TableIndex kByName(kSpecialRegisters, &SpecialRegisterInfo::name);
  if (text.starts_with('%')) text.remove_prefix(1);
  return kByName.find(text);
}

}  // namespace ptxopt
