// How much of a random test to run: all of it in plain builds, which compare the values, and an eighth under a
// sanitizer, which makes the tests many times slower and sees what it looks for on few of the inputs.
#pragma once

#include <cstddef>

// In every program that AddressSanitizer is part of, whether the tests' own objects are compiled for it or not.
extern "C" void __asan_init() __attribute__((weak));  // NOLINT(bugprone-reserved-identifier)

namespace ptxopt::testing {

inline bool isSanitized() { return &__asan_init != nullptr; }

// Of a number of inputs, or of what is to be seen on them at least.
inline std::size_t sampled(std::size_t count) { return isSanitized() ? (count + 7) / 8 : count; }

}  // namespace ptxopt::testing
