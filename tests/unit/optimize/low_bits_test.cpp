// What integers are divisible by.
#include "analysis/values/low_bits.h"

#include <fmt/format.h>

#include "analysis/dataflow/dominators.h"
#include "facts/facts.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

constexpr std::string_view kFacts =
    R"({"version": 1, "kernels": [{"kernel": "k", "block": [{"multiple": 32}, 2],
        "parameters": [{"name": "p", "align": 16}, {"name": "n", "least": 0, "multiple": 12}, {"name": "c", "value": 21}]}]})";

// Of what the first st.global.u64 stores: "2 of 16" is a number that divided by 16 leaves 2.
std::string stored(std::string_view body, bool hasFacts = true) {
  const Parsed p(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .u32 n, .param .u64 c)\n{\n"
      ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n"
      ".shared .align 64 .b8 tile[256];\n"
      "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nld.param.u64 %rd2, [c];\nmov.u32 %r2, %tid.x;\n" +
      std::string(body) + "}\n");
  if (hasFacts) REQUIRE(facts::readFacts(kFacts, "facts", *p) == "");
  const Function& f = p->functions.front();
  const Cfg cfg(*p, f);
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  const LowBits bits(*p, f, cfg, slots, intervals);
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || p->form(f[id]).op != Op::St) continue;
    const KnownLowBits known = bits.read(f.operandsOf(f[id]).back().reg(), id);
    return fmt::format("{} of {}", known.value, 1u << known.count);
  }
  return "nothing";
}

std::string sum(std::string_view body) { return stored(std::string(body) + "st.global.u64 [%rd1], %rd9;\nret;\n"); }

}  // namespace

TEST_CASE("low bits: parameters, by facts and declarations") {
  CHECK(stored("st.global.u64 [%rd1], %rd1;\nret;\n") == "0 of 16");
  CHECK(stored("st.global.u64 [%rd1], %rd1;\nret;\n", false) == "0 of 8");
  CHECK(stored("st.global.u64 [%rd1], %rd2;\nret;\n") == "21 of 128");
  CHECK(stored("st.global.u64 [%rd1], %rd2;\nret;\n", false) == "0 of 1");
  CHECK(sum("cvt.u64.u32 %rd9, %r1;\n") == "0 of 4");
  CHECK(sum("mov.u32 %r3, %ntid.x;\ncvt.u64.u32 %rd9, %r3;\n") == "0 of 32");
  CHECK(sum("mov.u32 %r3, %ntid.y;\ncvt.u64.u32 %rd9, %r3;\n") == "2 of 128");
  CHECK(sum("mov.u32 %r3, %tid.y;\ncvt.u64.u32 %rd9, %r3;\n") == "0 of 1");
}

TEST_CASE("low bits: arithmetic") {
  CHECK(sum("add.s64 %rd9, %rd1, 20;\n") == "4 of 16");
  CHECK(sum("sub.s64 %rd9, %rd1, 4;\n") == "12 of 16");
  CHECK(sum("neg.s64 %rd9, %rd2;\n") == "107 of 128");
  CHECK(sum("mul.wide.u32 %rd9, %r2, 24;\n") == "0 of 8");
  CHECK(sum("mul.wide.u32 %rd9, %r1, %r2;\n") == "0 of 4");
  CHECK(sum("mad.wide.s32 %rd9, %r2, 4, %rd2;\n") == "1 of 4");
  CHECK(sum("mul.lo.s32 %r3, %r1, %r1;\nmul.wide.s32 %rd9, %r3, 2;\n") == "0 of 32");
  CHECK(sum("shl.b32 %r3, %r2, 3;\ncvt.s64.s32 %rd9, %r3;\n") == "0 of 8");
  CHECK(sum("shl.b64 %rd9, %rd2, 1;\n") == "0 of 2");  // an odd number, of which only the zeros are followed
  CHECK(sum("shl.b32 %r3, %r2, %r2;\ncvt.s64.s32 %rd9, %r3;\n") == "0 of 1");
  CHECK(sum("shr.u64 %rd9, %rd1, 1;\n") == "0 of 1");
  CHECK(sum("and.b64 %rd9, %rd3, 112;\n") == "0 of 16");
  CHECK(sum("and.b64 %rd9, %rd2, %rd1;\n") == "0 of 16");
  CHECK(sum("or.b64 %rd9, %rd1, 3;\n") == "3 of 16");
  CHECK(sum("xor.b64 %rd9, %rd2, 1;\n") == "20 of 128");
  CHECK(sum("add.sat.s32 %r3, %r1, 4;\ncvt.s64.s32 %rd9, %r3;\n") == "0 of 1");
  CHECK(sum("mov.u64 %rd9, tile;\n") == "0 of 64");
  CHECK(sum("cvta.to.global.u64 %rd9, %rd1;\n") == "0 of 16");
  CHECK(sum("ld.global.u64 %rd9, [%rd1];\n") == "0 of 1");
}

TEST_CASE("low bits: where ways meet") {
  CHECK(sum("setp.eq.u32 %p1, %r2, 0;\nselp.b64 %rd9, 4, 20, %p1;\n") == "4 of 16");
  CHECK(sum("setp.eq.u32 %p1, %r2, 0;\nmov.u64 %rd9, 5;\n@%p1 mov.u64 %rd9, 7;\n") == "1 of 2");
  const std::string loop =
      "mov.u64 %rd9, %rd1;\nmov.u32 %r3, 0;\n$L:\nadd.s64 %rd9, %rd9, {};\nadd.u32 %r3, %r3, 1;\n"
      "setp.lt.u32 %p1, %r3, %r2;\n@%p1 bra $L;\n";
  CHECK(sum(fmt::format(fmt::runtime(loop), 48)) == "0 of 16");
  CHECK(sum(fmt::format(fmt::runtime(loop), 20)) == "0 of 4");
  CHECK(sum(fmt::format(fmt::runtime(loop), "%rd3")) == "0 of 1");
}
