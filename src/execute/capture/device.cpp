#include "capture/device.h"

#include "interpose/real.h"
#include "interpose/relaxed.h"

namespace ptxopt::capture {
namespace {

template <typename F>
F* driver(const char* name) {
  return reinterpret_cast<F*>(interpose::driverFunction(name));
}

}  // namespace

unsigned architecture() {
  static auto* const getDevice = driver<int(int*)>("cuCtxGetDevice");
  static auto* const getAttribute = driver<int(int*, int, int)>("cuDeviceGetAttribute");
  constexpr int kMajor = 75, kMinor = 76;
  int device = 0, major = 0, minor = 0;
  if (getDevice == nullptr || getAttribute == nullptr || getDevice(&device) != 0) return 0;
  if (getAttribute(&major, kMajor, device) != 0 || getAttribute(&minor, kMinor, device) != 0) return 0;
  return static_cast<unsigned>(10 * major + minor);
}

bool isCapturing(void* stream) {
  static auto* const call = driver<int(void*, int*)>("cuStreamIsCapturing");
  int status = 0;
  return call != nullptr && call(stream, &status) == 0 && status != 0;
}

bool waitForDevice() {
  static auto* const call = driver<int()>("cuCtxSynchronize");
  const interpose::Relaxed relaxed;
  return call != nullptr && call() == 0;
}

bool readMemory(uint64_t address, uint64_t size, std::string& bytes) {
  static auto* const call = driver<int(void*, uint64_t, size_t)>("cuMemcpyDtoH_v2");
  const interpose::Relaxed relaxed;
  bytes.resize(size);
  return call != nullptr && (size == 0 || call(bytes.data(), address, size) == 0);
}

bool findVariable(const void* owner, bool isOfLibrary, const char* name, uint64_t& address, uint64_t& size) {
  using Find = int(uint64_t*, size_t*, const void*, const char*);
  static auto* const ofModule = driver<Find>("cuModuleGetGlobal_v2");
  static auto* const ofLibrary = driver<Find>("cuLibraryGetGlobal");
  static auto* const managed = driver<Find>("cuLibraryGetManaged");
  if (!isOfLibrary) return ofModule != nullptr && ofModule(&address, &size, owner, name) == 0;
  return (ofLibrary != nullptr && ofLibrary(&address, &size, owner, name) == 0) ||
         (managed != nullptr && managed(&address, &size, owner, name) == 0);
}

}  // namespace ptxopt::capture
