// Where loads and stores access shared or constant memory, so that two of them can be compared.
//
// An address is a base and a byte offset. The base is a variable, or the expression that scalar evolution has for a
// register, without its constant, which is the offset; a register that was given a variable's address has that
// variable as its base. Two addresses are the same when base and offset are. They are apart when
//   - the bases are the same and the distance is at least what is accessed, modulo 2^32 both ways, or
//   - they are different variables and both accesses lie inside theirs. Variables that are .extern share their
//     place, and of .weak and .common ones the size may be another.
// Nothing is known of anything else. An expression that varies in a loop stands for its value in one iteration: two
// addresses may be compared only along a path that follows no back edge.
// Cost: that of scalar evolution, once for each value.
#pragma once

#include <optional>

#include "passes/manager/pass.h"

namespace ptxopt::cse {

struct MemoryAddress {
  enum class Base : uint8_t { Expression, Variable, Symbol };
  Base base = Base::Expression;
  uint32_t id = 0;      // ExprId, VariableId or SymbolId
  uint64_t offset = 0;  // bytes
  friend bool operator==(const MemoryAddress&, const MemoryAddress&) = default;
};

class MemoryAddresses {
 public:
  MemoryAddresses(const Function& f, PassContext& context)
      : module_(context.module), f_(f), evolution_(context.analyses.scalarEvolution()) {}

  // For the operand `[..]`, number `operand` of instruction `at`. None for a form that is not read.
  std::optional<MemoryAddress> of(InstrId at, uint32_t operand);
  // Whether two accesses certainly have no byte in common.
  bool areApart(const MemoryAddress& a, unsigned bytesOfA, const MemoryAddress& b, unsigned bytesOfB) const;

 private:
  const Variable* variable(const MemoryAddress& a) const;
  bool isInside(const MemoryAddress& a, unsigned bytes) const;

  const Module& module_;
  const Function& f_;
  ScalarEvolution& evolution_;
};

}  // namespace ptxopt::cse
