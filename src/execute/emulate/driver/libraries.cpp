// Libraries: modules of no context, as CUDA 12 loads programs. With one context they are modules, and their kernels functions.
#include "emulate/driver/driver.h"

using namespace ptxopt::emulate;

extern "C" {
int cuModuleLoad(void** module, const char* file);
int cuModuleLoadData(void** module, const void* image);
int cuModuleUnload(void* handle);
int cuModuleGetFunction(void** function, void* handle, const char* name);
int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, void* handle, const char* name);
int cuFuncGetName(const char** name, void* function);
int cuFuncGetAttribute(int* value, int attribute, void* function);
int cuFuncSetAttribute(void* function, int attribute, int value);
int cuFuncSetCacheConfig(void* function, int);
int cuFuncGetModule(void** module, void* function);
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* size);
}

CUDA_DRIVER_API int cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned, int*, void**,
                                      unsigned) {
  return cuModuleLoadData(library, image);
}
CUDA_DRIVER_API int cuLibraryLoadFromFile(void** library, const char* file, int*, void**, unsigned, int*, void**,
                                          unsigned) {
  return cuModuleLoad(library, file);
}
CUDA_DRIVER_API int cuLibraryUnload(void* library) { return cuModuleUnload(library); }
CUDA_DRIVER_API int cuLibraryGetModule(void** module, void* library) {
  return answerDriver(__func__, [&] { out(module) = library; });
}
CUDA_DRIVER_API int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
CUDA_DRIVER_API int cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  return answerDriver(__func__, [&] {
    const auto found = State::get().loaded(moduleAt(library)).plain.machine->kernels();
    need(count <= found.size(), Code::InvalidValue, "it has fewer kernels");
    for (unsigned i = 0; i < count; ++i)
      if (cuModuleGetFunction(kernels + i, library, found[i].c_str()) != 0)
        throw Failure{Code::Unknown, "no kernel"};
  });
}
CUDA_DRIVER_API int cuLibraryGetKernelCount(unsigned* count, void* library) {
  return answerDriver(__func__, [&] {
    out(count) = static_cast<unsigned>(State::get().loaded(moduleAt(library)).plain.machine->kernels().size());
  });
}
CUDA_DRIVER_API int cuLibraryGetGlobal(uint64_t* address, size_t* size, void* library, const char* name) {
  return cuModuleGetGlobal_v2(address, size, library, name);
}
CUDA_DRIVER_API int cuKernelGetFunction(void** function, void* kernel) {
  return answerDriver(__func__, [&] {
    State::get().kernel(kernel);
    out(function) = kernel;
  });
}
CUDA_DRIVER_API int cuKernelGetName(const char** name, void* kernel) { return cuFuncGetName(name, kernel); }
CUDA_DRIVER_API int cuKernelGetLibrary(void** library, void* kernel) { return cuFuncGetModule(library, kernel); }
CUDA_DRIVER_API int cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
CUDA_DRIVER_API int cuKernelSetAttribute(int attribute, int value, void* kernel, int) {
  return cuFuncSetAttribute(kernel, attribute, value);
}
CUDA_DRIVER_API int cuKernelSetCacheConfig(void* kernel, int config, int) {
  return cuFuncSetCacheConfig(kernel, config);
}
CUDA_DRIVER_API int cuKernelGetParamInfo(void* kernel, size_t index, size_t* offset, size_t* size) {
  return cuFuncGetParamInfo(kernel, index, offset, size);
}
