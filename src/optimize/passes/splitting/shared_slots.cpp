// The thread's number comes from %tid and %ntid, or %tid.x alone where .reqntid is flat. The address is computed once
// for each block and width; a slot's offset from it is a constant, as the slots of all threads lie side by side.
#include "passes/splitting/shared_slots.h"

#include <algorithm>

namespace ptxopt {
namespace {

constexpr uint64_t kSlack = 16;  // for alignment between the variables

Operand operand(OperandKind kind, uint32_t payload, Join join = Join::Comma) {
  Operand o;
  o.kind = kind;
  o.payload = payload;
  o.join = join;
  return o;
}

// .reqntid with nothing but x.
bool isFlat(const Module& module, const Function& f) {
  return std::ranges::any_of(f.directives, [&](const FunctionDirective& d) {
    return module.text(d.name) == ".reqntid" && d.valueCount > 0 &&
           std::all_of(d.values.begin() + 1, d.values.begin() + d.valueCount, [](uint32_t n) { return n == 1; });
  });
}

RegId readSpecial(const Module& module, Function& f, NameId name, InstrId place) {
  const RegId r = f.makeRegister(ScalarType::b32);
  const Operand operands[] = {defOperand(r), operand(OperandKind::SpecialRegister, name.value)};
  f.insert(place, module.synthOpcode(SynthOpcode::MovU32), operands);
  return r;
}

RegId multiplyAdd(const Module& module, Function& f, RegId a, Operand b, RegId c, InstrId place) {
  const RegId r = f.makeRegister(ScalarType::b32);
  const Operand operands[] = {defOperand(r), useOperand(a), b, useOperand(c)};
  f.insert(place, module.synthOpcode(SynthOpcode::MadLoU32), operands);
  return r;
}

RegId threadNumber(const Module& module, Function& f, InstrId place) {
  const SynthParts& synth = module.synth;
  if (isFlat(module, f)) return readSpecial(module, f, synth.tid[0], place);
  RegId number = readSpecial(module, f, synth.tid[2], place);
  for (const std::size_t d : {std::size_t{1}, std::size_t{0}}) {
    const RegId size = readSpecial(module, f, synth.ntid[d], place);
    const RegId at = readSpecial(module, f, synth.tid[d], place);
    number = multiplyAdd(module, f, number, useOperand(size), at, place);
  }
  return number;
}

}  // namespace

std::string_view whyNoSlots(const Module& module, const Function& f, const KernelNeeds& needs) {
  if (!needs.threads || *needs.threads > target::Limits::kMostThreadsPerBlock) return "no-launch-bound";
  if (needs.dynamicShared) return "dynamic-shared";
  if (f.hidesSpecialRegisters) return "hidden-names";  // slots are found by %tid
  for (const InstrId id : f)
    for (const Operand& o : f.operandsOf(f[id]))
      if (o.kind == OperandKind::SpecialRegister &&
          module.text(NameId(o.payload)).find("smem") != std::string_view::npos)
        return "dynamic-shared";
  return needs.callsUnseen ? "unknown-callee" : std::string_view();
}

uint64_t SharedSlots::allBytes() const {
  return bytes() == 0 ? taken_ : (taken_ + kSlack - 1) / kSlack * kSlack + bytes();
}

bool SharedSlots::hasRoom(uint32_t words) const {
  return (taken_ + kSlack - 1) / kSlack * kSlack +
             bytes(slots_[0] + (words == 1 ? 1u : 0u), slots_[1] + (words == 2 ? 1u : 0u)) <=
         kMostBytes;
}

void SharedSlots::declare(const Module& module, Function& f) {
  const std::array<uint32_t, 2> forms{module.synth.sharedWords, module.synth.sharedPairs};
  for (std::size_t w = 0; w < 2; ++w)
    if (slots_[w] != 0) arrays_[w] = f.makeVariable(forms[w], threads_ * slots_[w]);
}

RegId SharedSlots::address(const Module& module, Function& f, uint32_t words, InstrId place) {
  RegId& at = addresses_[words - 1];
  if (at.valid()) return at;
  const RegId base = f.makeRegister(ScalarType::b32);
  const Operand operands[] = {defOperand(base), operand(OperandKind::Variable, arrays_[words - 1].value)};
  f.insert(place, module.synthOpcode(SynthOpcode::MovU32), operands);
  return at = multiplyAdd(module, f, threadNumber(module, f, place), operand(OperandKind::Integer, 4 * words), base,
                          place);
}

void SharedSlots::access(const Module& module, Function& f, RegId r, uint32_t slot, bool isStore, InstrId place) {
  const uint32_t words = info(f.registers[r.value].type).bits / 32;
  const RegId base = address(module, f, words, place);
  const auto offset = static_cast<uint32_t>(4 * words * threads_ * slot);
  std::vector<Operand> operands;
  if (!isStore) operands.push_back(defOperand(r));
  operands.push_back(operand(OperandKind::Memory, offset == 0 ? 1 : 2, isStore ? Join::None : Join::Comma));
  operands.push_back(registerOperand(base, Role::Use));
  if (offset != 0) operands.push_back(operand(OperandKind::Integer, offset, Join::Plus));
  if (isStore) operands.push_back(useOperand(r));
  const SynthOpcode opcode = isStore ? (words == 1 ? SynthOpcode::StSharedB32 : SynthOpcode::StSharedB64)
                                     : (words == 1 ? SynthOpcode::LdSharedB32 : SynthOpcode::LdSharedB64);
  f.insert(place, module.synthOpcode(opcode), operands);
}

}  // namespace ptxopt
