// What nvcc's code calls before main: fat binaries, kernels and variables are made known. Nothing is read until it is used.
#include "emulate/fat_binary.h"
#include "emulate/runtime/exported.h"

using namespace ptxopt::emulate;

namespace {

Registered& registeredAt(void** handle) { return *reinterpret_cast<Registered*>(handle); }

void registerVariable(void** handle, const void* symbol, const char* name, size_t size, void** managed) {
  State& s = State::get();
  const std::lock_guard guard(s.lock);
  s.variables[symbol] = {&registeredAt(handle), name, size, managed, false};
}

}  // namespace

CUDA_API(__cudaRegisterFatBinary) void** __cudaRegisterFatBinary(void* wrapper) {
  State& s = State::get();
  const std::lock_guard guard(s.lock);
  auto module = std::make_unique<Registered>();
  module->container = containerOf(wrapper);
  module->linked = linkedContainersOf(wrapper);
  module->number = static_cast<unsigned>(s.modules.size() + 1);
  s.modules.push_back(std::move(module));
  return reinterpret_cast<void**>(s.modules.back().get());
}

CUDA_API(__cudaRegisterFatBinaryEnd) void __cudaRegisterFatBinaryEnd(void**) {}

// Programs end in any order: what was registered stays.
CUDA_API(__cudaUnregisterFatBinary) void __cudaUnregisterFatBinary(void**) {}

CUDA_API(__cudaRegisterFunction)
void __cudaRegisterFunction(void** handle, const char* hostFunction, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  State& s = State::get();
  const std::lock_guard guard(s.lock);
  RegisteredKernel& k = s.kernels[hostFunction];
  k.owner = &registeredAt(handle);
  k.kernel.name = name;
}

CUDA_API(__cudaRegisterVar)
void __cudaRegisterVar(void** handle, char* hostVariable, char*, const char* name, int, size_t size, int, int) {
  registerVariable(handle, hostVariable, name, size, nullptr);
}

CUDA_API(__cudaRegisterHostVar)
void __cudaRegisterHostVar(void** handle, const char* name, char* hostVariable, size_t size) {
  registerVariable(handle, hostVariable, name, size, nullptr);
}

CUDA_API(__cudaRegisterManagedVar)
void __cudaRegisterManagedVar(void** handle, void** hostVariable, char*, const char* name, int, size_t size, int,
                              int) {
  registerVariable(handle, hostVariable, name, size, hostVariable);
}

CUDA_API(__cudaInitModule) char __cudaInitModule(void**) {
  return answer("a managed variable", [] { State::get().placeManaged(); }) == 0;
}
