// Files and streams of the drop-in ptxas: bytes as they are, errors as a false or a nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ptxopt::wrapper {

// To the end; "-" is standard input.
std::optional<std::string> readBytes(const std::string& path);
// At most that many bytes of a regular file; empty where that cannot be read.
std::string readHead(const std::string& path, std::size_t most);
// Makes the folder, too.
bool writeBytes(const std::filesystem::path& path, std::string_view bytes);

}  // namespace ptxopt::wrapper
