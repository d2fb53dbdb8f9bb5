// The constructor notes where the caller uses .param variables. A call is checked first; variables that it passes
// become local ones. The body is then copied with maps for registers, labels and variables, and the braces of the call
// sequence are removed.
#include "passes/inline/call_inliner.h"

#include <algorithm>
#include <bit>

namespace ptxopt {
namespace {

constexpr uint32_t kMostAlignment = 16;  // of the forms of local variables that there are

// Whether nothing but braces and the like follows.
bool isLastInstruction(const Function& f, InstrId id) {
  for (InstrId next = f[id].next; next.valid(); next = f[next].next)
    if (f[next].isInstruction() || f[next].kind == InstrKind::Label) return false;
  return true;
}

}  // namespace

CallInliner::CallInliner(Function& caller, const Module& module) : f_(caller), module_(module) {
  for (const InstrId id : f_) {
    const Instruction& i = f_[id];
    const auto operands = f_.operandsOf(i);
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].kind != OperandKind::Variable) continue;
      const Variable& v = f_.variables[operands[k].payload];
      if (v.isParameter || module_.declarationForms[v.form].space != DeclaredSpace::Param) continue;
      const bool isAccess = i.isInstruction() && i.payload < module_.synth.localAccess.size() &&
                            module_.synth.localAccess[i.payload].valid() && k > 0 &&
                            operands[k - 1].kind == OperandKind::Memory;
      uses_.push_back({VariableId(operands[k].payload), id, isAccess});
    }
  }
  std::ranges::stable_sort(uses_, {}, [](const Use& u) { return u.variable.value; });
}

std::span<const CallInliner::Use> CallInliner::usesOf(VariableId v) const {
  const auto found = std::ranges::equal_range(uses_, v.value, {}, [](const Use& u) { return u.variable.value; });
  return {found.begin(), found.end()};
}

uint64_t CallInliner::bytesOf(const Function& f, VariableId v) const {
  const Variable& variable = f.variables[v.value];
  const DeclarationForm& form = module_.declarationForms[variable.form];
  return variable.declarator.elements * form.lanes * info(form.type).bits / 8;
}

uint32_t CallInliner::alignmentOf(const Function& f, VariableId v) const {
  const DeclarationForm& form = module_.declarationForms[f.variables[v.value].form];
  const uint32_t natural = std::max(form.lanes * info(form.type).bits / 8, 1u);
  return form.alignment != 0 ? form.alignment : std::bit_floor(natural);
}

bool CallInliner::isPassed(const Operand& actual, VariableId formal, InstrId call, const Function& body) const {
  if (actual.kind != OperandKind::Variable || f_.variables[actual.payload].isParameter) return false;
  const VariableId v(actual.payload);
  const uint64_t bytes = bytesOf(f_, v);
  return bytes != 0 && bytes == bytesOf(body, formal) && alignmentOf(f_, v) <= kMostAlignment &&
         alignmentOf(body, formal) <= kMostAlignment && std::ranges::count(usesOf(v), call, &Use::at) == 1;
}

std::string_view CallInliner::check(InstrId call, const DirectCall& parts, const Function& body) const {
  if (f_[call].is(Instruction::Guarded)) return "guarded-call";
  if (f_.hidesNames) return "hidden-names";
  if (parts.results.size() != body.returns.size() || parts.arguments.size() != body.parameters.size())
    return "signature";
  for (std::size_t k = 0; k < parts.results.size(); ++k)
    if (!isPassed(parts.results[k], body.returns[k], call, body)) return "signature";
  for (std::size_t k = 0; k < parts.arguments.size(); ++k)
    if (!isPassed(parts.arguments[k], body.parameters[k], call, body)) return "signature";
  for (const auto& all : {parts.results, parts.arguments})
    for (const Operand& o : all)
      for (const Use& u : usesOf(VariableId(o.payload)))
        if (!u.isAccess && u.at != call) return "parameter-use";
  return {};
}

// A local variable for both; the caller's accesses go to it.
VariableId CallInliner::makeLocal(VariableId actual, VariableId formal, const Function& body) {
  const uint32_t alignment = std::max(alignmentOf(f_, actual), alignmentOf(body, formal));
  const auto form = static_cast<std::size_t>(std::countr_zero(std::bit_ceil(alignment)));
  const VariableId local = f_.makeVariable(module_.synth.localBytes[form], bytesOf(f_, actual));
  for (const Use& u : usesOf(actual)) {
    if (!u.isAccess) continue;
    for (Operand& o : f_.operandsOf(f_[u.at]))
      if (o.kind == OperandKind::Variable && o.payload == actual.value) o.payload = local.value;
    f_[u.at].payload = module_.synth.localAccess[f_[u.at].payload].value;
    f_.touch(u.at);
  }
  return local;
}

std::string_view CallInliner::replace(InstrId call, const Function& body) {
  Copies copies{.registers = std::vector<RegId>(body.registers.size()),
                .variables = std::vector<VariableId>(body.variables.size()),
                .labels = std::vector<LabelId>(body.labels.size()),
                .end = {}};
  std::vector<VariableId> passed;
  {
    const DirectCall parts(module_, f_, f_[call]);
    if (const std::string_view why = check(call, parts, body); !why.empty()) return why;
    const auto pass = [&](std::span<const Operand> actual, const std::vector<VariableId>& formal) {
      for (std::size_t k = 0; k < actual.size(); ++k) {
        passed.push_back(VariableId(actual[k].payload));
        copies.variables[formal[k].value] = makeLocal(passed.back(), formal[k], body);
      }
    };
    pass(parts.results, body.returns);
    pass(parts.arguments, body.parameters);
  }
  copies.registers[Function::kCarry.value] = Function::kCarry;
  copy(body, call, copies);
  dropSequence(call, passed);
  return {};
}

void CallInliner::copy(const Function& body, InstrId where, Copies& copies) {
  for (std::size_t l = 0; l < body.labels.size(); ++l)
    if (const InstrId place = body.labels[l].place; place.valid() && !body[place].is(Instruction::Erased))
      copies.labels[l] = f_.makeLabelLike(body, LabelId(l));
  for (const InstrId id : body) {
    const Instruction& i = body[id];
    switch (i.kind) {
      case InstrKind::Instruction: copyInstruction(body, id, isLastInstruction(body, id), where, copies); break;
      case InstrKind::Label: f_.insertLabel(where, copies.labels[i.payload]); break;
      case InstrKind::Pragma: f_.insertPragma(where, NameId(i.payload)); break;
      default: break;
    }
  }
  if (copies.end.valid()) f_.insertLabel(where, copies.end);
}

void CallInliner::copyInstruction(const Function& body, InstrId from, bool isLast, InstrId where, Copies& copies) {
  const Instruction& i = body[from];
  const bool isReturn = module_.form(i).is(effect::Return);
  if (isReturn && isLast) return;
  std::vector<Operand> operands;
  for (const Operand& o : body.operandsOf(i)) {
    if (isReturn && !o.is(Operand::Guard)) break;
    operands.push_back(copyOperand(body, o, copies));
  }
  if (isReturn) {
    if (!copies.end.valid()) copies.end = f_.makeLabel();
    operands.push_back({.kind = OperandKind::Label, .payload = copies.end.value});
    f_.insert(where, module_.synthOpcode(SynthOpcode::Bra), operands);
    return;
  }
  const OpcodeId local =
      i.payload < module_.synth.localAccess.size() ? module_.synth.localAccess[i.payload] : OpcodeId();
  f_.insert(where, local.valid() ? local : i.opcode(), operands);
}

Operand CallInliner::copyOperand(const Function& body, const Operand& o, Copies& copies) {
  Operand copied = o;
  switch (o.kind) {
    case OperandKind::Register: {
      RegId& to = copies.registers[o.payload];
      const Register& r = body.registers[o.payload];
      if (!to.valid()) to = f_.makeRegister(r.type, r.lanes);
      copied.payload = to.value;
      break;
    }
    case OperandKind::Label: copied.payload = copies.labels[o.payload].value; break;
    case OperandKind::Variable: {
      VariableId& to = copies.variables[o.payload];
      const Variable& v = body.variables[o.payload];
      if (!to.valid()) to = f_.makeVariable(v.form, v.declarator.elements);
      copied.payload = to.value;
      break;
    }
    case OperandKind::WideInteger:
    case OperandKind::Float64:
    case OperandKind::Decimal:
      f_.constants.push_back(body.constants[o.payload]);
      copied.payload = static_cast<uint32_t>(f_.constants.size() - 1);
      break;
    default: break;
  }
  return copied;
}

// The call, what declares its variables, and the braces around it where they hold no other declaration.
void CallInliner::dropSequence(InstrId call, std::span<const VariableId> passed) {
  const auto isPassedHere = [&](const Declaration& d) {
    return d.declaratorCount == 1 && std::ranges::any_of(passed, [&](VariableId v) {
             return f_.variables[v.value].form == d.form &&
                    f_.variables[v.value].name == f_.declarators[d.firstDeclarator].name;
           });
  };
  InstrId open, close;
  bool isEmpty = true;
  std::vector<InstrId> declared;
  std::size_t depth = 0;
  for (InstrId id = f_[call].previous; id.valid() && !open.valid(); id = f_[id].previous) {
    const Instruction& i = f_[id];
    if (i.kind == InstrKind::ScopeClose) ++depth;
    if (i.kind == InstrKind::ScopeOpen && depth-- == 0) open = id;
    if (i.kind == InstrKind::Label && i.hasSource() && depth == 0) isEmpty = false;
    if (i.kind != InstrKind::Declaration || depth != 0) continue;
    if (isPassedHere(f_.declarations[i.payload]))
      declared.push_back(id);
    else
      isEmpty = false;
  }
  depth = 0;
  for (InstrId id = f_[call].next; open.valid() && id.valid() && !close.valid(); id = f_[id].next) {
    const Instruction& i = f_[id];
    if (i.kind == InstrKind::ScopeOpen) ++depth;
    if (i.kind == InstrKind::ScopeClose && depth-- == 0) close = id;
    if (depth == 0 && (i.kind == InstrKind::Declaration || (i.kind == InstrKind::Label && i.hasSource())))
      isEmpty = false;
  }
  f_.erase(call);
  if (!open.valid() || !close.valid()) return;
  for (const InstrId id : declared) f_.erase(id);
  if (!isEmpty) return;
  f_.erase(open);
  f_.erase(close);
}

}  // namespace ptxopt
