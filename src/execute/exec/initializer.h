// Initializers of variables: `= {1, 0f3F800000, table+4, generic(x), {2, 3}}` to bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "ir/types.h"

namespace ptxopt::exec {

// The address that a name stands for; called with true where `generic(...)` is around it. 0: there is none.
using AddressOf = std::function<uint64_t(std::string_view name, bool generic)>;

// Writes the values that `text` (what stands after `=`) lists into `bytes`, elements of `type` one after the
// other; what it does not mention stays. Throws ExecError for what it does not understand.
void initialise(std::string_view text, ScalarType type, std::span<std::byte> bytes, const AddressOf& addressOf);

}  // namespace ptxopt::exec
