#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace ptxopt {

TemporaryFolder::TemporaryFolder() {
  const char* const base = ::getenv("TMPDIR");
  std::string name = fmt::format("{}/ptxopt-XXXXXX", base == nullptr || *base == '\0' ? "/tmp" : base);
  if (::mkdtemp(name.data()) != nullptr)
    path_ = name;
  else
    error_ = fmt::format("cannot make a folder like '{}': {}", name, std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (isValid()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace ptxopt
