// A text that several builders read, each a part of it that ends where a function does. Ids count up in the order of first
// appearance, so the parts' tables, appended in the order of the text, are those that one builder makes.
#include <algorithm>
#include <iterator>

#include "text/builder.h"

namespace ptxopt::text {
namespace {

// By id, the name under which a builder found what it has by name.
std::vector<NameId> namesOf(const std::vector<uint32_t>& byName, std::size_t ids) {
  std::vector<NameId> names(ids);
  for (uint32_t name = 0; name < byName.size(); ++name)
    if (byName[name] < ids) names[byName[name]] = NameId(name);
  return names;
}

// The entry of a name, made where there is none.
uint32_t& entry(std::vector<uint32_t>& byName, NameId name, std::size_t names) {
  if (byName.size() <= name.value) byName.resize(names, UINT32_MAX);
  return byName[name.value];
}

bool isNamed(OperandKind kind) {
  return kind == OperandKind::SpecialRegister || kind == OperandKind::Builtin || kind == OperandKind::Selector ||
         kind == OperandKind::Cast;
}

}  // namespace

void Builder::readPart(const Builder& first) {
  isPart_ = true;
  const Module& head = first.module_;
  module_.versionMajor = head.versionMajor;
  module_.versionMinor = head.versionMinor;
  module_.addressSize = head.addressSize;
  module_.isDebug = head.isDebug;
  for (const NameId word : head.target) module_.target.push_back(module_.names.intern(head.text(word)));
  isExternal_ = first.isExternal_;
}

bool Builder::append(Builder& part) {
  Module& from = part.module_;
  Renumbering& to = part.renumbering_;
  // What stands in the head is of the first part, and an alias asks for what stands before it.
  if (from.addressSize != module_.addressSize || from.target.size() != module_.target.size() ||
      std::ranges::any_of(from.symbols, [](const Symbol& s) { return s.kind == SymbolKind::Alias; }))
    return false;
  fromRanges_ += part.fromRanges_;
  if (fromRanges_ > kMostFromRanges) return false;

  to.names.reserve(from.names.size());
  for (uint32_t name = 0; name < from.names.size(); ++name)
    to.names.push_back(module_.names.intern(from.names[NameId(name)]));
  module_.names.keep(from.names);
  addForms(part, to);
  addOpcodes(part, to);

  isDefined_.resize(module_.names.size());
  for (const Function& f : from.functions) {
    if (!f.hasBody) continue;
    const NameId name = to.names[f.name.value];
    if (isDefined_[name.value]) return false;
    isDefined_[name.value] = true;
  }
  // Before the symbols of the part, which stand after what asks for these.
  for (Undeclared& u : part.undeclared_) {
    u.symbol = symbol(to.names[u.name.value]);
    const bool isKnown =
        u.symbol.valid() || (u.isCallee && isExternal_ != nullptr && isExternal_(from.text(u.name)));
    if (!isKnown) return false;
  }
  addSymbols(part, to);

  for (Item item : from.items) {
    if (item.kind == ItemKind::Function) item.index += static_cast<uint32_t>(to.firstFunction);
    module_.items.push_back(item);
  }
  std::ranges::move(from.functions, std::back_inserter(module_.functions));
  module_.hasModuleRegisters |= from.hasModuleRegisters;
  module_.namedInSections.resize(std::max(module_.namedInSections.size(), module_.names.size()));
  for (uint32_t name = 0; name < from.names.size(); ++name)
    if (from.isNamedInSection(NameId(name))) module_.namedInSections[to.names[name].value] = true;
  return true;
}

void Builder::addForms(const Builder& part, Renumbering& to) {
  const auto& forms = part.module_.declarationForms;
  const std::vector<NameId> raw = namesOf(part.formOf_, forms.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    uint32_t& id = entry(formOf_, to.names[raw[i].value], module_.names.size());
    if (id == UINT32_MAX) {
      id = static_cast<uint32_t>(module_.declarationForms.size());
      module_.declarationForms.push_back(forms[i]);
      module_.declarationForms.back().text = to.names[forms[i].text.value];
      alignsPointee_.push_back(part.alignsPointee_[i]);
    }
    to.forms.push_back(id);
  }
}

void Builder::addOpcodes(const Builder& part, Renumbering& to) {
  const auto& opcodes = part.module_.opcodes;
  const std::vector<NameId> written = namesOf(part.opcodeOf_, opcodes.size());
  for (std::size_t i = 0; i < opcodes.size(); ++i) {
    uint32_t& id = entry(opcodeOf_, to.names[written[i].value], module_.names.size());
    if (id == OpcodeId::kNone) {
      id = static_cast<uint32_t>(module_.opcodes.size());
      module_.opcodes.push_back(opcodes[i]);
      module_.opcodes.back().spelling = to.names[opcodes[i].spelling.value];
    }
    to.opcodes.push_back(id);
  }
}

void Builder::addSymbols(const Builder& part, Renumbering& to) {
  const auto firstVariable = static_cast<uint32_t>(module_.variables.size());
  to.firstFunction = module_.functions.size();
  to.functions = part.module_.functions.size();
  for (const Symbol& s : part.module_.symbols) {
    const uint32_t first = s.kind == SymbolKind::Variable ? firstVariable : static_cast<uint32_t>(to.firstFunction);
    to.symbols.push_back(declareSymbol(to.names[s.name.value], s.kind, s.index + first).value);
  }
  for (Variable v : part.module_.variables) {
    v.name = v.declarator.name = to.names[v.name.value];
    v.form = to.forms[v.form];
    module_.variables.push_back(v);
  }
}

void Builder::renumber(const Builder& part) {
  const Renumbering& to = part.renumbering_;
  const auto rename = [&](NameId& name) {
    if (name.valid()) name = to.names[name.value];
  };
  for (std::size_t at = to.firstFunction; at < to.firstFunction + to.functions; ++at) {
    Function& f = module_.functions[at];
    f.index = static_cast<uint32_t>(at);
    rename(f.name);
    for (FunctionDirective& d : f.directives) rename(d.name);
    for (Register& r : f.registers) rename(r.name);
    for (Label& label : f.labels) rename(label.name);
    for (Variable& v : f.variables) {
      rename(v.name);
      rename(v.declarator.name);
      v.form = to.forms[v.form];
    }
    for (Declaration& d : f.declarations) d.form = to.forms[d.form];
    for (Declarator& d : f.declarators) rename(d.name);
    for (Instruction& i : f.instructions) {
      if (i.kind == InstrKind::Instruction) i.payload = to.opcodes[i.payload];
      if (i.kind == InstrKind::Pragma || i.kind == InstrKind::Targets) i.payload = to.names[i.payload].value;
    }
    for (Operand& o : f.operands) {
      if (o.kind == OperandKind::Symbol) o.payload = to.symbols[o.payload];
      if (isNamed(o.kind)) o.payload = to.names[o.payload].value;
    }
  }
  for (const Undeclared& u : part.undeclared_) {
    if (!u.symbol.valid()) continue;
    Operand& operand = module_.functions[to.firstFunction + u.function].operands[u.operand];
    operand.kind = OperandKind::Symbol;
    operand.payload = u.symbol.value;
  }
}

}  // namespace ptxopt::text
