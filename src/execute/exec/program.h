// A kernel and everything it can call, decoded for execution.
//
// Decoding resolves all that does not change while the kernel runs: operands to Args, branches to op indices, the
// places where diverged paths meet (immediate post-dominators; a block that ends in exit or trap does not count as
// a way around), addresses of variables, layouts of parameters, stack frames and static shared memory. An
// instruction that the interpreter does not support becomes an op that throws when a thread reaches it, so that
// kernels run whose unsupported parts are not executed.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/dataflow/cfg.h"
#include "exec/error.h"
#include "exec/memory.h"
#include "exec/op.h"
#include "exec/shape.h"
#include "ir/module.h"

namespace ptxopt::exec {

class Machine;

// Where the bytes of a parameter or variable lie in their space.
struct Placement {
  uint32_t offset = 0;
  uint32_t bytes = 0;
  uint32_t alignment = 1;
};

// Size and alignment of a declared variable; its offset is 0.
Placement measure(const Module& module, const Variable& variable);

// How a parameter or result travels: in a register of a frame, or in a place of a stack frame.
struct ParameterPlace {
  bool isRegister = false;
  unsigned lanes = 1;  // components of a vector register, one after the other from reg on
  Arg reg;
  Placement memory;
};

// A special register that the program reads, filled in per warp.
struct SpecialUse {
  std::string name;     // without `%`: "tid.x"
  uint32_t offset = 0;  // in the warp's special area
  uint8_t bytes = 4;    // of a lane; 0: a predicate
  bool isVolatile = false;
};

struct Routine {
  const Function* function = nullptr;
  uint32_t index = 0;
  std::vector<Op> code;
  uint32_t frameBytes = 0;  // registers of one warp; begins with the stack base of each lane, uint32_t[32]
  uint32_t stackBytes = 0;  // .local variables and parameters of one thread
  uint32_t stackAlignment = 16;
  std::vector<ParameterPlace> parameters, returns;
  std::vector<Arg> registers;  // by RegId
};

// What an OpKind::Call op does; its Op::data.
struct CallSite {
  const Routine* callee = nullptr;  // nullptr: `builtin`, or by the address in args[0]
  Handler builtin = nullptr;        // with the arguments' and the results' Args as Op::args, see builtins.h
  std::vector<ParameterPlace> arguments, results;  // in the caller's frame, parallel to the callee's
};

// Op::data of BranchIndexed.
struct BranchTable {
  std::vector<uint32_t> targets;
};

struct KernelParameter {
  std::string name;
  ScalarType type = ScalarType::b8;
  uint64_t elements = 1;
  bool isArray = false;
  bool isPointer = false;  // declared with .ptr
  Placement place;         // in the parameter space
};

// How often control came to a loop of the kernel itself from outside, and to its beginning at all: once for each path of a warp.
struct LoopCounter {
  BlockId header;
  std::atomic<uint64_t> entries = 0, iterations = 0;
};

class Program {
 public:
  // Decodes `kernel` and what it can reach. Throws ExecError when the kernel as a whole cannot be run.
  Program(Machine& machine, const Function& kernel);
  ~Program();

  const Module& module() const { return module_; }
  const Function& kernel() const { return kernel_; }
  const Routine& entry() const { return *routines_.front(); }
  const std::deque<std::unique_ptr<Routine>>& routines() const { return routines_; }
  // The routine at a code address, or nullptr.
  const Routine* routineAt(uint64_t address) const;
  // What a call of this function runs.
  const Function& calledFunction(const Symbol& function) const;

  std::byte* constants() const { return constantLanes_; }
  const std::vector<SpecialUse>& specials() const { return specials_; }
  uint32_t specialBytes() const { return specialBytes_; }
  uint32_t staticShared() const { return staticShared_; }  // where dynamic shared memory begins
  const std::vector<KernelParameter>& parameters() const { return parameters_; }
  uint32_t parameterBytes() const { return parameterBytes_; }
  // For loops with one entry, by Machine::countsLoops.
  std::deque<LoopCounter>& loopCounters() const { return loopCounters_; }
  // The instructions that throw when a thread reaches them: offset in the source, and why.
  const std::vector<std::pair<uint32_t, std::string>>& unsupported() const { return unsupported_; }

 private:
  friend class Binder;
  friend class Decoder;

  Machine& machine_;
  const Module& module_;
  const Function& kernel_;
  std::deque<std::unique_ptr<Routine>> routines_;
  std::unordered_map<const Function*, Routine*> routineOf_;
  std::vector<std::byte> constants_;  // while decoding
  std::unique_ptr<std::byte[]> constantStorage_;
  std::byte* constantLanes_ = nullptr;  // 64-aligned copy
  std::unordered_map<std::string, Arg> constantOf_;
  std::vector<SpecialUse> specials_;
  uint32_t specialBytes_ = 0;
  uint32_t staticShared_ = 0;
  std::vector<KernelParameter> parameters_;
  uint32_t parameterBytes_ = 0;
  std::vector<std::pair<uint32_t, std::string>> unsupported_;
  mutable std::deque<LoopCounter> loopCounters_;
  // Where a variable of a function lies: by its address in a memory space, or in the function's stack frame.
  std::optional<uint64_t> variablePlace(const Function& function, uint32_t variable) const;
  std::optional<uint32_t> stackPlace(const Function& function, uint32_t variable) const;
  // The space that a variable or symbol was declared in.
  Space spaceOf(const Function& function, const Operand& operand) const;

  struct VariablePlace {
    Space space = Space::Local;
    bool inStack = false;
    uint64_t address = 0;  // in its space, or in the stack frame
  };
  std::unordered_map<const Function*, std::vector<VariablePlace>> variablePlaces_;  // by VariableId
  std::unordered_map<uint32_t, uint32_t> sharedSymbols_;                            // SymbolId to offset
  std::deque<std::unique_ptr<Arg[]>> args_;
  std::deque<std::shared_ptr<const void>> data_;
};

}  // namespace ptxopt::exec
