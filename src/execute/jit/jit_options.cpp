// Options and values are arrays of the same length; the values are copied. Buffers of logs are copied as well and their
// addresses exchanged; giveToProgram() copies the contents back.
#include "jit/jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace ptxopt::jit {
namespace {

// For CUjit_option.
enum Option : int {
  MaxRegisters = 0,
  ThreadsPerBlock = 1,
  WallTime = 2,
  InfoLogBuffer = 3,
  InfoLogBytes = 4,
  ErrorLogBuffer = 5,
  ErrorLogBytes = 6,
  OptimizationLevel = 7,
  Target = 9,
  GenerateDebugInfo = 11,
};

// Numbers lie in the lower half of a value.
unsigned numberIn(const void* value) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(value)); }

std::optional<unsigned> valueOf(unsigned count, const int* options, void* const* values, int wanted) {
  std::optional<unsigned> found;
  if (options == nullptr || values == nullptr) return found;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == wanted) found = numberIn(values[i]);
  return found;
}

}  // namespace

JitOptions::JitOptions(unsigned count, int* options, void** values)
    : count_(options != nullptr && values != nullptr ? count : 0), options_(options), given_(values) {
  if (given_ != nullptr) values_.assign(given_, given_ + count_);
  // The copies move no more: their addresses are among the values.
  buffers_.reserve(count_);
  for (unsigned i = 0; i < count_; ++i) {
    const bool isInfo = options_[i] == InfoLogBuffer;
    if ((!isInfo && options_[i] != ErrorLogBuffer) || given_[i] == nullptr) continue;
    const auto bytes = valueOf(count_, options_, given_, isInfo ? InfoLogBytes : ErrorLogBytes);
    buffers_.push_back({i, std::string(static_cast<const char*>(given_[i]), bytes.value_or(0))});
    values_[i] = buffers_.back().bytes.data();
  }
}

void JitOptions::giveToProgram() const {
  if (count_ == 0) return;
  std::vector<void*> values = values_;
  for (const Buffer& b : buffers_) {
    std::memcpy(given_[b.place], b.bytes.data(), b.bytes.size());
    values[b.place] = given_[b.place];
  }
  std::copy(values.begin(), values.end(), given_);
}

std::map<unsigned, std::string> JitOptions::logs() const {
  std::map<unsigned, std::string> found;
  for (const Buffer& b : buffers_) found[b.place] = b.bytes;
  return found;
}

bool wantsPlainCode(unsigned count, const int* options, void* const* values) {
  return valueOf(count, options, values, GenerateDebugInfo).value_or(0) != 0 ||
         valueOf(count, options, values, OptimizationLevel).value_or(1) == 0;
}

unsigned mostRegisters(unsigned count, const int* options, void* const* values) {
  return valueOf(count, options, values, MaxRegisters).value_or(0);
}

unsigned targetOf(unsigned count, const int* options, void* const* values) {
  constexpr unsigned kSuffixes = 0x10000;
  const unsigned target = valueOf(count, options, values, Target).value_or(0);
  return target < kSuffixes ? target : 0;
}

bool hasOutputs(unsigned count, const int* options) {
  return options != nullptr && std::any_of(options, options + count, [](int option) {
           return option >= ThreadsPerBlock && option <= ErrorLogBytes;
         });
}

}  // namespace ptxopt::jit
