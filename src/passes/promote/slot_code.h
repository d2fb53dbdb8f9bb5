// The instructions that stand for loads and stores of slots in registers.
//
// Keeps:  guards, on every instruction that writes what the access wrote; what a narrow load extends, by zero or
// sign;
//         the bytes that a narrow store leaves alone.
// Cost:   linear in the elements of the access.
#pragma once

#include <span>

#include "passes/pass.h"
#include "passes/promote/local_slots.h"

namespace ptxopt {

class SlotCode {
 public:
  SlotCode(Function& f, const Module& module) : f_(f), module_(module) {}

  // Gives the slot its registers.
  void makeRegisters(LocalSlot& slot);
  // Puts the instructions in front of the access and takes that away.
  void replace(const LocalAccess& access, const std::vector<LocalSlot>& slots);

 private:
  void load(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& to);
  void store(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& from);
  // Registers to a register of `bits` or narrower: the low bytes of `from`, extended.
  void extend(RegId to, RegId from, unsigned bytes, bool isSigned);
  void emit(MadeOpcode opcode, std::span<const Operand> operands, bool isResult = true);
  void move(RegId to, const Operand& from);
  unsigned bitsOf(RegId r) const { return info(f_.registers[r.value].type).bits; }
  uint64_t constantOf(const Operand& o) const;

  Function& f_;
  const Module& module_;
  InstrId at_;  // the access at hand
};

}  // namespace ptxopt
