#include "exec/program.h"

#include "exec/decoder.h"
#include "exec/machine.h"

namespace ptxopt::exec {

Program::Program(Machine& machine, const Function& kernel)
    : machine_(machine), module_(machine.module()), kernel_(kernel) {
  Decoder(*this).run();
}

Program::~Program() = default;

const Routine* Program::routineAt(uint64_t address) const {
  const uint64_t offset = address - kCodeWindow;
  if (offset % 16 != 0 || offset / 16 >= module_.functions.size()) return nullptr;
  const auto found = routineOf_.find(&module_.functions[offset / 16]);
  return found == routineOf_.end() ? nullptr : found->second;
}

const Function& Program::calledFunction(const Symbol& function) const {
  return module_.functions[machine_.calledFunction(function)];
}

std::optional<uint64_t> Program::variablePlace(const Function& f, uint32_t variable) const {
  const VariablePlace& p = variablePlaces_.at(&f)[variable];
  if (p.inStack) return std::nullopt;
  return p.address;
}

std::optional<uint32_t> Program::stackPlace(const Function& f, uint32_t variable) const {
  const VariablePlace& p = variablePlaces_.at(&f)[variable];
  if (!p.inStack) return std::nullopt;
  return static_cast<uint32_t>(p.address);
}

Space Program::spaceOf(const Function& f, const Operand& o) const {
  if (o.kind == OperandKind::Variable) return variablePlaces_.at(&f)[o.payload].space;
  const Symbol& s = module_.symbols[o.payload];
  if (s.kind != SymbolKind::Variable) return Space::Generic;
  const DeclaredSpace space = module_.declarationForms[module_.variables[s.index].form].space;
  return space == DeclaredSpace::Shared  ? Space::Shared
         : space == DeclaredSpace::Const ? Space::Const
                                         : Space::Global;
}

}  // namespace ptxopt::exec
