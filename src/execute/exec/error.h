// What can go wrong when PTX is executed.
//
// Handlers throw LaneFault, which knows only the lane; the warp adds the thread, the block and the source line and
// throws ExecError on. Decoding throws ExecError itself.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include "support/interner.h"

namespace ptxopt::exec {

enum class FaultKind : uint8_t {
  Unsupported,     // an instruction, or a form of it, that the interpreter does not have
  NoMemory,        // there is none for what a kernel touches
  OutOfBounds,     // an access outside every allocation, or outside the one it began in
  Misaligned,      // an address that is not a multiple of the access's size
  ReadOnly,        // a store to constant or parameter memory
  Uninitialised,   // --check-uninit: a register or memory is read that nothing wrote
  Race,            // --check-races
  DivisionByZero,  // of integers, where a launch asks for that
  Deadlock,        // threads wait for what can no longer happen
  StepLimit,
  Trap,
  Assertion,  // __assertfail
  BadBranch,  // an index or function address that leads nowhere
  StackOverflow,
  BadLaunch,  // arguments or shape do not fit the kernel
};

// "out-of-bounds" and its like, as messages and reports spell it.
const char* name(FaultKind kind);

struct LaneFault {
  FaultKind kind;
  unsigned lane;
  std::string message;
};

class ExecError : public std::exception {
 public:
  ExecError(FaultKind k, std::string text) : kind(k), message(std::move(text)) {}
  const char* what() const noexcept override { return message.c_str(); }

  FaultKind kind;
  std::string message;  // without the place
  uint32_t source = 0;  // offset of the instruction in the module's text; 0: not known
  NameId function;      // in which it is
  std::string thread;   // "thread (3,0,0) of block (1,0,0)", or empty
};

}  // namespace ptxopt::exec
