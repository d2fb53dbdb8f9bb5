// Emits chains of copies, plain or in disguise.
//
// The forms beyond the plain `mov`: `mov` of another type; through a register that is declared otherwise (`.f32` for
// `.b32`); `cvt` from a type to itself; widening and narrowing again; unpacking and packing; `cvta` there and back for
// addresses in global memory. Each link of a chain draws one of those that are switched on and fit the register.
#pragma once

#include <cstdint>
#include <vector>

#include "../../semantics/fuzz/kernels/random.h"
#include "editor.h"

namespace coalescing {

enum Form : unsigned {
  kOtherMove = 1,
  kOtherDeclaration = 2,
  kConversion = 4,
  kWidening = 8,
  kPacking = 16,  // 64 bits from two registers of 32
  kHalves = 32,   // 32 bits from two of 16
  kAddress = 64,
  kAllForms = 127,
};

class Copier {
 public:
  // `inserts` false: go through the motions without inserting anything.
  Copier(Editor& editor, uint64_t seed, unsigned forms, int times, bool inserts);

  // Whether a register can be copied at all: not vectors, bytes and the carry flag.
  bool canCopy(RegId reg) const;
  // A new register declared like `reg`.
  RegId fresh(RegId reg);
  // A chain of copies under a guard or none.
  void copy(Place place, RegId to, RegId from, Guard guard = {});
  // One link, always a plain `mov`.
  void plain(Place place, RegId to, RegId from, Guard guard = {});

  bool inserts() const { return inserts_; }
  // Instructions inserted so far.
  std::size_t inserted() const { return inserted_; }

 private:
  void link(Place place, RegId to, RegId from, Guard guard);
  void link16(Place place, RegId to, RegId from, Form form);
  void link32(Place place, RegId to, RegId from, Form form, Guard guard);
  void link64(Place place, RegId to, RegId from, Form form, Guard guard);
  void through(Place place, RegId to, RegId from, ptxopt::ScalarType between, std::string_view opcode, Guard guard);
  void roundTrip(Place place, RegId to, RegId from, ptxopt::ScalarType between, std::string_view there,
                 std::string_view back);
  void move(Place place, std::string_view opcode, RegId to, RegId from, Guard guard = {});
  void findGlobalAddresses();
  RegId make(ptxopt::ScalarType type) { return editor_.function().makeRegister(type); }
  ptxopt::ScalarType type(RegId reg) const { return editor_.function().registers[reg.value].type; }

  Editor& editor_;
  kernels::Random random_;
  unsigned forms_;
  int times_;
  bool inserts_;
  std::size_t inserted_ = 0;
  std::vector<uint8_t> isGlobalAddress_;  // by RegId; may be shorter
};

}  // namespace coalescing
