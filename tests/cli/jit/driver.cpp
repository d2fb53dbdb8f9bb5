// In front of the stub of the driver: one that says what it was given, and refuses it where it is told to.
//
// PTX with no division in it was optimized; all else is the original. $DRIVER_LOG gets a line for each call: its name, and `original` or `optimized`.
// $DRIVER_REFUSES: `optimized`, when it is loaded or given to the linker; `complete`, when something optimized is linked; `all`.
// $DRIVER_THREADS: what it answers one after the other when it is asked how many threads a block of a kernel may have.
// $DRIVER_VARIES: each launch adds what no launch before did to the 31st word of its first parameter. $DRIVER_SLOW: how many milliseconds it
// takes until the device is done. $DRIVER_FAILS: what waiting answers then.
// Its linker writes into the program's logs behind what is there, as long as the linker lives.
#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

extern "C" int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes);

#define SEEN extern "C" __attribute__((visibility("default"))) int
#pragma GCC diagnostic ignored "-Wmissing-declarations"

namespace {

constexpr int kRefused = 218;  // CUDA_ERROR_INVALID_PTX
constexpr int kInfoLog = 3, kInfoBytes = 4, kErrorLog = 5, kErrorBytes = 6, kTime = 2;

struct Options {
  unsigned count = 0;
  const int* options = nullptr;
  void** values = nullptr;

  void** find(int option) const {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == option) return &values[i];
    return nullptr;
  }
  // Behind what is there.
  void append(int log, int bytes, const std::string& text) const {
    void** const buffer = find(log);
    void** const size = find(bytes);
    if (buffer == nullptr || size == nullptr) return;
    auto* const to = static_cast<char*>(*buffer);
    std::strcat(to, text.c_str());
    *size = reinterpret_cast<void*>(std::strlen(to));
  }
};

std::string wordOf(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : "";
}

void logged(const std::string& line) {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  if (const std::string log = wordOf("DRIVER_LOG"); !log.empty()) std::ofstream(log, std::ios::app) << line << '\n';
}

// A fat binary's text lies in it as it is.
bool isOriginal(const void* image) {
  uint32_t magic;
  std::memcpy(&magic, image, sizeof magic);
  const void* container = image;
  if (magic == 0x466243B1)
    std::memcpy(static_cast<void*>(&container), static_cast<const char*>(image) + 8, sizeof container);
  std::memcpy(&magic, container, sizeof magic);
  uint64_t bytes = 0;
  if (magic == 0xBA55ED50) std::memcpy(&bytes, static_cast<const char*>(container) + 8, sizeof bytes);
  const std::string_view text(static_cast<const char*>(container),
                              bytes != 0 ? 16 + bytes : std::strlen(static_cast<const char*>(container)));
  if (text.find("$ptxopt_original") != std::string_view::npos) return false;  // both
  return text.find("div.u32") != std::string_view::npos || text.find(".version") == std::string_view::npos;
}

bool isRefused(const char* call, bool original, const Options& options) {
  logged(std::string(call) + (original ? " original" : " optimized"));
  const std::string refuses = wordOf("DRIVER_REFUSES");
  const bool refused = refuses == "all" || (refuses == "optimized" && !original);
  if (void** const time = options.find(kTime)) *time = reinterpret_cast<void*>(uintptr_t{7});
  if (refused)
    options.append(kErrorLog, kErrorBytes, original ? "refused original;" : "refused optimized;");
  else
    options.append(kInfoLog, kInfoBytes, original ? "compiled original;" : "compiled optimized;");
  return refused;
}

template <typename F>
F* next(const char* name, F*) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
#define NEXT(name) next(#name, name)

struct Linker {
  Options options;
  void* real = nullptr;
  bool hasOptimized = false;
};

}  // namespace

SEEN cuModuleLoadData(void** module, const void* image) {
  return isRefused(__func__, isOriginal(image), {}) ? kRefused : NEXT(cuModuleLoadData)(module, image);
}
SEEN cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  if (isRefused(__func__, isOriginal(image), {count, options, values})) return kRefused;
  return NEXT(cuModuleLoadDataEx)(module, image, count, options, values);
}
SEEN cuModuleLoadFatBinary(void** module, const void* image) {
  return isRefused(__func__, isOriginal(image), {}) ? kRefused : NEXT(cuModuleLoadFatBinary)(module, image);
}
SEEN cuModuleLoad(void** module, const char* path) {
  return isRefused(__func__, true, {}) ? kRefused : NEXT(cuModuleLoad)(module, path);
}
SEEN cuLibraryLoadData(void** library, const void* image, int* options, void** values, unsigned count, int* more,
                       void** moreValues, unsigned moreCount) {
  if (isRefused(__func__, isOriginal(image), {count, options, values})) return kRefused;
  return NEXT(cuLibraryLoadData)(library, image, options, values, count, more, moreValues, moreCount);
}
SEEN cuLibraryLoadFromFile(void** library, const char* path, int* options, void** values, unsigned count, int* more,
                           void** moreValues, unsigned moreCount) {
  if (isRefused(__func__, true, {count, options, values})) return kRefused;
  return NEXT(cuLibraryLoadFromFile)(library, path, options, values, count, more, moreValues, moreCount);
}
int nextThreads(int* threads) {
  static std::string left = wordOf("DRIVER_THREADS");
  if (left.empty()) return *threads = 1024, 0;
  *threads = std::stoi(left);
  left.erase(0, left.find(',') == std::string::npos ? left.size() : left.find(',') + 1);
  logged("threads " + std::to_string(*threads));
  return 0;
}
SEEN cuFuncGetAttribute(int* value, int attribute, void* function) {
  return attribute == 0 ? nextThreads(value) : NEXT(cuFuncGetAttribute)(value, attribute, function);
}
SEEN cuKernelGetAttribute(int* value, int, void*, int) { return nextThreads(value); }
SEEN cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                    unsigned blockY, unsigned blockZ, unsigned shared, void* stream, void** parameters,
                    void** extra) {
  static uint32_t launches = 0;
  function = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(function) & ~uintptr_t{1});
  const int result = NEXT(cuLaunchKernel)(function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream,
                                          parameters, extra);
  if (result != 0 || wordOf("DRIVER_VARIES").empty()) return result;
  const uint64_t last = *static_cast<uint64_t*>(parameters[0]) + 31 * sizeof launches;
  ++launches;
  return NEXT(cuMemcpyHtoD_v2)(last, &launches, sizeof launches);
}
// The function of a kernel has another handle.
SEEN cuKernelGetFunction(void** function, void* kernel) {
  *function = static_cast<char*>(kernel) + 1;
  return 0;
}
SEEN cuCtxSynchronize() {
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(wordOf("DRIVER_SLOW").c_str())));
  const int fails = std::atoi(wordOf("DRIVER_FAILS").c_str());
  return fails != 0 ? fails : NEXT(cuCtxSynchronize)();
}
SEEN cuFuncSetAttribute(void* function, int attribute, int value) {
  logged("attribute " + std::to_string(attribute) + ' ' + std::to_string(value));
  return NEXT(cuFuncSetAttribute)(function, attribute, value);
}
SEEN cuLinkCreate_v2(unsigned count, int* options, void** values, void** state) {
  auto* const linker = new Linker;
  // The others may go.
  for (unsigned i = 0; i < count; ++i)
    if (options[i] >= kTime && options[i] <= kErrorBytes) linker->options = {count, options, values};
  *state = linker;
  return NEXT(cuLinkCreate_v2)(0, nullptr, nullptr, &linker->real);
}
SEEN cuLinkAddData_v2(void* state, int type, void* data, size_t size, const char* name, unsigned count,
                      int* options, void** values) {
  auto& linker = *static_cast<Linker*>(state);
  const bool original = isOriginal(data);
  if (isRefused(__func__, original, linker.options)) return kRefused;
  linker.hasOptimized |= !original;
  return NEXT(cuLinkAddData_v2)(linker.real, type, data, size, name, count, options, values);
}
SEEN cuLinkAddFile_v2(void* state, int type, const char* path, unsigned count, int* options, void** values) {
  auto& linker = *static_cast<Linker*>(state);
  if (isRefused(__func__, true, linker.options)) return kRefused;
  return NEXT(cuLinkAddFile_v2)(linker.real, type, path, count, options, values);
}
SEEN cuLinkComplete(void* state, void** image, size_t* size) {
  auto& linker = *static_cast<Linker*>(state);
  if (wordOf("DRIVER_REFUSES") == "complete" && linker.hasOptimized) {
    linker.options.append(kErrorLog, kErrorBytes, "cannot link;");
    return kRefused;
  }
  // What it makes is not PTX as far as anybody can see.
  return NEXT(cuLinkComplete)(linker.real, image, size);
}
SEEN cuLinkDestroy(void* state) {
  auto* const linker = static_cast<Linker*>(state);
  const int result = NEXT(cuLinkDestroy)(linker->real);
  delete linker;
  return result;
}
