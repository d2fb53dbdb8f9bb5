// The first row of the operation, the half and the number of types is the signature; rows for some types come with
// these as words. A form with a word that the tables do not have gets no signature.
#include "ir/signatures.h"

#include <algorithm>

namespace ptxopt {
namespace {

constexpr Signature kSignatures[] = {
#define PTX_SIGNATURE(op, words, types, operands) {Op::op, ProductHalf::None, words, types, operands},
#define PTX_SIGNATURE_OF_HALF(op, half, words, types, operands) {Op::op, ProductHalf::half, words, types, operands},
#include "ir/signatures.def"
};

struct NeededWord {
  Op op;
  unsigned field;
  std::string_view what;
};
constexpr NeededWord kNeededWords[] = {
#define PTX_SIGNATURE(op, words, types, operands)
#define PTX_SIGNATURE_OF_HALF(op, half, words, types, operands)
#define PTX_NEEDS_WORD(op, word, what) {Op::op, field::word, what},
#include "ir/signatures.def"
};

bool isPlainFloat(ScalarType t) {
  return t == ScalarType::f16 || t == ScalarType::f32 || t == ScalarType::f64 || t == ScalarType::bf16;
}
// One number of bits in a register that is declared with its own type.
bool isPlainInteger(ScalarType t) { return isInteger(t) || t == ScalarType::b128; }

}  // namespace

bool isBitsType(ScalarType t) {
  return t == ScalarType::b8 || t == ScalarType::b16 || t == ScalarType::b32 || t == ScalarType::b64 ||
         t == ScalarType::b128;
}

bool Signature::takes(ScalarType type) const {
  for (std::string_view rest = types.substr(isForSomeTypes() ? 1 : 0); !rest.empty();) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, blank) == info(type).name) return true;
    rest.remove_prefix(std::min(blank + 1, rest.size()));
  }
  return false;
}

std::size_t Signature::least() const { return std::min(operands.find('['), operands.size()); }
std::size_t Signature::most() const {
  return operands.size() - ((operands.find('[') != std::string_view::npos) ? 2 : 0);
}

std::optional<char> Signature::letter(std::size_t index) const {
  for (const char c : operands) {
    if (c == '[' || c == ']') continue;
    if (index-- == 0) return c;
  }
  return std::nullopt;
}

const Signature* signatureOf(const OpcodeForm& form) {
  if ((form.present & field::Other) != 0) return nullptr;
  for (const Signature& s : kSignatures) {
    if (s.op != form.op || s.half != form.half || s.words != form.typeCount) continue;
    if (s.isForSomeTypes() && (!s.takes(form.type) || !s.takes(form.sourceType) || form.has(ModifierFlag::Pack)))
      continue;
    return &s;
  }
  return nullptr;
}

std::string_view missingWord(const OpcodeForm& form) {
  // A word that is not in the tables may be a type, .f32x2, or say what the field says.
  if ((form.present & field::Other) != 0) return {};
  const auto isOf = [&](const Signature& s) { return s.op == form.op; };
  if (form.typeCount == 0 && std::ranges::any_of(kSignatures, isOf)) return "a type";
  for (const auto& [op, field, what] : kNeededWords)
    if (op == form.op && (form.present & field) == 0) return what;
  return {};
}

bool takesRegister(ScalarType wanted, ScalarType declared, bool mayBeWider) {
  const unsigned want = info(wanted).bits, have = info(declared).bits;
  if (wanted == ScalarType::pred) return declared == ScalarType::pred || declared == ScalarType::f16x2;
  if (declared == ScalarType::pred) return false;
  if (mayBeWider ? have < want : have != want) return false;
  if (isBitsType(wanted)) return true;
  if (isPlainInteger(wanted)) return isPlainInteger(declared) || declared == ScalarType::f16x2;
  if (isPlainFloat(wanted) || wanted == ScalarType::f16x2) return isBitsType(declared) || wanted == declared;
  return isBitsType(declared) || declared == ScalarType::f16x2;
}

bool isAddressType(ScalarType declared) {
  return isInteger(declared) || declared == ScalarType::b8 || declared == ScalarType::u8 ||
         declared == ScalarType::s8;
}

}  // namespace ptxopt
