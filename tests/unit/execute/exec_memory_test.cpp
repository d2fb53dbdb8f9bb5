// Memory that belongs to somebody else, attached to that of a machine: src/execute/emulate launches kernels over it.
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
  std::vector<std::byte> data = bytesOf(1), around(4096);
  ExecTest t(kIncrement);
  GlobalMemory& memory = t.machine().memory();
  memory.attach("data", kPlace, data);
  CHECK_THROWS_AS(t.run({kPlace + 4}, {}), ExecError);
  CHECK_THROWS_AS(memory.attach("the same", kPlace, data), std::invalid_argument);
  CHECK_THROWS_AS(memory.attach("in it", kPlace + 3, data), std::invalid_argument);
  CHECK_THROWS_AS(memory.attach("around it", kPlace - 1, around), std::invalid_argument);
  CHECK(memory.attach("after it", kPlace + 4, data).base == kPlace + 4);
  CHECK(memory.attach("before it", kPlace - 4096, around).base == kPlace - 4096);
}

TEST_CASE("exec memory: what is allocated lies apart from what is attached") {
  ExecTest t(kIncrement);
  GlobalMemory& memory = t.machine().memory();
  const uint64_t next = memory.allocate("first", 4096).base + 4096;
  std::vector<std::byte> data(1 << 20);
  memory.attach("data", next, data);
  Allocation& second = memory.allocate("second", 4096);
  CHECK(memory.find(next) != &second);
  CHECK(memory.find(second.base) == &second);
  CHECK((second.base >= next + data.size()));
}

TEST_CASE("exec memory: machines of one device see each other's memory, and a twin the variables of the first") {
  const std::string_view text = R"(.version 8.0
.target sm_80
.address_size 64
.global .u32 count = 5;
.visible .entry k() {
  .reg .u32 %r<3>;
  ld.global.u32 %r1, [count];
  add.u32 %r2, %r1, 1;
  st.global.u32 [count], %r2;
  ret;
})";
  auto first = text::parse(text, "a"), second = text::parse(text, "b"), third = text::parse(text, "c");
  const auto device = std::make_shared<DeviceMemory>();
  Machine a(*std::get<0>(first), device);
  const std::size_t before = device->global.all().size();
  {
    Machine twin(*std::get<0>(second), device,
                 [&](std::string_view name, uint64_t bytes) { return a.placeOf(name, bytes); });
    Machine other(*std::get<0>(third), device);
    CHECK(device->global.all().size() == before + 1);
    CHECK(twin.variable("count") == a.variable("count"));
    CHECK(other.variable("count") != a.variable("count"));
    a.launch("k", {});
    twin.launch("k", {});
    other.launch("k", {});
    uint32_t counts[2];
    std::memcpy(&counts[0], a.variable("count")->data, 4);
    std::memcpy(&counts[1], other.variable("count")->data, 4);
    CHECK(counts[0] == 7);
    CHECK(counts[1] == 6);
  }
  CHECK(device->global.all().size() == before);
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
