// Where registers, variables, parameters and shared memory lie.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "exec/align.h"
#include "exec/decoder.h"
#include "exec/kernel_parameters.h"
#include "exec/machine.h"

namespace ptxopt::exec {
namespace {

// Whether each result and parameter in a function's header is a register.
std::vector<bool> areRegisters(std::string_view header) {
  std::vector<bool> result;
  for (std::size_t at = 0; at < header.size();) {
    const std::string_view rest = header.substr(at);
    const auto startsWord = [&](std::string_view word) {
      if (!rest.starts_with(word)) return false;
      const char after = rest.size() > word.size() ? rest[word.size()] : ' ';
      return std::isalnum(static_cast<unsigned char>(after)) == 0 && after != '_' && after != '$' && after != ':';
    };
    if (rest.starts_with("//")) {
      at = std::min(header.find('\n', at), header.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = header.find("*/", at + 2);
      at = end == std::string_view::npos ? header.size() : end + 2;
    } else {
      if (startsWord(".reg")) result.push_back(true);
      if (startsWord(".param")) result.push_back(false);
      ++at;
    }
  }
  return result;
}

}  // namespace

Placement measure(const Module& module, const Variable& v) {
  const DeclarationForm& form = module.declarationForms[v.form];
  const uint64_t element = std::max(1u, info(form.type).bits / 8) * uint64_t{form.lanes};
  const uint64_t count = v.declarator.isRange ? 1 : v.declarator.elements;
  if (element * count > UINT32_MAX)
    throw ExecError(FaultKind::Unsupported, fmt::format("'{}' is larger than 4 GB", module.text(v.name)));
  Placement p;
  p.bytes = static_cast<uint32_t>(element * count);
  p.alignment = form.alignment != 0 ? form.alignment : static_cast<uint32_t>(element);
  return p;
}

void Decoder::layOut(Routine& r) {
  layOutRegisters(r);
  layOutVariables(r);
  if (!r.function->isEntry) layOutParameters(r);
}

void Decoder::layOutRegisters(Routine& r) {
  const Function& f = *r.function;
  uint64_t frame = kLanes * sizeof(uint32_t);
  for (const Register& reg : f.registers) {
    Arg a;
    a.base = Base::Frame;
    if (reg.registerClass() == RegisterClass::Pred || reg.registerClass() == RegisterClass::Carry ||
        &reg == &f.registers.front()) {
      frame = roundUp(frame, 4);
      a.offset = static_cast<uint32_t>(frame);
      frame += 4;
    } else {
      const unsigned bits = info(reg.type).bits;
      a.bytes = static_cast<uint8_t>(std::max(1u, bits / 8));
      frame = roundUp(frame, 64);
      a.offset = static_cast<uint32_t>(frame);
      frame += uint64_t{a.bytes} * kLanes * reg.lanes;
    }
    if (frame > UINT32_MAX / 2) throw ExecError(FaultKind::Unsupported, "too many registers");
    r.registers.push_back(a);
  }
  r.frameBytes = static_cast<uint32_t>(roundUp(frame, 64));
}

void Decoder::layOutVariables(Routine& r) {
  const Function& f = *r.function;
  auto& places = program_.variablePlaces_[&f];
  places.resize(f.variables.size());
  uint64_t stack = 0;
  for (std::size_t i = 0; i < f.variables.size(); ++i) {
    const Variable& v = f.variables[i];
    const DeclarationForm& form = module_.declarationForms[v.form];
    const DeclaredSpace space = form.space;
    const Placement p = measure(module_, v);
    auto& place = places[i];
    if (space == DeclaredSpace::Shared) {
      place = {Space::Shared, false, placeShared(v, p)};
    } else if (space == DeclaredSpace::Global || space == DeclaredSpace::Const) {
      place = {space == DeclaredSpace::Const ? Space::Const : Space::Global, false,
               program_.machine_.placeVariable(v)};
    } else if (f.isEntry && v.isParameter) {
      place = {Space::Param, false, 0};  // layOutKernelParameters
    } else if (space == DeclaredSpace::Local || space == DeclaredSpace::Param) {
      stack = roundUp(stack, std::max(1u, p.alignment));
      r.stackAlignment = std::max(r.stackAlignment, p.alignment);
      place = {Space::Local, true, stack};
      stack += p.bytes;
    }
  }
  if (stack > UINT32_MAX / 4) throw ExecError(FaultKind::Unsupported, "too much local memory");
  r.stackBytes = static_cast<uint32_t>(roundUp(stack, 16));
}

void Decoder::layOutParameters(Routine& r) {
  const Function& f = *r.function;
  const auto& places = program_.variablePlaces_[&f];
  // Registers and variables may be mixed; the results come first in the text.
  std::vector<VariableId> variables = f.returns;
  variables.insert(variables.end(), f.parameters.begin(), f.parameters.end());
  std::size_t nextVariable = 0, nextRegister = 1;
  for (const bool isRegister : areRegisters(module_.text(f.header))) {
    ParameterPlace p;
    bool isResult = false;
    if (isRegister) {
      while (nextRegister < f.registers.size() && !f.registers[nextRegister].isParameter) ++nextRegister;
      if (nextRegister == f.registers.size()) break;
      p.isRegister = true;
      p.lanes = f.registers[nextRegister].lanes;
      p.reg = r.registers[nextRegister];
      isResult = std::find(f.returnRegisters.begin(), f.returnRegisters.end(), RegId(nextRegister)) !=
                 f.returnRegisters.end();
      ++nextRegister;
    } else {
      if (nextVariable == variables.size()) break;
      const VariableId id = variables[nextVariable];
      const Variable& v = f.variables[id.value];
      p.memory = measure(module_, v);
      p.memory.offset = static_cast<uint32_t>(places[id.value].address);
      isResult = nextVariable++ < f.returns.size();
    }
    (isResult ? r.returns : r.parameters).push_back(p);
  }
}

uint64_t Decoder::placeShared(const Variable& v, const Placement& p) {
  // Without a size it is the dynamic part, which begins where the static one ends.
  if (v.declarator.elements == 0 && !v.declarator.isRange) {
    dynamicAlignment_ = std::max(dynamicAlignment_, p.alignment);
    return kDynamic;
  }
  const uint64_t at = roundUp(program_.staticShared_, std::max(1u, p.alignment));
  if (at + p.bytes > (uint64_t{1} << kSharedRankShift))
    throw ExecError(FaultKind::Unsupported, "more than 16 MB of static shared memory");
  program_.staticShared_ = static_cast<uint32_t>(at + p.bytes);
  return at;
}

// Module-level shared variables first come when a function names them.
void Decoder::placeSharedSymbols() {
  for (const auto& r : program_.routines_) {
    const Function& f = *r->function;
    for (const InstrId id : f) {
      if (!f[id].isInstruction()) continue;
      for (const Operand& o : f.operandsOf(f[id])) {
        if (o.kind != OperandKind::Symbol || program_.sharedSymbols_.contains(o.payload)) continue;
        const Symbol& s = module_.symbols[o.payload];
        if (s.kind != SymbolKind::Variable) continue;
        const Variable& v = module_.variables[s.index];
        const DeclarationForm& form = module_.declarationForms[v.form];
        if (form.space != DeclaredSpace::Shared) continue;
        program_.sharedSymbols_[o.payload] = static_cast<uint32_t>(placeShared(v, measure(module_, v)));
      }
    }
  }
}

void Decoder::placeDynamicShared() {
  placeSharedSymbols();
  program_.staticShared_ = static_cast<uint32_t>(roundUp(program_.staticShared_, std::max(16u, dynamicAlignment_)));
  for (auto& [id, offset] : program_.sharedSymbols_)
    if (offset == static_cast<uint32_t>(kDynamic)) offset = program_.staticShared_;
  for (auto& [f, places] : program_.variablePlaces_)
    for (auto& place : places)
      if (place.space == Space::Shared && place.address == kDynamic) place.address = program_.staticShared_;
}

std::vector<KernelParameter> kernelParameters(const Module& module, const Function& kernel) {
  std::vector<KernelParameter> parameters;
  uint64_t at = 0;
  for (const VariableId id : kernel.parameters) {
    const Variable& v = kernel.variables[id.value];
    const DeclarationForm& form = module.declarationForms[v.form];
    KernelParameter p;
    p.name = module.text(v.name);
    p.type = form.type;
    p.isArray = v.declarator.dimensions.begin != v.declarator.dimensions.end;
    p.elements = v.declarator.elements * form.lanes;
    p.isPointer = form.isPointer;
    p.place = measure(module, v);
    // .ptr .align is about what the pointer points to.
    if (p.isPointer) p.place.alignment = std::max(1u, info(form.type).bits / 8);
    at = roundUp(at, std::max(1u, p.place.alignment));
    p.place.offset = static_cast<uint32_t>(at);
    at += p.place.bytes;
    parameters.push_back(std::move(p));
  }
  return parameters;
}

void Decoder::layOutKernelParameters() {
  const Function& f = program_.kernel_;
  program_.parameters_ = kernelParameters(module_, f);
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Placement& place = program_.parameters_[i].place;
    program_.variablePlaces_[&f][f.parameters[i].value].address = place.offset;
    program_.parameterBytes_ = place.offset + place.bytes;
  }
}

void Decoder::alignConstants() {
  const std::size_t bytes = program_.constants_.size();
  program_.constantStorage_ = std::make_unique<std::byte[]>(bytes + 64);
  program_.constantLanes_ = align64(program_.constantStorage_.get());
  if (bytes != 0) std::memcpy(program_.constantLanes_, program_.constants_.data(), bytes);
}

}  // namespace ptxopt::exec
