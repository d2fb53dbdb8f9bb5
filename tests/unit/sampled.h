// How much of a random test to run: all of it in plain builds, which compare the values, and an eighth under a
// sanitizer, which makes the tests many times slower and sees what it looks for on few of the inputs.
#pragma once

#include <cstddef>

namespace ptxopt::testing {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// Of a number of inputs, or of what is to be seen on them at least.
constexpr std::size_t sampled(std::size_t count) { return kSanitized ? (count + 7) / 8 : count; }

}  // namespace ptxopt::testing
