// alloca, stacksave, stackrestore and trap.
#include <doctest/doctest.h>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

std::vector<uint32_t> lanes() {
  std::vector<uint32_t> v(32);
  for (uint32_t i = 0; i < 32; ++i) v[i] = i;
  return v;
}

// What `body` leaves in %out, lane by lane; %a is the lane's number.
std::vector<uint64_t> run(const std::string& body, const std::string& type = "b64") {
  if (type == "b32") {
    const auto v = perLane<uint32_t, uint32_t>("b32", {{"b32", lanes()}}, body);
    return {v.begin(), v.end()};
  }
  return perLane<uint64_t, uint32_t>("b64", {{"b32", lanes()}}, body);
}

ExecError errorOf(const std::string& body) {
  try {
    run(body);
  } catch (const ExecError& e) {
    return e;
  }
  FAIL("no error");
  return ExecError(FaultKind::Trap, "");
}

}  // namespace

TEST_CASE("alloca gives each thread memory of its own") {
  // Lane i takes i + 1 words, fills them, and sums them up.
  const auto sums = run(R"(
    add.u32 %r0, %a, 1; mul.wide.u32 %rd0, %r0, 4;
    alloca.u64 %rd1, %rd0;
    mov.u32 %r1, 0; mov.b64 %rd2, %rd1; mul.lo.u32 %r3, %a, 100;
  L: add.u32 %r2, %r3, %r1; st.local.u32 [%rd2], %r2; add.u64 %rd2, %rd2, 4; add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, %r0; @%p0 bra L;
    mov.b64 %out, 0; mov.b64 %rd2, %rd1; mov.u32 %r1, 0;
  M: ld.local.u32 %r2, [%rd2]; cvt.u64.u32 %rd3, %r2; add.u64 %out, %out, %rd3; add.u64 %rd2, %rd2, 4;
    add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r0; @%p0 bra M;)");
  for (uint64_t i = 0; i < 32; ++i) CHECK(sums[i] == (i + 1) * 100 * i + i * (i + 1) / 2);
}

TEST_CASE("alloca aligns, and its memory is local") {
  for (const unsigned alignment : {1u, 8u, 16u, 128u, 1024u}) {
    const auto low = run("alloca.u64 %rd0, 3; alloca.u64 %rd1, 5, " + std::to_string(alignment) +
                         "; and.b64 %out, %rd1, " + std::to_string(std::max(alignment, 8u) - 1) + ";");
    for (const uint64_t x : low) CHECK(x == 0);
  }
  // Two of them do not overlap; a generic address of one reaches the same bytes.
  const auto kept = run(R"(alloca.u32 %r0, 4; alloca.u32 %r1, 4; st.local.u32 [%r0], 11; st.local.u32 [%r1], 22;
    cvt.u64.u32 %rd0, %r0; cvta.local.u64 %rd0, %rd0; ld.u32 %r2, [%rd0]; ld.local.u32 %r3, [%r1];
    mad.lo.u32 %out, %r2, 100, %r3;)",
                        "b32");
  for (const uint64_t x : kept) CHECK(x == 1122);
  CHECK(errorOf("alloca.u64 %rd0, 8; ld.local.u64 %out, [%rd0+8];").kind == FaultKind::OutOfBounds);
  CHECK(errorOf("alloca.u64 %out, 8, 24;").kind == FaultKind::Unsupported);
  CHECK(errorOf("mov.b64 %rd0, 1000000000; alloca.u64 %out, %rd0;").kind == FaultKind::StackOverflow);
  CHECK(errorOf("mov.b64 %rd0, -1; alloca.u64 %out, %rd0;").kind == FaultKind::StackOverflow);
}

TEST_CASE("alloca under a guard moves the stack of those lanes only") {
  const auto moved = run(R"(stacksave.u64 %rd0; setp.lt.u32 %p0, %a, 5; @%p0 alloca.u64 %rd1, 64;
    stacksave.u64 %rd2; sub.u64 %out, %rd2, %rd0;)");
  for (unsigned i = 0; i < 32; ++i) CHECK((moved[i] >= 64) == (i < 5));
}

TEST_CASE("stackrestore takes what stacksave gave") {
  const auto same = run(R"(alloca.u64 %rd0, 24; stacksave.u64 %rd1; alloca.u64 %rd2, 100; stackrestore.u64 %rd1;
    alloca.u64 %rd3, 100; sub.u64 %out, %rd2, %rd3;)");
  for (const uint64_t x : same) CHECK(x == 0);
  const auto narrow =
      run("stacksave.u32 %r0; alloca.u32 %r1, 16; stackrestore.u32 %r0; stacksave.u32 %r2; "
          "sub.u32 %out, %r2, %r0;",
          "b32");
  for (const uint64_t x : narrow) CHECK(x == 0);
  // Memory given back is out of bounds; a stack pointer above the top is not one.
  CHECK(
      errorOf("stacksave.u64 %rd1; alloca.u64 %rd2, 16; stackrestore.u64 %rd1; ld.local.u64 %out, [%rd2];").kind ==
      FaultKind::OutOfBounds);
  const ExecError high = errorOf("stacksave.u64 %rd1; add.u64 %rd1, %rd1, 8; stackrestore.u64 %rd1;");
  CHECK(high.kind == FaultKind::OutOfBounds);
  CHECK(high.message.find("is not a stack pointer") != std::string::npos);
}

TEST_CASE("returning from a function frees what it allocated") {
  ExecTest t(R"(.version 9.0
.target sm_90a
.address_size 64
.func (.reg .b64 top) f(.reg .b64 size)
{ .reg .b64 %p; alloca.u64 %p, size; st.local.u64 [%p], size; stacksave.u64 top; ret; }
.visible .entry k(.param .u64 o)
{ .reg .b64 %rd<9>;
  ld.param.u64 %rd0, [o];
  stacksave.u64 %rd1;
  call (%rd2), f, (64);
  stacksave.u64 %rd3;
  call (%rd4), f, (64);
  sub.u64 %rd5, %rd3, %rd1;
  sub.u64 %rd6, %rd4, %rd2;
  st.global.u64 [%rd0], %rd5;
  st.global.u64 [%rd0+8], %rd6;
  ret; })");
  t.buffer<uint64_t>("o", {7, 7});
  t.run({"o"}, {.grid = {1}, .block = {1}}, "k");
  CHECK(t.values<uint64_t>("o") == std::vector<uint64_t>{0, 0});
}

TEST_CASE("trap ends the launch, where a thread comes to it") {
  const ExecError e = errorOf("setp.eq.u32 %p0, %a, 9; @%p0 trap; mov.b64 %out, 0;");
  CHECK(e.kind == FaultKind::Trap);
  CHECK(e.thread == "thread (9,0,0) of block (0,0,0)");
  const auto untouched = run("setp.eq.u32 %p0, %a, 99; @%p0 trap; mov.b64 %out, 3;");
  for (const uint64_t x : untouched) CHECK(x == 3);
}
