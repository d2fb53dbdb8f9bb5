// The functions of calls.def are looked up by dlsym(), the newer ones without being required. A failure before the
// device is known is a NoDriver, a later one a DriverError. A timer is a pair of events.
#include "gpu/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace ptxopt::gpu {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr int kComputeMajor = 75, kComputeMinor = 76;  // CUdevice_attribute

std::string libraryName(const std::string& given) {
  if (!given.empty()) return given;
  const char* const named = std::getenv("PTXOPT_GPU_DRIVER");
  return named != nullptr && *named != '\0' ? named : kLibrary;
}

template <typename F>
void find(void* library, const char* symbol, bool isNeeded, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, symbol));
  if (function == nullptr && isNeeded) throw NoDriver(fmt::format("there is no CUDA driver: it has no {}", symbol));
}

}  // namespace

Driver::Driver(const std::string& given, int number) {
  // Never closed: drivers do not take that well.
  void* const library = dlopen(libraryName(given).c_str(), RTLD_NOW);
  if (library == nullptr) throw NoDriver(fmt::format("there is no CUDA driver: {}", dlerror()));
#define GPU_CALL(name, symbol, parameters) find(library, symbol, true, calls_.name);
#define GPU_CALL_NEWER(name, symbol, parameters) find(library, symbol, false, calls_.name);
#include "gpu/calls.def"
  const auto orNone = [&](const char* call, int result) {
    if (result != 0) throw NoDriver("the CUDA driver has no device: " + failure(call, result));
  };
  int count = 0, version = 0, handle = 0;
  orNone("cuInit", calls_.init(0));
  orNone("cuDeviceGetCount", calls_.deviceCount(&count));
  if (number < 0 || number >= count)
    throw NoDriver(fmt::format("there is no device {}: the driver has {}", number, count));
  char name[256] = "";
  check("cuDriverGetVersion", calls_.driverVersion(&version));
  check("cuDeviceGet", calls_.deviceGet(&handle, number));
  check("cuDeviceGetName", calls_.deviceName(name, sizeof name, handle));
  check("cuDeviceGetAttribute", calls_.deviceAttribute(&device_.major, kComputeMajor, handle));
  check("cuDeviceGetAttribute", calls_.deviceAttribute(&device_.minor, kComputeMinor, handle));
  device_.name = name;
  device_.number = handle;
  device_.driver = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  void* context = nullptr;
  check("cuDevicePrimaryCtxRetain", calls_.retainContext(&context, handle));
  check("cuCtxSetCurrent", calls_.setContext(context));
}

std::string Driver::failure(const char* call, int result) const {
  const char *name = nullptr, *text = nullptr;
  if (calls_.errorName(result, &name) != 0 || name == nullptr) name = "unknown";
  if (calls_.errorText(result, &text) != 0 || text == nullptr) text = "unknown";
  return fmt::format("{}: {} ({}): {}", call, name, result, text);
}

void Driver::check(const char* call, int result) const {
  if (result != 0) throw DriverError(failure(call, result));
}

void Driver::need(bool isThere, const char* what) const {
  if (!isThere) throw DriverError(fmt::format("the driver, {}, does not have {}", device_.driver, what));
}

Timer::Timer(const Driver& driver) : driver_(driver) {
  for (void*& event : events_) driver.check("cuEventCreate", driver.calls().createEvent(&event, 0));
}

void Timer::start() const { driver_.check("cuEventRecord", driver_.calls().recordEvent(events_[0], nullptr)); }

double Timer::stop() const {
  driver_.check("cuEventRecord", driver_.calls().recordEvent(events_[1], nullptr));
  driver_.check("cuEventSynchronize", driver_.calls().awaitEvent(events_[1]));
  float milliseconds = 0;
  driver_.check("cuEventElapsedTime", driver_.calls().elapsed(&milliseconds, events_[0], events_[1]));
  return milliseconds;
}

}  // namespace ptxopt::gpu
