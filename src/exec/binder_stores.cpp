// What a store narrower than its register stores: the low bits, or the number that the register holds, converted.
//
// ptxas decides by what its block wrote to the register, or by what that is declared for (ir/stored_numbers.h). A number is converted as by cvt.rzi to an
// integer of the store's width, signed if its type is: an op before the store puts it into a place of its own in the frame.
// Declines: registers of which it is not certain what ptxas takes them for; st.f32 of 64 bits, which converts too.
#include "exec/binder.h"
#include "exec/lanes.h"
#include "exec/value/convert.h"

namespace ptxopt::exec {

namespace {

struct Narrowing {
  Arg to, from;
  ConvertFunction function = nullptr;
  ConvertMode mode;
};

Step convertNumber(Warp& w, const Op& op, Mask active) {
  const Narrowing& n = *static_cast<const Narrowing*>(op.data);
  forEachLane(active, [&](unsigned i) { w.setValue(n.to, i, n.function(w.value(n.from, i), n.mode)); });
  return Step::Next;
}

// The format of the integer that is stored; f64 for what is none.
ScalarFormat storedFormat(ScalarType type) {
  switch (type) {
    case ScalarType::b8:
    case ScalarType::u8: return ScalarFormat::U8;
    case ScalarType::s8: return ScalarFormat::S8;
    case ScalarType::b16:
    case ScalarType::u16: return ScalarFormat::U16;
    case ScalarType::s16: return ScalarFormat::S16;
    case ScalarType::b32:
    case ScalarType::u32: return ScalarFormat::U32;
    case ScalarType::s32: return ScalarFormat::S32;
    default: return ScalarFormat::F64;
  }
}

ScalarFormat numberFormat(ScalarType type) {
  return type == ScalarType::f16   ? ScalarFormat::F16
         : type == ScalarType::f32 ? ScalarFormat::F32
                                   : ScalarFormat::F64;
}

}  // namespace

// `entries` are a register, whose lanes are at `a`, and what is added to it.
Arg Binder::narrowed(const Arg& a, std::span<const Operand> entries, ScalarType type) {
  const ScalarFormat to = storedFormat(type);
  if (to == ScalarFormat::F64) unsupported("a register wider than the number that is stored");
  if (routine_.heldTypes.empty()) routine_.heldTypes = findHeldTypes(program_.module(), function_);
  const RegId reg = entries.front().reg();
  HeldType held = routine_.heldTypes[reg.value];
  const bool isAlwaysBits = held.kind == HeldType::Kind::Bits && isInteger(function_.registers[reg.value].type);
  if (!isAlwaysBits) held = heldTypeAt(program_.module(), function_, instruction_, reg);
  const bool isSum = entries.size() > 1 && entries[1].kind != OperandKind::Selector;
  if (held.kind == HeldType::Kind::Bits) return isSum ? sum(a, entries) : a;
  if (held.kind == HeldType::Kind::Unclear || isSum)
    unsupported(
        "a register wider than the store: whether ptxas stores its low bits or converts a number is not certain");
  Narrowing n{place(a.bytes), a, nullptr, {}};
  n.mode.rounding = Rounding::Zero;
  n.mode.toIntegral = true;
  n.function = resolveConversion(numberFormat(held.type), to, n.mode);
  if (n.function == nullptr) unsupported("a number stored as this type");
  auto data = std::make_shared<Narrowing>(n);
  Op op;
  op.run = convertNumber;
  op.data = data.get();
  keep(std::move(data));
  before_.push_back(op);
  return n.to;
}

}  // namespace ptxopt::exec
