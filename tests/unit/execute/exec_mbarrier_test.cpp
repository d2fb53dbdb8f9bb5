// mbarrier: phases, parity, counts, transactions, dropping, remote arrivals; faults.
#include <doctest/doctest.h>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 p_out)\n{\n"
         ".reg .pred %p<10>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .b64 %out; .reg .b32 %t;\n"
         ".shared .align 8 .b64 bar[2];\n.shared .align 16 .b8 data[256];\n"
         "ld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

std::vector<uint32_t> run(const std::string& body, ExecTest::Shape shape = {}, std::size_t words = 64) {
  ExecTest t(kernel(body));
  t.zeros<uint32_t>("out", words);
  t.run({"out"}, shape);
  return t.values<uint32_t>("out");
}

// Stores 1 or 0 for the phase with a parity, by both waits.
std::string probe(unsigned parity, unsigned word) {
  const std::string p = std::to_string(parity), at = std::to_string(4 * word);
  return "mbarrier.test_wait.parity.shared::cta.b64 %p8, [bar], " + p +
         ";\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p9, [bar], " + p +
         ", 100;\nselp.u32 %r20, 1, 0, %p8;\nselp.u32 %r21, 10, 0, %p9;\nadd.u32 %r20, %r20, %r21;\n"
         "st.global.u32 [%out+" +
         at + "], %r20;\n";
}

FaultKind faultOf(const std::string& body) {
  try {
    run(body);
  } catch (const ExecError& e) {
    return e.kind;
  }
  return FaultKind::BadLaunch;
}

}  // namespace

TEST_CASE("exec mbarrier: phases and parity") {
  const auto out = run("mbarrier.init.shared::cta.b64 [bar], 2;\n" + probe(0, 0) + probe(1, 1) +
                       "mbarrier.arrive.shared::cta.b64 %rd1, [bar];\n" + probe(0, 2) +
                       "mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];\n" + probe(0, 3) + probe(1, 4) +
                       "mbarrier.arrive.shared.b64 %rd2, [bar], 2;\n" + probe(0, 5) + probe(1, 6) +
                       "mbarrier.inval.shared::cta.b64 [bar];\n");
  // Parity 1 is that of the phase before the first: complete.
  CHECK(std::vector<uint32_t>(out.begin(), out.begin() + 7) == std::vector<uint32_t>{0, 11, 0, 11, 0, 0, 11});
}

TEST_CASE("exec mbarrier: states, pending counts, generic addresses") {
  const auto out = run(
      "cvta.shared.u64 %rd9, bar;\nmbarrier.init.b64 [%rd9], 5;\n"
      "mbarrier.arrive.noComplete.b64 %rd1, [%rd9], 2;\nmbarrier.pending_count.b64 %r1, %rd1;\n"
      "mbarrier.arrive_drop.noComplete.shared::cta.b64 %rd2, [bar], 1;\nmbarrier.pending_count.b64 %r2, %rd2;\n"
      "st.global.v2.u32 [%out], {%r1, %r2};\n"
      "mbarrier.test_wait.b64 %p1, [%rd9], %rd1;\nselp.u32 %r3, 1, 0, %p1;\n"
      "mbarrier.arrive.b64 %rd3, [%rd9], 2;\nmbarrier.try_wait.b64 %p2, [%rd9], %rd3;\nselp.u32 %r4, 1, 0, %p2;\n"
      "st.global.v2.u32 [%out+8], {%r3, %r4};\n"
      // One was dropped: four arrivals make the next phase.
      "mbarrier.arrive.b64 %rd4, [%rd9], 3;\nmbarrier.test_wait.shared::cta.b64 %p3, [bar], %rd4;\n"
      "selp.u32 %r5, 1, 0, %p3;\nmbarrier.arrive_drop.b64 %rd5, [%rd9];\n"
      "mbarrier.test_wait.shared::cta.b64 %p4, [bar], %rd4;\nselp.u32 %r6, 1, 0, %p4;\n"
      "st.global.v2.u32 [%out+16], {%r5, %r6};\nmbarrier.arrive.noComplete.b64 %rd6, [%rd9], 1;\n"
      "mbarrier.pending_count.b64 %r7, %rd6;\nst.global.u32 [%out+24], %r7;");
  CHECK(std::vector<uint32_t>(out.begin(), out.begin() + 7) == std::vector<uint32_t>{5, 3, 0, 1, 0, 1, 3});
}

TEST_CASE("exec mbarrier: transactions") {
  const auto out =
      run("mbarrier.init.shared::cta.b64 [bar], 1;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;\n"
          "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [bar], 32;\n" +
          probe(0, 0) + "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 40;\n" + probe(0, 1) +
          "mbarrier.complete_tx.shared::cta.b64 [bar], 8;\n" + probe(0, 2) +
          // Transactions may complete before they are expected.
          "mbarrier.complete_tx.shared::cta.b64 [bar], 64;\n" + probe(1, 3) +
          "mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %rd2, [bar], 64;\n" + probe(1, 4));
  CHECK(std::vector<uint32_t>(out.begin(), out.begin() + 5) == std::vector<uint32_t>{0, 0, 11, 0, 11});
}

TEST_CASE("exec mbarrier: a block's threads hand over in a ring of phases") {
  // Warp 0 produces, the others consume; two mbarriers, full and empty.
  const std::string body =
      "setp.ne.u32 %p1, %t, 0;\n@%p1 bra READY;\nmbarrier.init.shared::cta.b64 [bar], 32;\n"
      "mbarrier.init.shared::cta.b64 [bar+8], 64;\nREADY:\nbar.sync 0;\n"
      "mov.u32 %r1, 0;\nmov.u32 %r9, 0;\nmov.u32 %r5, data;\nsetp.ge.u32 %p2, %t, 32;\n@%p2 bra CONSUME;\n"
      "PRODUCE:\nxor.b32 %r2, %r1, 1;\nand.b32 %r2, %r2, 1;\n"
      "PWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [bar+8], %r2;\n@!%p3 bra PWAIT;\n"
      "mad.lo.u32 %r3, %r1, 100, %t;\nmad.lo.u32 %r4, %t, 4, %r5;\nst.shared.u32 [%r4], %r3;\n"
      "mbarrier.arrive.shared::cta.b64 _, [bar];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, 5;\n@%p4 bra "
      "PRODUCE;\n"
      "bra END;\n"
      "CONSUME:\nand.b32 %r2, %r1, 1;\n"
      "CWAIT:\nmbarrier.test_wait.parity.shared::cta.b64 %p3, [bar], %r2;\n@!%p3 bra CWAIT;\n"
      "and.b32 %r6, %t, 31;\nmad.lo.u32 %r4, %r6, 4, %r5;\nld.shared.u32 %r3, [%r4];\n"
      "mad.lo.u32 %r9, %r9, 3, %r3;\nmbarrier.arrive.shared::cta.b64 %rd1, [bar+8];\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p4, %r1, 5;\n@%p4 bra CONSUME;\nEND:\n"
      "mul.wide.u32 %rd2, %t, 4;\nadd.u64 %rd2, %rd2, %out;\nst.global.u32 [%rd2], %r9;";
  const auto out = run(body, {.grid = {1}, .block = {96}}, 96);
  for (uint32_t i = 32; i < 96; ++i) {
    uint32_t expected = 0;
    for (uint32_t iteration = 0; iteration < 5; ++iteration) expected = expected * 3 + iteration * 100 + i % 32;
    CHECK(out[i] == expected);
  }
}

TEST_CASE("exec mbarrier: arrivals from other blocks of a cluster") {
  const std::string body =
      "mov.u32 %r1, %cluster_ctarank;\nmbarrier.init.shared::cta.b64 [bar], 3;\n"
      "fence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
      // Every block arrives in every block, rank 0 with a transaction that the owner completes.
      "mov.u32 %r2, 0;\nL:\nmapa.shared::cluster.u32 %r3, bar, %r2;\nsetp.eq.u32 %p1, %r1, 0;\n"
      "@%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r3], 8;\n"
      "@!%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\nadd.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p2, %r2, 3;\n@%p2 bra L;\nmbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [bar], 8;\n"
      "W:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [bar], 0;\n@!%p3 bra W;\n"
      "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd1, %out;\nst.global.u32 [%rd1], 1;\n"
      "barrier.cluster.arrive;\nbarrier.cluster.wait;";
  const auto out = run(body, {.grid = {3}, .block = {1}, .cluster = {3}});
  CHECK(std::vector<uint32_t>(out.begin(), out.begin() + 4) == std::vector<uint32_t>{1, 1, 1, 0});
}

TEST_CASE("exec mbarrier: faults") {
  CHECK(faultOf("mbarrier.arrive.shared::cta.b64 _, [bar];") == FaultKind::Uninitialised);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 0;") == FaultKind::Trap);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 1048576;") == FaultKind::Trap);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.arrive.shared::cta.b64 _, [bar], 3;") ==
        FaultKind::Trap);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 2;") ==
        FaultKind::Trap);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], "
                "1048576;") == FaultKind::Trap);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.inval.shared::cta.b64 [bar];\n"
                "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;") == FaultKind::Uninitialised);
  CHECK(faultOf("mbarrier.init.shared::cta.b64 [bar+4], 2;") == FaultKind::Misaligned);
}
