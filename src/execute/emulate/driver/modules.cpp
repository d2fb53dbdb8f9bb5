// Modules, functions, launches, and linking: of PTX; what a linker makes of one PTX is that PTX.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "analysis/machine/kernel_needs.h"
#include "analysis/manager/analyses.h"
#include "emulate/driver/driver.h"
#include "emulate/fat_binary.h"
#include "emulate/properties.h"
#include "emulate/runtime/abi.h"

using namespace ptxopt::emulate;
namespace exec = ptxopt::exec;

namespace {

Kernel& functionAt(const void* handle) {
  State& s = State::get();
  need(s.kernels.contains(handle), Code::InvalidResourceHandle, "no such function");
  return s.kernel(handle);
}

void* addModule(const void* image) {
  State& s = State::get();
  const std::string_view magic(static_cast<const char*>(&out(static_cast<const char*>(image))), 4);
  auto module = std::make_unique<Registered>();
  module->number = static_cast<unsigned>(s.modules.size() + 1);
  if (magic ==
      "\x7f"
      "ELF")
    throw Failure{Code::NoKernelImageForDevice, "it is machine code; the emulated driver takes PTX"};
  constexpr std::string_view kContainer = "\x50\xed\x55\xba";
  if (magic == kContainer)
    module->container = image;
  else if (const void* const container = containerOf(image); container != nullptr)
    module->container = container;
  else
    module->text = static_cast<const char*>(image);
  s.loaded(*module);
  s.modules.push_back(std::move(module));
  return s.modules.back().get();
}

std::string contentsOf(const char* file) {
  std::ifstream in(&out(file), std::ios::binary);
  if (!in) throw Failure{Code::SymbolNotFound, std::string("there is no file ") + file};
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

struct LinkState {
  std::vector<std::string> texts;
  std::string linked;
};

void addPtx(LinkState& link, int type, std::string text) {
  constexpr int kPtx = 1;
  need(type == kPtx, Code::NotSupported, "linking of anything but PTX");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  link.texts.push_back(std::move(text));
}

KernelNodeParameters nodeOf(const void* function, Shape3 grid, Shape3 block, unsigned shared, void** arguments) {
  return {function, grid, block, shared, arguments, nullptr};
}

// Arguments in one piece: CU_LAUNCH_PARAM_BUFFER_POINTER, its address, CU_LAUNCH_PARAM_BUFFER_SIZE, its size's, END.
std::vector<std::byte> argumentsOf(const Kernel& kernel, void** places, void** extra) {
  if (extra == nullptr) return packArguments(kernel, places);
  const std::byte* bytes = nullptr;
  size_t size = 0;
  constexpr uintptr_t kEnd = 0, kPointer = 1, kSize = 2;
  for (; reinterpret_cast<uintptr_t>(*extra) != kEnd; extra += 2) {
    if (reinterpret_cast<uintptr_t>(extra[0]) == kPointer) bytes = static_cast<const std::byte*>(extra[1]);
    if (reinterpret_cast<uintptr_t>(extra[0]) == kSize) size = *static_cast<const size_t*>(extra[1]);
  }
  std::vector<std::byte> packed(kernel.program().parameterBytes());
  need(bytes != nullptr && size >= packed.size(), Code::InvalidValue, "fewer bytes than the parameters have");
  std::memcpy(packed.data(), bytes, packed.size());
  return packed;
}

void launch(const KernelNodeParameters& p, exec::Dim3 cluster, bool isCooperative, void** extra, void* stream) {
  Kernel& kernel = functionAt(p.function);
  const LaunchShape shape{
      {p.grid.x, p.grid.y, p.grid.z}, {p.block.x, p.block.y, p.block.z}, cluster, p.shared, isCooperative};
  State::get().enqueue(stream, {p.function, &kernel, shape, argumentsOf(kernel, p.arguments, extra)});
}

}  // namespace

Registered& ptxopt::emulate::moduleAt(void* handle) {
  for (const auto& m : State::get().modules)
    if (m.get() == handle) return *m;
  throw Failure{Code::InvalidResourceHandle, "no such module"};
}

// ---- modules ----

CUDA_DRIVER_API int cuModuleLoadData(void** module, const void* image) {
  return answerDriver(__func__, [&] { out(module) = addModule(image); });
}
CUDA_DRIVER_API int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return cuModuleLoadData(module, image);
}
CUDA_DRIVER_API int cuModuleLoadFatBinary(void** module, const void* image) {
  return cuModuleLoadData(module, image);
}
CUDA_DRIVER_API int cuModuleLoad(void** module, const char* file) {
  return answerDriver(__func__, [&] {
    // A fat binary stays where it is while its module is there.
    out(module) = addModule((new std::string(contentsOf(file)))->c_str());
  });
}
CUDA_DRIVER_API int cuModuleUnload(void* handle) {
  return answerDriver(__func__, [&] {
    State& s = State::get();
    const Registered* const module = &moduleAt(handle);
    std::erase_if(s.kernels, [&](const auto& k) { return k.second.owner == module; });
    if (module->loaded != nullptr) s.launcher.forget(*module->loaded);
    std::erase_if(s.modules, [&](const auto& m) { return m.get() == module; });
  });
}
CUDA_DRIVER_API int cuModuleGetFunction(void** function, void* handle, const char* name) {
  return answerDriver(__func__, [&] {
    State& s = State::get();
    Registered& module = moduleAt(handle);
    const std::vector<std::string> kernels = s.loaded(module).plain.machine->kernels();
    if (std::find(kernels.begin(), kernels.end(), &out(name)) == kernels.end())
      throw Failure{Code::SymbolNotFound, std::string("there is no kernel ") + name};
    for (auto& [key, k] : s.kernels)
      if (k.owner == &module && k.kernel.name == name) {
        out(function) = const_cast<void*>(key);
        return;
      }
    auto key = std::make_unique<char>();
    out(function) = key.get();
    RegisteredKernel& k = s.kernels[key.get()];
    k.key = std::move(key);
    k.owner = &module;
    k.kernel.name = name;
  });
}
CUDA_DRIVER_API int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* handle, const char* name) {
  return answerDriver(__func__, [&] {
    const exec::Allocation* const a = State::get().loaded(moduleAt(handle)).plain.machine->variable(&out(name));
    if (a == nullptr) throw Failure{Code::SymbolNotFound, std::string("there is no variable ") + name};
    if (address != nullptr) *address = a->base;
    if (size != nullptr) *size = a->size;
  });
}

// ---- linking ----

CUDA_DRIVER_API int cuLinkCreate_v2(unsigned, int*, void**, void** state) {
  return answerDriver(__func__, [&] { out(state) = new LinkState; });
}
CUDA_DRIVER_API int cuLinkAddData_v2(void* state, int type, void* data, size_t size, const char*, unsigned, int*,
                                     void**) {
  return answerDriver(__func__, [&] {
    addPtx(out(static_cast<LinkState*>(state)), type, {&out(static_cast<const char*>(data)), size});
  });
}
CUDA_DRIVER_API int cuLinkAddFile_v2(void* state, int type, const char* file, unsigned, int*, void**) {
  return answerDriver(__func__, [&] { addPtx(out(static_cast<LinkState*>(state)), type, contentsOf(file)); });
}
CUDA_DRIVER_API int cuLinkComplete(void* state, void** image, size_t* size) {
  return answerDriver(__func__, [&] {
    LinkState& link = out(static_cast<LinkState*>(state));
    need(!link.texts.empty(), Code::InvalidValue, "nothing to link");
    // One text stays as it is.
    link.linked = link.texts.size() == 1 ? link.texts.front() : linkedText(link.texts);
    out(image) = link.linked.data();
    if (size != nullptr) *size = link.linked.size() + 1;
  });
}
CUDA_DRIVER_API int cuLinkDestroy(void* state) {
  return answerDriver(__func__, [&] { delete static_cast<LinkState*>(state); });
}

// ---- functions ----

CUDA_DRIVER_API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return answerDriver(__func__, [&] {
    State& s = State::get();
    const Kernel& kernel = functionAt(function);
    const ptxopt::Module& module = kernel.program().module();
    const ptxopt::Function& f = kernel.program().kernel();
    switch (attribute) {
      case 0: out(value) = static_cast<int>(ptxopt::kernelNeeds(module, f).threads.value_or(1024)); break;
      case 1: out(value) = static_cast<int>(kernel.program().staticShared()); break;
      case 3: out(value) = static_cast<int>(kernel.program().entry().stackBytes); break;
      case 4: {
        ptxopt::Analyses analyses(module, f);
        out(value) = static_cast<int>(analyses.plainRegisters());
        break;
      }
      case 5:
      case 6: out(value) = static_cast<int>(s.architecture()); break;
      case 8: out(value) = static_cast<int>(kernel.mostDynamicShared); break;
      default: out(value) = 0;
    }
  });
}
extern "C" int cudaFuncSetAttribute(const void* function, int attribute, int value);
CUDA_DRIVER_API int cuFuncSetAttribute(void* function, int attribute, int value) {
  return answerDriver(__func__, [&] {
    functionAt(function);
    const int error = cudaFuncSetAttribute(function, attribute, value);
    if (error != 0) throw Failure{static_cast<Code>(error), "the attribute is not taken"};
  });
}
CUDA_DRIVER_API int cuFuncSetCacheConfig(void* function, int) {
  return answerDriver(__func__, [&] { functionAt(function); });
}
CUDA_DRIVER_API int cuFuncGetName(const char** name, void* function) {
  return answerDriver(__func__, [&] { out(name) = functionAt(function).name.c_str(); });
}
CUDA_DRIVER_API int cuFuncGetModule(void** module, void* function) {
  return answerDriver(__func__, [&] {
    functionAt(function);
    out(module) = State::get().kernels.at(function).owner;
  });
}
CUDA_DRIVER_API int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* size) {
  return answerDriver(__func__, [&] {
    const auto& parameters = functionAt(function).program().parameters();
    need(index < parameters.size(), Code::InvalidValue, "there is no such parameter");
    if (offset != nullptr) *offset = parameters[index].place.offset;
    if (size != nullptr) *size = parameters[index].place.bytes;
  });
}
extern "C" int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                             size_t shared);
CUDA_DRIVER_API
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
  return answerDriver(__func__, [&] {
    const int error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
    if (error != 0) throw Failure{static_cast<Code>(error), "no occupancy"};
  });
}

// ---- launches ----

CUDA_DRIVER_API
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned shared, void* stream, void** arguments, void** extra) {
  return answerDriver(
      __func__,
      [&] {
        launch(nodeOf(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, arguments), {}, false,
               extra, stream);
      },
      answerLaunch);
}
CUDA_DRIVER_API
int cuLaunchCooperativeKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                              unsigned blockY, unsigned blockZ, unsigned shared, void* stream, void** arguments) {
  return answerDriver(
      __func__,
      [&] {
        launch(nodeOf(function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, shared, arguments), {}, true,
               nullptr, stream);
      },
      answerLaunch);
}

namespace {
// CUlaunchConfig: shared memory in 32 bits, where the runtime's has 64.
struct DriverLaunch {
  unsigned grid[3], block[3], shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
}  // namespace

CUDA_DRIVER_API int cuLaunchKernelEx(const DriverLaunch* description, void* function, void** arguments,
                                     void** extra) {
  return answerDriver(
      __func__,
      [&] {
        const DriverLaunch& d = out(description);
        ptxopt::exec::Dim3 cluster;
        bool isCooperative = false;
        constexpr int kCooperative = 2, kCluster = 4;
        for (unsigned i = 0; i < d.count; ++i) {
          const LaunchAttribute& a = d.attributes[i];
          if (a.id == kCooperative) isCooperative = a.value.flag != 0;
          if (a.id == kCluster) cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
        }
        launch(nodeOf(function, {d.grid[0], d.grid[1], d.grid[2]}, {d.block[0], d.block[1], d.block[2]}, d.shared,
                      arguments),
               cluster, isCooperative, extra, d.stream);
      },
      answerLaunch);
}
