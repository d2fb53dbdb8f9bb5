// Reading what `ptxas -v` says.
#include <doctest/doctest.h>

#include "ptxas/verbose.h"

using namespace ptxopt;

TEST_CASE("ptxas -v: kernels and functions") {
  const auto counts = ptxas::readPtxasVerbose(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z4gemmPKf' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z4gemmPKf\n"
      "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 31 registers, used 1 barriers, 8 bytes cumulative stack size, 2176 bytes smem, 380 "
      "bytes "
      "cmem[0]\r\n"
      "ptxas info    : Compile time = 28.817 ms\n"
      "ptxas info    : Function properties for helper\n"
      "    4 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
  REQUIRE(counts.size() == 2);
  const ptxas::PtxasCounts& gemm = counts.at("_Z4gemmPKf");
  CHECK(gemm.registers == 31);
  CHECK(gemm.barriers == 1);
  CHECK(gemm.stack == 8);
  CHECK(gemm.spillStores == 12);
  CHECK(gemm.spillLoads == 16);
  CHECK(gemm.shared == 2176);
  const ptxas::PtxasCounts& helper = counts.at("helper");
  CHECK_FALSE(helper.registers.has_value());
  CHECK(helper.stack == 4);
}

TEST_CASE("ptxas -v: older wording, and nothing") {
  const auto counts = ptxas::readPtxasVerbose(
      "ptxas info    : Compiling entry function 'k' for 'sm_75'\n"
      "ptxas info    : Used 8 registers, 360 bytes cmem[0]\n");
  REQUIRE(counts.size() == 1);
  CHECK(counts.at("k").registers == 8);
  CHECK(counts.at("k").barriers == 0);
  CHECK(ptxas::readPtxasVerbose("").empty());
  CHECK(ptxas::readPtxasVerbose("ptxas info : Used 99 registers\n").empty());
  CHECK_FALSE(ptxas::readPtxasVerbose("Function properties for f\nUsed registers\n").at("f").registers.has_value());
}
