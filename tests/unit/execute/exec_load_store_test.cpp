// ld, ldu and st in every width, vector form and state space; extension and truncation; faults.
#include <doctest/doctest.h>

#include <array>
#include <numeric>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

const std::string kHead = ".version 9.0\n.target sm_100\n.address_size 64\n";

// A kernel k(out, in) with pointers in %out and %in, and registers of all kinds.
std::string kernel(const std::string& body, const std::string& before = "") {
  return kHead + before +
         ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n"
         ".reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<20>;\n"
         ".reg .f64 %fd<10>; .reg .b128 %q<4>; .reg .b64 %out, %in; .reg .b32 %t;\n"
         "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\nmov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

std::vector<uint8_t> bytes(std::size_t n) {
  std::vector<uint8_t> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<uint8_t>(i * 73 + 129);
  return v;
}

// Runs with one thread; the output has 16 words of 64 bits.
std::vector<uint64_t> runOne(const std::string& body, const std::vector<uint8_t>& in = bytes(64),
                             const std::string& before = "") {
  ExecTest t(kernel(body, before));
  t.zeros<uint64_t>("out", 16);
  t.buffer<uint8_t>("in", in);
  t.run({"out", "in"}, {});
  return t.values<uint64_t>("out");
}

FaultKind faultOf(const std::string& body, const std::string& before = "") {
  try {
    runOne(body, bytes(64), before);
  } catch (const ExecError& e) {
    return e.kind;
  }
  return FaultKind::BadLaunch;
}

uint64_t little(const std::vector<uint8_t>& v, std::size_t at, unsigned n) {
  uint64_t r = 0;
  for (unsigned i = n; i-- > 0;) r = r << 8 | v[at + i];
  return r;
}

}  // namespace

TEST_CASE("exec ld: extension into wider registers") {
  const auto in = bytes(64);  // 0x81, 0xca, ...: the first byte is negative
  struct Form {
    const char* type;
    const char* reg;
    unsigned memBytes, regBytes;
    bool isSigned;
  };
  for (const Form& f :
       {Form{"s8", "h", 1, 2, true}, Form{"s8", "r", 1, 4, true}, Form{"s8", "rd", 1, 8, true},
        Form{"u8", "h", 1, 2, false}, Form{"u8", "r", 1, 4, false}, Form{"b8", "rd", 1, 8, false},
        Form{"s16", "h", 2, 2, true}, Form{"s16", "r", 2, 4, true}, Form{"s16", "rd", 2, 8, true},
        Form{"u16", "r", 2, 4, false}, Form{"b16", "rd", 2, 8, false}, Form{"s32", "rd", 4, 8, true},
        Form{"u32", "rd", 4, 8, false}, Form{"b32", "r", 4, 4, false}, Form{"u64", "rd", 8, 8, false},
        Form{"b64", "rd", 8, 8, false}}) {
    CAPTURE(f.type);
    CAPTURE(f.reg);
    const std::string r = std::string("%") + f.reg + "1";
    for (const char* opcode : {"ld.global", "ldu.global", "ld", "ld.global.nc", "ld.volatile.global"}) {
      if (std::string(opcode) == "ldu.global" && std::string(f.type) == "b8") continue;
      const auto out = runOne(std::string(opcode) + "." + f.type + " " + r + ", [%in];\nst.global.b" +
                              std::to_string(f.regBytes * 8) + " [%out], " + r + ";");
      uint64_t expected = little(in, 0, f.memBytes);
      if (f.isSigned && (in[f.memBytes - 1] & 0x80) != 0)
        expected |= f.memBytes == 8 ? 0 : ~uint64_t{0} << (8 * f.memBytes);
      if (f.regBytes < 8) expected &= (uint64_t{1} << (8 * f.regBytes)) - 1;
      CHECK(out[0] == expected);
    }
  }
}

TEST_CASE("exec ld: vectors and 128 bits") {
  const auto in = bytes(64);
  SUBCASE("v2 v4 v8 of 32 bits") {
    const auto out = runOne(
        "ld.global.v2.b32 {%r1, %r2}, [%in+8];\n st.global.v2.b32 [%out], {%r2, %r1};\n"
        "ld.global.v4.f32 {%f1, _, %f3, %f4}, [%in+16];\n st.global.b32 [%out+8], %f1;\n"
        "st.global.b32 [%out+12], %f4;\n"
        "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%in+32];\n"
        "st.global.v8.b32 [%out+32], {%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};");
    CHECK(out[0] == (little(in, 8, 4) << 32 | little(in, 12, 4)));
    CHECK(out[1] == (little(in, 28, 4) << 32 | little(in, 16, 4)));
    for (unsigned i = 0; i < 4; ++i)
      CHECK(out[4 + i] == (little(in, 32 + 4 * (6 - 2 * i), 4) << 32 | little(in, 32 + 4 * (7 - 2 * i), 4)));
  }
  SUBCASE("narrow elements, wide registers") {
    const auto out = runOne(
        "ld.global.v4.s8 {%r1,%r2,%r3,%r4}, [%in];\n st.global.v4.b32 [%out], {%r1,%r2,%r3,%r4};\n"
        "ld.global.v2.u16 {%rd1,%rd2}, [%in+4];\n st.global.v2.b64 [%out+16], {%rd1,%rd2};\n"
        "st.global.v4.u8 [%out+32], {%r4, 7, %r2, %r1};\n");
    for (unsigned i = 0; i < 4; ++i)
      CHECK(static_cast<uint32_t>(out[i / 2] >> (32 * (i % 2))) ==
            static_cast<uint32_t>(static_cast<int8_t>(in[i])));
    CHECK(out[2] == little(in, 4, 2));
    CHECK(out[3] == little(in, 6, 2));
    CHECK(out[4] == (in[3] | 7u << 8 | in[1] << 16 | uint64_t{in[0]} << 24));
  }
  SUBCASE("64 and 128 bits; the address register as destination") {
    const auto out = runOne(
        "mov.u64 %rd1, %in;\n ld.global.v2.u64 {%rd1, %rd2}, [%rd1];\n st.global.v2.u64 [%out], {%rd2, %rd1};\n"
        "ld.global.v4.b64 {%rd3,%rd4,%rd5,%rd6}, [%in+32];\n st.global.v4.b64 [%out+32], {%rd6,%rd5,%rd4,%rd3};\n"
        "ld.global.b128 %q1, [%in+16];\n st.global.b128 [%out+16], %q1;");
    CHECK(out[0] == little(in, 8, 8));
    CHECK(out[1] == little(in, 0, 8));
    CHECK(out[2] == little(in, 16, 8));
    CHECK(out[3] == little(in, 24, 8));
    for (unsigned i = 0; i < 4; ++i) CHECK(out[4 + i] == little(in, 32 + 8 * (3 - i), 8));
  }
}

TEST_CASE("exec st: low bits of wider registers, immediates") {
  const auto out = runOne(
      "mov.b64 %rd1, 0x1122334455667788;\n mov.b32 %r1, 0xaabbccdd;\n"
      "st.global.u8 [%out], %rd1;\n st.global.b16 [%out+2], %rd1;\n st.global.u32 [%out+4], %rd1;\n"
      "st.global.s8 [%out+8], %r1;\n st.global.u16 [%out+10], %r1;\n st.global.b32 [%out+12], 0x12345678;\n"
      "st.global.f32 [%out+16], 0f3F800000;\n st.global.f64 [%out+24], 0d4000000000000000;\n"
      "st.global.v2.u32 [%out+32], {-1, 5};\n st.volatile.global.u32 [%out+40], 9;\n"
      "st.release.gpu.global.u32 [%out+44], 10;\n st.global.wt.b64 [%out+48], 0;");
  CHECK(out[0] == 0x5566778877880088);
  CHECK(out[1] == 0x12345678ccdd00dd);
  CHECK(out[2] == 0x3f800000);
  CHECK(out[3] == 0x4000000000000000);
  CHECK(out[4] == 0x5ffffffff);
  CHECK(out[5] == (uint64_t{10} << 32 | 9));
}

TEST_CASE("exec ld, st: shared, local, const, param, and generic addresses of them") {
  const std::string before =
      ".const .align 4 .b32 table[4] = {11, 22, 33, 44};\n.global .align 8 .b64 counter = 77;\n";
  const auto out = runOne(
      ".shared .align 16 .b8 smem[64];\n.local .align 16 .b8 stack[64];\n"
      "mov.u32 %r1, smem;\n st.shared.u32 [smem+4], 5;\n ld.shared::cta.u32 %r2, [%r1+4];\n"
      "st.global.u32 [%out], %r2;\n"
      "mov.u64 %rd1, smem;\n cvta.shared.u64 %rd1, %rd1;\n st.u32 [%rd1+8], 6;\n ld.shared.u32 %r2, [smem+8];\n"
      "st.global.u32 [%out+4], %r2;\n"
      "mov.u64 %rd2, stack;\n st.local.u32 [%rd2+12], 7;\n cvta.local.u64 %rd3, %rd2;\n ld.u32 %r2, [%rd3+12];\n"
      "st.global.u32 [%out+8], %r2;\n"
      "ld.const.u32 %r2, [table+8];\n st.global.u32 [%out+12], %r2;\n"
      "mov.u64 %rd4, table;\n cvta.const.u64 %rd4, %rd4;\n ld.u32 %r2, [%rd4+4];\n st.global.u32 [%out+16], %r2;\n"
      "ld.const.v2.u32 {%r3, %r4}, [table];\n st.global.u32 [%out+20], %r4;\n"
      "ld.global.u64 %rd5, [counter];\n st.global.u64 [%out+24], %rd5;\n st.global.u64 [counter], 78;\n"
      "ld.u64 %rd5, [counter];\n st.global.u64 [%out+32], %rd5;\n"
      "ld.param::entry.u64 %rd6, [p_in];\n sub.u64 %rd6, %rd6, %in;\n st.global.u64 [%out+40], %rd6;\n"
      "add.u32 %r5, %r1, 16;\n st.shared.u32 [%r5+-4], 8;\n ld.volatile.shared.u32 %r2, [smem+12];\n"
      "st.global.u32 [%out+48], %r2;",
      bytes(64), before);
  CHECK(out[0] == (uint64_t{6} << 32 | 5));
  CHECK(out[1] == (uint64_t{33} << 32 | 7));
  CHECK(out[2] == (uint64_t{22} << 32 | 22));
  CHECK(out[3] == 77);
  CHECK(out[4] == 78);
  CHECK(out[5] == 0);
  CHECK(out[6] == 8);
}

TEST_CASE("exec ld, st: parameters of functions") {
  const std::string before =
      ".func (.param .b32 res) f(.param .align 8 .b8 s[16])\n{\n.reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
      "ld.param.u32 %r1, [s+4];\n ld.param.u32 %r2, [s+8];\n add.u32 %r3, %r1, %r2;\n"
      "st.param.b32 [res], %r3;\n ret;\n}\n";
  const auto out = runOne(
      "{\n.param .align 8 .b8 a[16];\n.param .b32 b;\nst.param.v2.b32 [a], {1, 20};\nst.param.b64 [a+8], 300;\n"
      "call (b), f, (a);\nld.param.b32 %r1, [b];\nst.global.u32 [%out], %r1;\n}",
      bytes(64), before);
  CHECK(out[0] == 320);
}

TEST_CASE("exec ld, st: a variable of the stack frame ends where it ends, though another one follows") {
  // Three variables of 16 bytes beside each other: what leaves the middle one lies in its neighbours.
  const auto said = [](const std::string& body, const std::string& before = "") -> std::string {
    try {
      runOne(".local .align 8 .b8 a[16], b[16], c[16];\n" + body, bytes(64), before);
    } catch (const ExecError& e) {
      CHECK(e.kind == FaultKind::OutOfBounds);
      return e.message;
    }
    return "";
  };
  CHECK(said("st.local.u64 [b+8], 1; st.local.v4.b32 [b], {1, 2, 3, 4}; ld.local.u8 %r1, [b+15];") == "");
  CHECK(said("st.local.u64 [b+16], 1;") == "write of 8 bytes, 0 of them in 'b', which the address names");
  CHECK(said("ld.local.u32 %r1, [b+-4];") == "read of 4 bytes, 0 of them in 'b', which the address names");
  CHECK(said("ld.local.v4.b32 {%r1, %r2, %r3, %r4}, [b+8];") ==
        "read of 16 bytes, 8 of them in 'b', which the address names");
  CHECK(said("ld.u8 %r1, [b+16];") == "read of 1 bytes, 0 of them in 'b', which the address names");
  // Not executed, no error; and through a register all of the frame can be reached, as arithmetic may.
  CHECK(said("setp.ne.u32 %p1, 0, 0;\n@%p1 st.local.u64 [b+16], 1;") == "");
  CHECK(said("mov.u64 %rd1, b; ld.local.u32 %r1, [%rd1+-4]; ld.local.u32 %r1, [%rd1+16];") == "");
  // A function's own parameters and those of a call sequence.
  const std::string callee =
      ".func (.param .b32 res) f(.param .align 8 .b8 s[8], .param .b32 x)\n{\n.reg .b32 %r<4>;\n"
      "ld.param.u32 %r1, [s+AT];\nst.param.b32 [res], %r1;\nret;\n}\n";
  const std::string call =
      "{\n.param .align 8 .b8 q[8];\n.param .b32 y, z;\nst.param.b64 [q], 5;\nst.param.b32 [y], 6;\n"
      "call (z), f, (q, y);\nld.param.b32 %r1, [z];\n}";
  const auto at = [&](const char* offset) { return std::string(callee).replace(callee.find("AT"), 2, offset); };
  CHECK(said(call, at("4")) == "");
  CHECK(said(call, at("8")) == "read of 4 bytes, 0 of them in 's', which the address names");
}

TEST_CASE("exec ld, st: modifiers that change nothing") {
  const auto in = bytes(64);
  for (const char* form :
       {"ld.global.ca.u32 %r1, [%in];", "ld.global.cg.u32 %r1, [%in];", "ld.global.cs.u32 %r1, [%in];",
        "ld.global.lu.u32 %r1, [%in];", "ld.global.cv.u32 %r1, [%in];", "ld.weak.global.u32 %r1, [%in];",
        "ld.relaxed.cta.global.u32 %r1, [%in];", "ld.acquire.sys.global.u32 %r1, [%in];",
        "ld.mmio.relaxed.sys.global.u32 %r1, [%in];", "ld.global.L1::evict_last.L2::128B.u32 %r1, [%in];",
        "ld.global.L2::cache_hint.u32 %r1, [%in], %rd9;", "ld.global.nc.L1::no_allocate.L2::256B.u32 %r1, [%in];",
        "ld.global.u32 %r1, [%in].unified;", "ld.volatile.u32 %r1, [%in];"}) {
    CAPTURE(form);
    CHECK(runOne(std::string(form) + "\nst.global.u32 [%out], %r1;")[0] == little(in, 0, 4));
  }
  for (const char* form :
       {"st.global.wb.u32 [%out], 3;", "st.global.cg.u32 [%out], 3;", "st.cs.u32 [%out], 3;",
        "st.weak.u32 [%out], 3;", "st.relaxed.cluster.global.u32 [%out], 3;", "st.release.gpu.u32 [%out], 3;",
        "st.mmio.relaxed.sys.global.u32 [%out], 3;", "st.global.L1::evict_first.u32 [%out], 3;",
        "st.global.L2::cache_hint.u32 [%out], 3, %rd9;", "st.volatile.u32 [%out], 3;"}) {
    CAPTURE(form);
    CHECK(runOne(form)[0] == 3);
  }
}

TEST_CASE("exec ld, st: lanes, guards and colliding stores") {
  ExecTest t(
      kernel("setp.lt.u32 %p1, %t, 20;\n mul.wide.u32 %rd1, %t, 4;\n add.u64 %rd2, %in, %rd1;\n"
             "add.u64 %rd3, %out, %rd1;\n @%p1 ld.global.u32 %r1, [%rd2];\n @%p1 st.global.u32 [%rd3], %r1;\n"
             "@!%p1 st.global.u32 [%out+160], %t;"));
  std::vector<uint32_t> in(20);
  std::iota(in.begin(), in.end(), 100u);
  t.zeros<uint32_t>("out", 41);
  t.buffer<uint32_t>("in", in);  // lanes from 20 on would be out of bounds
  t.run({"out", "in"}, {.grid = {1}, .block = {40}});
  const auto out = t.values<uint32_t>("out");
  for (uint32_t i = 0; i < 40; ++i) CHECK(out[i] == (i < 20 ? 100 + i : 0));
  CHECK(out[40] == 39);
}

TEST_CASE("exec ld, st: faults") {
  CHECK(faultOf("ld.global.u32 %r1, [%in+64];") == FaultKind::OutOfBounds);
  CHECK(faultOf("ld.global.u32 %r1, [%in+-4];") == FaultKind::OutOfBounds);
  CHECK(faultOf("ld.global.u32 %r1, [%in+2];") == FaultKind::Misaligned);
  CHECK(faultOf("ld.global.v2.u32 {%r1, %r2}, [%in+4];") == FaultKind::Misaligned);
  CHECK(faultOf("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%in+56];") == FaultKind::Misaligned);
  CHECK(faultOf("st.global.v8.b32 [%out+16], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};") == FaultKind::Misaligned);
  CHECK(faultOf("st.global.u64 [%out+128], 0;") == FaultKind::OutOfBounds);
  CHECK(faultOf("ld.u32 %r1, [0];") == FaultKind::OutOfBounds);
  CHECK(faultOf(".shared .b32 s;\nld.shared.u32 %r1, [s+4096];") == FaultKind::OutOfBounds);
  CHECK(faultOf("mov.u64 %rd1, c;\nst.global.u32 [%rd1], 1;", ".const .b32 c = 1;\n") == FaultKind::ReadOnly);
  CHECK(faultOf("ld.const.u32 %r1, [c+4];", ".const .b32 c = 1;\n") == FaultKind::OutOfBounds);
}

TEST_CASE("exec ld, st: addresses may have their bytes anywhere") {
  // Each word of `in` lies for itself, and nothing lies where the allocation would have it.
  for (const bool checks : {false, true}) {
    ExecTest t(
        kernel("mul.wide.u32 %rd1, %t, 4;\n add.u64 %rd2, %in, %rd1;\n ld.global.u32 %r1, [%rd2];\n"
               "add.u32 %r1, %r1, 1;\n st.global.u32 [%rd2], %r1;"));
    t.zeros<uint32_t>("out", 1);
    Allocation& in = t.machine().memory().reserve("in", uint64_t{1} << 45, 512);
    std::array<uint32_t, 64> words{};
    in.watched = true;
    in.watch = [&](const Warp&, unsigned, uint64_t offset, unsigned, Access) {
      auto* const at = reinterpret_cast<std::byte*>(&words[2 * (offset / 4)]);
      in.quiet = {offset, 4, true, at};
      return at;
    };
    LaunchConfig config;
    config.block = {32};
    config.checkRaces = config.checkGlobalRaces = checks;
    const uint64_t arguments[] = {t.address("out"), in.base};
    config.parameters.resize(sizeof arguments);
    std::memcpy(config.parameters.data(), arguments, sizeof arguments);
    t.machine().launch("k", config);
    for (std::size_t i = 0; i < words.size(); ++i) CHECK(words[i] == (i % 2 == 0 ? 1 : 0));
  }
}

TEST_CASE("exec ld, st: who watches sees each access, but for those that it wants no more of") {
  // A warp reads in twice and writes it, word by word.
  ExecTest t(
      kernel("mul.wide.u32 %rd1, %t, 4;\n add.u64 %rd2, %in, %rd1;\n ld.global.u32 %r1, [%rd2];\n"
             "ld.global.u32 %r2, [%rd2];\n add.u32 %r1, %r1, %r2;\n st.global.u32 [%rd2], %r1;"));
  t.zeros<uint32_t>("out", 1);
  t.buffer<uint32_t>("in", std::vector<uint32_t>(32, 5));
  Allocation& in = t.allocation("in");
  in.watched = true;
  unsigned reads = 0, writes = 0;
  Allocation::Quiet quiet;
  in.watch = [&](const Warp&, unsigned, uint64_t offset, unsigned, Access access) {
    ++(access == Access::Read ? reads : writes);
    in.quiet = quiet;
    in.quiet.data = in.data + quiet.begin;
    return in.data + offset;
  };
  const auto callsWith = [&](const Allocation::Quiet& q) {
    reads = writes = 0;
    in.quiet = {};
    quiet = q;
    t.run({"out", "in"}, {.grid = {1}, .block = {32}});
    return std::pair(reads, writes);
  };
  CHECK(callsWith({}) == std::pair(64u, 32u));
  CHECK(callsWith({0, 128, false}) == std::pair(1u, 32u));
  CHECK(callsWith({0, 128, true}) == std::pair(1u, 0u));
  // Of each instruction half the lanes are inside.
  CHECK(callsWith({64, 64, false}).first == 32);
  CHECK(t.values<uint32_t>("in") == std::vector<uint32_t>(32, 5 * 16));
}
