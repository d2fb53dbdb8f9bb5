// All variables of a module get addresses before any gets its value, since initializers name variables that come later.
// Programs are decoded on the first request and kept by kernel name.
#include "exec/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/heap.h"
#include "exec/initializer.h"
#include "exec/launch.h"
#include "exec/launch_facts.h"
#include "ir/aliases.h"

namespace ptxopt::exec {

DeviceMemory::DeviceMemory(uint64_t heapBytes)
    : heapMemory(global.allocate("the device heap", heapBytes)), heap(std::make_unique<Heap>(heapMemory)) {}

DeviceMemory::~DeviceMemory() = default;

Machine::Machine(const Module& module) : Machine(module, std::make_shared<DeviceMemory>()) {}

Machine::Machine(const Module& module, std::shared_ptr<DeviceMemory> device, const KnownPlaces& known)
    : module_(module),
      device_(std::move(device)),
      calledFunctions_(findCalledFunctions(module)),
      symbolAddress_(module.symbols.size()) {
  layOutVariables(known);
}

Machine::~Machine() {
  for (const Placed& p : variables_)
    if (!p.isForeign) memory().release(*p.allocation);
}

// Addresses first, then values: initializers name variables that come later.
void Machine::layOutVariables(const KnownPlaces& known) {
  for (std::size_t i = 0; i < module_.symbols.size(); ++i) {
    const Symbol& s = module_.symbols[i];
    if (s.kind == SymbolKind::Function) {
      symbolAddress_[i] = kCodeWindow + 16 * uint64_t{calledFunction(s)};
    } else if (s.kind == SymbolKind::Variable) {
      const Variable& v = module_.variables[s.index];
      const DeclaredSpace space = module_.declarationForms[v.form].space;
      if (space != DeclaredSpace::Global && space != DeclaredSpace::Const && space != DeclaredSpace::Tex) continue;
      variables_.push_back(place(v, known));
      symbolAddress_[i] = variables_.back().allocation->base;
    }
  }
  for (Placed& p : variables_) initialiseVariable(p);
}

Machine::Placed Machine::place(const Variable& v, const KnownPlaces& known) {
  const DeclarationForm& form = module_.declarationForms[v.form];
  Placement p = measure(module_, v);
  if (v.declarator.elements == 0 && !v.declarator.initializer.empty()) {
    // `x[] = {...}`: as many as there are values
    p.bytes = static_cast<uint32_t>(std::max(1u, info(form.type).bits / 8) *
                                    (1 + std::count(module_.text(v.declarator.initializer).begin(),
                                                    module_.text(v.declarator.initializer).end(), ',')));
    if (module_.text(v.declarator.initializer).find('"') != std::string_view::npos)
      p.bytes = static_cast<uint32_t>(module_.text(v.declarator.initializer).size());
  }
  const std::string_view name = module_.text(v.name);
  if (known)
    if (Allocation* const there = known(name, p.bytes)) return {&v, there, {}, true};
  return {&v, &memory().allocate(std::string(name), p.bytes, 0, p.alignment), {}};
}

void Machine::initialiseVariable(Placed& placed) {
  if (placed.isForeign) return;
  const Variable& v = *placed.variable;
  Allocation& a = *placed.allocation;
  const DeclarationForm& form = module_.declarationForms[v.form];
  if (!v.declarator.initializer.empty() && form.type != ScalarType::texref && form.type != ScalarType::samplerref &&
      form.type != ScalarType::surfref)
    initialise(module_.text(v.declarator.initializer), form.type, {a.data, a.size},
               [&](std::string_view name, bool) -> uint64_t {
                 const NameId id = module_.names.find(name);
                 for (std::size_t i = 0; id.valid() && i < module_.symbols.size(); ++i)
                   if (module_.symbols[i].name == id) return symbolAddress_[i];
                 return 0;
               });
  if (std::any_of(a.data, a.data + a.size, [](std::byte b) { return b != std::byte{0}; }))
    placed.initial.assign(a.data, a.data + a.size);
  a.readOnly = form.space == DeclaredSpace::Const;
}

void Machine::reset() {
  for (const Placed& p : variables_) {
    if (p.isForeign) continue;
    if (p.initial.empty())
      std::memset(p.allocation->data, 0, p.allocation->size);
    else
      std::memcpy(p.allocation->data, p.initial.data(), p.initial.size());
  }
  device_->heap = std::make_unique<Heap>(device_->heapMemory);
}

std::vector<std::pair<std::string, Allocation*>> Machine::globals() {
  std::vector<std::pair<std::string, Allocation*>> result;
  for (const Placed& p : variables_)
    if (!p.allocation->readOnly) result.push_back({p.allocation->name, p.allocation});
  return result;
}

uint64_t Machine::placeVariable(const Variable& v) {
  variables_.push_back(place(v, {}));
  initialiseVariable(variables_.back());
  return variables_.back().allocation->base;
}

Allocation* Machine::variable(std::string_view name) {
  for (std::size_t i = 0; i < module_.symbols.size(); ++i)
    if (module_.symbols[i].kind == SymbolKind::Variable && module_.text(module_.symbols[i].name) == name)
      return symbolAddress_[i] == 0 ? nullptr : memory().find(symbolAddress_[i]);
  return nullptr;
}

Allocation* Machine::placeOf(std::string_view name, uint64_t bytes) const {
  for (const Placed& p : variables_)
    if (p.allocation->name == name && p.allocation->size == bytes) return p.allocation;
  return nullptr;
}

std::vector<std::string> Machine::kernels() const {
  std::vector<std::string> names;
  for (const Function& f : module_.functions)
    if (f.isEntry && f.hasBody) names.emplace_back(module_.text(f.name));
  return names;
}

const Program& Machine::kernel(std::string_view name) {
  if (const auto known = programs_.find(name); known != programs_.end()) return *known->second;
  for (const Function& f : module_.functions) {
    if (!f.isEntry || !f.hasBody || module_.text(f.name) != name) continue;
    if (module_.hasModuleRegisters) throw ExecError(FaultKind::Unsupported, "registers declared outside functions");
    auto program = std::make_unique<Program>(*this, f);
    return *programs_.emplace(name, std::move(program)).first->second;
  }
  throw ExecError(FaultKind::BadLaunch, fmt::format("there is no kernel '{}'", name));
}

void Machine::launch(std::string_view name, const LaunchConfig& config) {
  const Program& program = kernel(name);
  Launch launch(*this, program, config);
  const ReadonlyWatch watch(*this, program, config);
  struct Count {
    Machine& machine;
    const Launch& launch;
    ~Count() {
      machine.lastSteps_ = launch.steps();
      machine.lastAllSteps_ = launch.steps() + launch.uncountedSteps();
      machine.lastStrayReads_ = launch.strayReads();
    }
  } const count{*this, launch};
  launch.run();
}

}  // namespace ptxopt::exec
