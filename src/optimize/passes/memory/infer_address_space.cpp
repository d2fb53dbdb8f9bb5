// infer-address-space: accesses of generic addresses become accesses of the state space that they lie in.
//
// What:       ld, st, atom, red, ldu, prefetch, applypriority, discard, ldmatrix, stmatrix, wmma.load and
//             wmma.store without a space get the one that is known of their address; ptxas follows no address
//             through its arithmetic, and a generic access is slower and knows no alias. A generic address of
//             global memory is the same number as the global one (cvta.global is a copy), so only the opcode
//             changes. For shared, local and constant memory the address as the space counts it is computed beside
//             the generic one (address_shadows.h). `isspacep` of a known address becomes a constant, and
//             `cvta.to` of one a copy of what `cvta` was given.
// Proofs:     an access, and whether memory is as launched, may rest on the assumption that what the host passes is a
//             global address. isspacep.global may not: it is folded only of what certainly is (ir/address_state.h).
// Algorithm:  address_spaces.h, with what address_facts.h found for parameters and results.
// Keeps:      everything else about the access: order, scope, cache operators and hints, where the space has them
//             (ir/spaced_opcodes.h).
// Leaves:     what nothing reads any longer, to dce.
// Cost:       nothing without a generic access; else live intervals, and linear in operands for each sweep.
// Declines:   unknown-source (loaded from memory that may have changed since the launch, put together from halves,
//             ...), mixed-spaces (addresses of several meet), function-parameter (of a function with calls that are
//             not known), launched-parameter (of a kernel that device code may launch, or assume-param-global is
//             off), no-such-form (the space does not have the access), address-form (not `[reg]` or `[reg+imm]`),
//             not-cheaper; too-large; address-size (32-bit).
#include <algorithm>

#include "analysis/values/plain_operands.h"
#include "passes/memory/address_shadows.h"
#include "passes/util/missed_remarks.h"

namespace ptxopt {
namespace {

std::string_view whyUnknown(AddressKind k) {
  switch (k) {
    case AddressKind::Mixed: return "mixed-spaces";
    case AddressKind::FunctionParameter: return "function-parameter";
    case AddressKind::LaunchedParameter: return "launched-parameter";
    default: return "unknown-source";
  }
}

bool isTest(const OpcodeForm& form) { return form.op == Op::Isspacep; }

// `cvta.to`: from a generic address.
bool isToSpace(const OpcodeForm& form) { return form.op == Op::Cvta && form.has(ModifierFlag::To); }

class SpaceInference {
 public:
  SpaceInference(Function& f, PassContext& context)
      : f_(f),
        context_(context),
        module_(context.module),
        spaces_(context.analyses.addressSpaces(context.moduleAnalyses.get<ModuleAddressFacts>(),
                                               context.knobs[Knob::AssumeParamGlobal] != 0)),
        shadows_{{f, context, spaces_, AddressKind::Shared},
                 {f, context, spaces_, AddressKind::Local},
                 {f, context, spaces_, AddressKind::Const}} {}

  bool run() {
    const SlotIndexes& slots = context_.analyses.slotIndexes();
    for (const InstrId id : f_) {
      if (!f_[id].isInstruction() || !slots[id].valid()) continue;
      const Block& block = context_.analyses.cfg()[context_.analyses.cfg().blockOf(id)];
      if (!block.reachable) continue;
      if (isTest(module_.form(f_[id])))
        lookAtTest(id);
      else if (isGeneric(f_[id].opcode()))
        lookAtAccess(id);
      else
        lookAtConversion(id);
    }
    rewrite();
    missed_.tell(context_, "operand");
    for (std::size_t n = 0; n < std::size(counts_); ++n)
      if (counts_[n] != 0) context_.count(kCounters[n], counts_[n]);
    return changed_;
  }

 private:
  static constexpr std::string_view kCounters[] = {"global", "shared", "local", "const", "tests", "conversions"};
  enum Counter : std::size_t { Tests = 4, Conversions = 5 };

  bool isGeneric(OpcodeId o) const {
    return o.value < module_.synth.spaced.size() &&
           std::ranges::any_of(module_.synth.spaced[o.value], [](OpcodeId s) { return s.valid(); });
  }
  AddressShadows& shadowsOf(AddressKind k) {
    return shadows_[static_cast<std::size_t>(k) - static_cast<std::size_t>(AddressKind::Shared)];
  }
  static std::size_t counterOf(AddressKind k) {
    return static_cast<std::size_t>(k) - static_cast<std::size_t>(AddressKind::Global);
  }

  void lookAtAccess(InstrId id) {
    const auto operands = f_.operandsOf(f_[id]);
    std::size_t memory = 0;
    while (memory < operands.size() && operands[memory].kind != OperandKind::Memory) ++memory;
    if (memory == operands.size()) return;
    const std::size_t inside = operands[memory].inside();
    const std::size_t next = memory + 1 + inside;
    const Operand& base = operands[memory + (inside != 0)];
    if (inside == 0 || inside > 2 || !base.isRegister() || base.flags != 0 || !spaces_.holdsAddresses(base.reg()))
      return missed_.add("address-form");
    const AddressKind space = spaces_.read(base.reg(), id).kind;
    if (!isSpace(space)) return missed_.add(whyUnknown(space));
    const OpcodeId opcode = module_.spacedOpcode(f_[id].opcode(), space);
    // `[a].unified` is of global memory.
    const bool isUnified = next < operands.size() && operands[next].kind == OperandKind::Selector;
    if (!opcode.valid() || (isUnified && space != AddressKind::Global)) return missed_.add("no-such-form");
    if (space == AddressKind::Global) {
      global_.push_back({id, opcode});
      return;
    }
    shadowsOf(space).add({id, static_cast<uint32_t>(memory + 1), opcode});
  }

  void lookAtConversion(InstrId id) {
    const OpcodeForm& form = module_.form(f_[id]);
    if (!isToSpace(form)) return;
    const AddressKind space = namedSpace(form);
    const auto operands = f_.operandsOf(f_[id]);
    const std::size_t source = f_[id].is(Instruction::Guarded) ? 2 : 1;
    if (!isSpace(space) || space == AddressKind::Global || operands.size() != source + 1 ||
        !operands[source].isRegister() || !spaces_.holdsAddresses(operands[source].reg()) ||
        spaces_.read(operands[source].reg(), id).kind != space)
      return;
    shadowsOf(space).add({id, static_cast<uint32_t>(source), module_.synthOpcode(SynthOpcode::MovB64)});
  }

  // Null lies in no window, so isspacep takes it for global.
  static std::optional<bool> answer(AddressKind asked, AddressState s) {
    if (s.kind < AddressKind::Global || s.kind > AddressKind::Local) return std::nullopt;
    if (asked == s.kind) {
      if (s.kind == AddressKind::Global ? s.isAssumed : s.mayBeNumber) return std::nullopt;
      return true;
    }
    if (asked == AddressKind::Shared || asked == AddressKind::Local) return false;
    // Constant memory has addresses among the global ones.
    if (s.kind == AddressKind::Global || s.mayBeNumber || asked == AddressKind::None) return std::nullopt;
    return false;
  }

  void lookAtTest(InstrId id) {
    const PlainOperands operands(f_.operandsOf(f_[id]));
    const Operand* const address = operands.single(1);
    if (operands.single(0) == nullptr || address == nullptr || !address->isRegister() ||
        !spaces_.holdsAddresses(address->reg()))
      return;
    const AddressKind asked = namedSpace(module_.form(f_[id]));
    if (const auto known = answer(asked, spaces_.read(address->reg(), id))) tests_.push_back({id, *known});
  }

  void rewrite() {
    // All is planned on the function as it is.
    std::vector<AddressShadows*> planned;
    for (AddressShadows& s : shadows_) {
      if (s.uses().empty()) continue;
      if (s.isWorthIt()) {
        planned.push_back(&s);
        continue;
      }
      for (std::size_t n = 0; n < s.uses().size(); ++n) missed_.add("not-cheaper");
    }
    for (AddressShadows* s : planned) {
      for (const ShadowUse& u : s->uses())
        ++counts_[isGeneric(f_[u.at].opcode()) ? counterOf(s->space()) : Conversions];
      s->apply();
      changed_ = true;
    }
    for (const auto& [id, opcode] : global_) {
      f_[id].payload = opcode.value;
      f_.touch(id);
      ++counts_[counterOf(AddressKind::Global)];
    }
    for (const auto& [id, known] : tests_) fold(id, known);
    if (planned.empty() && tests_.empty()) context_.preserved = kMentions;
    changed_ |= !global_.empty() || !tests_.empty();
    counts_[Tests] = tests_.size();
  }

  void fold(InstrId id, bool known) {
    const auto operands = f_.operandsOf(f_[id]);
    std::vector<Operand> to(operands.begin(), operands.end() - 1);
    to.push_back(integerOperand(known ? 1 : 0));
    f_[id].payload = module_.synthOpcode(SynthOpcode::MovPred).value;
    f_.setOperands(id, to);
  }

  Function& f_;
  PassContext& context_;
  const Module& module_;
  const AddressSpaces& spaces_;
  AddressShadows shadows_[3];
  std::vector<std::pair<InstrId, OpcodeId>> global_;
  std::vector<std::pair<InstrId, bool>> tests_;
  MissedRemarks missed_;
  uint64_t counts_[std::size(kCounters)]{};
  bool changed_ = false;
};

// Whether there is anything to do, before any analysis is paid for.
bool hasGeneric(const Module& module, const Function& f) {
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeId o = f[id].opcode();
    if (o.value < module.synth.spaced.size())
      for (const OpcodeId s : module.synth.spaced[o.value])
        if (s.valid()) return true;
    const OpcodeForm& form = module.form(f[id]);
    if (isTest(form) || (isToSpace(form) && form.space != StateSpace::Global)) return true;
  }
  return false;
}

}  // namespace

bool inferAddressSpace(Function& f, PassContext& context) {
  if (!hasGeneric(context.module, f)) return false;
  if (context.module.addressSize != 64) {
    context.decline("address-size", "addresses have 32 bits");
    return false;
  }
  if (!context.hasUsableIntervals()) return false;
  return SpaceInference(f, context).run();
}

}  // namespace ptxopt
