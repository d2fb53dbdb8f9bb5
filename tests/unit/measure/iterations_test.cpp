// Loops of a PTX text and bodies of kernels, with what a profile has of them.
#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/manager/analyses.h"
#include "iterations/entry_bodies.h"
#include "iterations/ptx_loops.h"
#include "support.h"

namespace ptxopt {
namespace {

// Two bodies: launches of 128 threads with n == 100 and scale == 0.5 run the second, with pointers that are multiples of 16.
std::string kernelOf(std::string_view branch = "bra.uni", std::string_view loops = "") {
  std::string text = testing::kHeader + R"(.visible .entry k(.param .u64 p, .param .u64 n, .param .f32 scale)
{
	.reg .pred %p<9>;
	.reg .b32 %r<20>;
	.reg .b64 %rd<9>;
	mov.u32 %r1, %ntid.x;
	xor.b32 %r2, %r1, 128;
	ld.param.u32 %r3, [n];
	xor.b32 %r4, %r3, 100;
	or.b32 %r5, %r2, %r4;
	ld.param.u32 %r6, [n+4];
	or.b32 %r7, %r5, %r6;
	ld.param.u32 %r8, [scale];
	xor.b32 %r9, %r8, 1056964608;
	or.b32 %r10, %r7, %r9;
	ld.param.u32 %r11, [p];
	and.b32 %r12, %r11, 15;
	or.b32 %r13, %r10, %r12;
	setp.eq.s32 %p1, %r13, 0;
	@%p1 BRANCH Special;
	ld.param.u64 %rd1, [p];
	mov.u32 %r14, 0;
Loop:
	st.u32 [%rd1], %r14;
	add.s32 %r14, %r14, 1;
	setp.lt.s32 %p2, %r14, %r3;
	@%p2 bra Loop;
	ret;
Special:
	ld.param.u64 %rd2, [p];
	mov.u32 %r15, 0;
LOOPS
	ret;
}
)";
  const auto put = [&](std::string_view what, std::string_view by) {
    text.replace(text.find(what), what.size(), by);
  };
  put("BRANCH", branch);
  put("LOOPS", loops.empty() ? "\tst.u32 [%rd2], %r15;" : loops);
  return text;
}

LaunchClass launchesOf(double time, uint32_t threads, int64_t n, uint64_t aligned = 256) {
  LaunchClass c;
  c.launches = 1;
  c.time = time;
  c.block = {threads, 1, 1};
  c.parts = {
      {0, 0, 8, true, {.multiple = aligned}}, {1, 0, 8, false, {n, n}}, {2, 0, 4, false, {1056964608, 1056964608}}};
  return c;
}

std::vector<double> shares(const std::string& text, std::vector<LaunchClass> classes, double time) {
  testing::Parsed parsed(text);
  const Function& f = parsed.module->functions[0];
  Analyses analyses(*parsed.module, f);
  const iterations::EntryBodies bodies = iterations::entryBodiesOf(*parsed.module, f, analyses.cfg());
  LaunchProfile profile;
  profile.launches = 1;
  profile.time = time;
  profile.classes = std::move(classes);
  return sharesOf(bodies, profile);
}

using Shares = std::vector<double>;

TEST_CASE("the test at entry tells which launches run which body") {
  const std::string text = kernelOf();
  CHECK(shares(text, {launchesOf(10, 128, 100)}, 10) == Shares{1, 0});
  CHECK(shares(text, {launchesOf(30, 128, 100), launchesOf(10, 64, 100)}, 40) == Shares{0.75, 0.25});
  CHECK(shares(text, {launchesOf(30, 128, 101), launchesOf(10, 128, 100)}, 40) == Shares{0.25, 0.75});
  CHECK(shares(text, {launchesOf(10, 128, 100 + (int64_t{1} << 32))}, 10) == Shares{0, 1});
  // Launches of no class are for the other body.
  CHECK(shares(text, {launchesOf(10, 128, 100)}, 20) == Shares{0.5, 0.5});
  // Not known whether the pointer is aligned: the test is taken for passed.
  CHECK(shares(text, {launchesOf(10, 128, 100, 8)}, 10) == Shares{1, 0});
  CHECK(shares(text, {}, 0) == Shares{});
  // Threads may go both ways.
  CHECK(shares(kernelOf("bra"), {launchesOf(10, 128, 100)}, 10) == Shares{});
}

TEST_CASE("loops of a body have the iterations of the loop that they are copies of") {
  // A loop of four copies, and what is left.
  const std::string text = kernelOf("bra.uni", R"(made_L4_of_Loop:
	st.u32 [%rd2], %r15;
	st.u32 [%rd2+4], %r15;
	st.u32 [%rd2+8], %r15;
	st.u32 [%rd2+12], %r15;
	add.s32 %r15, %r15, 4;
	setp.lt.s32 %p3, %r15, %r3;
	@%p3 bra made_L4_of_Loop;
made_L5_of_Loop:
	st.u32 [%rd2], %r15;
	add.s32 %r15, %r15, 1;
	setp.lt.s32 %p4, %r15, %r3;
	@%p4 bra made_L5_of_Loop;
Other:
	add.s32 %r15, %r15, -1;
	setp.ne.s32 %p5, %r15, %r3;
	@%p5 bra Other;)");
  testing::Parsed parsed(text);
  Module& module = *parsed.module;
  module.profiles.resize(1);
  LaunchProfile& profile = module.profiles[0];
  profile.launches = 1;
  profile.time = 10;
  profile.classes = {launchesOf(10, 128, 100)};
  const Function& f = module.functions[0];
  for (uint32_t l = 0; l < f.labels.size(); ++l)
    if (module.text(f.labels[l].name).ends_with("Loop")) profile.loops.push_back({LabelId(l), 2, 206});
  const timing::PtxLoops loops = iterations::loopsOf(module);
  REQUIRE(loops.bodies.size() == 2);
  CHECK(loops.bodies[0].share == 1);
  CHECK(loops.bodies[1].share == 0);
  CHECK(loops.bodies[0].isSeen);
  CHECK(loops.threads.at("k") == 128);
  const auto lineOf = [&](std::string_view what) {
    const std::string_view before = std::string_view(text).substr(0, text.find(what));
    return static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  };
  const auto iterationsOf = [&](std::string_view what) { return loops.iterations.at(loops.loopOf(lineOf(what))); };
  CHECK(iterationsOf("@%p2") == 103);
  CHECK(iterationsOf("@%p3") == 25);
  CHECK(iterationsOf("@%p4") == 3);
  CHECK(iterationsOf("@%p5") == 0);  // tied to none
  CHECK(loops.bodyOf(lineOf("@%p2")) == 1);
  CHECK(loops.bodyOf(lineOf("@%p3")) == 0);
  CHECK(!loops.bodyOf(lineOf("mov.u32 %r1,")));
}

}  // namespace
}  // namespace ptxopt
