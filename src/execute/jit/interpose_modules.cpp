// The functions of the driver that load code, as programs see them: what can be optimized is, and the driver gets it;
// if it does not take it, or anything goes wrong before, it gets what the program gave, and its result is the
// program's.
#include <cstdint>
#include <memory>
#include <optional>

#include "interpose/real.h"
#include "jit/blocks.h"
#include "jit/compared_kernels.h"
#include "jit/devices.h"
#include "jit/file_contents.h"
#include "jit/image.h"
#include "jit/jit_options.h"
#include "jit/links.h"
#include "jit/log.h"
#include "jit/optimizer.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;
using namespace ptxopt::jit;

namespace {

// Whether this thread is in the driver, whose functions may call each other by their names: what it loads there was seen.
thread_local bool isInDriver = false;

class InDriver {
 public:
  InDriver() { isInDriver = true; }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
  ~InDriver() { isInDriver = false; }
};

// The driver's function, called so that nothing happens in between.
template <typename F, typename... Arguments>
int callInside(F* function, Arguments... arguments) {
  const InDriver inside;
  return call(function, arguments...);
}

// What is made of an image, as the driver gets it.
struct Made {
  Image image;
  Answer answer;
  Wrapper wrapper{};  // of a fat binary that was wrapped

  const void* forDriver() {
    if (!image.isWrapped) return answer.image.c_str();
    wrapper = wrapperOf(answer.image.data());
    return &wrapper;
  }
};

// nullptr: there is nothing to try. What is to be said of that is said.
std::unique_ptr<Made> optimizedImage(const char* call, const Image& image, const std::vector<unsigned>& devices,
                                     bool isLinked, bool wantsPlainCode, unsigned mostRegisters) {
  auto made = std::make_unique<Made>();
  made->image = image;
  if (image.kind == Image::Kind::Other) {
    note(call, image, {}, false);
    return nullptr;
  }
  if (wantsPlainCode)
    made->answer.why = "the program asks for code that is not optimized";
  else
    made->answer = optimized({image, devices, isLinked, mostRegisters});
  if (made->answer.isOptimized) return made;
  note(call, image, made->answer, false);
  return nullptr;
}

// Loads `image` into `handle`: by `load` with what was made of it and with options, or by `loadOriginal`. The driver
// may read the image of a library later, too.
template <typename Load, typename LoadOriginal>
int loaded(const char* call, void** handle, const Image& image, const std::vector<unsigned>& devices,
           unsigned count, int* options, void** values, bool isLibrary, Load&& load, LoadOriginal&& loadOriginal) {
  std::unique_ptr<Made> made;
  std::optional<JitOptions> tried;
  try {
    tried.emplace(count, options, values);
    const unsigned target = targetOf(count, options, values);
    if (handle != nullptr)
      made = optimizedImage(call, image, target != 0 ? std::vector{target} : devices, false,
                            wantsPlainCode(count, options, values), mostRegisters(count, options, values));
  } catch (const std::exception&) {
    made = nullptr;
  }
  if (made == nullptr) return loadOriginal();
  void* module = nullptr;
  const int result = load(&module, made->forDriver(), tried->values());
  if (result != 0) {
    note(call, image, made->answer, false, refusalOf(result));
    return loadOriginal();
  }
  const std::vector<std::string>& kernels = made->answer.ofAnyBlock;
  if (const std::vector<int> threads = threadsOf(module, isLibrary, kernels); mayTakeFewer(threads)) {
    const int again = loadOriginal();
    if (again != 0 || takeFewer(threads, threadsOf(*handle, isLibrary, kernels))) {
      unload(module, isLibrary);
      note(call, image, made->answer, false, "a kernel would take smaller blocks");
      return again;
    }
    unload(*handle, isLibrary);
  }
  note(call, image, made->answer, true);
  *handle = module;
  if (isRequested()) ComparedKernels::get().loaded(module, isLibrary, image, made->answer);
  tried->giveToProgram();
  if (isLibrary) [[maybe_unused]]
    const Made* const kept = made.release();
  return result;
}

// The same of an image of the program.
template <typename Load, typename LoadOriginal>
int loadedFrom(const char* call, void** handle, const void* at, unsigned count, int* options, void** values,
               bool isLibrary, Load&& load, LoadOriginal&& loadOriginal) {
  if (isInDriver) return loadOriginal();
  Image image;
  std::vector<unsigned> devices;
  try {
    devices = devicesMeant();
    image = imageAt(at, devices);
  } catch (const std::exception&) {
    return loadOriginal();
  }
  return loaded(call, handle, image, devices, count, options, values, isLibrary, load, loadOriginal);
}

// ... and of a file.
template <typename Load, typename LoadOriginal>
int loadedFromFile(const char* call, void** handle, const char* path, unsigned count, int* options, void** values,
                   bool isLibrary, Load&& load, LoadOriginal&& loadOriginal) {
  if (isInDriver) return loadOriginal();
  std::optional<std::string> bytes;
  Image image;
  std::vector<unsigned> devices;
  try {
    bytes = contentsOf(path);
    if (!bytes) return loadOriginal();
    devices = devicesMeant();
    image = imageOf(*bytes, devices);
  } catch (const std::exception&) {
    return loadOriginal();
  }
  return loaded(call, handle, image, devices, count, options, values, isLibrary, load, loadOriginal);
}

}  // namespace

// ---- modules ----

INTERPOSED cuModuleLoadData(void** module, const void* image) {
  return loadedFrom(
      __func__, module, image, 0, nullptr, nullptr, false,
      [](void** made, const void* code, void**) { return callInside(REAL(cuModuleLoadData), made, code); },
      [&] { return callInside(REAL(cuModuleLoadData), module, image); });
}
INTERPOSED cuModuleLoadDataEx(void** module, const void* image, unsigned count, int* options, void** values) {
  return loadedFrom(
      __func__, module, image, count, options, values, false,
      [&](void** made, const void* code, void** copies) {
        return callInside(REAL(cuModuleLoadDataEx), made, code, count, options, copies);
      },
      [&] { return callInside(REAL(cuModuleLoadDataEx), module, image, count, options, values); });
}
INTERPOSED cuModuleLoadFatBinary(void** module, const void* image) {
  return loadedFrom(
      __func__, module, image, 0, nullptr, nullptr, false,
      [](void** made, const void* code, void**) { return callInside(REAL(cuModuleLoadFatBinary), made, code); },
      [&] { return callInside(REAL(cuModuleLoadFatBinary), module, image); });
}
INTERPOSED cuModuleLoad(void** module, const char* path) {
  return loadedFromFile(
      __func__, module, path, 0, nullptr, nullptr, false,
      [](void** made, const void* code, void**) { return callInside(REAL(cuModuleLoadData), made, code); },
      [&] { return callInside(REAL(cuModuleLoad), module, path); });
}

// A library may be loaded into contexts that are made later, so the driver may read the image then.

INTERPOSED cuLibraryLoadData(void** library, const void* image, int* options, void** values, unsigned count,
                             int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  return loadedFrom(
      __func__, library, image, count, options, values, true,
      [&](void** made, const void* code, void** copies) {
        return callInside(REAL(cuLibraryLoadData), made, code, options, copies, count, libraryOptions,
                          libraryValues, libraryCount);
      },
      [&] {
        return callInside(REAL(cuLibraryLoadData), library, image, options, values, count, libraryOptions,
                          libraryValues, libraryCount);
      });
}
INTERPOSED cuLibraryLoadFromFile(void** library, const char* path, int* options, void** values, unsigned count,
                                 int* libraryOptions, void** libraryValues, unsigned libraryCount) {
  return loadedFromFile(
      __func__, library, path, count, options, values, true,
      [&](void** made, const void* code, void** copies) {
        return callInside(REAL(cuLibraryLoadData), made, code, options, copies, count, libraryOptions,
                          libraryValues, libraryCount);
      },
      [&] {
        return callInside(REAL(cuLibraryLoadFromFile), library, path, options, values, count, libraryOptions,
                          libraryValues, libraryCount);
      });
}
