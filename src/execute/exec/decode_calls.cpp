// Calls: the callee, and how arguments and results travel.
#include <fmt/format.h>

#include <algorithm>

#include "exec/builtins.h"
#include "exec/decoder.h"

namespace ptxopt::exec {

// An argument or result of a call; `type` is that of the parameter, None where the function is not known.
ParameterPlace Decoder::place(Binder& b, Routine& r, std::span<const Operand> entries, ScalarType type) {
  ParameterPlace p;
  const Operand& o = entries.front();
  if (o.kind == OperandKind::Variable) {
    const auto offset = program_.stackPlace(*r.function, o.payload);
    if (!offset || entries.size() != 1) b.unsupported("this argument");
    p.memory = measure(module_, r.function->variables[o.payload]);
    p.memory.offset = *offset;
    return p;
  }
  p.isRegister = true;
  if (o.isRegister()) {
    p.reg = b.registerArg(o, entries.subspan(1));
    if (entries.size() == 1) p.lanes = r.function->registers[o.payload].lanes;
    if (o.is(Operand::Compound) && entries[1].kind != OperandKind::Selector) p.reg = b.sum(p.reg, entries);
  } else if (o.kind == OperandKind::Sink) {
    p.reg = b.sink(8);
  } else if (type != ScalarType::None) {
    p.reg = b.sourceOf(entries, type, false);
  } else {
    if (o.kind == OperandKind::Decimal || o.kind == OperandKind::Float32 || o.kind == OperandKind::Float64)
      b.unsupported("a floating-point constant for a function that is not known here");
    p.reg = b.sourceOf(entries, ScalarType::b64, false);
  }
  return p;
}

// For the parameters of the function that a call names, where it has a body.
std::vector<ScalarType> Decoder::parameterTypes(const Operand& callee) const {
  std::vector<ScalarType> types;
  if (callee.kind != OperandKind::Symbol || module_.symbols[callee.payload].kind != SymbolKind::Function)
    return types;
  const Function& f = program_.calledFunction(module_.symbols[callee.payload]);
  const auto routine = program_.routineOf_.find(&f);
  if (routine == program_.routineOf_.end()) return types;
  std::size_t variable = 0;
  for (const ParameterPlace& p : routine->second->parameters) {
    if (p.isRegister) {
      const auto& all = routine->second->registers;
      const auto isThis = [&](const Arg& a) { return a.base == p.reg.base && a.offset == p.reg.offset; };
      const auto at = static_cast<std::size_t>(std::find_if(all.begin(), all.end(), isThis) - all.begin());
      types.push_back(f.registers[at].type);
    } else {
      types.push_back(module_.declarationForms[f.variables[f.parameters[variable++].value].form].type);
    }
  }
  return types;
}

// What is called: a function with a body, a built-in, or what an address leads to.
void Decoder::bindCallee(Binder& b, CallSite& site, const Operand& callee) {
  b.op_.kind = OpKind::Call;
  if (callee.kind == OperandKind::Symbol) {
    const Symbol& s = module_.symbols[callee.payload];
    if (s.kind != SymbolKind::Function) b.unsupported("this callee");
    const Function& f = program_.calledFunction(s);
    const auto routine = program_.routineOf_.find(&f);
    if (routine != program_.routineOf_.end()) {
      site.callee = routine->second;
      if (site.arguments.size() != site.callee->parameters.size() ||
          site.results.size() != site.callee->returns.size())
        b.unsupported("a call with more or fewer arguments than the function has");
    } else {
      site.builtin = findBuiltin(module_.text(f.name));
      if (site.builtin == nullptr)
        b.unsupported(fmt::format("'{}' has no body here and is not built in", module_.text(f.name)));
      b.op_.kind = OpKind::Plain;
    }
  } else if (callee.isRegister()) {
    b.append(b.registerArg(callee, {}));
  } else {
    b.unsupported("this callee");
  }
}

Op Decoder::callOp(Binder& b, Routine& r, std::span<const Operand> entries) {
  b.take("uni");
  CallSite site;
  auto runs = Binder::split(entries);
  std::size_t at = 0;
  const auto list = [&](std::vector<ParameterPlace>& out, const std::vector<ScalarType>& types) {
    const auto run = runs[at++];
    for (const auto& one : Binder::split(run.subspan(1, run.front().inside())))
      out.push_back(place(b, r, one, out.size() < types.size() ? types[out.size()] : ScalarType::None));
  };
  if (runs[at].front().kind == OperandKind::Paren) list(site.results, {});
  if (at == runs.size()) b.unsupported("a call without a function");
  const Operand& callee = runs[at++].front();
  if (at < runs.size() && runs[at].front().kind == OperandKind::Paren) {
    const std::vector<ScalarType> types = parameterTypes(callee);
    list(site.arguments, types);
  }
  for (std::size_t i = 0; i < b.operands(); ++i) b.ignore(i);

  bindCallee(b, site, callee);
  b.handler(site.builtin != nullptr ? site.builtin : throwUnsupported);
  b.data(std::move(site));
  b.finish();
  return b.op_;
}

}  // namespace ptxopt::exec
