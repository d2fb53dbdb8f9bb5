// What an instruction does, as far as checkCoalescing looks into it: copies, constants, packing and unpacking, selections.
#pragma once

#include <array>
#include <cstdint>

#include "ir/module.h"

namespace ptxopt::coalescing {

// Packing and unpacking take registers into this many parts.
inline constexpr std::size_t kMostParts = 4;

// Moves: several at a time. Select: of the first part where the guard holds, otherwise of the second.
enum class CopyStepKind : uint8_t { None, Opaque, Move, Moves, Constant, Pack, Unpack, Select };

struct CopyStep {
  CopyStepKind kind = CopyStepKind::None;
  InstrId id;
  bool isGuarded = false, isNot = false;    // isNot: of the guard
  RegId guard;                              // of Select: its predicate
  RegId whole;                              // what is written; of Unpack: what is read
  std::array<RegId, kMostParts> parts{};    // Move: the source; Moves: what is written; invalid: nothing there
  std::array<RegId, kMostParts> sources{};  // of Moves
  uint32_t count = 0;
  std::array<uint64_t, 3> constant{};  // bits, kind, value
};

CopyStep readStep(const Module& module, const Function& f, InstrId id);

}  // namespace ptxopt::coalescing
