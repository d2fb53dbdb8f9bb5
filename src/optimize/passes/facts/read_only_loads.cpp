// read-only-loads: loads of memory that nobody writes while the kernel runs say so, by .nc.
//
// What:       a load of global memory whose address is made of numbers and of parameters that the user calls `noalias`
//             or `readonly` (Module::facts) becomes ld.global.nc, if the kernel writes nothing through these
//             parameters. Then no store stands in its way any more: ptxas loads once what it loaded twice, and moves
//             loads out of loops and above stores. So do later passes.
// Algorithm:  parameter_memory.h.
// Invariants: what is read is never written while the kernel runs. `readonly` says that. By `noalias`, what is written
//             and is reached through the parameter is reached through it alone; so a write has an address that is
//             computed from its value, and there is none: the kernel's stores, atomics and copies all have other
//             addresses, and the parameter goes nowhere that is not followed.
// Keeps:      how the load is cached, its type and its vector.
// Declines:   written (the kernel writes through a parameter that it is made of), escapes (such a parameter goes to a
//             call, to memory, or through what is not followed), other-address (it is made of something else, too),
//             no-such-form (ordered, volatile, with hints, of more than 16 bytes); generic loads, which
//             infer-address-space makes global; parameters after the 63rd; target (.nc needs sm_32 and PTX 3.1),
//             address-size (32 bits), early-start (griddepcontrol in the module).
// Cost:       nothing without such facts; else live intervals, and linear in operands for each sweep.
#include <algorithm>

#include "analysis/addresses/parameter_memory.h"
#include "passes/util/function_pass.h"
#include "passes/util/missed_remarks.h"
#include "target/target.h"

namespace ptxopt {
namespace {

using Set = ParameterMemory::Set;

class ReadOnlyLoads : IntervalPass {
 public:
  ReadOnlyLoads(Function& f, PassContext& context, Set said)
      : IntervalPass(f, context), memory_(module_, f, cfg_, slots_, intervals_), said_(said) {}

  bool run() {
    std::size_t changed = 0;
    for (uint32_t b = 0; b < cfg_.size(); ++b) {
      if (!cfg_[BlockId(b)].reachable) continue;
      for (const InstrId id : slots_.instructions(BlockId(b))) {
        if (!isCandidate(id)) continue;
        if (const std::string_view why = whyNot(id); !why.empty()) {
          missed_.add(why);
          continue;
        }
        f_[id].payload = module_.nonCoherentOpcode(f_[id].opcode()).value;
        f_.touch(id);
        ++changed;
      }
    }
    missed_.tell(context_, "load");
    context_.count("loads", changed);
    return changed != 0;
  }

 private:
  bool isCandidate(InstrId id) const {
    if (!f_[id].isInstruction()) return false;
    const OpcodeForm& form = module_.form(f_[id]);
    return form.op == Op::Ld && form.space == StateSpace::Global && !form.has(ModifierFlag::NonCoherent) &&
           (memory_.accessed(id) & said_) != 0;
  }

  std::string_view whyNot(InstrId id) const {
    const Set address = memory_.accessed(id);
    if ((address & ~said_) != 0) return "other-address";
    if ((address & memory_.written()) != 0) return "written";
    if ((address & memory_.escaped()) != 0) return "escapes";
    return module_.nonCoherentOpcode(f_[id].opcode()).valid() ? "" : "no-such-form";
  }

  const ParameterMemory memory_;
  const Set said_;
  MissedRemarks missed_;
};

// The parameters of whose memory it is said who writes it.
Set saidOf(const Module& module, const Function& f) {
  Set said = 0;
  const KernelFacts* const facts = module.factsOf(f);
  if (facts == nullptr || !f.isEntry) return said;
  const std::vector<PointerFact>& pointers = facts->pointers;
  for (std::size_t p = 0; p < pointers.size() && p < 63; ++p)
    if (pointers[p].isNoalias || pointers[p].isReadonly) said |= Set{1} << p;
  return said;
}

bool hasNonCoherent(const Module& module, const target::Target& target) {
  return target.has(target::Capability::NonCoherentLoads) &&
         (module.versionMajor > 3 || (module.versionMajor == 3 && module.versionMinor >= 1));
}

}  // namespace

bool readOnlyLoads(Function& f, PassContext& context) {
  const Set said = saidOf(context.module, f);
  if (said == 0) return false;
  if (context.module.addressSize != 64) {
    context.decline("address-size", "addresses have 32 bits");
    return false;
  }
  if (!hasNonCoherent(context.module, context.target())) {
    context.decline("target", "no .nc");
    return false;
  }
  // A kernel that starts before the one before it has ended sees what that writes, which no address here shows.
  if (std::ranges::any_of(context.module.opcodes, [](const OpcodeForm& o) { return o.op == Op::Griddepcontrol; })) {
    context.decline("early-start", "the module waits for other grids");
    return false;
  }
  if (!context.hasUsableIntervals()) return false;
  return ReadOnlyLoads(f, context, said).run();
}

}  // namespace ptxopt
