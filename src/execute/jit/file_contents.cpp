#include "jit/file_contents.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

namespace ptxopt::jit {

std::optional<std::string> contentsOf(const char* path) {
  struct stat status {};
  if (path == nullptr || ::stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return std::nullopt;
  return bytes;
}

}  // namespace ptxopt::jit
