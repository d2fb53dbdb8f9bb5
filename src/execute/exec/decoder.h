// Decodes a kernel and what it can call: see program.h. The steps are a file each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/binder.h"
#include "exec/program.h"

namespace ptxopt::exec {

class Decoder {
 public:
  explicit Decoder(Program& program) : program_(program), module_(program.module_) {}

  void run();

 private:
  // What decoding the code of one routine needs.
  struct Body;

  // What the kernel can reach, decode_reach.cpp.
  void findRoutines();
  std::vector<uint32_t> calleesOf(const Function& f, bool& hasAllCallees) const;
  static std::span<const Operand> callEntries(const Function& f, const Instruction& i);

  // Where things lie, decode_layout.cpp.
  void layOut(Routine& r);
  void layOutRegisters(Routine& r);
  void layOutVariables(Routine& r);
  void layOutParameters(Routine& r);
  void layOutKernelParameters();
  uint64_t placeShared(const Variable& v, const Placement& p);
  void placeSharedSymbols();
  void placeDynamicShared();
  void alignConstants();

  // Code, decode.cpp.
  void decode(Routine& r);
  void instruction(Body& body, InstrId id);
  Op controlFlow(Body& body, Binder& b, const Instruction& i);
  Op indexedBranch(Body& body, Binder& b, std::span<const Operand> entries);
  Op unsupportedOp(Routine& r, const Instruction& i, const std::string& message);

  // Calls, decode_calls.cpp.
  Op callOp(Binder& b, Routine& r, std::span<const Operand> entries);
  void bindCallee(Binder& b, CallSite& site, const Operand& callee);
  ParameterPlace place(Binder& b, Routine& r, std::span<const Operand> entries, ScalarType type);
  std::vector<ScalarType> parameterTypes(const Operand& callee) const;

  static constexpr uint64_t kDynamic = UINT32_MAX;

  Program& program_;
  const Module& module_;
  uint32_t dynamicAlignment_ = 1;
};

// For ops that cannot be executed: throws what Op::data says.
Step throwUnsupported(Warp& warp, const Op& op, Mask active);

}  // namespace ptxopt::exec
