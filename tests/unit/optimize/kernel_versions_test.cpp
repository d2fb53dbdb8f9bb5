// Bodies of kernels for frequent launches: the test at entry for all kinds of numbers, what a load reads, and that bodies are
// compared by what they do.
#include "ir/parameter_loads.h"
#include "ir/verify.h"
#include "passes/versions/body_copy.h"
#include "passes/versions/entry_test.h"
#include "support.h"
#include "text/print.h"

namespace ptxopt {
namespace {

using testing::Parsed;

const std::string kParts =
    ".visible .entry k(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[24])\n{\n"
    "\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n\t.reg .f32 %f<9>;\n";

std::string loaded(const Parsed& m, std::size_t at) {
  const auto part = loadedPart(*m, m.function(), m.function()[m.at(at)]);
  return part ? std::to_string(part->parameter) + "+" + std::to_string(part->offset) + ":" +
                    std::to_string(part->bytes)
              : "none";
}

TEST_CASE("a load of a parameter says which bytes it gives") {
  const Parsed m(testing::kHeader + kParts +
                 "\tld.param.u32 %r1, [n];\n\tld.param.f32 %f1, [s+8];\n\tld.param.u64 %rd1, [p+0];\n"
                 "\tld.param.v2.u32 {%r2, %r3}, [s];\n\tld.param.u16 %r4, [s+2];\n\tmov.u64 %rd2, s;\n\tret;\n}\n");
  CHECK(loaded(m, 0) == "1+0:4");
  CHECK(loaded(m, 1) == "2+8:4");
  CHECK(loaded(m, 2) == "0+0:8");
  CHECK(loaded(m, 3) == "none");
  CHECK(loaded(m, 4) == "2+2:2");
  CHECK(loaded(m, 5) == "none");
}

ParameterPart part(uint32_t parameter, uint32_t offset, uint32_t bytes, NumberFact number) {
  return {.parameter = parameter, .offset = offset, .bytes = bytes, .isAddress = false, .number = number};
}

TEST_CASE("the test at entry reads each number once, and no more than is said") {
  Parsed m(testing::kHeader + kParts + "\tret;\n}\n");
  m->profiles.resize(1);
  m->makeSynthParts();
  Function& f = m.function();
  EntryTest test;
  test.block[1] = {4, 4};
  test.parts = {part(1, 0, 4, {-2, -2}), part(2, 8, 8, {int64_t{5} << 32, int64_t{5} << 32}), part(2, 2, 2, {7, 7}),
                part(0, 0, 8, {.multiple = 16})};
  test.conditions.push_back({"never", [](const Module& module, Function& to, InstrId where) {
                               const RegId p = to.makeRegister(ScalarType::pred);
                               const Operand operands[] = {registerOperand(p, Role::Def), integerOperand(0)};
                               to.insert(where, module.synthOpcode(SynthOpcode::MovPred), operands);
                               return p;
                             }});
  const RegId holds = emitEntryTest(*m, f, m.at(0), test);
  CHECK(f.registers[holds.value].type == ScalarType::pred);
  CHECK(verify(*m, f).empty());
  const std::string text = text::printFunction(*m, f);
  for (const char* const line :
       {"mov.u32 %b32_0, %ntid.y;", "xor.b32 %b32_1, %b32_0, 4;", "ld.param.u32 %b32_2, [n];", ", -2;", "[s+8];",
        "[s+12];", ", 5;", "ld.param.u16", "[s+2];", ", 7;", "[p];", ", 15;", "setp.eq.s32", "and.pred"})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line, " is not in ", text);
  CHECK(text.find("[p+4]") == std::string::npos);  // alignment is of the low half
}

TEST_CASE("bodies are the same but for names") {
  const auto body = [](std::string_view x, std::string_view label, std::string_view more) {
    return testing::kernel("\tld.param.u32 " + std::string(x) + ", [n];\n" + std::string(label) + ":\n\tadd.u32 " +
                           std::string(x) + ", " + std::string(x) + ", 1;\n\tbra " + std::string(label) + ";\n" +
                           std::string(more));
  };
  const Parsed a(body("%r1", "again", "")), b(body("%r7", "next", "")), c(body("%r1", "again", "\tret;\n"));
  const Parsed d(testing::kernel("\tld.param.u32 %r1, [n];\nagain:\n\tadd.u32 %r2, %r1, 1;\n\tbra again;\n"));
  CHECK(hasSameBody(a.function(), b.function()));
  CHECK(!hasSameBody(a.function(), c.function()));
  CHECK(!hasSameBody(a.function(), d.function()));
}

}  // namespace
}  // namespace ptxopt
