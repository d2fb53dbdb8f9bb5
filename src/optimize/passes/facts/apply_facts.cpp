// apply-facts: numbers that the user says are the same in all launches become constants.
//
// What:       a load of a parameter whose value is one number by the facts (Module::facts) becomes a mov of it; so do
//             reads of the sizes of the block and of the grid that are one number, and of places in them where the size
//             is 1. ptxas knows none of it, and then folds what follows: products, tests, branches, counts of loops.
// Algorithm:  each instruction by itself. `mov` from a special register, and loads of whole parameters.
// Invariants: the register gets the bits that it would have got in every launch that keeps to the facts.
// Declines:   special registers as operands of anything but mov (no compiler writes that); parts of parameters, vectors;
//             functions that are called; kernels in which names mean something else in some scope; results that are wider
//             than what is loaded and no integers.
// Cost:       linear; nothing without facts.
#include <algorithm>

#include "analysis/values/launch_sizes.h"
#include "ir/parameter_loads.h"
#include "ir/pragmas.h"
#include "passes/manager/pass.h"

namespace ptxopt {
namespace {

// What the instruction gives in all launches.
std::optional<int64_t> valueByFacts(const Module& module, const Function& f, const Instruction& i) {
  const OpcodeForm& form = module.form(i);
  const KernelFacts& facts = *module.factsOf(f);
  if (!facts.parts.empty())
    if (const auto loaded = loadedPart(module, f, i)) {
      const auto part = std::ranges::find_if(facts.parts, [&](const ExactPart& p) {
        return p.parameter == loaded->parameter && p.offset == loaded->offset && p.bytes == loaded->bytes;
      });
      if (part != facts.parts.end()) return static_cast<int64_t>(part->bits);
    }
  if (!isInteger(form.type)) return std::nullopt;
  if (const auto parameter = wholeParameter(module, f, i)) {
    const Variable& v = f.variables[f.parameters[*parameter].value];
    return isInteger(module.declarationForms[v.form].type) ? facts.parameters[*parameter].exact() : std::nullopt;
  }
  const auto operands = f.operandsOf(i);
  if (form.op != Op::Mov || operands.empty() || operands.back().kind != OperandKind::SpecialRegister)
    return std::nullopt;
  const auto size = launchSizeOf(module.text(NameId(operands.back().payload)));
  if (!size) return std::nullopt;
  const auto exact = (size->isGrid ? facts.grid : facts.block)[size->component].exact();
  if (!size->isPlace) return exact;
  return exact == 1 ? std::optional<int64_t>(0) : std::nullopt;
}

// The low `bits` of a value, with the sign that they then have or none.
int64_t lowBits(int64_t value, unsigned bits, bool isSigned) {
  if (bits == 64) return value;
  const uint64_t sign = uint64_t{1} << (bits - 1), low = static_cast<uint64_t>(value) & (sign * 2 - 1);
  return static_cast<int64_t>(isSigned ? (low ^ sign) - sign : low);
}

std::optional<SynthOpcode> movOf(ScalarType type) {
  switch (info(type).bits) {
    case 16: return SynthOpcode::MovB16;
    case 32: return SynthOpcode::MovB32;
    case 64: return SynthOpcode::MovB64;
    default: return std::nullopt;
  }
}

}  // namespace

bool applyFacts(Function& f, PassContext& context) {
  const Module& module = context.module;
  if (module.factsOf(f) == nullptr || !f.isEntry || f.hidesNames) return false;
  std::size_t applied = 0;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const auto value = valueByFacts(module, f, f[id]);
    if (!value) continue;
    const auto operands = f.operandsOf(f[id]);
    const std::size_t first = f[id].is(Instruction::Guarded) ? 1 : 0;
    // The result, and what is read: nothing but one register may be written.
    const Operand& result = operands[first];
    if (!result.isRegister() || result.flags != 0) continue;
    const Register& to = f.registers[result.reg().value];
    const auto mov = movOf(to.type);
    if (to.lanes != 1 || !mov) continue;
    const ScalarType type = module.form(f[id]).type;
    std::vector<Operand> made(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    const int64_t extended = lowBits(*value, info(type).bits, isSignedType(type));
    made.push_back(f.numberOperand(lowBits(extended, info(to.type).bits, true)));
    if (const InstrId pragma = usedBytesMaskOf(module, f, id); pragma.valid()) f.erase(pragma);
    f.insert(id, module.synthOpcode(*mov), made);
    f.erase(id);
    ++applied;
  }
  context.count("applied", applied);
  return applied != 0;
}

}  // namespace ptxopt
