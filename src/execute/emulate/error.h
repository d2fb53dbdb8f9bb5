// The errors of the CUDA runtime, as the emulation answers them.
#pragma once

#include <string>

#include "exec/error.h"

namespace ptxopt::emulate {

enum class Code : int {
#define EMULATE_ERROR(id, number, name, text) id = number,
#include "emulate/errors.def"
#undef EMULATE_ERROR
};

// nullptr: there is no such error.
const char* nameOf(int code);
const char* textOf(int code);

// Thrown inside, answered where a program called in.
struct Failure {
  Code code;
  std::string why;  // for people: what, and where
};

// What a device answers to a fault of a kernel.
Code codeOf(exec::FaultKind kind);

inline void need(bool condition, Code code, const char* why) {
  if (!condition) throw Failure{code, why};
}
inline void needDevice(int device) { need(device == 0, Code::InvalidDevice, "there is one device, of number 0"); }

}  // namespace ptxopt::emulate
