#include "jit/blocks.h"

#include <algorithm>

#include "jit/driver.h"

namespace ptxopt::jit {
namespace {

constexpr int kMostOfAll = 1024;     // of every device
constexpr int kThreadsPerBlock = 0;  // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK

int threadsOfFunction(void* module, const char* name) {
  auto* const find = driver<int(void**, void*, const char*)>("cuModuleGetFunction");
  auto* const ask = driver<int(int*, int, void*)>("cuFuncGetAttribute");
  void* function = nullptr;
  int threads = 0;
  if (find == nullptr || ask == nullptr || find(&function, module, name) != 0) return 0;
  return ask(&threads, kThreadsPerBlock, function) == 0 ? threads : 0;
}

int threadsOfKernel(void* library, const char* name) {
  auto* const find = driver<int(void**, void*, const char*)>("cuLibraryGetKernel");
  auto* const ask = driver<int(int*, int, void*, int)>("cuKernelGetAttribute");
  auto* const current = driver<int(int*)>("cuCtxGetDevice");
  void* kernel = nullptr;
  int threads = 0, device = 0;
  if (find == nullptr || ask == nullptr || find(&kernel, library, name) != 0) return 0;
  if (current == nullptr || current(&device) != 0) device = 0;
  return ask(&threads, kThreadsPerBlock, kernel, device) == 0 ? threads : 0;
}

}  // namespace

std::vector<int> threadsOf(void* module, bool isLibrary, const std::vector<std::string>& kernels) {
  std::vector<int> threads;
  for (const std::string& name : kernels)
    threads.push_back(isLibrary ? threadsOfKernel(module, name.c_str()) : threadsOfFunction(module, name.c_str()));
  return threads;
}

bool mayTakeFewer(const std::vector<int>& threads) {
  return std::ranges::any_of(threads, [](int t) { return t != 0 && t < kMostOfAll; });
}

bool takeFewer(const std::vector<int>& threads, const std::vector<int>& before) {
  for (std::size_t i = 0; i < threads.size() && i < before.size(); ++i)
    if (threads[i] < before[i]) return true;
  return false;
}

void unload(void* module, bool isLibrary) {
  auto* const call = driver<int(void*)>(isLibrary ? "cuLibraryUnload" : "cuModuleUnload");
  if (call != nullptr) call(module);
}

}  // namespace ptxopt::jit
