// Opcodes made of the words of others.
#include "ir/opcode_words.h"

#include <doctest/doctest.h>

#include "text/parse.h"

using namespace ptxopt;

namespace {

constexpr std::string_view kText =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
    "\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n\t.reg .pred %p<3>;\n"
    "\tld.global.L2::128B.v4.f32 {%r1, %r2, %r3, %r4}, [%rd1];\n"
    "\tvote.sync.uni.pred %p1, %p2, -1;\n\tadd.u32 %r1, %r2, %r3;\n\tret;\n}\n";

// The words of the n-th instruction.
OpcodeWords wordsOf(const Module& module, unsigned n) {
  const Function& f = module.functions.front();
  for (const InstrId id : f)
    if (f[id].isInstruction() && n-- == 0) return {module, f[id]};
  FAIL("no such instruction");
  return {module, f[f.first]};
}

}  // namespace

TEST_CASE("opcode words: dropped, and vectors of another width") {
  const auto parsed = text::parse(kText, "a.ptx");
  const Module& module = *std::get<0>(parsed);
  OpcodeWords load = wordsOf(module, 0);
  CHECK(load.spelling() == "ld.global.L2::128B.v4.f32");
  REQUIRE(load.size() == 4);
  CHECK(load.fields(0).space == StateSpace::Global);
  CHECK(load.fields(1).present == field::CacheHint);
  CHECK(load.fields(2).vector == 4);
  CHECK(load.fields(3).type == ScalarType::f32);
  load.setVector(2);
  CHECK(load.spelling() == "ld.global.L2::128B.v2.f32");
  load.drop(1);
  CHECK(load.spelling() == "ld.global.v2.f32");
  CHECK(load.size() == 4);
  load.setVector(1);
  CHECK(load.spelling() == "ld.global.f32");
}

TEST_CASE("opcode words: a word says what it says in this opcode") {
  const auto parsed = text::parse(kText, "a.ptx");
  const Module& module = *std::get<0>(parsed);
  OpcodeWords vote = wordsOf(module, 1);
  CHECK(vote.fields(1).lanes == LaneSelection::Uniform);
  OpcodeWords add = wordsOf(module, 2);
  add.setVector(2);
  CHECK(add.spelling() == "add.u32");
}
