// --check-uninit and --check-races: what they report, and what they must not.
#include <doctest/doctest.h>

#include "exec/error.h"
#include "exec_support.h"

namespace ptxopt::exec {
namespace {

std::string kernel(const std::string& body, const std::string& before = "", const std::string& parameters = "") {
  return ".version 8.5\n.target sm_90\n.address_size 64\n" + before + "\n.visible .entry k(" + parameters +
         ")\n{\n.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .v2 .b32 %v<2>;\n"
         ".shared .align 16 .b8 s[4096];\n.local .align 8 .b8 l[64];\n" +
         body + "\nret;\n}\n";
}

// The kind and message of the fault, or "" when all is well.
std::string fault(const std::string& text, const ExecTest::Shape& shape,
                  const std::vector<ExecTest::Argument>& arguments = {}) {
  ExecTest t(text);
  try {
    t.run(arguments, shape, "k");
  } catch (const ExecError& e) {
    return std::string(name(e.kind)) + ": " + e.message;
  }
  return "";
}

std::string uninitialised(const std::string& text, uint32_t threads = 32, uint32_t blocks = 1) {
  ExecTest::Shape shape;
  shape.grid = {blocks};
  shape.block = {threads};
  shape.checkUninitialised = true;
  return fault(text, shape);
}

std::string race(const std::string& text, uint32_t threads = 64, uint32_t blocks = 1, uint32_t cluster = 1) {
  ExecTest::Shape shape;
  shape.grid = {blocks};
  shape.block = {threads};
  shape.cluster = {cluster};
  shape.checkRaces = true;
  return fault(text, shape);
}

std::string readOf(const std::string& what) {
  return "uninitialised: read of " + what + ", which nothing has written";
}

}  // namespace

TEST_CASE("check-uninit: registers") {
  CHECK(uninitialised(kernel("mov.u32 %r1, 1; add.u32 %r2, %r1, %r1;")) == "");
  CHECK(uninitialised(kernel("add.u32 %r2, %r1, 1;")) == readOf("register %r1"));
  CHECK(uninitialised(kernel("mov.u32 %r1, 1; @%p1 mov.u32 %r2, %r1;")) == readOf("register %p1"));
  CHECK(uninitialised(kernel("add.cc.u32 %r1, 1, 2; addc.u32 %r2, 3, 4;")) == "");
  CHECK(uninitialised(kernel("addc.u32 %r2, 3, 4;")) == readOf("the carry flag"));
}

TEST_CASE("check-uninit: each lane by itself, and a guarded definition reads nothing") {
  const std::string some = "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 31; @%p1 mov.u32 %r2, 7;\n";
  CHECK(uninitialised(kernel(some)) == "");
  CHECK(uninitialised(kernel(some + "@%p1 add.u32 %r3, %r2, 1;")) == "");
  CHECK(uninitialised(kernel(some + "add.u32 %r3, %r2, 1;")) == readOf("register %r2"));
  CHECK(uninitialised(kernel(some + "@!%p1 mov.u32 %r2, 8; add.u32 %r3, %r2, 1;")) == "");
  CHECK(uninitialised(kernel(some + "@%p1 bra L; mov.u32 %r2, 8; L: add.u32 %r3, %r2, 1;")) == "");
  CHECK(uninitialised(kernel(some + "@%p1 bra L; mov.u32 %r4, 8; L: add.u32 %r3, %r4, 1;")) ==
        readOf("register %r4"));
}

TEST_CASE("check-uninit: components of vector registers") {
  CHECK(uninitialised(kernel("mov.b32 %v0.x, 1; mov.b32 %r1, %v0.x;")) == "");
  CHECK(uninitialised(kernel("mov.b32 %v0.x, 1; mov.b32 %r1, %v0.y;")) == readOf("register %v0"));
}

TEST_CASE("check-uninit: shared and local memory, and no laundering") {
  CHECK(uninitialised(kernel("st.shared.u32 [s], 1; ld.shared.u32 %r1, [s];")) == "");
  CHECK(uninitialised(kernel("st.shared.u16 [s], 1; ld.shared.u32 %r1, [s];")) == readOf("shared memory at 0x2"));
  CHECK(uninitialised(kernel("ld.shared.u8 %r1, [s+100];")) == readOf("shared memory at 0x64"));
  CHECK(uninitialised(kernel("st.local.u32 [l], 1; ld.local.u32 %r1, [l];")) == "");
  CHECK(uninitialised(kernel("st.local.u32 [l], 1; ld.local.u64 %rd1, [l];"))
            .starts_with("uninitialised: read of local"));
  CHECK(uninitialised(kernel("atom.shared.exch.b32 %r1, [s], 1; ld.shared.u32 %r2, [s];")) == "");
  CHECK(uninitialised(kernel("red.shared.add.u32 [s], 1;")) == readOf("shared memory at 0x0"));
}

TEST_CASE("check-uninit: a block's memory is new, though it lies where an earlier one's was") {
  const std::string body =
      "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], 1;\n@%p1 st.local.u32 [l], 1;\n";
  CHECK(uninitialised(kernel(body + "@%p1 ld.shared.u32 %r1, [s]; @%p1 ld.local.u32 %r1, [l];"), 32, 3) == "");
  CHECK(uninitialised(kernel(body + "ld.shared.u32 %r1, [s];"), 32, 3) == readOf("shared memory at 0x0"));
  CHECK(uninitialised(kernel(body + "ld.local.u32 %r1, [l];"), 32, 3) == readOf("local memory at 0x0"));
}

TEST_CASE("check-uninit: global memory") {
  const std::string text = kernel(
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd1, %r1, 4, %rd1;\n"
      "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;",
      "", ".param .u64 p");
  for (const unsigned written : {128u, 124u}) {
    ExecTest t(text);
    t.machine().memory().trackWrites();
    t.zeros<uint32_t>("buffer", 32);
    Allocation& a = *t.machine().memory().find(t.address("buffer"));
    std::memset(a.written, 1, written);
    ExecTest::Shape shape;
    shape.grid = {1};
    shape.block = {32};
    shape.checkUninitialised = true;
    std::string message;
    try {
      t.run({"buffer"}, shape);
    } catch (const ExecError& e) {
      message = e.message;
      CHECK(e.kind == FaultKind::Uninitialised);
      CHECK(e.thread == "thread (31,0,0) of block (0,0,0)");
    }
    if (written == 128) CHECK(message == "");
    if (written == 124) CHECK(message.starts_with("read of byte 124 of 'buffer', at 0x"));
  }
}

TEST_CASE("check-uninit: calls carry the state of what they pass") {
  const std::string f =
      ".func (.param .b32 o) f(.param .b32 i)\n{\n.reg .b32 %r<4>; .reg .pred %p;\nld.param.b32 %r1, [i];\n"
      "setp.eq.u32 %p, %r1, 0;\n@%p ret;\nst.param.b32 [o], %r1;\nret;\n}\n"
      ".func (.reg .b32 %o) g(.reg .b32 %i)\n{\nadd.u32 %o, %i, 1;\nret;\n}\n"
      ".func (.reg .b32 %o) h(.reg .b32 %i)\n{\nret;\n}\n";
  const auto call = [](const std::string& first, const std::string& last) {
    return "{\n.param .b32 a; .param .b32 b;\n" + first + "\ncall (b), f, (a);\n" + last + "\n}";
  };
  CHECK(uninitialised(kernel(call("st.param.b32 [a], 5;", "ld.param.b32 %r1, [b];"), f)) == "");
  CHECK(uninitialised(kernel(call("st.param.b32 [a], 0;", ""), f)) == "");
  CHECK(uninitialised(kernel(call("st.param.b32 [a], 0;", "ld.param.b32 %r1, [b];"), f))
            .starts_with("uninitialised: read of local"));
  CHECK(uninitialised(kernel(call("", ""), f)).starts_with("uninitialised: read of local"));
  CHECK(uninitialised(kernel("mov.u32 %r1, 1; call (%r2), g, (%r1); add.u32 %r3, %r2, 1;", f)) == "");
  CHECK(uninitialised(kernel("call (%r2), g, (%r1);", f)) == readOf("register %r1"));
  CHECK(uninitialised(kernel("mov.u32 %r1, 1; call (%r2), h, (%r1);", f)) == readOf("register %o"));
}

TEST_CASE("check-uninit: built-in functions") {
  const std::string declared =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.global .align 1 .b8 text[3] = {37, "
      "100, 0};\n";
  const auto body = [](const std::string& store) {
    return store +
           "\ncvta.local.u64 %rd1, %rd1; cvta.global.u64 %rd2, text;\n{ .param .b64 a; .param .b64 b; .param .b32 "
           "c;\n"
           "st.param.b64 [a], %rd2; st.param.b64 [b], %rd1; call (c), vprintf, (a, b); ld.param.b32 %r3, [c]; }";
  };
  CHECK(uninitialised(kernel(body("mov.u64 %rd1, l; st.local.u32 [%rd1], 5;"), declared)) == "");
  CHECK(uninitialised(kernel(body("mov.u64 %rd1, l;"), declared)).starts_with("uninitialised: read of local"));
}

TEST_CASE("check-races: two threads write one place") {
  CHECK(race(kernel("st.shared.u32 [s], 1;"), 2) ==
        "race: write of shared memory at 0x0 by thread (1,0,0) at line 10 is not ordered with the write by thread "
        "(0,0,0) at line 10");
  CHECK(race(kernel("st.shared.u32 [s], 1;"), 1) == "");
  CHECK(race(kernel("mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.u32 %r2, %r2, %r1; "
                    "st.shared.u32 [%r2], 1;")) == "");
}

namespace {
// Each thread writes its word and reads that of the next thread but `distance`.
std::string exchange(const std::string& between, const std::string& behind = "") {
  return kernel(
      "mov.u32 %r1, %tid.x; mov.u32 %r9, %ntid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
      "add.u32 %r4, %r1, 1; rem.u32 %r4, %r4, %r9; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r3;\n"
      "st.shared.u32 [%r2], %r1;\n" +
      between + "\nld.shared.u32 %r5, [%r4];\n" + behind);
}
}  // namespace

TEST_CASE("check-races: barriers order") {
  CHECK(race(exchange("")).starts_with("race: "));
  CHECK(race(exchange("bar.sync 0;")) == "");
  CHECK(race(exchange("barrier.sync 3, 64;")) == "");
  CHECK(race(exchange("bar.sync 0;", "st.shared.u32 [%r2], 7;")).starts_with("race: write of"));
  CHECK(race(exchange("bar.sync 0;", "bar.sync 0; st.shared.u32 [%r2], 7;")) == "");
  CHECK(race(exchange("bar.red.popc.u32 %r7, 0, 1;")) == "");
  // Each warp for itself is not enough for two of them.
  CHECK(race(exchange("bar.warp.sync -1;"), 32) == "");
  CHECK(race(exchange("bar.warp.sync -1;"), 64).starts_with("race: "));
  CHECK(race(exchange("shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;"), 32) == "");
  CHECK(race(exchange("membar.cta;"), 32).starts_with("race: "));
}

TEST_CASE("check-races: an arrival releases, only a wait acquires") {
  const auto body = [](const std::string& producer, const std::string& consumer) {
    return kernel("mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; @%p1 bra P;\n" + consumer +
                  "bra E;\nP: " + producer + "\nE:");
  };
  const std::string one = "setp.eq.u32 %p2, %r1, 0;\n", other = "setp.eq.u32 %p2, %r1, 32;\n";
  CHECK(race(body(one + "@%p2 st.shared.u32 [s], 1; bar.arrive 1, 64;\n",
                  other + "bar.sync 1, 64; @%p2 ld.shared.u32 %r2, [s];\n")) == "");
  // What the producer does behind its arrival is not ordered.
  CHECK(race(body(one + "bar.arrive 1, 64; @%p2 st.shared.u32 [s], 1;\n",
                  other + "bar.sync 1, 64; @%p2 ld.shared.u32 %r2, [s];\n"))
            .starts_with("race: "));
  // A thread that exits arrives thereby, if all are waited for.
  CHECK(race(body(one + "@%p2 st.shared.u32 [s], 1; exit;\n",
                  other + "bar.sync 1; @%p2 ld.shared.u32 %r2, [s];\n")) == "");
  CHECK(race(body(one + "bar.arrive 1, 64; @%p2 ld.shared.u32 %r2, [s];\n",
                  other + "@%p2 st.shared.u32 [s], 1; bar.sync 1, 64;\n"))
            .starts_with("race: "));
}

TEST_CASE("check-races: atomic accesses do not race with each other, but with plain ones") {
  CHECK(race(kernel("atom.shared.add.u32 %r1, [s], 1;")) == "");
  CHECK(race(kernel("st.shared.u32 [s], 1;"), 1) == "");
  CHECK(race(kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; red.shared.add.u32 "
                    "[s], 1;"))
            .starts_with("race: atomic access of shared memory"));
  CHECK(race(kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; red.shared.add.u32 [s], 1; @%p1 ld.shared.u32 "
                    "%r2, [s];"))
            .starts_with("race: read of shared memory"));
  CHECK(race(kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; bar.sync 0;"
                    "red.shared.add.u32 [s], 1; bar.sync 0; ld.shared.u32 %r2, [s];")) == "");
  CHECK(race(kernel("st.volatile.shared.u32 [s], 1; ld.volatile.shared.u32 %r1, [s];")) == "");
}

TEST_CASE("check-races: locks and flags order when they release and acquire") {
  const auto handOver = [](const std::string& store, const std::string& load) {
    return kernel(
        "mov.u32 %r1, %tid.x; mov.u32 %r3, 0; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;\n"
        "@%p1 st.volatile.shared.u32 [s+64], 0; bar.sync 0;\n"
        "@%p1 st.shared.u32 [s], 5;\n" +
        store + "\n@!%p2 bra E;\nL: " + load +
        "\nsetp.eq.u32 %p3, %r3, 0; @%p3 bra L;\nld.shared.u32 %r2, [s];\nE:");
  };
  CHECK(race(handOver("@%p1 st.release.cta.shared.u32 [s+64], 1;", "ld.acquire.cta.shared.u32 %r3, [s+64];")) ==
        "");
  CHECK(race(handOver("@%p1 st.relaxed.cta.shared.u32 [s+64], 1;", "ld.acquire.cta.shared.u32 %r3, [s+64];"))
            .starts_with("race: read"));
  CHECK(race(handOver("@%p1 st.release.cta.shared.u32 [s+64], 1;", "ld.relaxed.cta.shared.u32 %r3, [s+64];"))
            .starts_with("race: read"));
  CHECK(race(handOver("membar.cta; @%p1 st.volatile.shared.u32 [s+64], 1;",
                      "ld.volatile.shared.u32 %r3, [s+64]; membar.cta;")) == "");
  CHECK(race(handOver("@%p1 atom.release.cta.shared.exch.b32 %r8, [s+64], 1;",
                      "atom.acquire.cta.shared.or.b32 %r3, [s+64], 0;")) == "");
}

TEST_CASE("check-races: blocks one after the other, and a cluster's together") {
  // The same addresses of the host, other memory.
  CHECK(race(kernel("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [s], 1; bar.sync 0; "
                    "ld.shared.u32 %r2, [s];"),
             64, 5) == "");
  const auto remote = [](const std::string& between) {
    return kernel(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1; mov.u32 "
        "%r4, s;\n"
        "mapa.shared::cluster.u32 %r3, %r4, %r2; @%p1 st.shared::cluster.u32 [%r3], 1;\n" +
        between + "\n@%p1 ld.shared.u32 %r5, [s];");
  };
  const std::string barrier = "barrier.cluster.arrive; barrier.cluster.wait;";
  CHECK(race(remote(barrier), 64, 4, 2) == "");
  CHECK(race(remote("bar.sync 0;"), 64, 4, 2).starts_with("race: "));
  CHECK(race(remote("bar.sync 0;"), 64, 4, 2).find(" of block (") != std::string::npos);
}

TEST_CASE("check-races: an mbarrier orders") {
  const auto body = [](const std::string& wait) {
    return kernel(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 32;\n"
        "@%p1 mbarrier.init.shared.b64 [s+64], 1; bar.sync 0;\n"
        "@%p1 st.shared.u32 [s], 5; @%p1 mbarrier.arrive.shared.b64 _, [s+64];\n@!%p2 bra E;\n" +
        wait + "ld.shared.u32 %r2, [s];\nE:");
  };
  CHECK(race(body("L: mbarrier.test_wait.parity.shared.b64 %p3, [s+64], 0; @!%p3 bra L;\n")) == "");
  CHECK(race(body("")).starts_with("race: "));
}

namespace {
// %rd1 is a buffer of 64 words of zeros, %rd2 the word of the thread in it, %r1 the number of the thread.
std::string onGlobal(const std::string& body) {
  return kernel(
      "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;\n"
      "add.s64 %rd2, %rd2, %rd1; setp.eq.u32 %p1, %r1, 0;\n" +
          body,
      "", ".param .u64 p");
}

std::string checked(const std::string& text, ExecTest::Shape shape) {
  ExecTest t(text);
  t.buffer("p", std::vector<uint32_t>(64));
  try {
    t.run({"p"}, shape, "k");
  } catch (const ExecError& e) {
    return std::string(name(e.kind)) + ": " + e.message;
  }
  return "";
}

std::string globalRace(const std::string& body, uint32_t threads = 64, uint32_t blocks = 1) {
  ExecTest::Shape shape;
  shape.grid = {blocks};
  shape.block = {threads};
  shape.checkGlobalRaces = true;
  return checked(onGlobal(body), shape);
}

std::string division(const std::string& body) {
  ExecTest::Shape shape;
  shape.grid = {1};
  shape.block = {4};
  shape.checkDivisions = true;
  return checked(onGlobal("mov.u32 %r4, 0; div.u32 %r5, %r1, %r4;\n" + body), shape);
}
}  // namespace

TEST_CASE("check-races: threads that write one word of global memory") {
  CHECK(globalRace("st.global.u32 [%rd1], %r1;").starts_with("race: write of 'p' at 0x"));
  CHECK(globalRace("st.global.u32 [%rd1], %r1;", 1) == "");
  CHECK(globalRace("st.global.u32 [%rd2], %r1;") == "");
  // Of two blocks.
  CHECK(globalRace("st.global.u32 [%rd2], %r9;", 32, 2).find("of block (0,0,0)") != std::string::npos);
  // The bytes of one word.
  CHECK(globalRace("cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, %rd1; st.global.u8 [%rd3], %r1;") == "");
  CHECK(globalRace("cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, %rd1; add.u32 %r1, %r1, 1;\n"
                   "st.global.u8 [%rd3], %r1; @%p1 ld.global.u32 %r2, [%rd1];")
            .starts_with("race: read of"));
}

TEST_CASE("check-races: the same value in every order is none in global memory") {
  CHECK(globalRace("st.global.u32 [%rd1], 7;", 64, 3) == "");
  CHECK(globalRace("st.global.u32 [%rd1], 7; ld.global.u32 %r2, [%rd1];", 64, 2) == "");
  // Who has not written it may see what was there.
  CHECK(globalRace("@!%p1 st.global.u32 [%rd1], 7; @%p1 ld.global.u32 %r2, [%rd1];").starts_with("race: read of"));
  // What is there already changes nothing.
  CHECK(globalRace("@!%p1 st.global.u32 [%rd1], 0; @%p1 ld.global.u32 %r2, [%rd1];") == "");
  CHECK(globalRace("@!%p1 st.global.u32 [%rd1], 0; @%p1 st.global.u32 [%rd1], 1;").starts_with("race: write of"));
}

TEST_CASE("check-races: what orders accesses to global memory") {
  const std::string read =
      "xor.b32 %r3, %r1, 33; mul.wide.u32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1;\n"
      "ld.global.u32 %r4, [%rd3];";
  const std::string write = "add.u32 %r2, %r1, 1; st.global.u32 [%rd2], %r2;\n";
  CHECK(globalRace(write + read).starts_with("race: "));
  CHECK(globalRace(write + "bar.sync 0;\n" + read) == "");
  CHECK(globalRace("red.global.add.u32 [%rd1], 1;", 64, 2) == "");
  CHECK(globalRace("red.global.add.u32 [%rd1], 1; @%p1 ld.global.u32 %r2, [%rd1];").starts_with("race: read of"));
  // The last block to count takes what the first has left.
  const auto last = [](const std::string& fence) {
    return "setp.eq.u32 %p2, %r9, 0; add.u32 %r2, %r9, 5; @%p2 st.global.u32 [%rd2+4], %r2;\n" + fence +
           "atom.global.add.u32 %r3, [%rd1], 1; setp.ne.u32 %p3, %r3, 0; @%p3 ld.global.u32 %r4, [%rd2+4];";
  };
  CHECK(globalRace(last("membar.gl;\n"), 1, 2) == "");
  CHECK(globalRace(last(""), 1, 2).starts_with("race: read of"));
}

TEST_CASE("check-divisions: what a quotient by zero comes to") {
  const std::string fault = "division-by-zero: this rests on a division by zero, for which PTX gives no result";
  CHECK(division("st.global.u32 [%rd2], %r1;") == "");
  CHECK(division("st.global.u32 [%rd2], %r5;") == fault);
  CHECK(division("add.u32 %r6, %r5, 1; mov.u32 %r7, %r6; st.global.u32 [%rd2], %r7;") == fault);
  CHECK(division("add.u32 %r6, %r5, 1; mov.u32 %r6, 3; st.global.u32 [%rd2], %r6;") == "");
  CHECK(division("setp.eq.u32 %p2, %r5, 5; @%p2 st.global.u32 [%rd2], %r1;") == fault);
  CHECK(division("mul.wide.u32 %rd3, %r5, 0; add.s64 %rd3, %rd3, %rd1; ld.global.u32 %r6, [%rd3];") == fault);
  CHECK(division("setp.eq.u32 %p2, %r4, 0; selp.b32 %r6, 9, %r5, %p2; st.global.u32 [%rd2], %r6;") == "");
  CHECK(division("setp.ne.u32 %p2, %r4, 0; selp.b32 %r6, 9, %r5, %p2; st.global.u32 [%rd2], %r6;") == fault);
  // Another lane's.
  CHECK(division("rem.u32 %r5, 8, %r1; shfl.sync.idx.b32 %r6, %r5, 0, 31, 15; @!%p1 st.global.u32 [%rd2], %r6;") ==
        fault);
  CHECK(division("mov.u32 %r5, 1; @!%p1 rem.u32 %r5, 8, %r1; st.global.u32 [%rd2], %r5;") == "");
}

TEST_CASE("checks: both at once") {
  ExecTest::Shape shape;
  shape.grid = {1};
  shape.block = {64};
  shape.checkRaces = shape.checkUninitialised = true;
  CHECK(fault(exchange("bar.sync 0;"), shape) == "");
  CHECK(fault(exchange(""), shape).starts_with("race: "));
  CHECK(fault(kernel("add.u32 %r1, %r2, 1;"), shape) == readOf("register %r2"));
}

}  // namespace ptxopt::exec
