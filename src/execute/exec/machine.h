// The interpreter from outside: a module is loaded, memory is filled, kernels are launched, memory is read.
//
//     exec::Machine machine(module);
//     auto& x = machine.memory().allocate("x", 4096);
//     exec::LaunchConfig config;
//     config.grid = {4}; config.block = {256};
//     config.parameters = ...;               // laid out as machine.kernel("k").parameters() says
//     machine.launch("k", config);           // throws ExecError
//
// Variables of the module keep their values from launch to launch. A Machine is used by one thread at a time; a
// launch may use several itself.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/memory.h"
#include "exec/program.h"
#include "exec/shape.h"
#include "ir/module.h"

namespace ptxopt::exec {

class Heap;
class Observer;

constexpr uint64_t kStepsTogether = 4096;
// Where the user gives no limit: what takes a core 10 to 40 seconds.
constexpr uint64_t kUsualIdleLimit = 1'000'000'000;

struct LaunchConfig {
  Dim3 grid, block, cluster;
  uint32_t dynamicShared = 0;  // bytes
  std::vector<std::byte> parameters;
  unsigned jobs = 1;  // blocks in parallel; 0: as many as there are cores
  // Warp instructions of the whole launch, counted at branches and calls, for each warp kStepsTogether at a time:
  // what is left of them when it ends is not counted.
  uint64_t stepLimit = UINT64_MAX;
  // Warp instructions since a block last ended, for each worker that has one to run: a launch in which none ends any more
  // has a loop without an end, and a large one has not. An eighth where instructions are watched, which takes longer.
  uint64_t idleLimit = UINT64_MAX;
  // Clusters before this one are left out, as if they had run and done nothing: the far end of a large grid.
  uint64_t firstCluster = 0;
  // `most` of the whole launch; UINT64_MAX: the usual limit, on what runs without an end.
  void limitSteps(uint64_t most) {
    stepLimit = most;
    idleLimit = most == UINT64_MAX ? kUsualIdleLimit : UINT64_MAX;
  }
  bool checkRaces = false;        // in shared memory
  bool checkGlobalRaces = false;  // in global memory
  bool checkUninitialised = false;
  bool isLenient = false;  // what is read outside of all allocations of global memory is zeros, not an error
  // What registers, shared memory and a thread's stack hold before anybody writes there. A device gives no promise;
  // a caller that wants to know whether a result depends on it launches twice, with two patterns.
  // The quotient and remainder of integers by zero, about which PTX says nothing either, are its complement: all
  // ones usually, as machines have it.
  std::byte unwritten{0};
  bool checkDivisions = false;   // that something rests on a division of integers by zero is an error
  Observer* observer = nullptr;  // needs jobs = 1
  // What %envreg0 and so on hold: cooperative launches find the memory of their barrier by 1 and 2.
  std::array<uint32_t, 32> environment{};
};

// What the modules of one device have in common: memory and the heap of malloc and free.
struct DeviceMemory {
  static constexpr uint64_t kHeapBytes = 8u << 20;
  explicit DeviceMemory(uint64_t heapBytes = kHeapBytes);
  ~DeviceMemory();

  GlobalMemory global;
  Allocation& heapMemory;
  std::unique_ptr<Heap> heap;
};

// A texture, surface or sampler that a .texref/.surfref or a 64-bit handle stands for; see texture.h.
struct TextureBinding;

class Machine {
 public:
  explicit Machine(const Module& module);
  // Where a variable of the module is already, with its value: by name and size. nullptr: nowhere.
  using KnownPlaces = std::function<Allocation*(std::string_view name, uint64_t bytes)>;
  // On a device that other machines use too, which outlives this one.
  Machine(const Module& module, std::shared_ptr<DeviceMemory> device, const KnownPlaces& known = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Module& module() const { return module_; }
  GlobalMemory& memory() { return device_->global; }

  // The kernels of the module, in its order.
  std::vector<std::string> kernels() const;
  // Decodes it on first use. Throws ExecError when there is no such kernel or it cannot be run at all.
  const Program& kernel(std::string_view name);
  void launch(std::string_view kernel, const LaunchConfig& config);
  // Warp instructions of the last launch, counted as LaunchConfig::stepLimit has it, whether or not it failed.
  uint64_t lastSteps() const { return lastSteps_; }
  // All of them, also what the limit does not count.
  uint64_t lastAllSteps() const { return lastAllSteps_; }
  // Its reads outside of all allocations, with LaunchConfig::isLenient: one for each thread and access.
  uint64_t lastStrayReads() const { return lastStrayReads_; }

  // The address of a module variable or function; 0 when it has none (yet).
  uint64_t addressOf(SymbolId symbol) const { return symbolAddress_[symbol.value]; }
  // The index of the function that a call of this one runs: of an alias, that of what it stands for.
  uint32_t calledFunction(const Symbol& function) const { return calledFunctions_[function.index]; }
  Allocation* variable(std::string_view name);
  // The same, of the module's .global and .const variables as far as somebody else may use them: for KnownPlaces.
  Allocation* placeOf(std::string_view name, uint64_t bytes) const;
  // Module variables and the heap as they were at first. Other allocations stay.
  void reset();
  // The module's .global variables, by name.
  std::vector<std::pair<std::string, Allocation*>> globals();
  // Allocates and initialises a .global or .const variable. Returns its address. For the decoder.
  uint64_t placeVariable(const Variable& variable);
  // Textures and surfaces by handle; the handle of a .texref is its address.
  std::map<uint64_t, std::shared_ptr<TextureBinding>> textures;

  // Kernels that are decoded from now on count how often their loops iterate.
  bool countsLoops = false;

  // Where goes what kernels print; nowhere by default. Called by one thread at a time.
  std::function<void(std::string_view)> print;
  // The heap of malloc and free.
  Heap& heap() { return *device_->heap; }
  uint64_t heapBytes() const { return device_->heapMemory.size; }

 private:
  struct Placed {
    const Variable* variable;
    Allocation* allocation;
    std::vector<std::byte> initial;  // what it holds at first; empty: zeros
    bool isForeign = false;          // somebody else placed it
  };
  void layOutVariables(const KnownPlaces& known);
  Placed place(const Variable& variable, const KnownPlaces& known);
  void initialiseVariable(Placed& placed);

  const Module& module_;
  std::shared_ptr<DeviceMemory> device_;
  std::vector<uint32_t> calledFunctions_;  // by function
  std::vector<uint64_t> symbolAddress_;    // by SymbolId
  std::vector<Placed> variables_;
  uint64_t lastSteps_ = 0, lastAllSteps_ = 0, lastStrayReads_ = 0;
  std::map<std::string, std::unique_ptr<Program>, std::less<>> programs_;
};

}  // namespace ptxopt::exec
