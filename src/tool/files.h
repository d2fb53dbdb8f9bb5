// Reading whole files, and writing them so that they appear whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace ptxopt::tool {

// Reads `path`, or standard input for "-". On failure returns false with the reason in `error`.
bool readFile(const std::string& path, std::string& text, std::string& error);

// Writes `text` to `path`, or to standard output for "-". A regular file is written beside its place and renamed
// when all went well, so that a failure leaves an existing file as it was; a device or pipe is written directly.
bool writeFile(const std::string& path, std::string_view text, std::string& error);

}  // namespace ptxopt::tool
