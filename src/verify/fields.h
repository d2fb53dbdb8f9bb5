// What a kernel does with its parameters, found by reading it: which bytes of them are values by themselves, which
// of those are pointers, and to what.
//
// Algorithm: a flow-insensitive taint analysis over the kernel and the functions it calls. A field is a place of
// the parameters that some ld.param reads, or that a byte array's copy covers. Registers carry the set of fields
// that their value may be a pointer from: moves, conversions between address spaces, additions and selections pass
// it on; multiplications, shifts and narrowings do not, for scaled values are indices. A field that reaches the
// base of an access alone, or through cvta, is a pointer; one that only reaches it together with others may be one.
// It only guides the choice of inputs: a wrong guess makes an input fail, not a wrong verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/module.h"

namespace ptxopt::verify {

struct Field {
  uint32_t offset = 0;  // in the parameter space
  uint32_t bytes = 4;
  std::string parameter;  // its name, and the offset in it if it is an array
  enum class Use : uint8_t { Scalar, MaybePointer, Pointer } use = Use::Scalar;
  bool isFloat = false;                   // a scalar that is read as a floating-point number
  ScalarType element = ScalarType::None;  // a pointer: what it mostly points to
};

// The special registers that matter for the choice of a launch's shape.
struct ShapeUse {
  bool gridX = false;                 // ctaid.x
  bool y = false, z = false;          // tid or ntid with that component
  bool gridY = false, gridZ = false;  // ctaid or nctaid
  bool dynamicShared = false;         // an extern .shared array is mentioned
  bool barrier = false;               // bar, barrier, mbarrier
  bool warp = false;                  // shfl, vote, mma and their like
  bool warpGroup = false;             // wgmma: what four warps do together
  // Shared memory is used though no variable lies there: addresses come from parameters or are constants.
  bool bareShared = false;
};

struct KernelUse {
  std::vector<Field> fields;  // by offset
  ShapeUse shape;
  // Integers that values are compared with, rising; scalars around them take both sides of a branch.
  std::vector<uint64_t> constants;
};

KernelUse findUse(const Module& module, const Function& kernel, const exec::Program& program);

}  // namespace ptxopt::verify
