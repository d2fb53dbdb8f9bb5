// One spelling for the same tokens: what `--reprint` prints for everything that is not an instruction.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt::text {

// Appends the tokens of `text` with one fixed spacing, comments dropped. `text` has been parsed: it holds no bad
// token.
void appendCanonical(std::string& out, std::string_view text);

// The same for a function's header: one parameter a line.
void appendCanonicalHeader(std::string& out, std::string_view text);

// The same for `.section name { ... }`: one line an entry.
void appendCanonicalSection(std::string& out, std::string_view text);

}  // namespace ptxopt::text
