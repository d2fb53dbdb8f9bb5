// What passes make: instructions, variables, and the opcodes and names for them.
#include <doctest/doctest.h>

#include "ir/verify.h"
#include "support.h"
#include "text/parse.h"
#include "text/print.h"

using namespace ptxopt;

namespace {

constexpr std::string_view kText =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 made_5;\n"
    ".visible .entry k()\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 5;\n\tret;\n}\n";

}  // namespace

TEST_CASE("opcodes that the module has are found, the others made, once") {
  auto parsed = text::parse(kText, "a.ptx");
  Module& module = *std::get<0>(parsed);
  const std::size_t before = module.opcodes.size();
  module.makeSynthParts();
  const std::size_t after = module.opcodes.size();
  CHECK(module.text(module.opcodes[module.synthOpcode(SynthOpcode::MovU32).value].spelling) == "mov.u32");
  CHECK(module.synthOpcode(SynthOpcode::MovU32).value < before);
  CHECK(module.synthOpcode(SynthOpcode::StSharedB64).value >= before);
  CHECK(module.opcodes[module.synthOpcode(SynthOpcode::StSharedB64).value].is(effect::Write));
  module.makeSynthParts();
  CHECK(module.opcodes.size() == after);
}

TEST_CASE("made variables and instructions are printed, under names that nothing has") {
  auto parsed = text::parse(kText, "a.ptx");
  Module& module = *std::get<0>(parsed);
  module.makeSynthParts();
  Function& f = module.functions[0];
  const VariableId array = f.makeVariable(module.synth.sharedWords, 96);
  const RegId to = f.makeRegister(ScalarType::b32);
  Operand address;
  address.kind = OperandKind::Variable;
  address.join = Join::Comma;
  address.payload = array.value;
  const Operand move[] = {registerOperand(to, Role::Def), address};
  const InstrId last = f.insert(InstrId(), module.synthOpcode(SynthOpcode::MovU32), move);
  CHECK(f.last == last);
  const Operand copy[] = {registerOperand(to, Role::Def), registerOperand(RegId(1u), Role::Use, Join::Comma)};
  const InstrId behind = f[f.first].next;  // the declaration of %r comes first
  const InstrId inserted = f.insert(behind, module.synthOpcode(SynthOpcode::MovB32), copy);
  CHECK(f[f.first].next == inserted);
  CHECK(f[inserted].next == behind);
  CHECK(verify(module).empty());
  const std::string text = text::print(module);
  CHECK(text.find("\t.shared .align 4 .b32 made__0[96];") != std::string::npos);
  CHECK(text.find("mov.u32 %b32__0, made__0;") != std::string::npos);
  CHECK(text.find("mov.b32 %b32__0, %r1;") != std::string::npos);
  auto again = text::parse(text, "b.ptx");
  REQUIRE(std::holds_alternative<std::unique_ptr<Module>>(again));
  CHECK(text::print(*std::get<0>(again), {.reprint = true}) == text::print(module, {.reprint = true}));
}
