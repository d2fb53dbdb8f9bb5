// What a kernel does with its parameters, found by reading it: which bytes of them are values by themselves, which
// of those are pointers, and to what.
//
// Algorithm: a flow-insensitive taint analysis over the kernel and the functions it calls. A field is a place of
// the parameters that some ld.param reads, or that a byte array's copy covers. Registers carry the set of fields
// that their value may be a pointer from: moves, conversions between address spaces, additions and selections pass
// it on; multiplications, shifts and narrowings do not, for scaled values are indices. A field that reaches the
// base of an access alone, or through cvta, is a pointer; one that only reaches it together with others may be one.
// With each field goes where in its memory the value points, as far as that is known: at + k * stride. So a loaded
// value that becomes the base of an access shows that a pointer lies there; what it leads to is found likewise,
// and a list is a pointer that leads to its own kind. Pointers in variables of the module are found from the names.
// It only guides the choice of inputs: a wrong guess makes an input fail, not a wrong verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/module.h"

namespace ptxopt::verify {

// A pointer that lies in memory: where the pointer leads that field `holder` is, or in the variable it stands for, every
// `stride` bytes from `at` on; only there if the stride is 0. It points to what field `target` stands for.
struct Slot {
  uint32_t holder = 0, target = 0;
  int64_t at = 0;
  uint64_t stride = 0;
};

// A texture, surface or sampler that the kernel uses.
struct Image {
  enum class Kind : uint8_t { Texture, Surface, Sampler } kind = Kind::Texture;
  std::string variable;  // a .texref or its like; empty: the handle is the value of field `field`
  uint32_t field = 0;
  unsigned dimensions = 2;
  bool isArray = false, isCube = false;
  bool byTexels = false;              // integer coordinates
  ScalarType type = ScalarType::f32;  // of a texel's components
};

struct Field {
  // Where it lies: in the parameters, in other memory (see Slot), or it stands for a variable of the module.
  enum class Place : uint8_t { Parameter, Memory, Variable } place = Place::Parameter;
  uint32_t offset = 0;  // in the parameter space
  uint32_t bytes = 4;
  std::string parameter;  // its name, and the offset in it if it is an array; what leads to a pointer in memory
  enum class Use : uint8_t { Scalar, MaybePointer, Pointer, Handle } use = Use::Scalar;
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

// The numbers that values are compared with, of any size, rising. Memory that holds them, and what lies next to them, takes
// both sides of a branch.
struct Literals {
  std::vector<int64_t> integers;
  std::vector<double> numbers;
};

struct KernelUse {
  std::vector<Field> fields;  // those in parameters by offset, then the others
  std::vector<Slot> slots;
  std::vector<Image> images;
  ShapeUse shape;
  // Integers that values are compared with, rising; scalars around them take both sides of a branch.
  std::vector<uint64_t> constants;
  Literals literals;
};

KernelUse findUse(const Module& module, const Function& kernel, const exec::Program& program);

}  // namespace ptxopt::verify
