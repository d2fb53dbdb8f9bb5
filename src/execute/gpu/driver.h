// The CUDA driver, found when the program runs, so that nothing is linked with it: one device and its primary context.
//
// Every call is checked. After a kernel has failed, each call of the process fails: who goes on needs a new process.
// Structures are laid out as cuda.h has them; the header itself is not needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace ptxopt::gpu {

// There is nothing to run on; what() says why.
struct NoDriver : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A call failed: "cuLaunchKernel: CUDA_ERROR_INVALID_VALUE (1): invalid argument".
struct DriverError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct MemoryLocation {
  int type = 1;  // a device
  int id = 0;
};
struct MemoryKind {  // CUmemAllocationProp
  int type = 1;      // pinned
  int shareable = 0;
  MemoryLocation location;
  void* windows = nullptr;
  unsigned char flags[8] = {};
};
struct MemoryAccess {  // CUmemAccessDesc
  MemoryLocation location;
  int mode = 3;  // reading and writing
};
struct LaunchAttribute {
  enum Id : unsigned { Cooperative = 2, Cluster = 4 };
  unsigned id = 0, padding = 0;
  union {
    unsigned values[16] = {};
    uint64_t alignment;
  };
};
struct LaunchShape {  // CUlaunchConfig
  std::array<unsigned, 3> grid, block;
  unsigned shared = 0;
  void* stream = nullptr;
  const LaunchAttribute* attributes = nullptr;
  unsigned count = 0;
};
static_assert(sizeof(MemoryKind) == 32 && sizeof(MemoryAccess) == 12 && sizeof(LaunchAttribute) == 72 &&
              sizeof(LaunchShape) == 56);

struct Calls {
#define GPU_CALL(name, symbol, parameters) int(*name) parameters = nullptr;
#include "gpu/calls.def"
};

struct Device {
  std::string name, driver;  // driver: "13.0"
  int number = 0;
  int major = 0, minor = 0;  // of its architecture
};

class Driver {
 public:
  // Opens $PTXOPT_GPU_DRIVER or libcuda.so.1 where `library` is empty. Throws NoDriver.
  explicit Driver(const std::string& library = {}, int device = 0);

  // Throws DriverError where a call did not succeed.
  void check(const char* call, int result) const;
  const Calls& calls() const { return calls_; }
  const Device& device() const { return device_; }
  // A function that an old driver does not have is what is missing. Throws DriverError.
  void need(bool isThere, const char* what) const;

 private:
  std::string failure(const char* call, int result) const;

  Calls calls_;
  Device device_;
};

// cuEventRecord around what is to be timed: what the device measures, in milliseconds.
class Timer {
 public:
  explicit Timer(const Driver& driver);
  void start() const;
  double stop() const;

 private:
  const Driver& driver_;
  void* events_[2] = {};
};

}  // namespace ptxopt::gpu
