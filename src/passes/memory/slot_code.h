// The instructions that stand for loads and stores of slots in registers.
//
// Keeps:  guards, on every instruction that writes what the access wrote; what a narrow load extends, by zero or
//         sign; the bytes that a narrow store leaves alone.
// Types:  slots have registers of bit types. What computes (cvt, bfe, bfi) gets integer registers only; a mov of bits
//         stands between and one of another class. Literals have the bits that ptxas stores; a mov of the same text
//         works out expressions and what is added to a register.
// Cost:   linear in the elements of the access.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "passes/manager/pass.h"
#include "passes/memory/local_slots.h"

namespace ptxopt {

class SlotCode {
 public:
  SlotCode(Function& f, const Module& module) : f_(f), module_(module) {}

  // Gives the slot its registers.
  void makeRegisters(LocalSlot& slot);
  // Puts the instructions in front of the access and takes that away.
  void replace(const LocalAccess& access, const std::vector<LocalSlot>& slots);

 private:
  // What a store stores: a register, or a constant.
  struct Stored {
    RegId reg;
    uint64_t constant = 0;
    Operand literal;  // as the text has it
  };
  void load(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Operand& to);
  void store(const LocalAccess& access, const LocalSlot& slot, int64_t offset, const Stored& from);
  // Registers to a register of `bits` or narrower: the low bytes of `from`, extended.
  void extend(RegId to, RegId from, unsigned bytes, bool isSigned);
  Stored simple(const LocalAccess& access, std::vector<Operand> stored);
  std::optional<uint64_t> literalBits(const Operand& literal, ScalarType type) const;
  bool isComputable(RegId r) const;
  RegId makeBits(unsigned bits);
  void emit(SynthOpcode opcode, std::span<const Operand> operands, bool isResult = true);
  unsigned bitsOf(RegId r) const { return info(f_.registers[r.value].type).bits; }

  Function& f_;
  const Module& module_;
  InstrId at_;  // the access at hand
};

}  // namespace ptxopt
