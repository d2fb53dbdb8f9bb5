// A device without hardware: memory, modules and launches that ptxopt's interpreter serves, for tests/gpu.
//
// Time is warp instructions: a clock that each of them moves on by a microsecond. What a launch does is what the
// interpreter does, and its errors are those of the driver for the same mistake. As on hardware, after a kernel has failed
// every further call fails with the same error.
//
// Declined: streams other than the default one, variables of modules, machine code (it takes PTX).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exec/machine.h"
#include "ir/module.h"

namespace stand_in {

// Those numbers of CUresult that it answers.
enum class Result : int {
#define STAND_IN_RESULT(id, number, name, text) id = number,
#include "results.def"
};
const char* nameOf(int result);  // nullptr: there is no such
const char* textOf(int result);

struct Error {
  Result result;
  std::string why;  // for the log
};

// What the environment asks for.
struct Settings {
  int devices = 1;           // PTXOPT_STAND_IN_DEVICES
  int major = 8, minor = 0;  // PTXOPT_STAND_IN_CAPABILITY, "8.0"
  double noise = 0;          // PTXOPT_STAND_IN_NOISE: times are off by up to this part, differently each time
  bool log = false;          // PTXOPT_STAND_IN_LOG: errors say why, on standard error
  static Settings fromEnvironment();
};

struct LoadedModule {
  std::string text;
  std::unique_ptr<ptxopt::Module> module;
  std::unique_ptr<ptxopt::exec::Machine> machine;
};

struct Function {
  LoadedModule* module = nullptr;
  std::string name;
  uint32_t dynamicShared = 48u << 10;  // that a launch may ask for
  const ptxopt::exec::Program& program() const { return module->machine->kernel(name); }
};

struct Event {
  bool isRecorded = false;
  double microseconds = 0;
};

// Everything throws Error.
class Device {
 public:
  explicit Device(const Settings& settings) : settings_(settings) {}
  const Settings& settings() const { return settings_; }

  void needUnharmed() const;  // that no kernel has failed

  uint64_t allocate(uint64_t size);
  void release(uint64_t address);
  // The bytes, all of which must lie in one allocation.
  std::byte* bytes(uint64_t address, uint64_t size);
  uint64_t freeBytes() const { return kMemory - used_; }
  static constexpr uint64_t kMemory = uint64_t{1} << 30;

  LoadedModule* load(std::string_view image);
  void unload(LoadedModule* module);
  Function* function(LoadedModule* module, const char* name);
  Function& known(Function* function);

  struct Shape {
    ptxopt::exec::Dim3 grid, block;
    uint32_t shared = 0;
    ptxopt::exec::Dim3 cluster;
  };
  void launch(Function* function, const Shape& shape, void* const* parameters);

  Event* makeEvent();
  Event& known(Event* event);
  void destroy(Event* event);
  double now() const { return clock_; }
  // Milliseconds, with the noise that was asked for.
  double between(const Event& from, const Event& to);

 private:
  template <typename T>
  T& find(std::map<T*, std::unique_ptr<T>>& live, T* handle, const char* what);

  Settings settings_;
  std::map<uint64_t, std::vector<std::byte>> memory_;
  uint64_t used_ = 0, nextAddress_ = uint64_t{0x7F00'0000'0000};
  std::map<LoadedModule*, std::unique_ptr<LoadedModule>> modules_;
  std::map<Function*, std::unique_ptr<Function>> functions_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  double clock_ = 0;
  uint64_t measured_ = 0;
  Result harm_ = Result::Success;
};

}  // namespace stand_in
