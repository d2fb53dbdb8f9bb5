// Warps: shuffles, votes, reductions, divergence and where lanes meet again, calls, barriers, deadlocks.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "exec_support.h"
#include "sampled.h"

namespace ptxopt::exec {
namespace {

const std::string kHead = ".version 8.6\n.target sm_100a\n.address_size 64\n";
const std::string kRegisters =
    "\t.reg .pred %p<9>;\n\t.reg .b32 %r<20>;\n\t.reg .f32 %f<9>;\n\t.reg .b64 %rd<9>;\n"
    "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd2, %rd1, "
    "%rd2;\n";

// A kernel whose threads each store the word that `body` leaves in %r2.
std::vector<uint32_t> wordsOf(const std::string& body, uint32_t threads = 32, const std::string& before = "") {
  ExecTest t(kHead + before + ".visible .entry k(.param .u64 out)\n{\n" + kRegisters + body +
             "\tst.global.u32 [%rd2], %r2;\n\tret;\n}\n");
  t.zeros<uint32_t>("out", threads);
  t.run({"out"}, {.grid = {1}, .block = {threads}});
  return t.values<uint32_t>("out");
}

FaultKind faultOf(const std::string& body, uint32_t threads, std::string& message) {
  ExecTest t(kHead + ".visible .entry k(.param .u64 out)\n{\n" + kRegisters + body + "\tret;\n}\n");
  t.zeros<uint32_t>("out", threads);
  try {
    t.run({"out"}, {.grid = {1}, .block = {threads}, .stepLimit = 100000});
  } catch (const ExecError& e) {
    message = e.message;
    return e.kind;
  }
  FAIL("it ran");
  return FaultKind::Trap;
}

}  // namespace

// Cooperative groups make such masks: the lanes of a tile run one instruction with those of the other tiles.
TEST_CASE("exec warp: lanes that name different masks are operations of their own") {
  const std::string tile = "\tand.b32 %r3, %r1, -8;\n\tmov.u32 %r4, 255;\n\tshl.b32 %r5, %r4, %r3;\n";
  const auto sums = wordsOf(tile + "\tredux.sync.add.u32 %r2, %r1, %r5;\n", 24);
  for (uint32_t i = 0; i < 24; ++i) CHECK(sums[i] == (i & ~7u) * 8 + 28);
  // Of each tile a lane comes later, by another way; the last tile is whole at first.
  const auto late = wordsOf(tile +
                                "\tmov.u32 %r6, 0;\n\tand.b32 %r7, %r1, 7;\n\tsetp.eq.u32 %p1, %r7, 3;\n"
                                "\tsetp.lt.and.u32 %p1, %r1, 16, %p1;\n\t@!%p1 bra M;\n\tmov.u32 %r6, 100;\n"
                                "M:\tadd.u32 %r6, %r6, %r1;\n\tredux.sync.add.u32 %r2, %r6, %r5;\n",
                            24);
  for (uint32_t i = 0; i < 24; ++i) CHECK(late[i] == (i & ~7u) * 8 + 28 + (i < 16 ? 100 : 0));
  const auto apart =
      wordsOf(tile +
                  "\tand.b32 %r7, %r1, 7;\n\tsetp.eq.u32 %p1, %r7, 3;\n\tsetp.lt.and.u32 %p1, %r1, 16, %p1;\n"
                  "\tmov.u32 %r6, 0;\n\t@%p1 bra L;\n\tbra R;\nL:\tmov.u32 %r8, 50;\n"
                  "W:\tsub.u32 %r8, %r8, 1;\n\tsetp.ne.u32 %p2, %r8, 0;\n\t@%p2 bra W;\n\tadd.u32 %r6, %r6, 7;\n"
                  "R:\tredux.sync.add.u32 %r2, %r6, %r5;\n",
              24);
  for (uint32_t i = 0; i < 24; ++i) CHECK(apart[i] == (i < 16 ? 7 : 0));
}

TEST_CASE("exec warp: shfl in all modes, segments and clamps") {
  struct Case {
    std::string mode;
    uint32_t b, c;
  };
  for (const Case& c : {Case{"up", 1, 0},
                        {"up", 5, 0x1800},
                        {"down", 3, 31},
                        {"down", 2, 0x181f},
                        {"bfly", 16, 31},
                        {"bfly", 3, 0x1c1f},
                        {"idx", 7, 31},
                        {"idx", 2, 0x181f},
                        {"idx", 31, 5},
                        {"up", 33, 0}}) {
    CAPTURE(c.mode);
    CAPTURE(c.b);
    CAPTURE(c.c);
    const std::string arguments = std::to_string(c.b) + ", " + std::to_string(c.c);
    const auto values = wordsOf("\tmul.lo.u32 %r3, %r1, 10;\n\tshfl.sync." + c.mode + ".b32 %r4|%p1, %r3, " +
                                arguments + ", -1;\n\tselp.u32 %r5, 1000, 0, %p1;\n\tadd.u32 %r2, %r4, %r5;\n");
    for (int lane = 0; lane < 32; ++lane) {
      // The segment that the mask leaves fixed, by plain counting.
      const int segment = static_cast<int>(c.c >> 8 & 31), b = static_cast<int>(c.b & 31),
                clamp = static_cast<int>(c.c & 31);
      const int first = lane & segment, bound = first | (clamp & ~segment);
      int from = c.mode == "up"     ? lane - b
                 : c.mode == "down" ? lane + b
                 : c.mode == "bfly" ? (lane ^ b)
                                    : (first | (b & ~segment));
      const bool inside = c.mode == "up" ? from >= bound : from <= bound;
      if (!inside) from = lane;
      CHECK(values[static_cast<std::size_t>(lane)] == static_cast<uint32_t>(from * 10 + (inside ? 1000 : 0)));
    }
  }
}

TEST_CASE("exec warp: votes") {
  // Lanes whose number is a multiple of 3 say yes.
  Mask yes = 0;
  for (unsigned i = 0; i < 32; i += 3) yes |= 1u << i;
  const std::string ask = "\trem.u32 %r3, %r1, 3;\n\tsetp.eq.u32 %p1, %r3, 0;\n\tsetp.lt.u32 %p2, %r1, 100;\n";
  for (const uint32_t v : wordsOf(ask + "\tvote.sync.ballot.b32 %r2, %p1, -1;\n")) CHECK(v == yes);
  for (const uint32_t v : wordsOf(ask + "\tvote.sync.ballot.b32 %r2, !%p1, -1;\n")) CHECK(v == ~yes);
  const auto flag = [&](const std::string& op) {
    return wordsOf(ask + "\t" + op + ";\n\tselp.u32 %r2, 1, 0, %p3;\n")[5];
  };
  CHECK(flag("vote.sync.all.pred %p3, %p1, -1") == 0);
  CHECK(flag("vote.sync.any.pred %p3, %p1, -1") == 1);
  CHECK(flag("vote.sync.uni.pred %p3, %p1, -1") == 0);
  CHECK(flag("vote.sync.all.pred %p3, %p2, -1") == 1);
  CHECK(flag("vote.sync.any.pred %p3, !%p2, -1") == 0);
  CHECK(flag("vote.sync.uni.pred %p3, !%p2, -1") == 1);
  // Only the lanes of the mask count, and only they run it.
  const auto half = wordsOf(
      "\tmov.u32 %r2, 77;\n\tsetp.lt.u32 %p1, %r1, 16;\n\t@!%p1 bra L;\n\tvote.sync.ballot.b32 %r2, %p1, "
      "0xffff;\nL:\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(half[i] == (i < 16 ? 0xffffu : 77u));
}

TEST_CASE("exec warp: match, redux, elect, activemask") {
  const std::string third = "\tdiv.u32 %r3, %r1, 12;\n";
  const auto any = wordsOf(third + "\tmatch.any.sync.b32 %r2, %r3, -1;\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(any[i] == (i < 12 ? 0xfffu : i < 24 ? 0xfff000u : 0xff000000u));
  const std::string wide = "\tcvt.u64.u32 %rd3, %r3;\n\tshl.b64 %rd3, %rd3, 40;\n";
  CHECK(wordsOf(third + wide + "\tmatch.any.sync.b64 %r2, %rd3, -1;\n") == any);
  for (const uint32_t v : wordsOf(third + "\tmatch.all.sync.b32 %r2|%p1, %r3, -1;\n\t@%p1 mov.u32 %r2, 9;\n"))
    CHECK(v == 0);
  for (const uint32_t v :
       wordsOf("\tmov.u64 %rd3, 5;\n\tmatch.all.sync.b64 %r2|%p1, %rd3, -1;\n\t@!%p1 mov.u32 %r2, 9;\n"))
    CHECK(v == 0xffffffffu);

  const std::string value = "\tmad.lo.s32 %r3, %r1, 7, -100;\n";  // -100 .. 117
  const auto reduced = [&](const std::string& op) {
    return wordsOf(value + "\tredux.sync." + op + " %r2, %r3, -1;\n")[9];
  };
  CHECK(reduced("add.u32") == static_cast<uint32_t>(7 * 496 - 3200));
  CHECK(reduced("add.s32") == static_cast<uint32_t>(7 * 496 - 3200));
  CHECK(reduced("min.s32") == static_cast<uint32_t>(-100));
  CHECK(reduced("max.s32") == 117);
  CHECK(reduced("min.u32") == 5);  // 15 * 7 - 100
  CHECK(reduced("max.u32") == static_cast<uint32_t>(-2));
  uint32_t all = ~0u, some = 0, odd = 0;
  for (int i = 0; i < 32; ++i) {
    const auto v = static_cast<uint32_t>(i * 7 - 100);
    all &= v;
    some |= v;
    odd ^= v;
  }
  CHECK(reduced("and.b32") == all);
  CHECK(reduced("or.b32") == some);
  CHECK(reduced("xor.b32") == odd);
  const auto floats = [&](const std::string& op, const std::string& lane3) {
    const auto w = wordsOf(
        "\tcvt.rn.f32.u32 %f1, %r1;\n\tsub.f32 %f1, %f1, 0f41700000;\n\tsetp.eq.u32 %p1, %r1, 3;\n\t@%p1 mov.f32 "
        "%f1, " +
        lane3 + ";\n\tredux.sync." + op + ".f32 %f2, %f1, -1;\n\tmov.b32 %r2, %f2;\n");
    return std::bit_cast<float>(w[0]);
  };
  CHECK(floats("min", "0f00000000") == -15);
  CHECK(floats("max", "0f00000000") == 16);
  CHECK(floats("min.abs", "0f3F000000") == 0);
  CHECK(floats("max.abs", "0fC2C80000") == 100);
  CHECK(floats("max", "0f7FC00000") == 16);
  CHECK(std::isnan(floats("max.NaN", "0f7FC00000")));

  const auto active =
      wordsOf("\tmov.u32 %r2, 0;\n\tsetp.gt.u32 %p1, %r1, 20;\n\t@%p1 bra L;\n\tactivemask.b32 %r2;\nL:\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(active[i] == (i > 20 ? 0u : 0x1fffffu));
}

TEST_CASE("exec warp: an indexed branch splits the lanes, and they meet again") {
  const auto v = wordsOf(
      "\tand.b32 %r3, %r1, 3;\n\tmov.u32 %r2, 0;\n"
      "T: .branchtargets A, B, C, B;\n\tbrx.idx %r3, T;\n"
      "A:\tadd.u32 %r2, %r2, 100;\n\tbra M;\n"
      "B:\tadd.u32 %r2, %r2, 200;\n\tbra M;\n"
      "C:\tadd.u32 %r2, %r2, 300;\n"
      "M:\tactivemask.b32 %r4;\n\tpopc.b32 %r4, %r4;\n\tadd.u32 %r2, %r2, %r4;\n");
  const uint32_t expected[] = {132, 232, 332, 232};
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == expected[i & 3]);
  std::string message;
  CHECK(faultOf("T: .branchtargets A, A;\n\tbrx.idx %r1, T;\nA:\n", 32, message) == FaultKind::BadBranch);
  CHECK(message.find("index 2 into a table of 2") != std::string::npos);
}

TEST_CASE("exec warp: lanes that leave a loop one by one meet behind it") {
  const auto v = wordsOf(
      "\tmov.u32 %r2, 0;\n\tmov.u32 %r3, 0;\n"
      "L:\tsetp.ge.u32 %p1, %r3, %r1;\n\t@%p1 bra D;\n\tadd.u32 %r2, %r2, %r3;\n\tadd.u32 %r3, %r3, 1;\n\tbra L;\n"
      "D:\tactivemask.b32 %r4;\n\tsetp.ne.u32 %p2, %r4, -1;\n\t@%p2 mov.u32 %r2, 9999;\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == i * (i - 1) / 2);
}

TEST_CASE("exec warp: a trap in a branch does not keep the others from meeting") {
  const auto v = wordsOf(
      "\tsetp.gt.u32 %p1, %r1, 15;\n\t@%p1 bra E;\n\tmov.u32 %r2, 1;\n\tsetp.gt.u32 %p2, %r1, 99;\n\t@!%p2 bra "
      "M;\n\ttrap;\n"
      "E:\tmov.u32 %r2, 2;\nM:\tactivemask.b32 %r3;\n\tpopc.b32 %r3, %r3;\n\tmad.lo.u32 %r2, %r3, 10, %r2;\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == (i > 15 ? 322u : 321u));
}

TEST_CASE("exec warp: direct, recursive, guarded and indirect calls") {
  const std::string functions = R"(
.func (.param .b32 r) factorial(.param .b32 n)
{
	.reg .pred %p; .reg .b32 %r<9>;
	ld.param.u32 %r1, [n];
	setp.le.u32 %p, %r1, 1;
	@%p bra BASE;
	sub.u32 %r2, %r1, 1;
	{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), factorial, (a); ld.param.b32 %r3, [b]; }
	mul.lo.u32 %r4, %r3, %r1;
	st.param.b32 [r], %r4;
	ret;
BASE:
	st.param.b32 [r], 1;
	ret;
}
.func (.reg .b32 r) twice(.reg .b32 n) { add.u32 r, n, n; ret; }
.func (.param .b32 r) thrice(.param .b32 n) { .reg .b32 %r<2>; ld.param.u32 %r1, [n]; mul.lo.u32 %r1, %r1, 3; st.param.b32 [r], %r1; ret; }
)";
  const auto direct = wordsOf(
      "\tand.b32 %r3, %r1, 7;\n\t{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call.uni (b), factorial, "
      "(a); "
      "ld.param.b32 %r2, [b]; }\n",
      64, functions);
  const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (unsigned i = 0; i < 64; ++i) CHECK(direct[i] == factorials[i & 7]);
  // Registers as parameters; lanes whose guard is false keep what they had and wait behind the call.
  const auto guarded = wordsOf(
      "\tmov.u32 %r2, %r1;\n\tand.b32 %r3, %r1, 1;\n\tsetp.ne.u32 %p1, %r3, 0;\n\t@%p1 call (%r2), twice, (%r2);\n"
      "\tactivemask.b32 %r4;\n\tpopc.b32 %r4, %r4;\n\tmad.lo.u32 %r2, %r4, 1000, %r2;\n",
      32, functions);
  for (unsigned i = 0; i < 32; ++i) CHECK(guarded[i] == 32000 + (i % 2 != 0 ? 2 * i : i));
  const auto indirect = wordsOf(
      "\tand.b32 %r3, %r1, 7;\n\tand.b32 %r4, %r1, 1;\n\tsetp.eq.u32 %p1, %r4, 0;\n\tmov.u64 %rd3, factorial;\n"
      "\tmov.u64 %rd4, thrice;\n\tselp.b64 %rd5, %rd3, %rd4, %p1;\n"
      "P:\t.callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "\t{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), %rd5, (a), P; ld.param.b32 %r2, [b]; }\n"
      "\tactivemask.b32 %r4;\n\tpopc.b32 %r4, %r4;\n\tmad.lo.u32 %r2, %r4, 100000, %r2;\n",
      32, functions);
  for (unsigned i = 0; i < 32; ++i) CHECK(indirect[i] == 3200000 + (i % 2 == 0 ? factorials[i & 7] : 3 * (i & 7)));
  std::string message;
  CHECK(faultOf("\tmov.u64 %rd3, 64;\nP:\t.callprototype _ ();\n\tcall %rd3, (), P;\n", 1, message) ==
        FaultKind::BadBranch);
}

TEST_CASE("exec warp: a spin lock among lanes, warps and blocks") {
  ExecTest t(kHead + R"(
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
SPIN:
	atom.global.cas.b32 %r1, [%rd1], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra SPIN;
	ld.volatile.global.u32 %r2, [%rd1+4];
	add.u32 %r2, %r2, 1;
	st.volatile.global.u32 [%rd1+4], %r2;
	atom.global.exch.b32 %r3, [%rd1], 0;
	ret;
}
)");
  for (const unsigned jobs : {1u, 2u}) {
    t.buffer<uint32_t>("out", {0, 0});
    t.run({"out"}, {.grid = {3}, .block = {40}, .jobs = jobs});
    CHECK(t.values<uint32_t>("out")[1] == 120);
  }
}

TEST_CASE("exec warp: blocks that wait for each other all get on" * doctest::test_suite("slow")) {
  // A barrier over the grid: the last to come lets the others go.
  ExecTest t(kHead + R"(
.visible .entry k(.param .u64 out)
{
	.reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %nctaid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd2, %rd1, %rd2;
	st.global.u32 [%rd2+8], %r1;
	atom.global.add.u32 %r3, [%rd1], 1;
WAIT:
	ld.acquire.gpu.global.u32 %r4, [%rd1];
	setp.lt.u32 %p1, %r4, %r2;
	@%p1 bra WAIT;
	xor.b32 %r5, %r1, 1;
	mul.wide.u32 %rd3, %r5, 4;
	add.s64 %rd3, %rd1, %rd3;
	ld.global.u32 %r5, [%rd3+8];
	st.global.u32 [%rd2+4008], %r5;
	ret;
}
)");
  const auto kBlocks = static_cast<unsigned>(2 * testing::sampled(500));
  for (const unsigned jobs : {1u, 2u}) {
    t.zeros<uint32_t>("out", 2100);
    t.run({"out"}, {.grid = {kBlocks}, .block = {1}, .jobs = jobs});
    const auto v = t.values<uint32_t>("out");
    for (unsigned i = 0; i < kBlocks; ++i) CHECK(v[1002 + i] == (i ^ 1));
  }
}

TEST_CASE("exec warp: of a large grid only the blocks at its end") {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\n"
      "mov.u32 %r2, %nctaid.x;\nsub.u32 %r3, %r2, %r1;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
      "st.global.u32 [%rd1], %r1;\nret;\n}\n";
  for (const unsigned jobs : {1u, 2u}) {
    ExecTest t(text);
    t.zeros<uint32_t>("out", 5);
    t.run({"out"}, {.grid = {2'000'000'000}, .block = {1}, .jobs = jobs, .firstCluster = 1'999'999'997});
    CHECK(t.values<uint32_t>("out") == std::vector<uint32_t>{0, 1'999'999'999, 1'999'999'998, 1'999'999'997, 0});
    CHECK_THROWS_AS(t.run({"out"}, {.grid = {2}, .block = {1}, .jobs = jobs, .firstCluster = 2}), ExecError);
  }
}

TEST_CASE("exec warp: barriers with reductions, counts and threads that have left") {
  const std::string shared = "\t.shared .b32 s[128];\n";
  for (const char* base : {"bar", "barrier"}) {
    CAPTURE(base);
    const std::string b = base;
    const std::string third = "\trem.u32 %r3, %r1, 3;\n\tsetp.eq.u32 %p1, %r3, 0;\n";
    for (const uint32_t v : wordsOf(third + "\t" + b + ".red.popc.u32 %r2, 0, %p1;\n", 96)) CHECK(v == 32);
    for (const uint32_t v :
         wordsOf(third + "\t" + b + ".red.and.pred %p2, 3, 96, %p1;\n\tselp.u32 %r2, 1, 0, %p2;\n", 96))
      CHECK(v == 0);
    for (const uint32_t v :
         wordsOf(third + "\t" + b + ".red.or.pred %p2, 3, 96, !%p1;\n\tselp.u32 %r2, 1, 0, %p2;\n", 96))
      CHECK(v == 1);
  }
  // The upper half leaves first; the others exchange through shared memory.
  const auto v =
      wordsOf(shared +
                  "\tsetp.gt.u32 %p1, %r1, 63;\n\t@%p1 exit;\n\tmov.u32 %r4, s;\n\tmad.lo.u32 %r5, %r1, 4, %r4;\n"
                  "\tst.shared.u32 [%r5], %r1;\n\tbar.sync 0;\n\txor.b32 %r6, %r1, 63;\n"
                  "\tmad.lo.u32 %r5, %r6, 4, %r4;\n\tld.shared.u32 %r2, [%r5];\n",
              128);
  for (unsigned i = 0; i < 128; ++i) CHECK(v[i] == (i < 64 ? i ^ 63 : 0));
  // One warp produces, the other consumes: arrive does not wait.
  const auto p =
      wordsOf(shared +
                  "\tmov.u32 %r4, s;\n\tmov.u32 %r2, 5;\n\tsetp.gt.u32 %p1, %r1, 31;\n\t@%p1 bra C;\n"
                  "\tmad.lo.u32 %r5, %r1, 4, %r4;\n\tmul.lo.u32 %r6, %r1, 3;\n\tst.shared.u32 [%r5], %r6;\n"
                  "\tbar.arrive 1, 64;\n\tbra M;\nC:\tbar.sync 1, 64;\n\tsub.u32 %r6, %r1, 32;\n"
                  "\tmad.lo.u32 %r5, %r6, 4, %r4;\n\tld.shared.u32 %r2, [%r5];\nM:\n",
              64);
  for (unsigned i = 0; i < 64; ++i) CHECK(p[i] == (i < 32 ? 5 : 3 * (i - 32)));
}

TEST_CASE("exec warp: what can never happen is a deadlock with its places") {
  std::string message;
  CHECK(faultOf("\tsetp.lt.u32 %p1, %r1, 32;\n\t@%p1 bra A;\n\tbar.sync 1, 64;\n\tret;\nA:\tbar.sync 2, 64;\n", 64,
                message) == FaultKind::Deadlock);
  CHECK(message.find("32 threads at line") != std::string::npos);
  CHECK(faultOf("\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 bra A;\n\tbar.warp.sync -1;\n\tbra M;\nA:\tshfl.sync.idx.b32 "
                "%r2, %r1, 0, 31, -1;\nM:\n",
                32, message) == FaultKind::Deadlock);
  CHECK(faultOf("L:\tld.volatile.global.u32 %r2, [%rd1];\n\tsetp.eq.u32 %p1, %r2, 0;\n\t@%p1 bra L;\n", 1,
                message) == FaultKind::StepLimit);
  CHECK(faultOf("\tvote.sync.ballot.b32 %r2, %p1, 1;\n", 2, message) == FaultKind::Deadlock);
}

TEST_CASE("exec warp: lanes of different branches run a collective together") {
  // Both halves reach the same instruction on their own paths, because each comes by a branch of its own.
  const auto v = wordsOf(
      "\tmov.u32 %r3, 0;\n\tsetp.lt.u32 %p1, %r1, 16;\n\t@%p1 bra A;\n\tadd.u32 %r3, %r3, 7;\n"
      "A:\tshfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;\n\tadd.u32 %r2, %r2, %r3;\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == (i ^ 16) + (i < 16 ? 0 : 7));
}

TEST_CASE("exec warp: a cluster's barrier and its shared memory") {
  ExecTest t(kHead + R"(
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %rd<4>; .shared .align 4 .b32 s;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %cluster_ctarank;
	mov.u32 %r2, %cluster_nctarank;
	mul.lo.u32 %r3, %r1, 11;
	mov.u32 %r4, s;
	st.shared.u32 [%r4], %r3;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	add.u32 %r5, %r1, 1;
	rem.u32 %r5, %r5, %r2;
	mapa.shared::cluster.u32 %r6, %r4, %r5;
	ld.shared::cluster.u32 %r7, [%r6];
	mov.u32 %r8, %ctaid.x;
	mul.wide.u32 %rd2, %r8, 4;
	add.s64 %rd2, %rd1, %rd2;
	st.global.u32 [%rd2], %r7;
	barrier.cluster.arrive.release;
	barrier.cluster.wait.acquire;
	ret;
}
)");
  t.zeros<uint32_t>("out", 8);
  t.run({"out"}, {.grid = {8}, .block = {1}, .cluster = {4}});
  const auto v = t.values<uint32_t>("out");
  for (unsigned i = 0; i < 8; ++i) CHECK(v[i] == (i % 4 + 1) % 4 * 11);
}

TEST_CASE("exec warp: elect names the lowest lane of those that take part") {
  const auto v = wordsOf(
      "\tmov.u32 %r2, 7;\n\tsetp.lt.u32 %p2, %r1, 4;\n\t@%p2 bra L;\n\telect.sync %r3|%p1, 0xfffffff0;\n"
      "\tselp.u32 %r4, 100, 0, %p1;\n\tadd.u32 %r2, %r3, %r4;\nL:\n");
  for (unsigned i = 0; i < 32; ++i) CHECK(v[i] == (i < 4 ? 7u : i == 4 ? 104u : 4u));
}

}  // namespace ptxopt::exec
