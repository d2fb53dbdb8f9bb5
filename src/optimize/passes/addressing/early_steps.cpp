// The place is the first reader of a load in the block, after the last far load through the pointer. Each access
// between there and the step gets the step taken off its immediate; one that cannot take it ends the attempt.
#include "passes/addressing/early_steps.h"

#include <algorithm>
#include <optional>

#include "passes/addressing/address_costs.h"
#include "passes/addressing/address_edits.h"
#include "passes/addressing/address_opcodes.h"
#include "passes/util/insertion_places.h"
#include "passes/util/register_scopes.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostInstructionsAbove = 512;  // above a step

// The instructions of the block above one, in the order of the text.
std::vector<InstrId> blockAbove(const Module& module, const Function& f, InstrId below) {
  std::vector<InstrId> above;
  for (InstrId id = f[below].previous; id.valid() && above.size() < kMostInstructionsAbove; id = f[id].previous) {
    if (f[id].kind == InstrKind::Label || f[id].kind == InstrKind::Targets) break;
    if (!f[id].isInstruction()) continue;
    if (module.form(f[id]).is(effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit)) break;
    above.push_back(id);
  }
  std::ranges::reverse(above);
  return above;
}

bool names(const Function& f, InstrId id, RegId reg) {
  return std::ranges::any_of(f.operandsOf(f[id]),
                             [&](const Operand& o) { return o.isRegister() && o.reg() == reg; });
}

bool isFarLoad(const Module& module, const Function& f, InstrId id) {
  const OpcodeForm& form = module.form(f[id]);
  return form.op == Op::Ld && isGlobalOrGeneric(form.space);
}

using Place = std::vector<InstrId>::const_iterator;

// Where the iteration waits for memory that may be far away.
Place firstReaderOfLoad(const Module& module, const Function& f, const std::vector<InstrId>& block) {
  std::vector<RegId> loaded;
  return std::ranges::find_if(block, [&](InstrId id) {
    const auto operands = f.operandsOf(f[id]);
    if (std::ranges::any_of(operands, [&](const Operand& o) {
          return o.isRegister() && o.reads() && std::ranges::find(loaded, o.reg()) != loaded.end();
        }))
      return true;
    if (isFarLoad(module, f, id))
      for (const Operand& o : operands)
        if (o.isRegister() && o.writes()) loaded.push_back(o.reg());
    return false;
  });
}

class StepMover {
 public:
  StepMover(const Module& module, Function& f) : module_(module), f_(f), reaches_(module, f) {}

  bool move(const MadeStep& step) {
    if (!addsInPlace(step)) return false;
    const std::vector<InstrId> above = blockAbove(module_, f_, step.product);
    Place first = firstReaderOfLoad(module_, f_, above);
    for (Place at = first; at != above.end(); ++at)
      if (isFarLoad(module_, f_, *at) && names(f_, *at, step.pointer)) first = at + 1;
    if (first == above.end()) return false;
    const InstrId place = placeBefore(module_, f_, *first);
    if (!reaches_(step.pointer, place)) return false;
    AddressEdits edits;
    for (Place at = first; at != above.end(); ++at)
      if (!collect(*at, step, edits)) return false;
    if (edits.empty()) return false;
    f_.moveBefore(step.product, place);
    f_.moveBefore(step.addition, place);
    edits.apply(f_);
    return true;
  }

 private:
  bool addsInPlace(const MadeStep& step) const {
    if (f_[step.addition].previous != step.product) return false;
    const auto operands = f_.operandsOf(f_[step.addition]);
    const auto isPointer = [&](const Operand& o) { return o.isRegister() && o.reg() == step.pointer; };
    return operands.size() == 3 && isPointer(operands[0]) && (isPointer(operands[1]) != isPointer(operands[2]));
  }

  // Whether an instruction does not name the pointer, or names it as an address from which the step can be taken off.
  bool collect(InstrId id, const MadeStep& step, AddressEdits& edits) const {
    const auto operands = f_.operandsOf(f_[id]);
    for (uint32_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].isRegister() || operands[k].reg() != step.pointer) continue;
      const OpcodeForm& form = module_.form(f_[id]);
      const bool isAccess = (form.op == Op::Ld || form.op == Op::St) && isGlobalOrGeneric(form.space);
      const auto immediate = k > 0 && isAccess ? immediateOf(operands, k) : std::nullopt;
      if (!immediate) return false;
      const int64_t now = *immediate - step.bytes;
      if (now < -kMostImmediate || now > kMostImmediate) return false;
      edits.add(
          {.at = id, .operand = k, .reg = step.pointer, .immediate = static_cast<int32_t>(now), .isAddress = true});
    }
    return true;
  }

  // For [register] or [register+number].
  static std::optional<int64_t> immediateOf(std::span<const Operand> operands, uint32_t k) {
    const Operand& memory = operands[k - 1];
    if (memory.kind != OperandKind::Memory || operands[k].flags != 0) return std::nullopt;
    if (memory.inside() == 1) return 0;
    const Operand& number = operands[k + 1];
    if (memory.inside() != 2 || number.kind != OperandKind::Integer || number.join != Join::Plus ||
        (number.flags & ~Operand::Hex) != 0)
      return std::nullopt;
    return static_cast<int32_t>(number.payload);
  }

  const Module& module_;
  Function& f_;
  RegisterReach reaches_;
};

}  // namespace

std::size_t moveStepsUp(const Module& module, Function& f, std::span<const MadeStep> steps) {
  if (steps.empty()) return 0;
  StepMover mover(module, f);
  return static_cast<std::size_t>(std::ranges::count_if(steps, [&](const MadeStep& s) { return mover.move(s); }));
}

void moveTestUp(const Module& module, Function& f, InstrId test) {
  const RegId predicate = f.operandsOf(f[test])[0].reg();
  const std::vector<InstrId> above = blockAbove(module, f, test);
  Place first = firstReaderOfLoad(module, f, above);
  for (Place at = first; at != above.end(); ++at)
    if (names(f, *at, predicate)) first = at + 1;
  if (first == above.end()) return;
  const InstrId place = placeBefore(module, f, *first);
  if (RegisterReach(module, f)(predicate, place)) f.moveBefore(test, place);
}

}  // namespace ptxopt
