// The memory of a recorded launch on a device, and the images of its module that run on it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpu/fixed_memory.h"
#include "ir/module.h"
#include "record/archive.h"

namespace ptxopt::gpu {

// The launch cannot be run here; what() says why.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The bytes of a digest.
using BytesOf = std::function<std::string(const std::string& digest)>;

// A launch as records have it, from one or made up.
struct GpuLaunch {
  const record::RecordedLaunch* launch = nullptr;
  // Called in the process that runs it. May throw record::RecordError.
  std::function<BytesOf()> open;
  // Where its parameters have addresses, and into which entry of RecordedLaunch::memory they lead. Where this is known,
  // nothing else holds addresses: memory may lie where the driver puts it. In records any word may be one.
  struct Pointer {
    std::size_t at, entry;
  };
  std::optional<std::vector<Pointer>> pointers;
  // Other beginnings of the same memory: digests by entry of RecordedLaunch::memory; an empty one is that of the launch.
  std::vector<std::vector<std::string>> inputs;
};
GpuLaunch gpuLaunchOf(const record::Archive& archive, const record::RecordedLaunch& launch);

// An image that is loaded: its kernel, its variables, and the parameters that point to them.
struct LoadedImage {
  void* function = nullptr;
  std::vector<uint64_t> addresses;  // by entry of RecordedLaunch::memory; 0: it is not there
  std::vector<std::byte> parameters;
  std::vector<void*> places;  // of the parameters
};

class LaunchMemory {
 public:
  // Throws Refusal, AddressTaken, DriverError, record::RecordError.
  LaunchMemory(const Driver& driver, const GpuLaunch& launch, const Module& module);

  // From now on memory begins as in this input: 0 is that of the launch, which it is at first.
  void setInput(std::size_t number);

  LoadedImage load(const std::string& image) const;
  void launch(const LoadedImage& image) const;
  // Memory as it begins.
  void restore(const LoadedImage& image) const;
  // What memory holds, by entry; empty for what is not there.
  std::vector<std::string> read(const LoadedImage& image) const;
  // What was recorded of the end, in the same form; empty where nothing was.
  const std::vector<std::string>& recorded() const { return after_; }
  // From now on only what differs from its beginning in one of these is restored, from a copy on the device. It is at work for
  // a while then: a launch that comes meanwhile begins at once when that is done, and its issuing takes no time of it.
  void restoreOnly(const std::vector<std::vector<std::string>>& results);
  void restoreQuickly(const LoadedImage& image) const;
  uint64_t writtenOutside() const { return fixed_.writtenOutside(); }

 private:
  enum class Part : uint8_t { Placed, Variable, Absent };
  std::vector<Part> classify() const;
  void refuseAddressesOfVariables() const;
  uint64_t entryAround(uint64_t address) const;  // index + 1; 0: none
  std::vector<GpuLaunch::Pointer> pointers() const;

  const Driver& driver_;
  const GpuLaunch& given_;
  const record::RecordedLaunch& launch_;
  const Module& module_;
  uint64_t workspace_;  // of a cooperative launch: the driver has its own; 0: it is none
  std::vector<Part> parts_;
  std::vector<std::string> before_, after_;
  FixedMemory fixed_;
  BytesOf bytesOf_;
  std::vector<std::pair<std::size_t, uint64_t>> copies_;  // an entry, and where its beginning is
  uint64_t busy_ = 0;                                     // what the device fills meanwhile
};

}  // namespace ptxopt::gpu
