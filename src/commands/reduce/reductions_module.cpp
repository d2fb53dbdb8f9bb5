// Whole functions, items, module variables, and what stands in headers and declarations.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

bool isName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

// Marks the names that a module-level declaration makes: those outside of initializers.
void markDeclared(const Module& m, std::string_view text, std::vector<bool>& names) {
  int depth = 0;
  bool inInitializer = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (c == '=') inInitializer = true;
    if (c == ',' && depth == 0) inInitializer = false;
    if (!isName(c)) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && isName(text[at])) ++at;
    if (inInitializer || depth != 0) continue;
    if (const NameId name = m.names.find(text.substr(begin, at - begin)); name.valid()) names[name.value] = true;
  }
}

// Drops the items, and every instruction that names one of the symbols.
void dropItems(Edit& edit, const std::vector<bool>& items, const std::vector<bool>& symbols) {
  Module& m = edit.module;
  edit.forEachStatement([&](Function& f, InstrId id) {
    const auto operands = f.operandsOf(f[id]);
    if (std::any_of(operands.begin(), operands.end(),
                    [&](const Operand& o) { return o.kind == OperandKind::Symbol && symbols[o.payload]; }))
      f.erase(id);
  });
  std::vector<Item> kept;
  for (std::size_t i = 0; i < m.items.size(); ++i)
    if (!items[i]) kept.push_back(m.items[i]);
  m.items = std::move(kept);
}

void dropFunctionsIf(Edit& edit, const std::function<bool(NameId)>& isDropped) {
  const Module& m = edit.module;
  std::vector<bool> items(m.items.size()), symbols(m.symbols.size());
  for (std::size_t i = 0; i < m.items.size(); ++i)
    items[i] = m.items[i].kind == ItemKind::Function && isDropped(m.functions[m.items[i].index].name);
  for (std::size_t s = 0; s < m.symbols.size(); ++s)
    symbols[s] = m.symbols[s].kind == SymbolKind::Function && isDropped(m.symbols[s].name);
  dropItems(edit, items, symbols);
}

// Declarators whose sizes are not part of an interface: of module variables that are defined here, and of local ones.
void forEachSizedDeclarator(Edit& edit, const std::function<void(const Declarator&)>& visit) {
  const Module& m = edit.module;
  for (const Variable& v : m.variables) visit(v.declarator);
  for (const Function& f : m.functions)
    for (const Variable& v : f.variables)
      if (!v.isParameter) visit(v.declarator);
}

void setDimensions(Edit& edit, Choices& choices, bool halve) {
  forEachSizedDeclarator(edit, [&](const Declarator& d) {
    if (d.dimensions.empty() || d.elements <= (halve ? 3 : 1) || !d.initializer.empty()) return;
    if (choices.take()) edit.replace(d.dimensions, fmt::format("[{}]", halve ? d.elements / 2 : 1));
  });
}

}  // namespace

// All items of one name at once, with the instructions that call it or take its address.
void dropFunctions(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  std::vector<bool> seen(m.names.size()), dropped(m.names.size());
  for (const Function& f : m.functions) {
    if (seen[f.name.value]) continue;
    seen[f.name.value] = true;
    dropped[f.name.value] = choices.take();
  }
  dropFunctionsIf(edit, [&](NameId name) { return dropped[name.value]; });
}

bool keepOnlyKernel(Edit& edit, std::string_view name) {
  const Module& m = edit.module;
  std::vector<bool> other(m.names.size());
  bool found = false;
  for (const Function& f : m.functions) {
    if (!f.isEntry) continue;
    if (m.text(f.name) == name)
      found = true;
    else
      other[f.name.value] = true;
  }
  if (found) dropFunctionsIf(edit, [&](NameId n) { return other[n.value]; });
  return found;
}

// The function stays, its instructions go.
void dropBodies(Edit& edit, Choices& choices) {
  for (Function& f : edit.module.functions) {
    const bool hasInstruction = std::any_of(f.instructions.begin(), f.instructions.end(),
                                            [](const Instruction& i) { return i.isInstruction(); });
    if (!hasInstruction || !choices.take()) continue;
    for (const InstrId id : f)
      if (f[id].kind != InstrKind::Label) f.erase(id);
  }
}

void dropPrototypes(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  std::vector<bool> items(m.items.size());
  for (std::size_t i = 0; i < m.items.size(); ++i)
    if (m.items[i].kind == ItemKind::Function && !m.functions[m.items[i].index].hasBody) items[i] = choices.take();
  dropItems(edit, items, std::vector<bool>(m.symbols.size()));
}

// .file, .alias, sections, module pragmas; not what every module begins with.
void dropDirectives(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  std::vector<bool> items(m.items.size());
  for (std::size_t i = 0; i < m.items.size(); ++i) {
    const std::string_view text = m.text(m.items[i].source);
    const bool isHead =
        text.starts_with(".version") || text.starts_with(".target") || text.starts_with(".address_size");
    if (m.items[i].kind == ItemKind::Section || (m.items[i].kind == ItemKind::Directive && !isHead))
      items[i] = choices.take();
  }
  dropItems(edit, items, std::vector<bool>(m.symbols.size()));
}

void dropLineInfo(Edit& edit, Choices& choices) {
  edit.forEachStatement([&](Function& f, InstrId id) {
    if ((f[id].kind == InstrKind::Loc || f[id].kind == InstrKind::Pragma) && choices.take()) f.erase(id);
  });
}

void dropModuleVariables(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  std::vector<bool> items(m.items.size()), names(m.names.size()), symbols(m.symbols.size());
  for (std::size_t i = 0; i < m.items.size(); ++i) {
    if (m.items[i].kind != ItemKind::Declaration || !choices.take()) continue;
    items[i] = true;
    markDeclared(m, m.text(m.items[i].source), names);
  }
  for (std::size_t s = 0; s < m.symbols.size(); ++s) symbols[s] = names[m.symbols[s].name.value];
  dropItems(edit, items, symbols);
}

void dropFunctionDirectives(Edit& edit, Choices& choices) {
  for (const Function& f : edit.module.functions)
    for (const FunctionDirective& d : f.directives)
      if (choices.take()) edit.cut(d.source);
}

void dropInitializers(Edit& edit, Choices& choices) {
  const std::string_view source = edit.module.source;
  forEachSizedDeclarator(edit, [&](const Declarator& d) {
    if (d.initializer.empty() || !choices.take()) return;
    const std::size_t equals = source.rfind('=', d.initializer.begin);
    if (equals != std::string_view::npos) edit.cut({static_cast<uint32_t>(equals), d.initializer.end});
  });
}

void shrinkDimensionsToOne(Edit& edit, Choices& choices) { setDimensions(edit, choices, false); }
void halveDimensions(Edit& edit, Choices& choices) { setDimensions(edit, choices, true); }

// Parameters of entries, with the instructions that read them.
void dropParameters(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  for (const Function& f : m.functions) {
    if (!f.isEntry || f.parameters.empty()) continue;
    const std::string_view header = m.text(f.header);
    const std::size_t open = header.find('(');
    std::vector<std::string_view> pieces;
    std::size_t close = std::string_view::npos, begin = open + 1;
    int depth = 0;
    for (std::size_t at = open; open != std::string_view::npos && at < header.size(); ++at) {
      const char c = header[at];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      if (depth == 0 || (depth == 1 && c == ',')) {
        pieces.push_back(header.substr(begin, at - begin));
        begin = at + 1;
      }
      if (depth == 0) {
        close = at;
        break;
      }
    }
    std::vector<bool> dropped(f.variables.size());
    bool any = false;
    std::string kept;
    for (std::size_t p = 0; p < f.parameters.size(); ++p) {
      const bool take = choices.take();
      any = any || take;
      dropped[f.parameters[p].value] = take;
      if (!take && p < pieces.size()) kept.append(kept.empty() ? "" : ",").append(pieces[p]);
    }
    if (!any || close == std::string_view::npos || pieces.size() != f.parameters.size()) continue;
    edit.replace({f.header.begin + static_cast<uint32_t>(open) + 1, f.header.begin + static_cast<uint32_t>(close)},
                 std::move(kept));
    for (const InstrId id : f) {
      const Instruction& i = f[id];
      const auto operands = f.operandsOf(i);
      if (std::any_of(operands.begin(), operands.end(),
                      [&](const Operand& o) { return o.kind == OperandKind::Variable && dropped[o.payload]; }))
        edit.cut({i.sourceBegin, i.sourceEnd});
    }
  }
}

}  // namespace ptxopt::reduce
