// What the steps of the analysis of fields.h find out, and the steps: reads, flow, accesses, and the result.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "verify/field_sets.h"
#include "verify/field_table.h"

namespace ptxopt::verify {

// Scalars mostly are sizes: what is larger is the bits of something.
constexpr uint64_t kMostConstant = 1u << 16;

// What is known of one function. By RegId, but for `variables` and `cells`.
struct FunctionFacts {
  explicit FunctionFacts(const Function& f)
      : registers(f.registers.size()),
        multiples(f.registers.size()),
        isStack(f.registers.size()),
        usedAs(f.registers.size()) {}

  std::vector<FieldSet> registers;         // the fields that the value may be a pointer from
  std::map<uint32_t, FieldSet> variables;  // .param variables of call sequences, by VariableId
  std::map<int64_t, FieldSet> cells;       // the stack frame, by constant offset
  std::vector<uint64_t> multiples;         // all its values are multiples of this; 0: it has none yet
  std::vector<bool> isStack;               // may hold an address of the stack frame
  // The types of the instructions that read and write it, but as an address.
  std::vector<std::map<ScalarType, unsigned>> usedAs;
};

struct FieldFacts {
  std::map<const Function*, FunctionFacts> functions;
  FieldTable fields;
  std::map<std::pair<uint32_t, uint32_t>, Spot> spots;  // by holder and target
  std::set<uint32_t> sure, maybe;                       // pointers
  std::set<uint32_t> viaCvta;
  std::map<uint32_t, std::map<ScalarType, unsigned>> elements;  // what a pointer is used as a pointer to, how often
  std::vector<Image> images;
  std::set<uint32_t> handles;
  ShapeUse shape;
  std::set<uint64_t> constants;
  std::set<int64_t> integers;  // that values are compared with
  std::set<double> numbers;
  bool usesShared = false;
};

// The kernel, and what its operands name.
struct FieldContext {
  const Module& module;
  const Function& kernel;
  const exec::Program& program;

  bool isKernelParameter(const Function& f, const Operand& o) const {
    return &f == &kernel && o.kind == OperandKind::Variable && f.variables[o.payload].isParameter;
  }
  const exec::KernelParameter* parameterOf(const Function& f, const Operand& o) const;

  // A variable of the module that an operand names, or nullptr: those that kernels share with the host. What the module
  // itself puts into one, such as the addresses of functions, stays there.
  const Variable* sharedVariable(const Operand& o) const;
  // Constants without values are what the host gives.
  bool isFilledByHost(const Variable& v) const;
};

std::span<const Operand> withoutGuard(const Function& f, const Instruction& i);

// [variable + constant] or [register + constant] of a memory operand.
struct FieldAddress {
  const Operand* base = nullptr;
  int64_t offset = 0;
};
FieldAddress addressOf(std::span<const Operand> operands, std::size_t memory);

// What the function reads of special registers and constants, and the types that its registers are used as.
void collectReads(const FieldContext& context, const Function& f, FieldFacts& facts);

// Which fields the values rest on, up to the fixed point. False where loads seem to bring too many pointers.
bool propagateFields(const FieldContext& context, bool followsLoads, FieldFacts& facts);

// Which fields accesses rest on, and images.
void findAccesses(const FieldContext& context, const Function& f, FieldFacts& facts);

// Whether it is an access to a texture or surface, which is then noted.
bool noteImage(const FieldContext& context, const FunctionFacts& s, const OpcodeForm& form, const Operand& base,
               FieldFacts& facts);

// The slots that pointers lie in. Loads of one place of a holder bring the same pointer, so that one field stands for
// all of them.
std::vector<Slot> joinSlots(FieldFacts& facts);

KernelUse resultOf(const FieldContext& context, FieldFacts& facts);

}  // namespace ptxopt::verify
