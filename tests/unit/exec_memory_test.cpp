// Memory that belongs to somebody else, attached to that of a machine: tests/gpu/stand_in launches kernels over it.
#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "exec/memory.h"
#include "exec_support.h"

namespace ptxopt::exec {
namespace {

constexpr const char* kIncrement = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 1;
  st.global.u32 [%rd1], %r2;
  ret;
})";

constexpr uint64_t kPlace = 0x7F00'0000'0000;

std::vector<std::byte> bytesOf(uint32_t value) {
  std::vector<std::byte> bytes(4);
  std::memcpy(bytes.data(), &value, 4);
  return bytes;
}

}  // namespace

TEST_CASE("exec memory: kernels work on what is attached, and it is the caller's") {
  std::vector<std::byte> data = bytesOf(41);
  {
    ExecTest t(kIncrement);
    GlobalMemory& memory = t.machine().memory();
    for (int i = 0; i < 2; ++i) {  // the address is free again after the release
      Allocation& a = memory.attach("data", kPlace, data);
      t.run({kPlace}, {});
      memory.release(a);
    }
    CHECK(data == bytesOf(43));
    CHECK(memory.find(kPlace) == nullptr);
    CHECK_THROWS_AS(t.run({kPlace}, {}), ExecError);
    memory.attach("data", kPlace, data);
  }
  CHECK(data == bytesOf(43));
}

TEST_CASE("exec memory: what is attached has its own limits") {
  std::vector<std::byte> data = bytesOf(1);
  ExecTest t(kIncrement);
  t.machine().memory().attach("data", kPlace, data);
  CHECK_THROWS_AS(t.run({kPlace + 4}, {}), ExecError);
  CHECK_THROWS_AS(t.machine().memory().attach("before", kPlace - 4096, data), std::invalid_argument);
  CHECK_THROWS_AS(t.machine().memory().attach("crooked", 2 * kPlace + 1, data), std::invalid_argument);
}

TEST_CASE("exec memory: what is attached counts as written") {
  std::vector<std::byte> data = bytesOf(1);
  ExecTest t(kIncrement);
  t.machine().memory().trackWrites();
  t.machine().memory().attach("data", kPlace, data);
  t.run({kPlace}, {.checkUninitialised = true});
  CHECK(data == bytesOf(2));
}

}  // namespace ptxopt::exec
