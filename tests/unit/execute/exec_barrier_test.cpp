// Barriers in loops: what waits again where it waited before has got on nevertheless.
#include <doctest/doctest.h>

#include "exec_support.h"

using namespace ptxopt::exec;

namespace {

// Each thread goes nine times around `body`, which counts %r2, and stores the count.
std::vector<uint32_t> iterations(const std::string& body, uint32_t threads) {
  ExecTest t(
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
      "mov.u32 %r2, 0;\nL:\n" +
      body + "setp.lt.u32 %p1, %r2, 9;\n@%p1 bra L;\nst.global.u32 [%rd1], %r2;\nret;\n}\n");
  t.zeros<uint32_t>("out", threads);
  t.run({"out"}, {.block = {threads}});
  return t.values<uint32_t>("out");
}

}  // namespace

TEST_CASE("exec barrier: loops with one and several barriers") {
  for (const uint32_t threads : {32u, 33u, 64u, 96u, 128u}) {
    const std::vector<uint32_t> nine(threads, 9);
    CHECK(iterations("bar.sync 0;\nadd.u32 %r2, %r2, 1;\n", threads) == nine);
    CHECK(iterations("bar.sync 1;\nadd.u32 %r2, %r2, 1;\nbar.sync 0;\n", threads) == nine);
    CHECK(iterations("bar.sync 1;\nbar.sync 0;\nadd.u32 %r2, %r2, 1;\nbarrier.sync 2;\n", threads) == nine);
    CHECK(
        iterations("setp.eq.u32 %p2, %r1, 0;\nbar.red.popc.u32 %r3, 3, %p2;\nadd.u32 %r2, %r2, %r3;\nbar.sync 0;\n",
                   threads) == nine);
  }
}

TEST_CASE("exec barrier: parts of a warp wait for each other in a loop") {
  // Odd and even lanes run different waits of one mask.
  const std::string body =
      "and.b32 %r3, %r1, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra EVEN;\n"
      "bar.warp.sync 0xaaaaaaaa;\nadd.u32 %r2, %r2, 1;\nbra.uni BOTH;\n"
      "EVEN:\nbar.warp.sync 0x55555555;\nadd.u32 %r2, %r2, 1;\nBOTH:\nbar.warp.sync 0xffffffff;\nbar.sync 0;\n";
  for (const uint32_t threads : {32u, 64u, 96u})
    CHECK(iterations(body, threads) == std::vector<uint32_t>(threads, 9));
}
