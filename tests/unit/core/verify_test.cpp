// Each invariant of function.h, broken by hand: the verifier must complain.
#include "ir/verify.h"

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// A kernel in which everything occurs that has an invariant; broken by `damage`.
template <typename Damage>
std::string verifyAfter(Damage damage) {
  const Parsed p(
      kernel("L:\n{\n@%p1 mov.u32 %r1, 5;\nld.global.v2.u32 {%r2, %r3}, [%rd1+8];\nmov.u64 %rd2, 99999999999;\n"
             "mov.u32 %r4, %tid.x;\nbra L;\n}\nld.param.u64 %rd1, [p];\nret;\n"));
  CHECK(verify(*p).empty());
  damage(p, p.function());
  return verify(*p, p.function());
}

}  // namespace

TEST_CASE("verify: nothing to say about what the parser makes") {
  CHECK(verify(*Parsed(kHeader)).empty());
  CHECK(verify(*Parsed(kHeader + ".func f()\n;\n.entry k()\n{\n}\n")).empty());
  CHECK(verify(*Parsed(kernel("{ { } }\nA:\nB: bra B;\n@%p1 frob.x {%r1, %r2}|%p1, [%rd1], A;\n"))).empty());
}

TEST_CASE("verify: the list") {
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].previous = f.first; }) ==
        "k: instruction 11: the list does not lead back");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].next = InstrId(10000u); }) ==
        "k: instruction 10000: no such instruction");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.last = p.at(0); }) ==
        "k: the list ends elsewhere than at its last instruction");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(2)].flags |= Instruction::Erased; }) ==
        "k: instruction 12: erased, but in the list");
  CHECK(verifyAfter([](const Parsed& p, Function& f) {  // unlinked without the mark
          const Instruction i = f[p.at(2)];
          f[i.previous].next = i.next;
          f[i.next].previous = i.previous;
        }) == "k: an instruction is neither in the list nor erased");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.erase(p.at(2)); }) == "");
}

TEST_CASE("verify: ranges") {
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].operandCount = 1000; }) ==
        "k: instruction 11: operands out of range");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].firstOperand = 1000; }) ==
        "k: instruction 11: operands out of range");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].sourceEnd = 1u << 30; }) ==
        "k: instruction 11: source out of range");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].sourceBegin = f[p.at(1)].sourceEnd + 1; }) ==
        "k: instruction 11: source out of range");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(1)].payload = 1000; }) ==
        "k: instruction 11: no such opcode");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.operandsOf(f[p.at(1)])[0].payload = 6; }) ==
        "k: instruction 11: a group larger than its instruction");
}

TEST_CASE("verify: ids of operands") {
  const auto with = [](std::size_t instruction, std::size_t operand, auto change) {
    return verifyAfter([&](const Parsed& p, Function& f) { change(f.operandsOf(f[p.at(instruction)])[operand]); });
  };
  const auto payload = [](Operand& o) { o.payload = 100000; };
  CHECK(with(1, 1, payload) == "k: instruction 11: no such register");
  CHECK(with(2, 1, payload) == "k: instruction 12: an operand's id is out of range");  // a wide constant
  CHECK(with(3, 1, payload) == "k: instruction 13: an operand's id is out of range");  // %tid.x
  CHECK(with(4, 0, payload) == "k: instruction 14: an operand's id is out of range");  // L
  CHECK(with(5, 2, payload) == "k: instruction 16: an operand's id is out of range");  // p
  CHECK(with(4, 0, [](Operand& o) {
          o.kind = OperandKind::Symbol;
          o.payload = 1;
        }) == "k: instruction 14: an operand's id is out of range");
}

TEST_CASE("verify: roles and guards") {
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.operandsOf(f[p.at(0)])[1].role = Role::Def; }) ==
        "k: instruction 10: a definition under a guard that is not mod");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.operandsOf(f[p.at(1)])[1].role = Role::None; }) ==
        "k: instruction 11: a register without a role");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f.operandsOf(f[p.at(0)])[0].flags = 0; }) ==
        "k: instruction 10: no guard where there should be one");
  CHECK(verifyAfter([](const Parsed& p, Function& f) { f[p.at(2)].flags |= Instruction::Guarded; }) ==
        "k: instruction 12: no guard where there should be one");
  CHECK(verifyAfter([](const Parsed& p, Function& f) {
          f.operandsOf(f[p.at(0)])[0].payload = f.operandsOf(f[p.at(0)])[1].payload;
        }) == "k: instruction 10: a guard that is not a predicate");
  CHECK(verifyAfter([](const Parsed&, Function& f) { f.registers.clear(); }) == "no carry register");
}

TEST_CASE("verify: scopes and labels") {
  CHECK(verifyAfter([](const Parsed&, Function& f) {
          for (const InstrId id : f)
            if (f[id].kind == InstrKind::ScopeOpen) f.erase(id);
        }) == "k: instruction 15: unbalanced scope");
  CHECK(verifyAfter([](const Parsed&, Function& f) {
          for (const InstrId id : f)
            if (f[id].kind == InstrKind::ScopeClose) f.erase(id);
        }) == "k: unbalanced scopes");
  CHECK(verifyAfter([](const Parsed&, Function& f) {
          for (const InstrId id : f)
            if (f[id].kind == InstrKind::Label) f.erase(id);
        }) == "k: label 'L' is used but not placed");
  CHECK(verifyAfter([](const Parsed&, Function& f) { f.labels[0].place = InstrId(); }) ==
        "k: instruction 8: a label that is not placed here");
}

TEST_CASE("verify: the first function that is wrong is named") {
  const Parsed p(kHeader + ".entry a()\n{\nret;\n}\n.entry b()\n{\nret;\n}\n");
  p.function(1)[p.at(0, 1)].payload = 77;
  CHECK(verify(*p) == "b: instruction 0: no such opcode");
  CHECK(verify(*p, p.function(0)).empty());
}
