// What the computations of a loop cost, and what is left without some addresses: passes/addressing/loop_cost.h.
#include "passes/addressing/loop_cost.h"

#include <array>

#include "lsr_support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

struct Cost {
  Reducible k;
  Expander expander;
  WideSums sums;
  std::vector<uint32_t> nodeOf;

  explicit Cost(std::string_view body)
      : k(body),
        expander(k.f, k.context),
        sums(k.f, k.context, expander),
        nodeOf(k.analyses.valueRanges().numbers().size(), UINT32_MAX) {}
  // Machine instructions an iteration, without the addresses of these instructions.
  double without(std::initializer_list<std::size_t> instructions = {}) {
    LoopCost cost(k.f, k.context, LoopId(0u), sums, nodeOf);
    std::vector<uint32_t> replaced;
    for (const std::size_t n : instructions) {
      const Instruction& i = k.f[k.at(n)];
      for (const AddressOperand& a : addressOperands(k.context.module, k.f, i))
        replaced.push_back(i.firstOperand + a.operand);
    }
    return cost.needed(replaced);
  }
};

// 0 to 2 in front of the loop; the accesses are 5 and 8, the counter 9 to 11.
constexpr std::string_view kTwoAddresses =
    "ld.param.u64 %rd1, [p];\nld.param.u64 %rd9, [p];\nmov.u32 %r1, 0;\nL1:\n"
    "mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\n"
    "cvt.s64.s32 %rd4, %r1;\nadd.s64 %rd5, %rd9, %rd4;\nst.global.u8 [%rd5], %r2;\n"
    "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 100;\n@%p1 bra L1;\nret;\n";

}  // namespace

TEST_CASE("loop cost: what only replaced addresses needed falls away") {
  Cost c(kTwoAddresses);
  // mul.wide with its addition 1; cvt 1 and an addition 2; counter 1, test 1.
  CHECK(c.without() == 6);
  CHECK(c.without({5}) == 5);
  CHECK(c.without({8}) == 3);
  CHECK(c.without({5, 8}) == 2);  // the test still needs the counter
  for (const uint32_t node : c.nodeOf) CHECK(node == UINT32_MAX);
}

TEST_CASE("loop cost: a counter of nothing but addresses goes with them, one that is read behind the loop stays") {
  // A pointer moves beside a test on what is loaded.
  const std::string_view body =
      "ld.param.u64 %rd1, [p];\nL1:\nld.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\n"
      "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra L1;\n";
  Cost alone(std::string(body) + "ret;\n");
  CHECK(alone.without() == 5);  // 4 for the 64-bit recurrence, the test 1
  CHECK(alone.without({1}) == 1);
  Cost read(std::string(body) + "st.global.u64 [%rd1], %rd1;\nret;\n");
  CHECK(read.without({1}) == 5);
}

TEST_CASE("loop cost: a step by a product before the loop is a product where sums are all that reads it") {
  // A pointer that starts as a pair, and a test on what is loaded.
  const std::string_view body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r3, %tid.x;\nmul.wide.s32 %rd5, %r3, 4;\nL1:\nld.global.u32 %r1, [%rd1];\n"
      "add.s64 %rd1, %rd1, %rd5;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra L1;\n";
  CHECK(Cost(std::string(body) + "ret;\n").without() == 2);
  // Otherwise it is added like any other register.
  CHECK(Cost(std::string(body) + "ld.param.u64 %rd9, [p];\nst.global.u64 [%rd9], %rd5;\nret;\n").without() == 5);
  // Nor is it one where the start is read again, so that its halves are copied.
  CHECK(Cost("ld.param.u64 %rd1, [p];\nst.global.u64 [%rd1], %rd1;\n" +
             std::string(body.substr(body.find('\n') + 1)) + "ret;\n")
            .without() == 5);
}

TEST_CASE("loop cost: a step that becomes a product is counted once, and where it is needed") {
  Cost c(
      "ld.param.u64 %rd1, [p];\nL1:\nld.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\n"
      "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra L1;\nret;\n");
  LoopCost cost(c.k.f, c.k.context, LoopId(0u), c.sums, c.nodeOf);
  const InstrId step = c.k.at(2);
  const uint32_t address =
      c.k.f[c.k.at(1)].firstOperand + addressOperands(c.k.context.module, c.k.f, c.k.f[c.k.at(1)])[0].operand;
  CHECK(cost.costOf(step) == 4);
  CHECK(cost.needed({}, std::array{step}) == 2);
  CHECK(cost.needed({}, std::array{step, step}) == 2);
  CHECK(cost.needed(std::array{address}, std::array{step}) == 1);  // the test alone
}

TEST_CASE("loop cost: which values are needed is said of the last question") {
  Cost c(kTwoAddresses);
  LoopCost cost(c.k.f, c.k.context, LoopId(0u), c.sums, c.nodeOf);
  const auto product = [&] {
    const RegId reg = c.k.reg("%rd2");
    return cost.isNeeded(reg, c.k.analyses.liveIntervals()[reg].valueOut(c.k.analyses.slotIndexes()[c.k.at(3)]));
  };
  cost.needed({});
  CHECK(product());
  const auto addressOf = [&](std::size_t access, uint32_t operand) {
    return c.k.f[c.k.at(access)].firstOperand + operand;
  };
  const std::vector<uint32_t> first{addressOf(5, 2)}, second{addressOf(8, 1)};
  CHECK(cost.needed(first) == 5);
  CHECK_FALSE(product());
  // Whatever was asked before, and however often.
  CHECK(cost.needed(second) == 3);
  CHECK(product());
  CHECK(cost.needed(first) == 5);
  CHECK_FALSE(product());
  CHECK(cost.needed({}) == 6);
  CHECK(product());
  const std::vector<uint32_t> both{second[0], first[0]};
  CHECK(cost.needed(both) == 2);
  CHECK_FALSE(product());
}
