// The options that a program gives to the driver with an image (CUjit_option); some are places for what the driver
// says.
//
// What was optimized is tried on a copy of them, whose buffers are copies, too. If the driver takes it, the program's
// get what the copies have then; otherwise they are untouched, and the original is loaded with them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ptxopt::jit {

// Whether the program wants what it wrote: code for a debugger, or not to be optimized.
bool wantsPlainCode(unsigned count, const int* options, void* const* values);
// CU_JIT_MAX_REGISTERS; 0: not said.
unsigned mostRegisters(unsigned count, const int* options, void* const* values);
// CU_JIT_TARGET as an architecture; 0: not said, or one with a suffix, which the text says too.
unsigned targetOf(unsigned count, const int* options, void* const* values);

// Whether the driver writes to the values, or to what they lead to: then a linker needs them as long as it lives.
bool hasOutputs(unsigned count, const int* options);

class JitOptions {
 public:
  JitOptions(unsigned count, int* options, void** values);
  JitOptions(const JitOptions&) = delete;
  JitOptions& operator=(const JitOptions&) = delete;

  void** values() { return given_ == nullptr ? given_ : values_.data(); }
  void giveToProgram() const;
  // What the program's buffers have, by their places among the values.
  std::map<unsigned, std::string> logs() const;

 private:
  // A buffer of the program, by its place among the values.
  struct Buffer {
    unsigned place;
    std::string bytes;
  };

  unsigned count_;
  const int* options_;
  void** given_;
  std::vector<void*> values_;
  std::vector<Buffer> buffers_;
};

}  // namespace ptxopt::jit
