#include "passes/divide/division.h"

#include <algorithm>

namespace ptxopt::division {
namespace {

// The next word of an opcode, "div" or "s32"; the text behind its dot remains.
std::string_view nextWord(std::string_view& text) {
  const std::size_t dot = text.find('.');
  const std::string_view word = text.substr(0, dot);
  text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
  return word;
}

bool isPlainRegister(const Function& f, const Operand& o, unsigned width, bool isFloat) {
  if (!o.isRegister() || o.flags != 0) return false;
  const Register& r = f.registers[o.reg().value];
  if (r.lanes != 1 || info(r.type).bits != width) return false;
  const RegisterClass c = r.registerClass();
  return isFloat ? c != RegisterClass::Pred
                 : c == RegisterClass::B16 || c == RegisterClass::B32 || c == RegisterClass::B64;
}

// Guard, result and two sources; none if there are others.
struct Parts {
  const Operand* guard = nullptr;
  const Operand *result, *left, *right;
};
std::optional<Parts> partsOf(const Function& f, InstrId id) {
  auto operands = f.operandsOf(f[id]);
  Parts parts{};
  if (f[id].is(Instruction::Guarded)) {
    parts.guard = operands.data();
    operands = operands.subspan(1);
  }
  if (operands.size() != 3) return std::nullopt;
  parts.result = &operands[0];
  parts.left = &operands[1];
  parts.right = &operands[2];
  if (!parts.result->isRegister() || !parts.result->writes()) return std::nullopt;
  for (const Operand* o : {parts.left, parts.right})
    if (o->join != Join::Comma) return std::nullopt;
  return parts;
}

}  // namespace

std::optional<Division> integerDivision(const Module& module, const Function& f, InstrId id) {
  if (!f[id].isInstruction()) return std::nullopt;
  std::string_view text = module.text(module.form(f[id]).text);
  const std::string_view base = nextWord(text), type = nextWord(text);
  if ((base != "div" && base != "rem") || !text.empty() || type.size() != 3) return std::nullopt;
  Division d;
  d.at = id;
  d.isRemainder = base == "rem";
  d.isSigned = type[0] == 's';
  if (type[0] != 's' && type[0] != 'u') return std::nullopt;
  d.width = type.ends_with("16") ? 16 : type.ends_with("32") ? 32 : type.ends_with("64") ? 64 : 0;
  const auto parts = partsOf(f, id);
  if (d.width == 0 || !parts || !isPlainRegister(f, *parts->result, d.width, false)) return std::nullopt;
  for (const Operand* o : {parts->left, parts->right})
    if (!immediate(f, *o) && !isPlainRegister(f, *o, d.width, false)) return std::nullopt;
  if (parts->guard != nullptr) {
    d.isGuarded = true;
    d.guard = *parts->guard;
  }
  d.result = parts->result->reg();
  d.dividend = *parts->left;
  d.divisor = *parts->right;
  return d;
}

std::optional<FloatDivision> floatDivision(const Module& module, const Function& f, InstrId id) {
  if (!f[id].isInstruction()) return std::nullopt;
  std::string_view text = module.text(module.form(f[id]).text);
  if (nextWord(text) != "div") return std::nullopt;
  FloatDivision d;
  d.at = id;
  d.rounding = nextWord(text);
  std::string_view type = nextWord(text);
  if (type == "ftz") {
    d.flushes = true;
    type = nextWord(text);
  }
  d.width = type == "f32" ? 32 : type == "f64" ? 64 : 0;
  const bool isRounding = d.rounding == "rn" || d.rounding == "rz" || d.rounding == "rm" || d.rounding == "rp";
  const auto parts = partsOf(f, id);
  if (d.width == 0 || !isRounding || !text.empty() || !parts) return std::nullopt;
  d.dividend = *parts->left;
  d.divisor = *parts->right;
  return d;
}

}  // namespace ptxopt::division
