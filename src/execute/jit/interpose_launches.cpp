// The functions of the driver that find kernels and launch them, as programs see them where launches are compared.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/gate.h"
#include "interpose/launch_config.h"
#include "interpose/real.h"
#include "jit/compared_kernels.h"
#include "jit/compared_launch.h"
#include "jit/driver.h"
#include "jit/protocol.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;
using namespace ptxopt::jit;

namespace {

bool hasEvents(const LaunchConfig& c) {
  constexpr unsigned kProgress = 7, kCompletion = 12;
  return c.attributes != nullptr && std::any_of(c.attributes, c.attributes + c.count, [](const LaunchAttribute& a) {
           return a.id == kProgress || a.id == kCompletion;
         });
}

// Whether a module may have kernels that the program does not know.
bool mayHaveOriginals(void* module) { return isRequested() && ComparedKernels::get().has(module); }

// The kernels of a module but the originals: `count` and `list` are the driver's, `nameOf` names one.
template <typename Count, typename List>
int kernelsOf(void* module, const char* nameOf, std::vector<void*>& kernels, Count&& count, List&& list) {
  auto* const name = driver<int(const char**, void*)>(nameOf);
  unsigned all = 0;
  if (const int result = count(&all, module); result != 0) return result;
  kernels.resize(all);
  if (const int result = list(kernels.data(), all, module); result != 0 || name == nullptr) return result;
  std::erase_if(kernels, [&](void* kernel) {
    const char* text = nullptr;
    return name(&text, kernel) == 0 && text != nullptr && std::string_view(text).ends_with(kOriginalSuffix);
  });
  return 0;
}

int functionsOf(void* module, std::vector<void*>& functions);
int kernelsOfLibrary(void* library, std::vector<void*>& kernels);

int giveCount(unsigned* count, void* module, int (*listed)(void*, std::vector<void*>&)) {
  std::vector<void*> kernels;
  const int result = listed(module, kernels);
  if (result == 0) *count = static_cast<unsigned>(kernels.size());
  return result;
}

// Those that fit, by their names.
int giveList(void** to, unsigned count, void* module, bool isLibrary, const char* nameOf,
             int (*listed)(void*, std::vector<void*>&)) {
  std::vector<void*> kernels;
  const int result = listed(module, kernels);
  if (result != 0) return result;
  auto* const name = driver<int(const char**, void*)>(nameOf);
  for (unsigned i = 0; i < count && i < kernels.size(); ++i) {
    to[i] = kernels[i];
    const char* text = nullptr;
    if (name != nullptr && name(&text, kernels[i]) == 0)
      ComparedKernels::get().found(kernels[i], module, isLibrary, text);
  }
  return 0;
}

// What was set of a kernel is set of its original.
template <typename Set>
int setOfBoth(void* kernel, Set&& set) {
  const int result = set(kernel);
  if (result != 0 || !isRequested()) return result;
  if (const ComparedHandle known = ComparedKernels::get().find(kernel); known.kernel != nullptr)
    set(known.original);
  return result;
}

}  // namespace

// ---- kernels ----

INTERPOSED cuModuleUnload(void* module) {
  const Gate::Passage passage;
  if (isRequested()) ComparedKernels::get().unloaded(module);
  return call(REAL(cuModuleUnload), module);
}
INTERPOSED cuLibraryUnload(void* library) {
  const Gate::Passage passage;
  if (isRequested()) ComparedKernels::get().unloaded(library);
  return call(REAL(cuLibraryUnload), library);
}
INTERPOSED cuModuleGetFunction(void** function, void* module, const char* name) {
  const int result = call(REAL(cuModuleGetFunction), function, module, name);
  if (result == 0 && isRequested()) ComparedKernels::get().found(*function, module, false, name);
  return result;
}
INTERPOSED cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  const int result = call(REAL(cuLibraryGetKernel), kernel, library, name);
  if (result == 0 && isRequested()) ComparedKernels::get().found(*kernel, library, true, name);
  return result;
}
INTERPOSED cuLibraryGetModule(void** module, void* library) {
  const int result = call(REAL(cuLibraryGetModule), module, library);
  if (result == 0 && isRequested()) ComparedKernels::get().same(*module, library);
  return result;
}
INTERPOSED cuKernelGetFunction(void** function, void* kernel) {
  const int result = call(REAL(cuKernelGetFunction), function, kernel);
  if (result == 0 && isRequested()) ComparedKernels::get().function(*function, kernel);
  return result;
}
INTERPOSED cuModuleGetFunctionCount(unsigned* count, void* module) {
  if (count == nullptr || !mayHaveOriginals(module)) return call(REAL(cuModuleGetFunctionCount), count, module);
  return giveCount(count, module, functionsOf);
}
INTERPOSED cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
  if (functions == nullptr || !mayHaveOriginals(module))
    return call(REAL(cuModuleEnumerateFunctions), functions, count, module);
  return giveList(functions, count, module, false, "cuFuncGetName", functionsOf);
}
INTERPOSED cuLibraryGetKernelCount(unsigned* count, void* library) {
  if (count == nullptr || !mayHaveOriginals(library)) return call(REAL(cuLibraryGetKernelCount), count, library);
  return giveCount(count, library, kernelsOfLibrary);
}
INTERPOSED cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  if (kernels == nullptr || !mayHaveOriginals(library))
    return call(REAL(cuLibraryEnumerateKernels), kernels, count, library);
  return giveList(kernels, count, library, true, "cuKernelGetName", kernelsOfLibrary);
}

namespace {

int functionsOf(void* module, std::vector<void*>& functions) {
  return kernelsOf(
      module, "cuFuncGetName", functions,
      [](unsigned* count, void* of) { return call(REAL(cuModuleGetFunctionCount), count, of); },
      [](void** to, unsigned count, void* of) { return call(REAL(cuModuleEnumerateFunctions), to, count, of); });
}

int kernelsOfLibrary(void* library, std::vector<void*>& kernels) {
  return kernelsOf(
      library, "cuKernelGetName", kernels,
      [](unsigned* count, void* of) { return call(REAL(cuLibraryGetKernelCount), count, of); },
      [](void** to, unsigned count, void* of) { return call(REAL(cuLibraryEnumerateKernels), to, count, of); });
}

}  // namespace

INTERPOSED cuFuncSetAttribute(void* function, int attribute, int value) {
  return setOfBoth(function, [&](void* of) { return call(REAL(cuFuncSetAttribute), of, attribute, value); });
}
INTERPOSED cuFuncSetCacheConfig(void* function, int config) {
  return setOfBoth(function, [&](void* of) { return call(REAL(cuFuncSetCacheConfig), of, config); });
}
INTERPOSED cuFuncSetSharedMemConfig(void* function, int config) {
  return setOfBoth(function, [&](void* of) { return call(REAL(cuFuncSetSharedMemConfig), of, config); });
}
INTERPOSED cuKernelSetAttribute(int attribute, int value, void* kernel, int device) {
  return setOfBoth(kernel,
                   [&](void* of) { return call(REAL(cuKernelSetAttribute), attribute, value, of, device); });
}
INTERPOSED cuKernelSetCacheConfig(void* kernel, int config, int device) {
  return setOfBoth(kernel, [&](void* of) { return call(REAL(cuKernelSetCacheConfig), of, config, device); });
}

// ---- launches ----

constexpr uintptr_t kPerThread = 2;  // CU_STREAM_PER_THREAD
#define LAUNCHES(suffix, ofThread)                                                                                 \
  INTERPOSED cuLaunchKernel##suffix(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,                \
                                    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,            \
                                    void* stream, void** parameters, void** extra) {                               \
    return launched({function, parameters, extra, stream != nullptr ? stream : ofThread}, [&](void* of) {          \
      return call(REAL(cuLaunchKernel##suffix), of, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream,   \
                  parameters, extra);                                                                              \
    });                                                                                                            \
  }                                                                                                                \
  INTERPOSED cuLaunchCooperativeKernel##suffix(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,     \
                                               unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared, \
                                               void* stream, void** parameters) {                                  \
    return launched({function, parameters, nullptr, stream != nullptr ? stream : ofThread}, [&](void* of) {        \
      return call(REAL(cuLaunchCooperativeKernel##suffix), of, gridX, gridY, gridZ, blockX, blockY, blockZ,        \
                  shared, stream, parameters);                                                                     \
    });                                                                                                            \
  }                                                                                                                \
  INTERPOSED cuLaunchKernelEx##suffix(const LaunchConfig* config, void* function, void** parameters,               \
                                      void** extra) {                                                              \
    Launch l{function, parameters, extra};                                                                         \
    if (config != nullptr) l.stream = config->stream != nullptr ? config->stream : ofThread;                       \
    if (config != nullptr) l.hasEvents = hasEvents(*config);                                                       \
    return launched(                                                                                               \
        l, [&](void* of) { return call(REAL(cuLaunchKernelEx##suffix), config, of, parameters, extra); });         \
  }
LAUNCHES(, nullptr)
LAUNCHES(_ptsz, reinterpret_cast<void*>(kPerThread))

// ---- captured streams ----

#define CAPTURES(suffix)                                                                                  \
  INTERPOSED cuStreamBeginCapture_v2##suffix(void* stream, int mode) {                                    \
    const Gate::Passage passage;                                                                          \
    const int result = call(REAL(cuStreamBeginCapture_v2##suffix), stream, mode);                         \
    if (result == 0) noteCapture(true);                                                                   \
    return result;                                                                                        \
  }                                                                                                       \
  INTERPOSED cuStreamBeginCaptureToGraph##suffix(void* stream, void* graph, const void* dependencies,     \
                                                 const void* edges, size_t count, int mode) {             \
    const Gate::Passage passage;                                                                          \
    const int result =                                                                                    \
        call(REAL(cuStreamBeginCaptureToGraph##suffix), stream, graph, dependencies, edges, count, mode); \
    if (result == 0) noteCapture(true);                                                                   \
    return result;                                                                                        \
  }                                                                                                       \
  INTERPOSED cuStreamEndCapture##suffix(void* stream, void** graph) {                                     \
    const Gate::Passage passage;                                                                          \
    const int result = call(REAL(cuStreamEndCapture##suffix), stream, graph);                             \
    noteCapture(false);                                                                                   \
    return result;                                                                                        \
  }
CAPTURES()
CAPTURES(_ptsz)
