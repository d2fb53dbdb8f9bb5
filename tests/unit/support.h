// What the unit tests share: texts to modules, and modules to strings that a test can compare.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/module.h"
#include "passes/manager/module_facts.h"
#include "text/parse.h"

namespace ptxopt::testing {

inline const std::string kHeader = ".version 9.0\n.target sm_90a\n.address_size 64\n";

// A kernel with plenty of registers around `body`. Its statements begin behind kDeclarations declarations.
inline constexpr std::size_t kDeclarations = 8;
inline std::string kernel(std::string_view body) {
  return kHeader +
         ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
         "\t.reg .pred %p<9>;\n\t.reg .b16 %h<9>;\n\t.reg .b32 %r<99>;\n\t.reg .b64 %rd<99>;\n"
         "\t.reg .f32 %f<99>;\n\t.reg .f64 %fd<9>;\n\t.reg .b128 %q<9>;\n\t.reg .v4 .b32 %v<9>;\n" +
         std::string(body) + "}\n";
}

// A module together with the text that it points into.
struct Parsed {
  std::string source;
  std::unique_ptr<Module> module;

  explicit Parsed(std::string text) : source(std::move(text)) {
    auto result = text::parse(source, "test.ptx");
    if (const auto* error = std::get_if<text::ParseError>(&result)) {
      INFO(source);
      FAIL(text::render(*error, "test.ptx"));
    }
    module = std::move(std::get<0>(result));
  }

  Module& operator*() const { return *module; }
  Module* operator->() const { return module.get(); }
  Function& function(std::size_t index = 0) const { return module->functions.at(index); }
  std::string_view name(NameId id) const { return id.valid() ? module->text(id) : "(made)"; }

  // The `index`-th real instruction of a function.
  InstrId at(std::size_t index, std::size_t function = 0) const {
    const Function& f = module->functions.at(function);
    for (const InstrId id : f)
      if (f[id].isInstruction() && index-- == 0) return id;
    FAIL("no such instruction");
    return {};
  }
};

inline text::ParseError errorOf(std::string_view text) {
  auto result = text::parse(text, "test.ptx");
  if (const auto* error = std::get_if<text::ParseError>(&result)) return *error;
  INFO(text);
  FAIL("this was parsed, but is wrong");
  return {};
}

inline char letter(Role role) { return "-udm"[static_cast<int>(role)]; }

// The registers of an instruction with their roles: `@%p1:u %r1:m %r2:u carry:d`.
inline std::string roles(const Parsed& p, const Function& f, InstrId id) {
  std::string text;
  for (const Operand& o : f.operandsOf(f[id])) {
    if (!o.isRegister()) continue;
    if (!text.empty()) text += ' ';
    if (o.is(Operand::Guard)) text += o.is(Operand::Not) ? "@!" : "@";
    if (o.is(Operand::Implicit)) text += '+';
    text += o.reg() == Function::kCarry ? "carry" : p.name(f.registers[o.payload].name);
    text += ':';
    text += letter(o.role);
  }
  return text;
}

// The roles of the first instruction of a kernel that consists of `statement`.
inline std::string rolesOf(std::string_view statement) {
  const Parsed p(kernel(std::string(statement) + "\n"));
  return roles(p, p.function(), p.at(0));
}

// What passes may ask of a module.
inline ModuleAnalyses moduleFacts(const Module& module, const Knobs& knobs = {}) {
  ModuleAnalyses analyses;
  makeModuleFacts(module, knobs, {ModuleFact::AddressFacts, ModuleFact::CalledNeeds}, analyses);
  return analyses;
}

}  // namespace ptxopt::testing
