// The module is parsed once for the extents of functions, their braces and what forbids a limit. Texts are put together
// again from the spans between functions and one text for each.
#include "tune/pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/builtins.h"
#include "ir/initializers.h"
#include "ir/module.h"
#include "text/parse.h"

namespace ptxopt::tune {
namespace {

bool hasDirective(const Module& module, const Function& f, std::string_view name) {
  return std::ranges::any_of(f.directives, [&](const FunctionDirective& d) { return module.text(d.name) == name; });
}

// Whether a call goes to functions that CUDA's runtime provides, and to nothing else.
bool callsRuntimeOnly(const Module& module, const Function& f, const Instruction& call) {
  bool any = false;
  for (const Operand& o : f.operandsOf(call)) {
    if (o.kind != OperandKind::Symbol) continue;
    const Symbol& symbol = module.symbols[o.payload];
    if (symbol.kind == SymbolKind::Variable) continue;
    if (symbol.kind != SymbolKind::Function || module.functions[symbol.index].hasBody ||
        exec::findBuiltin(module.text(symbol.name)) == nullptr)
      return false;
    any = true;
  }
  return any;
}

std::string_view whyNoLimit(const Module& module, const Function& f) {
  if (!f.isEntry) return "not-a-kernel";
  if (hasDirective(module, f, ".maxnreg")) return "has-limit";
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = module.form(i);
    if (form.op == Op::Setmaxnreg) return "setmaxnreg";
    if (form.is(effect::Call) && !callsRuntimeOnly(module, f, i)) return "calls";
  }
  return {};
}

// Whether anything but the code of other functions may name a kernel.
bool mayNameKernels(const Module& module) {
  if (std::ranges::any_of(module.symbols, [](const Symbol& s) { return s.kind == SymbolKind::Alias; })) return true;
  std::vector<bool> isKernel(module.names.size());
  for (const Function& f : module.functions)
    if (f.isEntry) {
      if (module.isNamedInSection(f.name) || !f.hasBody) return true;
      isKernel[f.name.value] = true;
    }
  // A variable may begin with addresses.
  for (const uint32_t f : functionsInInitializers(module))
    if (module.functions[f].isEntry) return true;
  // So may code.
  for (const Function& f : module.functions)
    for (const InstrId id : f)
      for (const Operand& o : f.operandsOf(f[id]))
        if (o.kind == OperandKind::Symbol && isKernel[module.symbols[o.payload].name.value]) return true;
  return false;
}

}  // namespace

std::optional<Pieces> cut(std::string_view text) {
  const auto parsed = text::parse(text);
  if (!std::holds_alternative<std::unique_ptr<Module>>(parsed)) return std::nullopt;
  const Module& module = *std::get<0>(parsed);
  Pieces pieces;
  pieces.text = module.source;
  pieces.mark = text.substr(0, static_cast<std::size_t>(module.source.data() - text.data()));
  pieces.architecture = module.architecture();
  pieces.isDebug = module.isDebug;
  pieces.kernelsNamed = mayNameKernels(module);
  for (const Function& f : module.functions) {
    if (!f.hasBody) continue;
    pieces.functions.push_back(
        {std::string(module.text(f.name)), f.isEntry, f.source, f.body.begin, whyNoLimit(module, f)});
  }
  return pieces;
}

std::string withLimit(std::string_view function, std::size_t brace, uint32_t limit) {
  const std::string_view header = function.substr(0, brace);
  return fmt::format("{}{}.maxnreg {}\n{}", header, header.ends_with('\n') ? "" : "\n", limit,
                     function.substr(brace));
}

std::string compose(const Pieces& into, std::span<const std::string_view> functions) {
  std::string out(into.mark);
  std::size_t at = 0;
  for (std::size_t i = 0; i < into.functions.size(); ++i) {
    const SourceRange& source = into.functions[i].source;
    out += into.text.substr(at, source.begin - at);
    out += functions[i];
    at = source.end;
  }
  out += into.text.substr(at);
  return out;
}

}  // namespace ptxopt::tune
