// cvta, isspacep, mapa, getctarank; instructions without an effect on results.
#include <doctest/doctest.h>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

std::string kernel(const std::string& body, const std::string& target = "sm_90a") {
  return ".version 9.0\n.target " + target +
         "\n.address_size 64\n.const .align 4 .b32 table[4] = {1, 2, 3, 4};\n.global .align 4 .b32 gvar = 9;\n"
         ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n"
         ".reg .pred %p<10>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<20>;\n"
         ".reg .b64 %out, %in; .reg .b32 %t;\n.shared .align 16 .b8 smem[64];\n.local .align 16 .b8 stack[64];\n"
         "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\nmov.u32 %t, %tid.x;\n" +
         body + "\nret;\n}\n";
}

std::vector<uint32_t> runOne(const std::string& body, ExecTest::Shape shape = {},
                             const std::string& target = "sm_90a") {
  ExecTest t(kernel(body, target));
  t.zeros<uint32_t>("out", 32);
  t.zeros<uint32_t>("in", 32);
  t.run({"out", "in"}, shape);
  return t.values<uint32_t>("out");
}

}  // namespace

TEST_CASE("exec cvta: there and back") {
  // A round trip gives the address back; the generic address reaches the same bytes.
  for (const char* space : {"shared", "shared::cta", "shared::cluster", "local"}) {
    CAPTURE(space);
    const std::string s = space;
    const std::string name = s == "local" ? "stack" : "smem", access = s == "local" ? "local" : "shared";
    const auto out =
        runOne("mov.u64 %rd1, " + name + ";\nadd.u64 %rd1, %rd1, 8;\ncvta." + s + ".u64 %rd2, %rd1;\ncvta.to." + s +
               ".u64 %rd3, %rd2;\nsub.u64 %rd4, %rd3, %rd1;\nst.global.u64 [%out], %rd4;\n"
               "st." +
               access +
               ".u32 [%rd1], 42;\nld.u32 %r1, [%rd2];\nst.global.u32 [%out+8], %r1;\n"
               "cvta." +
               s + ".u64 %rd5, " + name +
               "+8;\nsub.u64 %rd6, %rd5, %rd2;\n"
               "st.global.u64 [%out+16], %rd6;");
    CHECK(out[0] == 0);
    CHECK(out[1] == 0);
    CHECK(out[2] == 42);
    CHECK(out[4] == 0);
    CHECK(out[5] == 0);
  }
}

TEST_CASE("exec cvta: global, const and param") {
  const auto out = runOne(
      "mov.u64 %rd1, gvar;\ncvta.global.u64 %rd2, %rd1;\ncvta.to.global.u64 %rd3, %rd2;\nld.u32 %r1, [%rd2];\n"
      "st.global.u32 [%out], %r1;\nld.global.u32 %r1, [%rd3];\nst.global.u32 [%out+4], %r1;\n"
      "cvta.const.u64 %rd4, table;\nld.u32 %r1, [%rd4+8];\nst.global.u32 [%out+8], %r1;\n"
      "cvta.to.const.u64 %rd5, %rd4;\nld.const.u32 %r1, [%rd5+12];\nst.global.u32 [%out+12], %r1;\n"
      "mov.u64 %rd6, p_in;\ncvta.param.u64 %rd7, %rd6;\nld.u64 %rd8, [%rd7];\nsub.u64 %rd8, %rd8, %in;\n"
      "st.global.u64 [%out+16], %rd8;\ncvta.param::entry.u64 %rd7, %rd6;\ncvta.to.param.u64 %rd9, %rd7;\n"
      "sub.u64 %rd9, %rd9, %rd6;\nst.global.u64 [%out+24], %rd9;\nst.global.u32 [%out+32], 1;");
  CHECK(out == [] {
    std::vector<uint32_t> v(32);
    v[0] = v[1] = 9, v[2] = 3, v[3] = 4, v[8] = 1;
    return v;
  }());
}

TEST_CASE("exec isspacep") {
  const char* addresses[] = {"mov.u64 %rd2, %out;", "cvta.const.u64 %rd2, table;", "cvta.local.u64 %rd2, stack;",
                             "mov.u64 %rd1, p_in; cvta.param.u64 %rd2, %rd1;", "cvta.shared.u64 %rd2, smem;"};
  const std::vector<std::string> spaces = {"global", "const", "local", "param", "shared"};
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t s = 0; s < 5; ++s) {
      CAPTURE(addresses[a]);
      CAPTURE(spaces[s]);
      std::vector<std::string> spellings = {spaces[s]};
      if (s == 3) spellings.emplace_back("param::entry");
      if (s == 4) spellings.emplace_back("shared::cta"), spellings.emplace_back("shared::cluster");
      for (const std::string& spelling : spellings)
        CHECK(runOne(addresses[a] + std::string("\nisspacep.") + spelling +
                     " %p1, %rd2;\nselp.u32 %r1, 1, 2, %p1;\nst.global.u32 [%out], %r1;")[0] == (a == s ? 1u : 2u));
    }
  }
}

TEST_CASE("exec mapa, getctarank: clusters") {
  // Each of four blocks stores its rank in the next block's shared memory, by a shared and by a generic address.
  const std::string body =
      "mov.u32 %r1, %cluster_ctarank;\nadd.u32 %r2, %r1, 1;\nand.b32 %r2, %r2, 3;\n"
      "mapa.shared::cluster.u32 %r3, smem, %r2;\nst.shared::cluster.u32 [%r3+4], %r1;\n"
      "getctarank.shared::cluster.u32 %r4, %r3;\nmov.u32 %r5, smem;\ngetctarank.shared::cluster.u32 %r6, %r5;\n"
      "cvta.shared.u64 %rd1, smem;\nmapa.u64 %rd2, %rd1, %r2;\nadd.u32 %r7, %r1, 50;\nst.u32 [%rd2+8], %r7;\n"
      "getctarank.u64 %r8, %rd2;\ngetctarank.u64 %r9, %rd1;\n"
      "isspacep.shared::cta %p1, %rd2;\nisspacep.shared::cluster %p2, %rd2;\n"
      "mov.u64 %rd5, smem;\nmapa.shared::cluster.u64 %rd6, %rd5, %r2;\ngetctarank.shared::cluster.u64 %r15, %rd6;\n"
      "fence.acq_rel.cluster;\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
      "ld.shared.u32 %r10, [smem+4];\nld.shared.u32 %r11, [smem+8];\n"
      "mul.wide.u32 %rd3, %r1, 32;\nadd.u64 %rd4, %out, %rd3;\nst.global.v4.u32 [%rd4], {%r4, %r6, %r8, %r9};\n"
      "selp.u32 %r12, 1, 0, %p1;\nselp.u32 %r13, 1, 0, %p2;\nmad.lo.u32 %r14, %r15, 10, %r13;\n"
      "st.global.v4.u32 [%rd4+16], {%r10, %r11, %r12, %r14};";
  const auto out = runOne(body, {.grid = {4}, .block = {1}, .cluster = {4}});
  for (uint32_t rank = 0; rank < 4; ++rank) {
    const uint32_t next = (rank + 1) % 4, before = (rank + 3) % 4;
    const std::vector<uint32_t> expected = {next, rank, next, rank, before, before + 50, 0, next * 10 + 1};
    CHECK(std::vector<uint32_t>(out.begin() + rank * 8, out.begin() + rank * 8 + 8) == expected);
  }
}

TEST_CASE("exec: instructions that only concern caches, ordering and scheduling") {
  const auto out = runOne(
      "createpolicy.fractional.L2::evict_last.b64 %rd1, 0.5;\n"
      "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd1;\n"
      "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd1, [%in], 0x100, 0x200;\n"
      "createpolicy.cvt.L2.b64 %rd1, 0x10000000;\nst.global.L2::cache_hint.u32 [%out], 5, %rd1;\n"
      "prefetch.global.L1 [%in];\nprefetch.L2 [%in];\nprefetch.local.L1 [stack];\nprefetchu.L1 [%in];\n"
      "prefetch.global.L2::evict_last [%in];\napplypriority.global.L2::evict_normal [%in], 128;\n"
      "discard.global.L2 [%in], 128;\nfence.sc.gpu;\nfence.acq_rel.cta;\nfence.acquire.sys;\nmembar.cta;\n"
      "membar.gl;\nmembar.sys;\nfence.proxy.alias;\nfence.proxy.async;\nfence.proxy.async.shared::cta;\n"
      "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;\nfence.mbarrier_init.release.cluster;\n"
      "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\nnanosleep.u32 100;\nnanosleep.u32 %t;\n"
      "pmevent 1;\npmevent.mask 0x3;\nsetmaxnreg.inc.sync.aligned.u32 64;\nst.global.u32 [%out+4], 6;");
  CHECK(out[0] == 5);
  CHECK(out[1] == 6);
}

TEST_CASE("exec brkpt stops the launch") {
  FaultKind kind = FaultKind::BadLaunch;
  try {
    runOne("brkpt;");
  } catch (const ExecError& e) {
    kind = e.kind;
  }
  CHECK(kind == FaultKind::Trap);
}
