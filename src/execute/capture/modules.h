// The modules that a program has loaded, and the kernels that it has looked up in them: the PTX that goes into the record.
//
// Machine code alone cannot be replayed: a kernel without PTX is declined by name; of machine code that the driver linked from
// PTX, that PTX is taken. PTX is taken out of a fat binary when a launch of it is first recorded.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capture/links.h"
#include "ir/module.h"

namespace ptxopt::capture {

struct LoadedPtx {
  std::string bytes;                // the image: PTX, or a fat binary
  const void* container = nullptr;  // of a fat binary: in `bytes`, or where the program has it
  std::vector<std::string> linked;  // of machine code: the PTX that it was linked from
  std::string name, text;
  std::unique_ptr<Module> module;  // once it was needed
  std::string refusal;             // why there is none
  std::optional<uint64_t> index;   // in the record

  // Reads the PTX, for a device of this architecture. Empty `refusal`: `module` is there.
  void parse(unsigned architecture);
};

struct KnownKernel {
  std::shared_ptr<LoadedPtx> ptx;
  const void* owner = nullptr;  // the module or library
  bool isOfLibrary = false;
  std::string name;
};

// Not safe to call from several threads at a time.
class Modules {
 public:
  void add(const void* handle, const void* image);
  void addFile(const void* handle, const char* path);
  void addSame(const void* handle, const void* known);  // the module of a library
  void markLibrary(const void* handle) { libraries_.insert(handle); }
  void remove(const void* handle);
  void addKernel(const void* handle, const void* owner, bool isOfLibrary, const char* name);
  void addSameKernel(const void* handle, const void* known);
  // nullptr: it was not looked up in a way that is followed.
  const KnownKernel* kernel(const void* handle) const;
  // For a function that was not looked up.
  const KnownKernel* addFound(const void* handle, const void* module, const std::string& name,
                              bool (*isModuleOf)(const void* library, const void* module));
  Links links;

 private:
  std::map<const void*, std::shared_ptr<LoadedPtx>> modules_;
  std::map<const void*, KnownKernel> kernels_;
  std::set<const void*> libraries_;  // of modules_
  unsigned made_ = 0;
};

}  // namespace ptxopt::capture
