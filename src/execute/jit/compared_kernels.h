// The kernels with launches that are compared (--compare): which have their original beside them, and what was seen of
// their launches.
//
// A module that is loaded with originals says which there are (protocol.h). When a program looks up a kernel of it, the
// original is looked up too; what the program sets of the one is set of the other. What was seen is said at the end of
// the process, a line for each kernel. Safe to use from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/kernel_counts.h"
#include "jit/optimizer.h"

namespace ptxopt::jit {

struct Parameter {
  uint32_t offset = 0, bytes = 0;
};

struct GlobalVariable {
  std::string name;
  bool isUsed = false;  // by functions
};

// A module or library.
struct ComparedModule {
  void* handle = nullptr;
  bool isLibrary = false;
  bool usesHeap = false;  // of the device
  std::vector<GlobalVariable> variables;
  std::string keys;  // for tellDifference()
};

struct ComparedKernel {
  KernelCounts counts;
  std::string refusal;  // why its launches are not compared
  std::vector<Parameter> parameters;
  std::shared_ptr<const ComparedModule> module;
  bool isOriginalUsed = false;  // from now on
  bool isGivenUp = false;       // no more of its launches are compared
};

// A kernel by one of its handles.
struct ComparedHandle {
  std::shared_ptr<ComparedKernel> kernel;  // nullptr: it is as it was
  void* original = nullptr;
};

class ComparedKernels {
 public:
  static ComparedKernels& get();

  // A module was loaded, or goes. False where there was no memory for it: its launches are not compared.
  bool loaded(void* module, bool isLibrary, const Image& image, const Answer& answer);
  void unloaded(void* module);
  // The module of a library.
  void same(void* module, void* library);
  // The program looked up a kernel.
  void found(void* kernel, void* module, bool isLibrary, const char* name);
  // The function of a kernel of a library.
  void function(void* function, void* kernel);

  ComparedHandle find(void* kernel);
  bool has(void* module);
  // Some module has functions that take memory from the heap of the device.
  bool usesHeap();
  // body(), while nobody else looks at kernels.
  template <typename F>
  auto locked(F&& body) {
    const std::lock_guard guard(lock_);
    return body();
  }

 private:
  ComparedKernels();
  void add(void* module, bool isLibrary, const Image& image, const Answer& answer);
  void finish();

  struct Entry {
    std::shared_ptr<const ComparedModule> module;
    std::map<std::string, std::shared_ptr<ComparedKernel>, std::less<>> kernels;
  };
  std::mutex lock_;
  std::map<void*, std::shared_ptr<const Entry>> modules_;
  std::map<void*, ComparedHandle> handles_;
  std::vector<std::shared_ptr<ComparedKernel>> all_;
  bool usesHeap_ = false;
};

}  // namespace ptxopt::jit
