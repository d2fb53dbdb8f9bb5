// The functions of the driver as programs see them: each does what the driver does, and notes it.
#include "capture/interpose.h"

#include <cstdint>

#include "interpose/launch_config.h"

using namespace ptxopt::capture;
namespace interpose = ptxopt::interpose;

namespace {

void noteTexture(int result, int change) {
  if (result == 0) Capture::get().note([&](Capture& c) { c.textures += static_cast<uint64_t>(change); });
}
void noteModule(int result, void* const* handle, const void* image) {
  if (result == 0 && handle != nullptr) Capture::get().note([&](Capture& c) { c.modules.add(*handle, image); });
}
void noteFile(int result, void* const* handle, const char* path) {
  if (result == 0 && handle != nullptr) Capture::get().note([&](Capture& c) { c.modules.addFile(*handle, path); });
}

void noteLibrary(int result, void* const* handle) {
  if (result == 0 && handle != nullptr) Capture::get().note([&](Capture& c) { c.modules.markLibrary(*handle); });
}

// Kernels that were not asked for by their names.
void noteAll(int result, void* const* kernels, unsigned count, void* owner, bool isOfLibrary,
             int (*nameOf)(const char**, void*)) {
  if (result != 0 || kernels == nullptr || nameOf == nullptr) return;
  for (unsigned i = 0; i < count; ++i) {
    const char* name = nullptr;
    if (nameOf(&name, kernels[i]) != 0) continue;
    Capture::get().note([&](Capture& c) { c.modules.addKernel(kernels[i], owner, isOfLibrary, name); });
  }
}

Launch launchOf(void* function, const unsigned* grid, const unsigned* block, unsigned shared, void* stream,
                void** parameters, void** extra) {
  Launch l;
  l.function = function;
  l.grid = {grid[0], grid[1], grid[2]};
  l.block = {block[0], block[1], block[2]};
  l.shared = shared;
  l.stream = stream;
  l.parameters = parameters;
  l.extra = extra;
  return l;
}

Launch launchOf(const interpose::LaunchConfig& c, void* function, void** parameters, void** extra) {
  Launch l = launchOf(function, c.grid, c.block, c.shared, c.stream, parameters, extra);
  constexpr unsigned kCooperative = 2, kCluster = 4;
  for (unsigned i = 0; i < c.count; ++i) {
    const interpose::LaunchAttribute& a = c.attributes[i];
    if (a.id == kCooperative) l.isCooperative = a.values[0] != 0;
    if (a.id == kCluster) l.cluster = {a.values[0], a.values[1], a.values[2]};
  }
  return l;
}

}  // namespace

// ---- textures and surfaces ----

CAPTURED cuTexObjectCreate(unsigned long long* texture, const void* resource, const void* form, const void* view) {
  const int result = call(REAL(cuTexObjectCreate), texture, resource, form, view);
  noteTexture(result, 1);
  return result;
}
CAPTURED cuTexObjectDestroy(unsigned long long texture) {
  const int result = call(REAL(cuTexObjectDestroy), texture);
  noteTexture(result, -1);
  return result;
}
CAPTURED cuSurfObjectCreate(unsigned long long* surface, const void* resource) {
  const int result = call(REAL(cuSurfObjectCreate), surface, resource);
  noteTexture(result, 1);
  return result;
}
CAPTURED cuSurfObjectDestroy(unsigned long long surface) {
  const int result = call(REAL(cuSurfObjectDestroy), surface);
  noteTexture(result, -1);
  return result;
}

// ---- modules ----

CAPTURED cuModuleLoad(void** module, const char* path) {
  const int result = call(REAL(cuModuleLoad), module, path);
  noteFile(result, module, path);
  return result;
}
CAPTURED cuModuleLoadData(void** module, const void* image) {
  const int result = call(REAL(cuModuleLoadData), module, image);
  noteModule(result, module, image);
  return result;
}
CAPTURED cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  const int result = call(REAL(cuModuleLoadDataEx), module, image, count, options, values);
  noteModule(result, module, image);
  return result;
}
CAPTURED cuModuleLoadFatBinary(void** module, const void* image) {
  const int result = call(REAL(cuModuleLoadFatBinary), module, image);
  noteModule(result, module, image);
  return result;
}
CAPTURED cuModuleUnload(void* module) {
  Capture::get().note([&](Capture& c) { c.modules.remove(module); });
  return call(REAL(cuModuleUnload), module);
}
CAPTURED cuModuleGetFunction(void** function, void* module, const char* name) {
  const int result = call(REAL(cuModuleGetFunction), function, module, name);
  if (result == 0) Capture::get().note([&](Capture& c) { c.modules.addKernel(*function, module, false, name); });
  return result;
}
CAPTURED cuLibraryLoadData(void** library, const void* image, int* options, void** values, unsigned count,
                           int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  const int result = call(REAL(cuLibraryLoadData), library, image, options, values, count, libraryOptions,
                          libraryValues, libraryCount);
  noteModule(result, library, image);
  noteLibrary(result, library);
  return result;
}
CAPTURED cuLibraryLoadFromFile(void** library, const char* path, int* options, void** values, unsigned count,
                               int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  const int result = call(REAL(cuLibraryLoadFromFile), library, path, options, values, count, libraryOptions,
                          libraryValues, libraryCount);
  noteFile(result, library, path);
  noteLibrary(result, library);
  return result;
}
CAPTURED cuLibraryUnload(void* library) {
  Capture::get().note([&](Capture& c) { c.modules.remove(library); });
  return call(REAL(cuLibraryUnload), library);
}
CAPTURED cuLibraryGetModule(void** module, void* library) {
  const int result = call(REAL(cuLibraryGetModule), module, library);
  if (result == 0) Capture::get().note([&](Capture& c) { c.modules.addSame(*module, library); });
  return result;
}
CAPTURED cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  const int result = call(REAL(cuLibraryGetKernel), kernel, library, name);
  if (result == 0) Capture::get().note([&](Capture& c) { c.modules.addKernel(*kernel, library, true, name); });
  return result;
}
CAPTURED cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  const int result = call(REAL(cuLibraryEnumerateKernels), kernels, count, library);
  static auto* const nameOf = reinterpret_cast<int (*)(const char**, void*)>(driverFunction("cuKernelGetName"));
  noteAll(result, kernels, count, library, true, nameOf);
  return result;
}
CAPTURED cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
  const int result = call(REAL(cuModuleEnumerateFunctions), functions, count, module);
  static auto* const nameOf = reinterpret_cast<int (*)(const char**, void*)>(driverFunction("cuFuncGetName"));
  noteAll(result, functions, count, module, false, nameOf);
  return result;
}
CAPTURED cuKernelGetFunction(void** function, void* kernel) {
  const int result = call(REAL(cuKernelGetFunction), function, kernel);
  if (result == 0) Capture::get().note([&](Capture& c) { c.modules.addSameKernel(*function, kernel); });
  return result;
}

// ---- launches ----

#define CAPTURED_LAUNCHES(suffix)                                                                                  \
  CAPTURED cuLaunchKernel##suffix(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, \
                                  unsigned blockY, unsigned blockZ, unsigned shared, void* stream,                 \
                                  void** parameters, void** extra) {                                               \
    const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};                             \
    return Capture::get().launched(launchOf(function, grid, block, shared, stream, parameters, extra), [&] {       \
      return call(REAL(cuLaunchKernel##suffix), function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared,     \
                  stream, parameters, extra);                                                                      \
    });                                                                                                            \
  }                                                                                                                \
  CAPTURED cuLaunchCooperativeKernel##suffix(void* function, unsigned gridX, unsigned gridY, unsigned gridZ,       \
                                             unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,   \
                                             void* stream, void** parameters) {                                    \
    const unsigned grid[] = {gridX, gridY, gridZ}, block[] = {blockX, blockY, blockZ};                             \
    Launch l = launchOf(function, grid, block, shared, stream, parameters, nullptr);                               \
    l.isCooperative = true;                                                                                        \
    return Capture::get().launched(l, [&] {                                                                        \
      return call(REAL(cuLaunchCooperativeKernel##suffix), function, gridX, gridY, gridZ, blockX, blockY, blockZ,  \
                  shared, stream, parameters);                                                                     \
    });                                                                                                            \
  }                                                                                                                \
  CAPTURED cuLaunchKernelEx##suffix(const interpose::LaunchConfig* config, void* function, void** parameters,      \
                                    void** extra) {                                                                \
    const auto launch = [&] { return call(REAL(cuLaunchKernelEx##suffix), config, function, parameters, extra); }; \
    if (config == nullptr) return launch();                                                                        \
    return Capture::get().launched(launchOf(*config, function, parameters, extra), launch);                        \
  }
CAPTURED_LAUNCHES()
CAPTURED_LAUNCHES(_ptsz)
