// Mutations of PTX text that keep most of it well formed, so that the fuzzer reaches past the parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fuzz {

// `text` with one to four changes to its tokens and statements. The same for the same seed.
std::string mutate(std::string_view text, unsigned seed);

// `left` with a run of statements out of `right`.
std::string crossOver(std::string_view left, std::string_view right, unsigned seed);

// Copies `text` to `out`; at most `most` bytes of it. Returns how many.
std::size_t store(const std::string& text, uint8_t* out, std::size_t most);

}  // namespace fuzz
