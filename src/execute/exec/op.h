// Decoded instructions: what a warp executes.
//
// A function is decoded once into an array of Op. An operand is an Arg: where 32 lanes of a value lie, relative to
// one of a few bases, so that registers, immediates, addresses of symbols and special registers are read alike.
// Each lane of a register of 8, 16, 32, 64 or 128 bits takes that many bits, so a value is an array T[32]; a
// predicate is one Mask, a bit a lane.
#pragma once

#include <cstdint>

namespace ptxopt::exec {

class Warp;

inline constexpr unsigned kLanes = 32;
using Mask = uint32_t;
inline constexpr Mask kAllLanes = ~Mask{0};

enum class Base : uint8_t {
  Frame,     // registers of the running function
  Constant,  // immediates and addresses, made when decoding
  Special,   // special registers of the warp
  Scratch,   // where results go that nobody wants: `_`
};
inline constexpr unsigned kBases = 4;

struct Arg {
  uint32_t offset = 0;  // bytes from the base, a multiple of 4 * bytes (at most 64)
  Base base = Base::Scratch;
  uint8_t bytes = 0;     // of one lane: 1, 2, 4, 8, 16; 0 for a predicate
  bool negated = false;  // a predicate written `!p`
  bool isSink = false;   // `_`: not written, may not be read
};

// What a handler has done.
enum class Step : uint8_t {
  Next,   // the instruction is done
  Retry,  // it must wait: run the others, then execute it again
  Yield,  // done, and worth letting others run: part of what a spin loop does
};

struct Op;
// Executes `op` for the lanes of `active`, which is never 0.
using Handler = Step (*)(Warp& warp, const Op& op, Mask active);
inline Step doNothing(Warp&, const Op&, Mask) { return Step::Next; }

enum class OpKind : uint8_t {
  Plain,          // `run`, then the next
  Collective,     // the same once every live lane of the member mask in args[memberMask] is here
  Branch,         // to `target`
  BranchIndexed,  // args[0] is the index into targets
  Call,
  Return,
  Exit,
  Join,  // the immediate post-dominator of a branch: paths meet here
};

inline constexpr uint32_t kNoGuard = UINT32_MAX;

struct Op {
  Handler run = nullptr;
  const Arg* args = nullptr;   // Program owns them
  const void* data = nullptr;  // what the handler's decoder made, or null; Program owns it
  uint32_t guard = kNoGuard;   // offset in the frame
  uint32_t target = 0;         // Branch: index of the op
  uint32_t join = UINT32_MAX;  // branches: the Join op where the paths meet again, or none
  uint32_t instruction = 0;    // InstrId in the function
  uint16_t argCount = 0;
  OpKind kind = OpKind::Plain;
  bool guardNegated : 1 = false;
  bool prepares : 1 = false;     // what the next op reads: it stands for no instruction of its own
  uint8_t memberMask = 0;        // Collective: index in args of the member mask
  uint8_t small[3] = {0, 0, 0};  // for the handler's use
};

}  // namespace ptxopt::exec
