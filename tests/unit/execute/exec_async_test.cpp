// Asynchronous copies: what they copy, when it arrives, and what makes them a race.
#include <doctest/doctest.h>

#include <bit>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_100\n.address_size 64\n"
         ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n"
         ".reg .pred %p<10>; .reg .b16 %h<4>; .reg .b32 %r<30>; .reg .f32 %f<4>; .reg .b64 %rd<20>;\n"
         ".reg .b64 %out, %in; .reg .b32 %t;\n.shared .align 8 .b64 bar[2];\n.shared .align 128 .b8 data[1024];\n"
         "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\nmov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

struct Run {
  std::vector<uint32_t> out, in;
};

// The input is 1, 2, 3, ...
Run run(const std::string& body, ExecTest::Shape shape = {}, std::size_t words = 64) {
  ExecTest t(kernel(body));
  t.zeros<uint32_t>("out", words);
  std::vector<uint32_t> in(words);
  for (uint32_t i = 0; i < words; ++i) in[i] = i + 1;
  t.buffer<uint32_t>("in", in);
  t.run({"out", "in"}, shape);
  return {t.values<uint32_t>("out"), t.values<uint32_t>("in")};
}

std::vector<uint32_t> first(const std::vector<uint32_t>& v, std::size_t n) {
  return {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n)};
}

FaultKind faultOf(const std::string& body) {
  try {
    run(body);
  } catch (const ExecError& e) {
    return e.kind;
  }
  return FaultKind::BadLaunch;
}

// out[word] = data[offset / 4]
std::string show(unsigned offset, unsigned word) {
  return "ld.shared.u32 %r20, [data+" + std::to_string(offset) + "];\nst.global.u32 [%out+" +
         std::to_string(4 * word) + "], %r20;\n";
}

const std::string kInit = "mbarrier.init.shared::cta.b64 [bar], 1;\n";
const std::string kWait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p9, [bar], 0;\n@!%p9 bra W;\n";

}  // namespace

TEST_CASE("exec cp.async: bytes arrive at their wait") {
  const auto out =
      run("cp.async.ca.shared.global [data], [%in+4], 4;\ncp.async.commit_group;\n"
          "cp.async.ca.shared::cta.global [data+8], [%in+8], 8;\ncp.async.commit_group;\n"
          "cp.async.cg.shared.global.L2::128B [data+16], [%in+16], 16;\n" +
          show(0, 0) + "cp.async.wait_group 1;\n" + show(0, 1) + show(8, 2) + "cp.async.wait_group 0;\n" +
          show(12, 3) + show(28, 4) + "cp.async.wait_all;\n" + show(28, 5) + show(16, 6))
          .out;
  CHECK(first(out, 7) == std::vector<uint32_t>{0, 2, 0, 4, 0, 8, 5});
}

TEST_CASE("exec cp.async: src-size and ignore-src fill with zeros") {
  const auto out =
      run("mov.u32 %r1, 0xffffffff;\nst.shared.v4.u32 [data], {%r1,%r1,%r1,%r1};\n"
          "st.shared.v4.u32 [data+16], {%r1,%r1,%r1,%r1};\nst.shared.v4.u32 [data+32], {%r1,%r1,%r1,%r1};\n"
          "mov.u32 %r2, 6;\ncp.async.ca.shared.global [data], [%in], 16, %r2;\n"
          "setp.eq.u32 %p1, %r2, 6;\ncp.async.cg.shared.global [data+16], [%in+100000], 16, %p1;\n"
          "cp.async.cg.shared.global [data+32], [%in], 16, !%p1;\n"
          "cp.async.ca.shared.global.L2::cache_hint [data+48], [%in], 4, 0, %rd1;\n"
          "cp.async.wait_all;\n" +
          show(0, 0) + show(4, 1) + show(8, 2) + show(16, 3) + show(28, 4) + show(32, 5) + show(44, 6) +
          show(48, 7))
          .out;
  CHECK(first(out, 8) == std::vector<uint32_t>{1, 2, 0, 0, 0, 1, 4, 0});
}

TEST_CASE("exec cp.async: each thread has its own groups; many lanes") {
  const auto out =
      run("mul.lo.u32 %r1, %t, 16;\nmov.u32 %r2, data;\nadd.u32 %r2, %r2, %r1;\n"
          "cvt.u64.u32 %rd1, %r1;\nadd.u64 %rd2, %in, %rd1;\ncp.async.cg.shared.global [%r2], [%rd2], 16;\n"
          "cp.async.commit_group;\nand.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"
          "@%p1 cp.async.wait_group 0;\nld.shared.u32 %r4, [%r2+4];\nmul.wide.u32 %rd3, %t, 4;\n"
          "add.u64 %rd3, %rd3, %out;\nst.global.u32 [%rd3], %r4;",
          {.grid = {1}, .block = {40}}, 256)
          .out;
  for (uint32_t i = 0; i < 40; ++i) CHECK(out[i] == (i % 2 == 0 ? 4 * i + 2 : 0));
}

TEST_CASE("exec cp.async.mbarrier.arrive") {
  for (const bool noinc : {false, true}) {
    // Without .noinc the copy's arrival does not count against those that init asked for.
    const auto out = run(kInit + "cp.async.ca.shared.global [data], [%in], 4;\ncp.async.mbarrier.arrive" +
                         (noinc ? ".noinc" : "") + ".shared::cta.b64 [bar];\n" + show(0, 0) +
                         (noinc ? "" : "mbarrier.arrive.shared::cta.b64 _, [bar];\n") + kWait + show(0, 1))
                         .out;
    CHECK(first(out, 2) == std::vector<uint32_t>{0, 1});
  }
  // An arrival is missing: the phase does not complete although the copy has come.
  const auto out = run(kInit +
                       "cvta.shared.u64 %rd9, bar;\ncp.async.ca.shared.global [data], [%in], 4;\n"
                       "cp.async.mbarrier.arrive.b64 [%rd9];\n"
                       "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;\nselp.u32 %r1, 1, 2, %p1;\n"
                       "st.global.u32 [%out], %r1;\n" +
                       show(0, 1))
                       .out;
  CHECK(first(out, 2) == std::vector<uint32_t>{2, 1});
}

TEST_CASE("exec cp.async.bulk: global to shared with an mbarrier") {
  const auto out =
      run(kInit +
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 96;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%in+16], 64, [bar];\n"
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [data+64], [%in], 32, "
          "[bar], %rd1;\n"
          "cp.async.bulk.prefetch.L2.global [%in], 64;\n" +
          show(0, 0) + kWait + show(0, 1) + show(60, 2) + show(64, 3) + show(92, 4) + show(96, 5))
          .out;
  CHECK(first(out, 6) == std::vector<uint32_t>{0, 5, 20, 1, 8, 0});
}

TEST_CASE("exec cp.async.bulk: shared to global with groups") {
  const auto r =
      run("mov.u32 %r1, 7;\nst.shared.v4.u32 [data], {%r1,%r1,%r1,%r1};\nfence.proxy.async.shared::cta;\n"
          "cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 16;\ncp.async.bulk.commit_group;\n"
          "cp.async.bulk.wait_group.read 0;\nst.shared.u32 [data], 8;\n"
          "ld.global.u32 %r2, [%out];\nst.global.u32 [%out+64], %r2;\ncp.async.bulk.wait_group 0;\n"
          "ld.global.u32 %r2, [%out];\nst.global.u32 [%out+68], %r2;\n"
          "cp.async.bulk.global.shared::cta.bulk_group [%out+32], [data], 16;\n"
          "mov.b16 %h1, 0x00f1;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out+48], [data], 16, "
          "%h1;\ncp.async.bulk.commit_group;");
  CHECK(first(r.out, 4) == std::vector<uint32_t>{7, 7, 7, 7});
  CHECK(r.out[16] == 0);  // not arrived after wait_group.read
  CHECK(r.out[17] == 7);
  CHECK(r.out[8] == 8);  // never waited for: there when the kernel is done
  CHECK(r.out[12] == 8);
  CHECK(r.out[13] == 7);
  CHECK(r.out[14] == 0);  // masked
}

TEST_CASE("exec cp.reduce.async.bulk") {
  const auto r =
      run("mov.u32 %r1, 100;\nst.shared.v4.u32 [data], {%r1, 2, 300, 4};\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [data], 16;\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%in+16], [data], 16;\n"
          "st.shared.v4.u32 [data+16], {0x3f800000, 0x40000000, 1, 0};\n"
          "st.global.v4.u32 [%in+32], {0x3f800000, 0x3f800000, 1, 0};\n"
          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%in+32], [data+16], 16;\n"
          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n" +
          kInit +
          "st.shared.v4.u32 [data+32], {1, 2, 3, 4};\nst.shared.v4.u32 [data+48], {16, 16, 16, 16};\n"
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
          "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.or.b32 [data+48], "
          "[data+32], 16, [bar];\n" +
          kWait + show(48, 0) + show(60, 1));
  CHECK(first(r.in, 8) == std::vector<uint32_t>{101, 4, 303, 8, 100, 6, 300, 8});
  CHECK(r.in[8] == std::bit_cast<uint32_t>(2.0f));
  CHECK(r.in[9] == std::bit_cast<uint32_t>(3.0f));
  CHECK(r.in[10] == 0);  // subnormals are flushed in global memory
  CHECK(first(r.out, 2) == std::vector<uint32_t>{17, 20});
}

TEST_CASE("exec cp.async.bulk, st.async, red.async: clusters") {
  const std::string body =
      "mov.u32 %r1, %cluster_ctarank;\n" + kInit +
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 68;\n"
      "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      // Rank 0 sends 32 bytes to both; each sends 16 bytes, 8 bytes, 8 bytes and a reduction to the other.
      "setp.eq.u32 %p1, %r1, 0;\nmov.b16 %h1, 3;\n"
      "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [data], [%in], "
      "32, "
      "[bar], %h1;\nxor.b32 %r2, %r1, 1;\nmapa.shared::cluster.u32 %r3, data, %r2;\n"
      "mapa.shared::cluster.u32 %r4, bar, %r2;\nadd.u32 %r5, %r1, 40;\nst.shared.v4.u32 [data+128], "
      "{%r5,%r5,%r5,%r5};\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+32], [data+128], 16, [%r4];\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r3+48], {%r5, %r1}, [%r4];\n"
      "cvt.u64.u32 %rd1, %r5;\nst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r3+56], %rd1, "
      "[%r4];\n"
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3+64], %r5, [%r4];\n" +
      kWait +
      "mul.wide.u32 %rd2, %r1, 32;\nadd.u64 %rd2, %rd2, %out;\nld.shared.u32 %r6, [data+4];\n"
      "ld.shared.u32 %r7, [data+44];\nld.shared.v2.u32 {%r8, %r9}, [data+48];\nld.shared.u32 %r10, [data+56];\n"
      "ld.shared.u32 %r11, [data+64];\nst.global.v4.u32 [%rd2], {%r6,%r7,%r8,%r9};\n"
      "st.global.v2.u32 [%rd2+16], {%r10,%r11};\nbarrier.cluster.arrive;\nbarrier.cluster.wait;";
  const auto out = run(body, {.grid = {2}, .block = {1}, .cluster = {2}}).out;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const uint32_t other = 1 - rank;
    CHECK(std::vector<uint32_t>(out.begin() + 8 * rank, out.begin() + 8 * rank + 6) ==
          std::vector<uint32_t>{2, 40 + other, 40 + other, other, 40 + other, 40 + other});
  }
}

TEST_CASE("exec st.bulk, st.async.mmio, red.async.mmio") {
  const auto r = run(
      "mov.u32 %r1, 7;\nst.shared.v4.u32 [data], {%r1,%r1,%r1,%r1};\nst.bulk.weak.shared::cta [data+4-4], 8, 0;\n" +
      show(4, 0) + show(8, 1) +
      "st.async.mmio.release.gpu.global.u32 [%out+8], %r1;\n"
      "red.async.mmio.release.gpu.global.add.u32 [%in], %r1;");
  CHECK(first(r.out, 3) == std::vector<uint32_t>{0, 7, 7});
  CHECK(r.in[0] == 8);
}

TEST_CASE("exec asynchronous copies: faults and races") {
  CHECK(faultOf("cp.async.cg.shared.global [data], [%in+8], 16;") == FaultKind::Misaligned);
  CHECK(faultOf("cp.async.cg.shared.global [data], [%in+1024], 16;") == FaultKind::OutOfBounds);
  CHECK(faultOf("cp.async.cg.shared.global [data+65536], [%in], 16;") == FaultKind::OutOfBounds);
  CHECK(faultOf("cp.async.ca.shared.global [data], [%in], 4, 5;") == FaultKind::OutOfBounds);
  CHECK(faultOf("cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 24;") == FaultKind::Misaligned);
  CHECK(faultOf("cp.async.bulk.global.shared::cta.bulk_group [%out+8], [data], 16;") == FaultKind::Misaligned);
  CHECK(faultOf("cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 512;") == FaultKind::OutOfBounds);
  // Generic addresses that are not in shared memory.
  CHECK(faultOf("st.async.mbarrier::complete_tx::bytes.b32 [%out], %r1, [%in];") == FaultKind::OutOfBounds);
  CHECK(faultOf("red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%out], %r1, [%in];") ==
        FaultKind::OutOfBounds);
  CHECK(faultOf("cvta.shared.u64 %rd1, data;\nst.async.mbarrier::complete_tx::bytes.b32 [%rd1], %r1, [%in];") ==
        FaultKind::OutOfBounds);
  // The source is written before the copy was waited for.
  CHECK(faultOf("cp.async.ca.shared.global [data], [%in], 4;\nst.global.u32 [%in], 99;\ncp.async.wait_all;") ==
        FaultKind::Race);
  CHECK(faultOf("cp.async.bulk.global.shared::cta.bulk_group [%out], [data], 16;\ncp.async.bulk.commit_group;\n"
                "st.shared.u32 [data], 5;\ncp.async.bulk.wait_group.read 0;") == FaultKind::Race);
  CHECK(faultOf("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%in, {%r1}], "
                "[bar];") == FaultKind::Unsupported);
}

TEST_CASE("exec asynchronous copies: an mbarrier orders them for --check-races") {
  const auto kindOf = [](const std::string& wait) {
    ExecTest t(
        kernel("setp.ne.u32 %p1, %t, 0;\n@%p1 bra READY;\n" + kInit +
               "READY:\nbar.sync 0;\n@%p1 bra GO;\n"
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%in], 256, [bar];\n"
               "GO:\n" +
               wait +
               "mov.u32 %r1, data;\nmad.lo.u32 %r1, %t, 4, %r1;\nld.shared.u32 %r2, [%r1];\n"
               "mul.wide.u32 %rd1, %t, 4;\nadd.u64 %rd1, %rd1, %out;\nst.global.u32 [%rd1], %r2;"));
    t.zeros<uint32_t>("out", 64);
    t.buffer<uint32_t>("in", std::vector<uint32_t>(64, 5));
    try {
      t.run({"out", "in"}, {.grid = {1}, .block = {64}, .checkRaces = true});
    } catch (const ExecError& e) {
      return e.kind;
    }
    CHECK(t.values<uint32_t>("out") == std::vector<uint32_t>(64, 5));
    return FaultKind::BadLaunch;
  };
  CHECK(kindOf(kWait) == FaultKind::BadLaunch);
  CHECK(kindOf("") == FaultKind::Race);
}
