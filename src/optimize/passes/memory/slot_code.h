// The instructions that stand for loads and stores of slots in registers.
//
// Keeps:  guards, on every instruction that writes what the access wrote; what a narrow load extends, by zero or
//         sign; the bytes that a narrow store does not write.
// Types:  slots have registers of bit types. Instructions that compute (cvt, bfe, bfi) get integer registers only; a
//         mov of bits connects them with registers of other classes. Literals have the bits that ptxas stores. A mov
//         of the same text evaluates constant expressions and sums of a register and a constant.
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
  // Puts the instructions before the access and takes that away.
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
