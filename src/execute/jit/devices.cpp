#include "jit/devices.h"

#include <algorithm>

#include "jit/driver.h"

namespace ptxopt::jit {
std::vector<unsigned> devicesMeant() {
  auto* const current = driver<int(int*)>("cuCtxGetDevice");
  auto* const count = driver<int(int*)>("cuDeviceGetCount");
  auto* const attribute = driver<int(int*, int, int)>("cuDeviceGetAttribute");
  constexpr int kMajor = 75, kMinor = 76;
  std::vector<unsigned> found;
  const auto add = [&](int device) {
    int major = 0, minor = 0;
    if (attribute(&major, kMajor, device) != 0 || attribute(&minor, kMinor, device) != 0) return false;
    const auto architecture = static_cast<unsigned>(10 * major + minor);
    if (std::ranges::find(found, architecture) == found.end()) found.push_back(architecture);
    return true;
  };
  if (attribute == nullptr) return found;
  int device = 0, devices = 0;
  if (current != nullptr && current(&device) == 0 && add(device)) return found;
  if (count == nullptr || count(&devices) != 0) return found;
  for (int i = 0; i < devices; ++i)
    if (!add(i)) return {};
  return found;
}

}  // namespace ptxopt::jit
