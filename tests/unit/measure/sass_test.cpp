// Decoding machine code, and its blocks and loops, on words made by hand; sass_recorded_test.cpp has ptxas's.
#include <doctest/doctest.h>

#include <vector>

#include "sass/control_flow.h"
#include "sass/decode.h"

using namespace ptxopt;
using namespace ptxopt::sass;

namespace {

constexpr uint64_t kAlways = 0x7000, kP0 = 0x0000, kNotP0 = 0x8000, kNever = 0xf000;  // guards
constexpr uint64_t kNoPredicate = uint64_t{7} << (87 - 64);                           // the second one of branches
constexpr uint32_t kArchitecture = 90;

struct Code {
  std::vector<sass::Instruction> instructions;
  uint32_t architecture = kArchitecture;

  void add(uint64_t low, uint64_t high = kNoPredicate) {
    const auto at = static_cast<int64_t>(instructions.size() * kInstructionBytes);
    instructions.push_back(Decoder(architecture).decode({low, high}, at));
  }
  void others(int n) {
    while (n-- > 0) add(0x210 | kAlways);
  }
  // `to` is the number of an instruction.
  void branch(int64_t to, uint64_t guard, uint64_t opcode = 0x947, uint64_t lowBits = 0,
              uint64_t highBits = kNoPredicate) {
    const int64_t offset = (to - static_cast<int64_t>(instructions.size()) - 1) * 4;
    const auto field = static_cast<uint64_t>(offset);
    if (architecture >= 90)
      add(opcode | guard | lowBits | (field & 0xff) << 16 | (field >> 8) << 34, (field >> 38 & 0x3ffff) | highBits);
    else
      add(opcode | guard | lowBits | field << 34, (field >> 30 & 0x3ffff) | highBits);
  }
  void exit() { add(0x94d | kAlways); }

  std::vector<Loop> loops(std::vector<IndirectBranch> branches = {}) const {
    return ControlFlow(instructions, branches).loops();
  }
};

}  // namespace

TEST_CASE("sass: guard and control bits") {
  const Decoder decoder(kArchitecture);
  // @!P3 IADD3 with a stall of 5, the scoreboards 2 and 1, waits for 0 and 4, and reuse of the first source.
  const uint64_t control = uint64_t{5} << (105 - 64) | uint64_t{2} << (110 - 64) | uint64_t{1} << (113 - 64) |
                           uint64_t{0x11} << (116 - 64) | uint64_t{1} << (122 - 64);
  const sass::Instruction i = decoder.decode({0x210 | 0xb000, control}, 0);
  CHECK(i.opcode == Opcode::IADD3);
  CHECK(pipeOf(i.opcode) == Pipe::Alu);
  CHECK(i.guard == Predicate{3, true});
  CHECK(i.control == Control{5, true, 2, 1, 0x11, 1});
  CHECK_FALSE(i.target.has_value());
  CHECK(i.encoding == 0x210);
  CHECK_FALSE(decoder.decode({0x210, uint64_t{1} << (109 - 64)}, 0).control.yields);
}

TEST_CASE("sass: the same bits on other architectures") {
  const Word word{0x235 | kAlways, 0};
  CHECK(Decoder(75).decode(word, 0).opcode == Opcode::Unknown);
  CHECK(Decoder(80).decode(word, 0).opcode == Opcode::HFMA2);
  CHECK(Decoder(90).decode(word, 0).opcode == Opcode::HFMA2);
  CHECK(Decoder(100).decode(word, 0).opcode == Opcode::Unknown);
  CHECK(Decoder(120).decode(word, 0).opcode == Opcode::IADD);
  // An architecture that is not known is the one before it.
  CHECK(Decoder(70).decode({0x98e | kAlways, 0}, 0).opcode == Opcode::RED);
  CHECK(Decoder(101).decode({0x98e | kAlways, 0}, 0).opcode == Opcode::REDG);
  CHECK(Decoder(255).decode(word, 0).opcode == Opcode::IADD);
  CHECK(mnemonicOf(Opcode::Unknown) == "?");
}

TEST_CASE("sass: opcodes that share an encoding") {
  const uint64_t half = uint64_t{1} << (81 - 64);
  CHECK(Decoder(100).decode({0x221 | kAlways, 0}, 0).opcode == Opcode::FADD);
  CHECK(Decoder(100).decode({0x221 | kAlways, half}, 0).opcode == Opcode::FHADD);
  CHECK(Decoder(90).decode({0x221 | kAlways, half}, 0).opcode == Opcode::FADD);
  const uint64_t page = uint64_t{1} << (91 - 64), third = uint64_t{1} << 63;
  const auto opcodeOf = [&](uint64_t low, uint64_t high) {
    return Decoder(100).decode({0x5ea | kAlways | low, page | high}, 0).opcode;
  };
  CHECK(opcodeOf(0, 0) == Opcode::UTCHMMA);
  CHECK(opcodeOf(third, 0) == Opcode::UTCOMMA);
  CHECK(opcodeOf(0, 0x100) == Opcode::UTCIMMA);
  CHECK(opcodeOf(0, 0x300) == Opcode::UTCQMMA);
}

TEST_CASE("sass: targets and conditions of branches") {
  for (const uint32_t architecture : {80u, 90u, 100u}) {
    CAPTURE(architecture);
    Code code;
    code.architecture = architecture;
    code.others(100);
    code.branch(3, kAlways);
    code.branch(2000, kP0);
    code.branch(5, kAlways, 0x947, 0, 0);  // a second predicate, P0
    code.branch(-1, kNotP0);
    code.exit();
    const std::vector<sass::Instruction>& i = code.instructions;
    CHECK(i[100].target == 3 * 16);
    CHECK_FALSE(i[100].isConditional);
    CHECK(i[101].target == 2000 * 16);
    CHECK(i[101].isConditional);
    CHECK(i[102].isConditional);
    CHECK(i[103].target == -16);
    CHECK_FALSE(i[104].isConditional);
    CHECK_FALSE(i[104].target.has_value());
  }
  // BRA.U on a uniform predicate, here UP1 and UPT, and BRA.DIV.
  Code code;
  code.architecture = 100;
  const uint64_t page = uint64_t{1} << (91 - 64) | kNoPredicate;
  code.branch(0, kAlways, 0x547, uint64_t{1} << 24, page);
  code.branch(0, kAlways, 0x547, uint64_t{7} << 24, page);
  code.branch(0, kAlways, 0x947, uint64_t{2} << 32, page);
  for (const sass::Instruction& i : code.instructions) {
    CHECK(i.opcode == Opcode::BRA);
    CHECK(i.target == 0);
  }
  CHECK(code.instructions[0].isConditional);
  CHECK_FALSE(code.instructions[1].isConditional);
  CHECK(code.instructions[2].isConditional);
}

TEST_CASE("sass: nested loops, and what is none") {
  Code code;
  code.others(2);          // 0, 1
  code.others(2);          // 2, 3: the outer loop's header
  code.others(3);          // 4 to 6
  code.branch(4, kP0);     // 7: the inner loop, 4 to 7
  code.branch(2, kNotP0);  // 8: the outer loop, 2 to 8
  code.branch(2, kNever);  // 9: never taken
  code.branch(11, kP0);    // 10
  code.exit();             // 11
  code.branch(12, kAlways);
  code.add(0x918 | kAlways);
  const ControlFlow flow(code.instructions);
  const std::vector<Loop>& loops = flow.loops();
  REQUIRE(loops.size() == 2);
  CHECK(flow.blocks()[loops[0].header].first == 2);
  CHECK(loops[0].instructions == 7);
  CHECK(loops[0].depth == 1);
  CHECK_FALSE(loops[0].isInnermost);
  CHECK(flow.blocks()[loops[1].header].first == 4);
  CHECK(loops[1].instructions == 4);
  CHECK(loops[1].parent == 0);
  CHECK(loops[1].depth == 2);
  CHECK(loops[1].isInnermost);
  CHECK(countWithoutPadding(code.instructions) == 12);
  CHECK(flow.blocks().back().end == 12);
}

TEST_CASE("sass: two back edges to one header are one loop") {
  Code code;
  code.others(3);
  code.branch(1, kP0);     // 3: continue
  code.others(2);          // 4, 5
  code.branch(1, kNotP0);  // 6
  code.exit();
  const std::vector<Loop> loops = code.loops();
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].instructions == 6);
}

TEST_CASE("sass: a loop whose end stands before its beginning") {
  Code code;
  code.branch(4, kAlways);  // 0
  code.others(2);           // 1, 2: the body
  code.exit();              // 3
  code.others(1);           // 4: the header
  code.branch(1, kP0);      // 5: into the body
  code.branch(3, kAlways);  // 6
  code.exit();
  CHECK(code.loops().empty());
  code.instructions.clear();
  code.branch(4, kAlways);
  code.others(2);
  code.branch(4, kAlways);  // 3: the back edge leads forwards
  code.others(1);
  code.branch(1, kP0);  // 5
  code.exit();
  const std::vector<Loop> loops = code.loops();
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].instructions == 5);
  CHECK_FALSE(loops[0].isIrreducible);
}

TEST_CASE("sass: an irreducible loop") {
  Code code;
  code.branch(4, kP0);  // 0: into the middle
  code.others(2);       // 1, 2
  code.others(1);       // 3
  code.others(2);       // 4, 5: the second entry
  code.branch(2, kP0);  // 6
  code.exit();
  const std::vector<Loop> loops = code.loops();
  REQUIRE(loops.size() == 1);
  CHECK(loops[0].isIrreducible);
  CHECK(ControlFlow(code.instructions).blocks()[loops[0].header].first == 2);
  CHECK(loops[0].instructions == 5);
}

TEST_CASE("sass: what is never reached is no entry of a loop") {
  Code code;
  code.others(1);           // 0
  code.branch(4, kAlways);  // 1: over what follows
  code.others(1);           // 2: never reached
  code.branch(5, kAlways);  // 3: into the middle of the loop
  code.others(2);           // 4, 5
  code.branch(4, kP0);      // 6
  code.exit();              // 7
  code.others(2);           // 8, 9: a loop that is never reached itself
  code.branch(8, kP0);      // 10
  code.exit();
  const std::vector<Loop> loops = code.loops();
  REQUIRE(loops.size() == 2);
  CHECK_FALSE(loops[0].isIrreducible);
  CHECK(loops[0].instructions == 3);
  CHECK(loops[1].instructions == 3);
  // A call into its middle is a second entry.
  code.branch(5, kAlways, 0x944);
  CHECK(code.loops()[0].isIrreducible);
}

TEST_CASE("sass: calls and indirect branches") {
  Code code;
  code.others(1);                  // 0
  code.branch(7, kAlways, 0x944);  // 1: CALL.REL
  code.branch(0, kP0);             // 2: a loop with a call in it
  code.add(0x949 | kAlways);       // 3: BRX
  code.others(2);                  // 4, 5
  code.exit();                     // 6
  code.others(1);                  // 7: the called function
  code.branch(7, kP0);             // 8: its loop
  code.add(0x950 | kAlways);       // 9: RET
  CHECK(code.instructions[1].flow() == Flow::Call);
  const std::vector<Loop> loops = code.loops();
  REQUIRE(loops.size() == 2);
  CHECK(loops[0].instructions == 3);
  CHECK(loops[1].instructions == 2);
  // The table sends it back to 2.
  const std::vector<Loop> more = code.loops({{3 * 16, {2 * 16, 4 * 16, 1000 * 16, -16, 8}}});
  REQUIRE(more.size() == 3);
  CHECK(more[0].instructions == 4);
  CHECK(more[0].isInnermost == false);
}

TEST_CASE("sass: no code") {
  CHECK(ControlFlow({}).blocks().empty());
  CHECK(Decoder(90).decode("fifteen bytes..").empty());
  Code code;
  code.branch(0, kAlways);
  CHECK(ControlFlow(code.instructions).loops().empty());
}
