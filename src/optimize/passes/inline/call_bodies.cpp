// Callees are gone through depth first, and a body is copied after its own calls are replaced. A callee that is still
// in progress when it is met again is recursive. A call is replaced if the callee is small; one that the caller calls
// once may be larger.
#include "passes/inline/call_bodies.h"

#include <algorithm>
#include <unordered_map>

#include "ir/stored_numbers.h"
#include "passes/inline/call_inliner.h"

namespace ptxopt {
namespace {

constexpr uint32_t kMostInstructionsOfCaller = 20000, kMostCallDepth = 64;

std::vector<InstrId> callsOf(const Module& module, const Function& f) {
  std::vector<InstrId> calls;
  for (const InstrId id : f)
    if (f[id].isInstruction() && module.form(f[id]).is(effect::Call)) calls.push_back(id);
  return calls;
}

// Whether another definition may take its place when modules are linked.
bool isWeak(const Module& module, const Function& f) {
  const std::string_view header = module.text(f.header);
  return header.substr(0, header.find(".func")).find(".weak") != std::string_view::npos;
}

std::string_view whyNotByInstruction(const Module& module, const Function& f, const Instruction& i) {
  if (i.kind == InstrKind::Targets) return "branch-table";
  if (i.kind == InstrKind::Verbatim) return "prototype";
  if (!i.isInstruction()) return {};
  const OpcodeForm& form = module.form(i);
  if (form.row == nullptr || form.is(effect::Unknown)) return "unknown-opcode";
  if (form.is(effect::IndirectBranch)) return "branch-table";
  if (form.op == Op::Alloca || form.op == Op::Stacksave || form.op == Op::Stackrestore) return "stack";
  const bool isAccess = i.payload < module.synth.localAccess.size() && module.synth.localAccess[i.payload].valid();
  if (!isAccess && isParameter(form.space)) return "parameter-access";
  for (const Operand& o : f.operandsOf(i))
    if (o.kind == OperandKind::Variable && f.variables[o.payload].isParameter && !isAccess && form.op != Op::Mov)
      return "parameter-access";
  return {};
}

// Why calls of a function cannot be replaced, but for what it calls.
std::string_view whyNotByItself(const Module& module, const Knobs& knobs, const Function& f) {
  if (!f.hasBody || f.isEntry) return "no-body";
  if (knobs[Knob::InlineWeak] == 0 && isWeak(module, f)) return "weak";
  if (!f.returnRegisters.empty() || std::ranges::any_of(f.registers, &Register::isParameter))
    return "register-parameters";
  if (findNarrowNumberStore(module, f).valid()) return "narrow-number-store";
  for (const Variable& v : f.variables) {
    const DeclaredSpace space = module.declarationForms[v.form].space;
    if (!v.isParameter && space != DeclaredSpace::Local && space != DeclaredSpace::Param) return "static-variable";
  }
  return {};
}

// `cvta.local`
bool isLocalToGeneric(const OpcodeForm& form) {
  return form.op == Op::Cvta && form.space == StateSpace::Local && !form.has(ModifierFlag::To);
}

bool isLoadOrStore(const OpcodeForm& form) {
  return form.op == Op::Ld || form.op == Op::St || form.op == Op::StAsync || form.op == Op::StBulk;
}

// Instructions that ptxas has work with. The frame's address and what is a constant away from it: `%SP`.
uint32_t sizeOf(const Module& module, const Function& f) {
  std::vector<bool> isFrame(f.registers.size());
  uint32_t size = 0;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const OpcodeForm& form = module.form(f[id]);
    const auto operands = f.operandsOf(f[id]);
    if (isLocalToGeneric(form) && !operands.empty() && operands[0].isRegister()) {
      isFrame[operands[0].payload] = true;
      continue;
    }
    if (form.op == Op::Mov || form.op == Op::Bra || form.is(effect::Return)) continue;
    const bool isAccess = isLoadOrStore(form);
    if (isAccess && (isParameter(form.space) || form.space == StateSpace::Local)) continue;
    if (isAccess || form.op == Op::Add) {
      const auto base = std::ranges::find_if(
          operands, [&](const Operand& o) { return o.isRegister() && o.role == Role::Use && isFrame[o.payload]; });
      if (base != operands.end()) {
        if (!isAccess && operands[0].isRegister()) isFrame[operands[0].payload] = true;
        continue;
      }
    }
    ++size;
  }
  return size;
}

class BodyMaker {
 public:
  BodyMaker(const Module& module, const Knobs& knobs)
      : module_(module), knobs_(knobs), isDone_(module.functions.size()) {
    bodies_.functions.assign(module.functions.size(), {nullptr, "no-body"});
    for (std::size_t k = 0; k < module.functions.size(); ++k)
      if (module.functions[k].hasBody) definition_.emplace(module.functions[k].name.value, k);
  }

  CallBodies run() {
    for (std::size_t k = 0; k < module_.functions.size(); ++k)
      if (module_.functions[k].hasBody) makeCallees(k, 0);
    return std::move(bodies_);
  }

 private:
  void makeCallees(std::size_t caller, uint32_t depth) {
    const Function& f = module_.functions[caller];
    for (const InstrId id : callsOf(module_, f)) {
      const DirectCall call(module_, f, f[id]);
      if (call.callee == nullptr) continue;
      const auto at = definition_.find(call.callee->name.value);
      if (at == definition_.end()) continue;
      make(at->second, depth);
      bodies_.functions[call.index] = bodies_.functions[at->second];
    }
  }

  void make(std::size_t k, uint32_t depth) {
    if (isDone_[k]) return;
    isDone_[k] = true;
    CallBody& made = bodies_.functions[k];
    const Function& f = module_.functions[k];
    made.whyNot = whyNotByItself(module_, knobs_, f);
    for (InstrId id = f.first; id.valid() && made.whyNot.empty(); id = f[id].next)
      made.whyNot = whyNotByInstruction(module_, f, f[id]);
    if (made.whyNot.empty() && depth == kMostCallDepth) made.whyNot = "too-deep";
    if (!made.whyNot.empty()) return;
    made.whyNot = "recursive";  // as long as what it calls is looked at
    makeCallees(k, depth + 1);
    auto copy = std::make_shared<Function>(f);
    replaceCalls(*copy, module_, bodies_, knobs_, [](std::string_view, NameId) {});
    const std::vector<InstrId> left = callsOf(module_, *copy);
    const bool callsItself = std::ranges::any_of(left, [&](InstrId id) {
      const DirectCall call(module_, *copy, (*copy)[id]);
      return call.callee != nullptr && call.callee->name == f.name;
    });
    made.whyNot = left.empty() ? std::string_view() : callsItself ? "recursive" : "calls";
    if (!made.whyNot.empty()) return;
    made.size = sizeOf(module_, *copy);
    made.body = std::move(copy);
  }

  const Module& module_;
  const Knobs& knobs_;
  CallBodies bodies_;
  std::vector<bool> isDone_;
  std::unordered_map<uint32_t, std::size_t> definition_;  // by the name
};

}  // namespace

CallBodies makeCallBodies(const Module& module, const Knobs& knobs) {
  if (std::ranges::none_of(module.opcodes, [](const OpcodeForm& o) { return o.is(effect::Call); })) return {};
  return BodyMaker(module, knobs).run();
}

uint64_t replaceCalls(Function& f, const Module& module, const CallBodies& bodies, const Knobs& knobs,
                      const CallDecline& decline) {
  const std::vector<InstrId> calls = callsOf(module, f);
  if (calls.empty()) return 0;
  std::unordered_map<uint32_t, uint32_t> timesCalled;  // by the name
  for (const InstrId id : calls)
    if (const DirectCall call(module, f, f[id]); call.callee != nullptr) ++timesCalled[call.callee->name.value];
  const auto most = static_cast<uint64_t>(knobs[Knob::InlineSize]),
             mostOnce = static_cast<uint64_t>(knobs[Knob::InlineOnceSize]);
  uint64_t replaced = 0, instructions = f.countInstructions();
  CallInliner inliner(f, module);
  for (const InstrId id : calls) {
    const DirectCall call(module, f, f[id]);
    if (call.callee == nullptr) {
      decline("pointer", NameId());
      continue;
    }
    const NameId name = call.callee->name;
    const CallBody& found = bodies.functions[call.index];
    std::string_view why = found.whyNot;
    if (found.body == nullptr && why.empty()) why = "no-body";
    if (why.empty() && found.size > (timesCalled[name.value] == 1 ? std::max(most, mostOnce) : most))
      why = "too-large";
    const uint64_t grows = why.empty() ? found.body->countInstructions() : 0;
    if (why.empty() && instructions + grows > kMostInstructionsOfCaller) why = "function-too-large";
    if (why.empty()) why = inliner.replace(id, *found.body);
    if (!why.empty()) {
      decline(why, name);
      continue;
    }
    instructions += grows;
    ++replaced;
  }
  return replaced;
}

}  // namespace ptxopt
