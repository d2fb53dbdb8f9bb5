// atom and red in every operation and type, in global, shared and generic addressing; results in lane order;
// several host threads; spin locks.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "exec_support.h"
#include "sampled.h"

using namespace ptxopt::exec;
using ptxopt::testing::isSanitized;

namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n"
         ".reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<20>;\n"
         ".reg .f64 %fd<10>; .reg .b128 %q<8>; .reg .b64 %out, %in, %sp; .reg .b32 %t;\n"
         ".shared .align 32 .b8 smem[64];\nmov.u64 %sp, smem;\n"
         "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\nmov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

struct Result {
  uint64_t before, after;
};

// One thread applies the operation to `initial` in memory; for atom also gives the result. `regs` names a register
// of the type's width; `operands` are loaded from the input.
template <typename T>
Result apply(const std::string& operation, const std::string& reg, const std::string& space, T initial,
             std::vector<T> operands) {
  const std::string bits = "b" + std::to_string(8 * sizeof(T));
  const std::string place = space == "global" ? "%in" : "%sp";
  const std::string dot = space == "generic" ? "" : "." + space;
  const std::string access = space == "global" ? "global" : "shared";
  std::vector<T> in = {initial};
  in.insert(in.end(), operands.begin(), operands.end());
  std::string body;
  for (std::size_t i = 0; i < in.size(); ++i)
    body +=
        "ld.global." + bits + " %" + reg + std::to_string(i) + ", [%in+" + std::to_string(i * sizeof(T)) + "];\n";
  body += "st." + access + "." + bits + " [" + place + "], %" + reg + "0;\n";
  std::string address = place;
  if (space == "generic") body += "cvta.shared.u64 %rd9, %sp;\n", address = "%rd9";
  std::string list = "[" + address + "]";
  for (std::size_t i = 1; i < in.size(); ++i) list += ", %" + reg + std::to_string(i);
  const bool isRed = operation.starts_with("red");
  const std::string opcode = isRed ? "red" + dot + operation.substr(3) : "atom" + dot + operation.substr(4);
  body += opcode + " " + (isRed ? "" : "%" + reg + "5, ") + list + ";\n";
  if (!isRed) body += "st.global." + bits + " [%out], %" + reg + "5;\n";
  body += "ld." + access + "." + bits + " %" + reg + "6, [" + place + "];\nst.global." + bits + " [%out+8], %" +
          reg + "6;";
  ExecTest t(kernel(body));
  t.zeros<uint64_t>("out", 2);
  t.buffer<T>("in", in);
  t.run({"out", "in"}, {});
  const auto out = t.values<uint64_t>("out");
  return {out[0], out[1]};
}

template <typename T>
void check(const std::string& op, const std::string& type, const std::string& reg, T initial, T operand,
           T expected) {
  for (const char* space : {"global", "shared", "generic"}) {
    CAPTURE(op);
    CAPTURE(type);
    CAPTURE(space);
    const std::string suffix = "." + op + "." + type;
    const Result a = apply<T>("atom" + suffix, reg, space, initial, {operand});
    CHECK(a.before == initial);
    CHECK(a.after == expected);
    if (op == "exch") continue;
    CHECK(apply<T>("red" + suffix, reg, space, initial, {operand}).after == expected);
  }
}

uint32_t bitsOf(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t bitsOf(double x) { return std::bit_cast<uint64_t>(x); }

}  // namespace

TEST_CASE("exec atom: integers") {
  using U = uint32_t;
  using L = uint64_t;
  check<U>("and", "b32", "r", 0xff00ff00, 0x0ff00ff0, 0x0f000f00);
  check<U>("or", "b32", "r", 0xff00ff00, 0x0ff00ff0, 0xfff0fff0);
  check<U>("xor", "b32", "r", 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0);
  check<U>("exch", "b32", "r", 1, 2, 2);
  check<U>("add", "u32", "r", 0xffffffff, 2, 1);
  check<U>("add", "s32", "r", 0x7fffffff, 1, 0x80000000);
  check<U>("inc", "u32", "r", 4, 5, 5);
  check<U>("inc", "u32", "r", 5, 5, 0);
  check<U>("inc", "u32", "r", 9, 5, 0);
  check<U>("dec", "u32", "r", 5, 5, 4);
  check<U>("dec", "u32", "r", 0, 5, 5);
  check<U>("dec", "u32", "r", 9, 5, 5);
  check<U>("min", "u32", "r", 0xffffffff, 3, 3);
  check<U>("max", "u32", "r", 0xffffffff, 3, 0xffffffff);
  check<U>("min", "s32", "r", 0xffffffff, 3, 0xffffffff);
  check<U>("max", "s32", "r", 0xffffffff, 3, 3);
  check<L>("and", "b64", "rd", 0xff00ff0000000001, 0x0ff00ff000000003, 0x0f000f0000000001);
  check<L>("or", "b64", "rd", L{1} << 63, 1, L{1} << 63 | 1);
  check<L>("xor", "b64", "rd", ~L{0}, 1, ~L{1});
  check<L>("exch", "b64", "rd", 1, L{2} << 40, L{2} << 40);
  check<L>("add", "u64", "rd", 0xffffffff, 1, 0x100000000);
  check<L>("min", "u64", "rd", ~L{0}, 3, 3);
  check<L>("max", "u64", "rd", ~L{0}, 3, ~L{0});
  check<L>("min", "s64", "rd", ~L{0}, 3, ~L{0});
  check<L>("max", "s64", "rd", ~L{0}, 3, 3);
}

TEST_CASE("exec atom: compare and swap") {
  for (const char* space : {"global", "shared", "generic"}) {
    for (const bool equal : {true, false}) {
      const auto h = apply<uint16_t>("atom.cas.b16", "h", space, 7, {static_cast<uint16_t>(equal ? 7 : 8), 9});
      CHECK(h.before == 7);
      CHECK(h.after == (equal ? 9 : 7));
      const auto r = apply<uint32_t>("atom.cas.b32", "r", space, 7, {equal ? 7u : 8u, 0x90000000});
      CHECK(r.before == 7);
      CHECK(r.after == (equal ? 0x90000000 : 7));
      const auto rd =
          apply<uint64_t>("atom.acq_rel.gpu.cas.b64", "rd", space == std::string("generic") ? "generic" : space, 7,
                          {equal ? uint64_t{7} : uint64_t{7} << 32, uint64_t{9} << 40});
      CHECK(rd.before == 7);
      CHECK(rd.after == (equal ? uint64_t{9} << 40 : 7));
    }
  }
}

TEST_CASE("exec atom: 128 bits") {
  ExecTest t(
      kernel("ld.global.b128 %q1, [%in];\nld.global.b128 %q2, [%in+16];\nld.global.b128 %q3, [%in+32];\n"
             "st.shared.b128 [smem], %q1;\natom.shared.cas.b128 %q4, [smem], %q2, %q3;\n"
             "st.global.b128 [%out], %q4;\natom.shared.cas.b128 %q4, [smem], %q1, %q3;\n"
             "ld.shared.b128 %q5, [smem];\nst.global.b128 [%out+16], %q5;\n"
             "atom.global.exch.b128 %q6, [%in], %q2;\nst.global.b128 [%out+32], %q6;"));
  t.zeros<uint64_t>("out", 6);
  t.buffer<uint64_t>("in", {1, 2, 1, 3, 5, 6});
  t.run({"out", "in"}, {});
  CHECK(t.values<uint64_t>("out") == std::vector<uint64_t>{1, 2, 5, 6, 1, 2});
  CHECK(t.values<uint64_t>("in") == std::vector<uint64_t>{1, 3, 1, 3, 5, 6});
}

TEST_CASE("exec atom: floating point") {
  check<uint32_t>("add", "f32", "f", bitsOf(1.5f), bitsOf(-4.0f), bitsOf(-2.5f));
  // Ties go to even: 2^24 + 1 lies halfway between 2^24 and 2^24 + 2.
  check<uint32_t>("add", "f32", "f", bitsOf(0x1p24f), bitsOf(1.0f), bitsOf(0x1p24f));
  check<uint32_t>("add", "f32", "f", bitsOf(0x1.000002p24f), bitsOf(1.0f), bitsOf(0x1.000004p24f));
  check<uint64_t>("add", "f64", "fd", bitsOf(0.1), bitsOf(0.2), 0x3fd3333333333334);
  check<uint64_t>("add", "f64", "fd", 1, 1, 2);  // subnormal
  check<uint16_t>("add.noftz", "f16", "h", 0x3c00, 0x3c00, 0x4000);
  check<uint16_t>("add.noftz", "f16", "h", 0x6800, 0x3c00, 0x6800);  // 2048 + 1
  check<uint16_t>("add.noftz", "f16", "h", 0x0001, 0x0001, 0x0002);
  check<uint16_t>("add.noftz", "f16", "h", 0x7bff, 0x7bff, 0x7c00);
  check<uint16_t>("add.noftz", "bf16", "h", 0x3f80, 0x3f80, 0x4000);
  check<uint16_t>("add.noftz", "bf16", "h", 0x4380, 0x3f80, 0x4380);  // 256 + 1
  check<uint16_t>("add.noftz", "bf16", "h", 0x0001, 0x0002, 0x0003);
  check<uint32_t>("add.noftz", "f16x2", "r", 0x3c004000, 0x3c003c00, 0x40004200);
  check<uint32_t>("add.noftz", "bf16x2", "r", 0x3f804000, 0x3f803f80, 0x40004040);
}

TEST_CASE("exec atom.add.f32 flushes subnormals in global memory only") {
  const uint32_t tiny = 0x00000003, minusTiny = 0x80000003;
  CHECK(apply<uint32_t>("atom.add.f32", "f", "global", tiny, {tiny}).after == 0);
  CHECK(apply<uint32_t>("red.add.f32", "f", "global", minusTiny, {minusTiny}).after == 0x80000000);
  CHECK(apply<uint32_t>("atom.add.f32", "f", "shared", tiny, {tiny}).after == 6);
  CHECK(apply<uint32_t>("red.add.f32", "f", "generic", minusTiny, {minusTiny}).after == 0x80000006);
  // A subnormal result of normal operands.
  const uint32_t least = bitsOf(0x1p-126f);
  CHECK(apply<uint32_t>("atom.add.f32", "f", "global", least | 1, {least | 0x80000000}).after == 0);
  CHECK(apply<uint32_t>("atom.add.f32", "f", "shared", least | 1, {least | 0x80000000}).after == 1);
}

TEST_CASE("exec atom and red: vectors") {
  ExecTest t(kernel(
      "mov.b32 %f1, 0f3F800000;\nmov.b32 %f2, 0f40000000;\n"
      "atom.global.add.v4.f32 {%f3,%f4,%f5,%f6}, [%in], {%f1,%f2,%f1,%f2};\n"
      "st.global.v4.f32 [%out], {%f3,%f4,%f5,%f6};\nred.global.add.v2.f32 [%in], {%f2,%f2};\n"
      "atom.global.add.v2.f32 _, [%in+8], {%f1,%f1};\n"
      "mov.b16 %h1, 0x3c00;\nmov.b16 %h2, 0x4000;\n"
      "red.global.v4.f16.max.noftz [%in+16], {%h1,%h2,%h1,%h2};\n"
      "atom.global.v2.bf16.min.noftz {%h3,%h4}, [%in+24], {%h1,%h2};\nst.global.v2.b16 [%out+16], {%h3,%h4};\n"
      "mov.b32 %r1, 0x3c004000;\nred.global.v2.f16x2.add.noftz [%in+32], {%r1,%r1};\n"
      "red.global.v8.f16.add.noftz [%in+48], {%h1,%h1,%h1,%h1,%h2,%h2,%h2,%h2};"));
  t.zeros<uint32_t>("out", 8);
  std::vector<uint32_t> in(16);
  in[0] = bitsOf(10.0f), in[1] = bitsOf(20.0f), in[2] = bitsOf(30.0f), in[3] = bitsOf(40.0f);
  in[4] = 0x7e003e00;  // NaN and 1.5: max gives 2.0 (the number) and 1.5
  in[5] = 0x40004000;  // 2, 2
  in[6] = 0x3c003d00;
  in[8] = 0x40003c00, in[9] = 0;
  t.buffer<uint32_t>("in", in);
  t.run({"out", "in"}, {});
  const auto out = t.values<uint32_t>("out"), after = t.values<uint32_t>("in");
  CHECK(out[0] == bitsOf(10.0f));
  CHECK(out[3] == bitsOf(40.0f));
  CHECK(after[0] == bitsOf(13.0f));
  CHECK(after[1] == bitsOf(24.0f));
  CHECK(after[2] == bitsOf(32.0f));
  CHECK(after[3] == bitsOf(43.0f));
  CHECK(after[4] == 0x40003e00);
  CHECK(after[5] == 0x40004000);
  CHECK(out[4] == 0x3c003d00);
  CHECK(after[6] == 0x3c003c00);
  CHECK(after[8] == 0x42004200);
  CHECK(after[9] == 0x3c004000);
  CHECK(after[12] == 0x3c003c00);
  CHECK(after[15] == 0x40004000);
}

TEST_CASE("exec atom: lanes in ascending order, inactive ones not at all") {
  ExecTest t(
      kernel("setp.ne.u32 %p1, %t, 5;\n@%p1 atom.global.add.u32 %r1, [%in], 3;\n"
             "mul.wide.u32 %rd1, %t, 4;\nadd.u64 %rd1, %rd1, %out;\n@%p1 st.global.u32 [%rd1], %r1;"));
  t.zeros<uint32_t>("out", 32);
  t.buffer<uint32_t>("in", {100});
  t.run({"out", "in"}, {.grid = {1}, .block = {32}});
  const auto out = t.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) CHECK(out[i] == (i == 5 ? 0 : 100 + 3 * (i < 5 ? i : i - 1)));
  CHECK(t.values<uint32_t>("in")[0] == 100 + 3 * 31);
}

TEST_CASE("exec atom: blocks on several host threads") {
  ExecTest t(
      kernel("mov.u32 %r9, 0;\nL:\nred.global.add.u32 [%in], 1;\natom.global.inc.u32 %r1, [%in+4], 0xffffffff;\n"
             "atom.global.max.u32 %r2, [%in+8], %r1;\nred.add.u64 [%in+16], 5;\nadd.u32 %r9, %r9, 1;\n"
             "setp.lt.u32 %p1, %r9, 20;\n@%p1 bra L;"));
  t.zeros<uint32_t>("out", 1);
  t.buffer<uint32_t>("in", {0, 0, 0, 0, 0, 0});
  t.run({"out", "in"}, {.grid = {40}, .block = {32}, .jobs = 4});
  const uint32_t n = 40 * 32 * 20;
  CHECK(t.values<uint32_t>("in") == std::vector<uint32_t>{n, n, n - 1, 0, 5 * n, 0});
}

TEST_CASE("exec atom: a spin lock among lanes, warps and blocks" * doctest::test_suite("slow")) {
  // All threads spin but one: the time grows with the square of their number.
  const uint32_t blocks = isSanitized() ? 2 : 3, threads = isSanitized() ? 34 : 64;
  for (const unsigned jobs : {1u, 3u}) {
    ExecTest t(
        kernel("L:\natom.global.acquire.gpu.cas.b32 %r1, [%in], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"
               "ld.volatile.global.u32 %r2, [%in+4];\nadd.u32 %r2, %r2, 1;\n"
               "st.volatile.global.u32 [%in+4], %r2;\nfence.acq_rel.gpu;\n"
               "st.release.gpu.global.u32 [%in], 0;"));
    t.zeros<uint32_t>("out", 1);
    t.buffer<uint32_t>("in", {0, 0});
    t.run({"out", "in"}, {.grid = {blocks}, .block = {threads}, .jobs = jobs});
    CHECK(t.values<uint32_t>("in") == std::vector<uint32_t>{0, blocks * threads});
  }
}

TEST_CASE("exec atom: waiting for a flag of another block") {
  // Block 0 waits for what block 1 stores.
  ExecTest t(
      kernel("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra SET;\n"
             "W:\nld.acquire.gpu.global.u32 %r2, [%in];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra W;\n"
             "ld.global.u32 %r3, [%in+4];\nst.global.u32 [%out], %r3;\nret;\n"
             "SET:\nst.global.u32 [%in+4], 77;\nst.release.gpu.global.u32 [%in], 1;"));
  t.zeros<uint32_t>("out", 1);
  t.buffer<uint32_t>("in", {0, 0});
  t.run({"out", "in"}, {.grid = {2}, .block = {1}});
  CHECK(t.values<uint32_t>("out")[0] == 77);
}

TEST_CASE("exec atom: faults") {
  const auto kindOf = [](const std::string& body) {
    ExecTest t(kernel(body));
    t.zeros<uint32_t>("out", 4);
    t.zeros<uint32_t>("in", 4);
    try {
      t.run({"out", "in"}, {});
    } catch (const ExecError& e) {
      return e.kind;
    }
    return FaultKind::BadLaunch;
  };
  CHECK(kindOf("atom.global.add.u32 %r1, [%in+16], 1;") == FaultKind::OutOfBounds);
  CHECK(kindOf("red.global.add.u32 [%in+2], 1;") == FaultKind::Misaligned);
  CHECK(kindOf("red.global.add.u64 [%in+4], 1;") == FaultKind::Misaligned);
  CHECK(kindOf("atom.shared.or.b32 %r1, [smem+4096], 1;") == FaultKind::OutOfBounds);
  CHECK(kindOf("multimem.red.relaxed.sys.global.add.u32 [%in], %r1;") == FaultKind::Unsupported);
}
