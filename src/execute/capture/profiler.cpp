// Launches are added to a profile in memory, kernel by kernel, and written once at the end, ordered. A file that exists
// and is not a profile is not overwritten.
#include "capture/profiler.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "exec/error.h"
#include "support/atomic_file.h"
#include "support/file_bytes.h"

namespace ptxopt::capture {
namespace {

namespace fs = std::filesystem;

bool isProfile(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none) || (fs::is_regular_file(path, none) && fs::file_size(path, none) == 0)) return true;
  std::string error;
  const auto bytes = FileBytes::map(path, error);
  return bytes != nullptr && std::holds_alternative<profile::File>(profile::parse(bytes->view(), path));
}

}  // namespace

std::string Profiler::add(const KnownKernel& known, const Launch& l, double microseconds,
                          const profiling::IsMemory& isMemory) {
  try {
    const Module& module = *known.ptx->module;
    const auto [place, isNew] = kernels_.try_emplace({known.ptx.get(), known.name});
    Kernel& kernel = place->second;
    if (isNew) {
      kernel.ptx = known.ptx;
      kernel.function = kernelNamed(module, known.name);
      if (kernel.function != nullptr) {
        kernel.seen = profiling::unseenKernel(module, *kernel.function);
        kernel.parts = profiling::readParts(module, *kernel.function);
      }
    }
    if (kernel.function == nullptr) return "of a kernel that its PTX does not have";
    std::string error;
    const std::vector<std::byte> parameters = packed(module, *kernel.function, l, error);
    if (!error.empty()) return error;
    LaunchClass launched;
    launched.launches = 1;
    launched.time = microseconds;
    launched.block = {l.block.x, l.block.y, l.block.z};
    launched.grid = {NumberFact{l.grid.x, l.grid.x}, {l.grid.y, l.grid.y}, {l.grid.z, l.grid.z}};
    launched.parts = profiling::valuesOf(kernel.parts, parameters, isMemory);
    profile::addLaunches(kernel.seen, std::move(launched));
    return {};
  } catch (const exec::ExecError& e) {
    return e.message;
  }
}

std::string Profiler::write(const std::string& path) const {
  if (!isProfile(path)) return fmt::format("'{}' is there and is not a profile: it is not overwritten", path);
  profile::File file{profile::Unit::Microseconds, {}};
  for (const auto& [key, kernel] : kernels_)
    if (kernel.seen.launches != 0) profile::add(file, kernel.seen);
  profile::order(file);
  if (writeWhole(path, profile::write(file))) return {};
  return fmt::format("'{}': {}", path, std::strerror(errno));
}

}  // namespace ptxopt::capture
