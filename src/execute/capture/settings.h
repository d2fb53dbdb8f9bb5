// What is to be captured, as the environment says it (variables.def).
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt::capture {

enum class Memory : unsigned char { Reached, All };

struct Settings {
  std::string file, kernel, profile;
  uint64_t skip = 0, most = 0, mostMiB = 0;
  Memory memory = Memory::Reached;

  // A value that makes no sense is said on standard error, and the usual one taken.
  static Settings fromEnvironment();
  bool wants(const std::string& kernelName) const;
};

}  // namespace ptxopt::capture
