#include "copier.h"

#include "ir/opcode_predicates.h"

namespace coalescing {

using ptxopt::isIntegerOrBits;
using ptxopt::RegisterClass;
using ptxopt::ScalarType;

namespace {

// Types that `mov.f32` takes.
bool isFloatOrBits(ScalarType type) {
  return type == ScalarType::f32 || type == ScalarType::f64 || type == ScalarType::b32 || type == ScalarType::b64;
}

std::string_view plainMove(RegisterClass c) {
  switch (c) {
    case RegisterClass::Pred: return "mov.pred";
    case RegisterClass::B16: return "mov.b16";
    case RegisterClass::B32: return "mov.b32";
    case RegisterClass::F32: return "mov.f32";
    case RegisterClass::B64: return "mov.b64";
    case RegisterClass::F64: return "mov.f64";
    case RegisterClass::B128: return "mov.b128";
    default: return {};
  }
}

}  // namespace

Copier::Copier(Editor& editor, uint64_t seed, unsigned forms, int times, bool inserts)
    : editor_(editor), random_(seed), forms_(forms), times_(times), inserts_(inserts) {
  if ((forms_ & kAddress) != 0) findGlobalAddresses();
}

// Registers that only `cvta.to.global` writes.
void Copier::findGlobalAddresses() {
  const Function& f = editor_.function();
  std::vector<uint8_t> written(f.registers.size());
  isGlobalAddress_.assign(f.registers.size(), 0);
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const auto& form = editor_.module().form(f[id]);
    const bool isAddress = ptxopt::isGlobalConversion(form) && form.has(ptxopt::ModifierFlag::To);
    for (const Operand& o : f.operandsOf(f[id])) {
      if (!o.isRegister() || !o.writes()) continue;
      isGlobalAddress_[o.payload] = isAddress && !written[o.payload] && o.role == ptxopt::Role::Def;
      written[o.payload] = 1;
    }
  }
}

bool Copier::canCopy(RegId reg) const {
  const ptxopt::Register& r = editor_.function().registers[reg.value];
  return reg != Function::kCarry && r.lanes == 1 && !plainMove(r.registerClass()).empty();
}

RegId Copier::fresh(RegId reg) {
  const RegId made = make(type(reg));
  if (reg.value < isGlobalAddress_.size() && isGlobalAddress_[reg.value]) {
    isGlobalAddress_.resize(made.value + 1);
    isGlobalAddress_[made.value] = 1;
  }
  return made;
}

void Copier::move(Place place, std::string_view opcode, RegId to, RegId from, Guard guard) {
  ++inserted_;
  if (inserts_) editor_.move(place, opcode, to, from, guard);
}

void Copier::plain(Place place, RegId to, RegId from, Guard guard) {
  move(place, plainMove(ptxopt::info(type(to)).registerClass), to, from, guard);
}

void Copier::copy(Place place, RegId to, RegId from, Guard guard) {
  for (int i = 1; i < times_; ++i) {
    const RegId between = fresh(from);
    link(place, between, from, guard);
    from = between;
  }
  link(place, to, from, guard);
}

void Copier::through(Place place, RegId to, RegId from, ScalarType between, std::string_view opcode, Guard guard) {
  const RegId other = make(between);
  move(place, opcode, other, from, guard);
  move(place, opcode, to, other, guard);
}

void Copier::roundTrip(Place place, RegId to, RegId from, ScalarType between, std::string_view there,
                       std::string_view back) {
  const RegId other = make(between);
  move(place, there, other, from);
  move(place, back, to, other);
}

void Copier::link(Place place, RegId to, RegId from, Guard guard) {
  // Whatever does not fit is a plain copy, so that each form keeps its share of the draws.
  const auto form = static_cast<Form>(1u << random_.below(7));
  if ((forms_ & form) == 0) return plain(place, to, from, guard);
  if (guard.reg.valid() && form != kOtherMove && form != kOtherDeclaration) return plain(place, to, from, guard);
  switch (ptxopt::info(type(from)).bits) {
    case 16: return link16(place, to, from, form);
    case 32: return link32(place, to, from, form, guard);
    case 64: return link64(place, to, from, form, guard);
    default: return plain(place, to, from, guard);
  }
}

void Copier::link16(Place place, RegId to, RegId from, Form form) {
  if (!isIntegerOrBits(type(to)) || form == kOtherDeclaration) return plain(place, to, from);
  if (form == kOtherMove) return move(place, random_.pick({"mov.u16", "mov.s16"}), to, from);
  if (form == kConversion) return move(place, random_.pick({"cvt.u16.u16", "cvt.s16.s16"}), to, from);
  if (form == kWidening) {
    if (random_.chance(50)) return roundTrip(place, to, from, ScalarType::b32, "cvt.u32.u16", "cvt.u16.u32");
    return roundTrip(place, to, from, ScalarType::b32, "cvt.s32.s16", "cvt.u16.u32");
  }
  plain(place, to, from);
}

void Copier::link32(Place place, RegId to, RegId from, Form form, Guard guard) {
  const bool integer = isIntegerOrBits(type(to)), floating = isFloatOrBits(type(to));
  if (form == kOtherMove && integer) return move(place, random_.pick({"mov.u32", "mov.s32"}), to, from, guard);
  if (form == kOtherMove && floating) return move(place, "mov.b32", to, from, guard);
  if (form == kOtherDeclaration) {
    const ScalarType other = random_.pick({ScalarType::f32, ScalarType::u32, ScalarType::s32, ScalarType::b32});
    return through(place, to, from, other, "mov.b32", guard);
  }
  if (form == kConversion && integer) return move(place, random_.pick({"cvt.u32.u32", "cvt.s32.s32"}), to, from);
  if (form == kWidening && integer)
    return roundTrip(place, to, from, ScalarType::b64, "cvt.u64.u32", "cvt.u32.u64");
  if (form == kHalves && !guard.reg.valid()) {
    const RegId low = make(ScalarType::b16), high = make(ScalarType::b16);
    inserted_ += 2;
    if (!inserts_) return;
    editor_.unpack(place, "mov.b32", low, high, from);
    return editor_.pack(place, "mov.b32", to, low, high);
  }
  plain(place, to, from, guard);
}

void Copier::link64(Place place, RegId to, RegId from, Form form, Guard guard) {
  const bool integer = isIntegerOrBits(type(to)), floating = isFloatOrBits(type(to));
  if (form == kOtherMove && integer) return move(place, random_.pick({"mov.u64", "mov.s64"}), to, from, guard);
  if (form == kOtherMove && floating) return move(place, "mov.b64", to, from, guard);
  if (form == kOtherDeclaration) {
    const ScalarType other = random_.pick({ScalarType::f64, ScalarType::u64, ScalarType::s64, ScalarType::b64});
    return through(place, to, from, other, "mov.b64", guard);
  }
  if (form == kConversion && integer) return move(place, random_.pick({"cvt.u64.u64", "cvt.s64.s64"}), to, from);
  if (form == kAddress && from.value < isGlobalAddress_.size() && isGlobalAddress_[from.value] != 0)
    return roundTrip(place, to, from, ScalarType::b64, "cvta.global.u64", "cvta.to.global.u64");
  if (form == kPacking && !guard.reg.valid()) {
    const RegId low = make(ScalarType::b32), high = make(ScalarType::b32);
    inserted_ += 2;
    if (!inserts_) return;
    editor_.unpack(place, "mov.b64", low, high, from);
    return editor_.pack(place, "mov.b64", to, low, high);
  }
  plain(place, to, from, guard);
}

}  // namespace coalescing
