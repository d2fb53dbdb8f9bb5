#include "analysis/dataflow/register_numbers.h"

namespace ptxopt {

RegisterNumbers::RegisterNumbers(const Function& f, const Cfg& cfg, const RegisterFiles& files) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> writtenIn(f.registers.size(), kNone);  // the last block so far that wrote it
  numbers_.assign(f.registers.size(), kNone);
  const auto makeGlobal = [&](RegId reg) {
    if (numbers_[reg.value] != kNone) return;
    auto& registers = slices_[static_cast<std::size_t>(files.of(reg))].registers;
    numbers_[reg.value] = static_cast<uint32_t>(registers.size());
    registers.push_back(reg);
  };
  for (const InstrId id : f) {
    const uint32_t block = cfg.blockOf(id).value;
    const auto operands = f.operandsOf(f[id]);
    for (const Operand& o : operands)
      if (o.isRegister() && o.reads() && writtenIn[o.payload] != block) makeGlobal(o.reg());
    for (const Operand& o : operands)
      if (o.isRegister() && o.role == Role::Def) writtenIn[o.payload] = block;
  }
  for (const RegId reg : f.returnRegisters) makeGlobal(reg);

  for (Slice& slice : slices_) {
    slice.first = firstLocal_;
    for (const RegId reg : slice.registers) numbers_[reg.value] += slice.first;
    firstLocal_ += static_cast<uint32_t>((slice.registers.size() + 63) / 64 * 64);
  }
  uint32_t next = firstLocal_;
  for (uint32_t& number : numbers_)
    if (number == kNone) number = next++;
  size_ = next;
}

}  // namespace ptxopt
