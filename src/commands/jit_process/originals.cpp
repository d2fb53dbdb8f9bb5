// The original functions are copied textually: a scan over tokens appends the suffix to their names, but not to opcodes
// or directives that look like them. The parsed module gives the kernels' parameters, the variables and reasons not to
// compare; a result that does not parse is dropped.
#include "jit_process/originals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

#include "exec/error.h"
#include "exec/kernel_parameters.h"
#include "ir/opcode_predicates.h"
#include "jit/protocol.h"
#include "text/parse.h"

namespace ptxopt::jit_process {
namespace {

using Names = std::unordered_set<std::string_view>;

bool isOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// With the suffix after each of `names` that is neither an opcode, which begins a statement, nor a part of a directive or an opcode.
std::string renamed(std::string_view text, const Names& names, bool beginsStatement) {
  std::string out;
  out.reserve(text.size() + 64);
  bool begins = beginsStatement;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    const auto pair = text.substr(at, 2);
    if (pair == "//" || pair == "/*") {
      end = pair == "//" ? text.find('\n', at) : text.find("*/", at + 2);
      end = end == std::string_view::npos ? text.size() : end + (pair == "//" ? 1 : 2);
    } else if (text[at] == '"') {
      end = std::min(text.size(), text.find('"', at + 1)) + 1;
      begins = false;
    } else if (isOfName(text[at])) {
      while (end < text.size() && isOfName(text[end])) ++end;
    }
    const std::string_view token = text.substr(at, end - at);
    out += token;
    const char first = token.front(), before = at > 0 ? text[at - 1] : '\0';
    if (isOfName(first)) {
      if (!begins && before != '.' && names.contains(token)) out += jit::kOriginalSuffix;
      // What stands after a guard is an opcode still.
      begins = begins && (before == '@' || before == '!');
    } else if (first == ';' || first == '{' || first == '}' || first == ':') {
      begins = true;
    } else if (first == '.') {
      begins = false;
    }
    at = end;
  }
  return out;
}

struct Looked {
  std::string why;            // no kernel is compared
  bool usesHeap = false;      // of the device
  std::set<uint32_t> global;  // variables of memory that functions use, of Module::variables
};

void lookAt(const Module& module, const Function& f, Looked& looked) {
  const auto refuse = [&](const char* why) {
    if (looked.why.empty()) looked.why = why;
  };
  for (const Variable& v : f.variables)
    if (!v.isParameter && module.declarationForms[v.form].space == DeclaredSpace::Global)
      refuse("a variable of global memory is declared within a function");
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction()) continue;
    const OpcodeForm& form = module.form(i);
    if (form.op == Op::Sust || form.op == Op::Sured) refuse("it writes to surfaces");
    if (form.has(ModifierFlag::Mmio)) refuse("it talks to devices");
    if (form.op == Op::Unknown) refuse("it has an instruction that is not known");
    for (const Operand& operand : f.operandsOf(i))
      if (operand.kind == OperandKind::Symbol && module.symbols[operand.payload].kind == SymbolKind::Variable)
        looked.global.insert(module.symbols[operand.payload].index);
  }
}

Looked lookAt(const Module& module) {
  Looked looked;
  Names defined;
  for (const Function& f : module.functions)
    if (f.hasBody) defined.insert(module.text(f.name));
  for (const Function& f : module.functions) {
    if (f.hasBody) lookAt(module, f, looked);
    const std::string_view name = module.text(f.name);
    if (f.hasBody || defined.contains(name) || name == "__assertfail") continue;
    looked.usesHeap |= name == "malloc" || name == "free";
    if (looked.why.empty())
      looked.why = name == "vprintf" ? "it prints"
                   : looked.usesHeap ? "it takes memory from the heap of the device"
                                     : fmt::format("it calls {}", name);
  }
  return looked;
}

std::string parametersOf(const Module& module, const Function& kernel) {
  std::string out;
  for (const exec::KernelParameter& p : exec::kernelParameters(module, kernel))
    out += fmt::format("{}{}+{}", out.empty() ? "" : ",", p.place.offset, p.place.bytes);
  return out.empty() ? "-" : out;
}

std::string described(const Module& module, const Names& kernels) {
  const Looked looked = lookAt(module);
  std::string out;
  const auto add = [&](const std::string& record) { out += (out.empty() ? "" : "\t") + record; };
  for (const Function& f : module.functions)
    if (f.isEntry && f.hasBody && kernels.contains(module.text(f.name)))
      add(fmt::format("k {} {} {}", module.text(f.name), parametersOf(module, f), looked.why));
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    const Variable& v = module.variables[i];
    const DeclarationForm& form = module.declarationForms[v.form];
    // A texture is not memory.
    const bool isMemory = form.space == DeclaredSpace::Global || form.space == DeclaredSpace::Const;
    if (isMemory && form.type != ScalarType::texref && form.type != ScalarType::surfref &&
        form.type != ScalarType::samplerref)
      add(fmt::format("{} {}", looked.global.contains(i) ? 'v' : 'w', module.text(v.name)));
  }
  if (looked.usesHeap) add("h");
  return out;
}

}  // namespace

WithOriginals withOriginals(std::string_view before, std::string_view after,
                            const std::vector<FunctionOutcome>& functions) {
  WithOriginals made;
  const bool isFunctionChanged =
      std::ranges::any_of(functions, [](const FunctionOutcome& f) { return !f.isKernel && f.changed; });
  const auto isCopied = [&](const FunctionOutcome& f) { return f.changed || isFunctionChanged; };
  Names names, kernels;
  for (const FunctionOutcome& f : functions) {
    if (!isCopied(f)) continue;
    if (f.begin > f.body || f.body > f.end || f.end > before.size()) return made;
    names.insert(f.name);
    if (f.isKernel) kernels.insert(f.name);
  }
  const auto parsed = text::parse(before);
  if (!std::holds_alternative<std::unique_ptr<Module>>(parsed)) return made;
  try {
    made.description = described(*std::get<0>(parsed), kernels);
  } catch (const exec::ExecError&) {
    return made;
  }
  std::string declared, defined;
  for (const FunctionOutcome& f : functions) {
    if (!isCopied(f)) continue;
    const std::string head = renamed(before.substr(f.begin, f.body - f.begin), names, false);
    if (!f.isKernel) declared += head + ";\n";
    defined += head + renamed(before.substr(f.body, f.end - f.body), names, true) + '\n';
  }
  std::string text = fmt::format("{}\n{}{}", after, declared, defined);
  if (std::holds_alternative<std::unique_ptr<Module>>(text::parse(text))) made.text = std::move(text);
  return made;
}

}  // namespace ptxopt::jit_process
