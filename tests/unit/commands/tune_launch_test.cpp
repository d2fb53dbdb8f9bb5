// Launches that tune makes of its options: memory, parameters, other inputs, and what is left out.
#include "tool/commands/tune_launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "exec/error.h"
#include "exec/machine.h"
#include "text/parse.h"
#include "tool/commands/run_values.h"

using namespace ptxopt;
using namespace ptxopt::tool;

namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 total = 5;
.global .align 8 .u64 where = total;
.global .align 8 .u32 pair[2] = {5, 28672};
.visible .entry k(.param .u32 n, .param .u64 x, .param .u64 y) {
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 big[33554432];
  mov.u64 %rd1, big;
  ret;
}
)";

const record::RecordedMemory& entry(const gpu::GpuLaunch& l, const std::string& name) {
  const auto found = std::ranges::find(l.launch->memory, name, &record::RecordedMemory::name);
  REQUIRE(found != l.launch->memory.end());
  return *found;
}

uint64_t parameter(const gpu::GpuLaunch& l, std::size_t at) {
  uint64_t word = 0;
  REQUIRE(at + sizeof word <= l.launch->parameters.size());
  std::memcpy(&word, l.launch->parameters.data() + at, sizeof word);
  return word;
}

}  // namespace

TEST_CASE("tune launch: memory as ptxopt run lays it out, for kernels that it cannot run") {
  auto parsed = text::parse(kText, "k.ptx");
  const Module& module = *std::get<0>(parsed);
  CHECK_THROWS_AS(exec::Machine(module).kernel("k"), exec::ExecError);
  const TuneLaunch wanted{"k", {2}, {32}, {}, 64, {"u32:7", "x=buf:f32:100:random", "y=buf:u8:5:iota"}, 1, 4};
  const MadeLaunch made(module, wanted), again(module, wanted);
  const gpu::GpuLaunch l = made.launch();
  const gpu::BytesOf bytes = l.open();
  CHECK(l.launch->shared == 64);
  CHECK(bytes(entry(l, "y").before) == std::string("\0\1\2\3\4", 5));
  CHECK(parameter(l, 8) == entry(l, "x").address);
  CHECK(parameter(l, 16) == entry(l, "y").address);
  CHECK(entry(l, "total").isVariable);
  CHECK(std::ranges::count(l.launch->memory, "where", &record::RecordedMemory::name) == 0);
  CHECK(entry(l, "pair").isVariable);  // read as one word it looks like an address

  REQUIRE(l.inputs.size() == 3);
  const auto x = static_cast<std::size_t>(&entry(l, "x") - l.launch->memory.data());
  std::vector<std::string> contents{bytes(entry(l, "x").before)};
  for (const auto& input : l.inputs) {
    for (std::size_t i = 0; i < input.size(); ++i) CHECK(input[i].empty() == (i != x));
    contents.push_back(bytes(input[x]));
    CHECK(contents.back().size() == 400);
  }
  std::ranges::sort(contents);
  CHECK(std::ranges::adjacent_find(contents) == contents.end());
  CHECK(again.launch().inputs == l.inputs);
}

TEST_CASE("tune launch: addresses are what the arguments say, not what looks like one") {
  constexpr const char* kScalars = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 end, .param .u32 n, .param .u32 m) { ret; }
)";
  auto parsed = text::parse(kScalars, "k.ptx");
  // One past the end of x; and two numbers that are an address of x in one word.
  const MadeLaunch made(*std::get<0>(parsed),
                        {"k", {1}, {32}, {}, 0, {"x=buf:u32:32:zero", "x+128", "u32:64", "u32:28672"}, 0, 1});
  const gpu::GpuLaunch l = made.launch();
  const auto x = static_cast<std::size_t>(&entry(l, "x") - l.launch->memory.data());
  REQUIRE(l.pointers.has_value());
  REQUIRE(l.pointers->size() == 2);
  CHECK((*l.pointers)[0].at == 0);
  CHECK((*l.pointers)[1].at == 8);
  for (const auto& p : *l.pointers) CHECK(p.entry == x);
}

TEST_CASE("tune launch: what makes no sense") {
  auto parsed = text::parse(kText, "k.ptx");
  const Module& module = *std::get<0>(parsed);
  const auto make = [&](std::vector<std::string> arguments) {
    return MadeLaunch(module, {"k", {1}, {32}, {}, 0, std::move(arguments), 0, 4});
  };
  CHECK(make({"u32:7", "total", "y=buf:u8:5:zero"}).launch().inputs.empty());  // nothing is random
  CHECK_THROWS_AS(make({"u32:7", "where", "total"}), RunError);
  CHECK_THROWS_AS(make({"u32:7"}), RunError);
  CHECK_THROWS_AS(make({"u64:7", "total", "total"}), RunError);
}
