// Figures of machine code, of cubins that are broken, their order, and the cache; without a ptxas.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "ptxas/assemble.h"
#include "ptxas/cache.h"
#include "ptxas/compare.h"
#include "ptxas/cubin.h"
#include "ptxas/find.h"
#include "ptxas/machine_code.h"
#include "ptxas/measures_json.h"
#include "support/temporary_folder.h"
#include "target/target.h"
#include "timing/kernel_time.h"

using namespace ptxopt;

namespace {

std::string firstPtxas(const std::string& given = {}, std::vector<std::string>* wrong = nullptr) {
  ptxas::PtxasSearch search;
  search.given = given;
  const ptxas::PtxasCandidates found = ptxas::ptxasCandidates(search);
  if (wrong != nullptr) *wrong = found.wrong;
  return found.all.empty() ? std::string() : found.all.front().path;
}

constexpr uint64_t kBranch = 0x947, kNop = 0x918, kOther = 0x212;

struct Code {
  std::string bytes;
  bool wide = false;

  void add(uint64_t low, uint64_t high = 0) {
    bytes.append(reinterpret_cast<const char*>(&low), 8);
    bytes.append(reinterpret_cast<const char*>(&high), 8);
  }
  void others(int n) {
    while (n-- > 0) add(kOther);
  }
  // A branch to `instructions` from the one behind it.
  void branch(int64_t instructions) {
    const int64_t offset = instructions * 4;  // bytes / 4
    const auto field = static_cast<uint64_t>(wide ? offset >> 8 : offset) & ((uint64_t{1} << 48) - 1);
    add(kBranch | (wide ? (static_cast<uint64_t>(offset) & 0xff) << 16 : 0) | field << 34, field >> 30);
  }
  void end() {
    branch(-1);
    add(kNop);
    add(kNop);
  }
};

ptxas::FunctionMeasures kernel(uint64_t spills, uint32_t warps, uint32_t instructions) {
  ptxas::FunctionMeasures f;
  f.isKernel = true;
  f.spillStores = spills;
  f.spillLoads = 0;
  f.warps = warps;
  f.instructions = instructions;
  return f;
}

}  // namespace

TEST_CASE("the architecture to assemble for: the text's own, whether its occupancy is known or not") {
  for (const char* target : {"sm_75", "sm_90a", "sm_100f", "sm_107a", "sm_121", "sm_130"})
    CHECK(ptxas::architectureToAssemble(target) == target);
  CHECK(ptxas::architectureToAssemble("compute_107f") == "sm_107f");
  for (const char* old : {"", "sm", "sm_", "sm_20", "sm_70", "90"})
    CHECK(ptxas::architectureToAssemble(old) == "sm_75");
}

TEST_CASE("machine code: instructions and innermost loops") {
  for (const bool wide : {false, true}) {
    CAPTURE(wide);
    Code code;
    code.wide = wide;
    code.others(3);
    code.others(10);        // 3..12: a loop of 11 with its branch at 13
    code.branch(-11);       // to 3
    code.others(5);         // 14..18
    code.branch(-3);        // at 19, to 17: within the next
    code.branch(-200 + 3);  // at 20: backwards beyond the beginning: no loop
    code.branch(-8);        // at 21, to 14: holds 17..19
    code.branch(1);         // forwards
    code.end();
    const ptxas::MachineCodeCounts counts = ptxas::countMachineCode(code.bytes, wide ? 90 : 80);
    CHECK(counts.instructions == 23);
    CHECK(counts.innerLoops == 2);
    CHECK(counts.inner == 11 + 3);
  }
  CHECK(ptxas::countMachineCode("", 90).instructions == 0);
  CHECK(ptxas::countMachineCode("abc", 90).instructions == 0);
}

TEST_CASE("cubin: what is none") {
  for (const std::string& bytes : {std::string(), std::string("\177ELF"),
                                   std::string("\177ELF") + std::string(100, '\2'), std::string("// PTX")}) {
    const auto read = ptxas::readCubin(bytes);
    REQUIRE(std::holds_alternative<ptxas::CubinError>(read));
    CHECK_FALSE(std::get<ptxas::CubinError>(read).message.empty());
  }
  // This program is an ELF file, but not of NVIDIA's.
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(1 << 16, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  CHECK(std::get<ptxas::CubinError>(ptxas::readCubin(head)).message == "not for NVIDIA's machines");
}

TEST_CASE("compare: a function within its caller's code has no registers and instructions to compare") {
  ptxas::FunctionMeasures apart = kernel(0, 0, 40), within = kernel(0, 0, 0);
  apart.isKernel = within.isKernel = false;
  apart.registers = 20;
  for (const ptxas::Measure m : {ptxas::Measure::Instructions, ptxas::Measure::Inner, ptxas::Measure::Registers}) {
    CHECK(value(apart, m).has_value());
    CHECK(!value(within, m).has_value());
    CHECK(compare(within, apart, std::array{m}).sign == 0);
  }
  CHECK(value(within, ptxas::Measure::Spills) == 0);
  CHECK(value(kernel(0, 0, 0), ptxas::Measure::Instructions) == 0);
}

TEST_CASE("compare: spills before warps before instructions") {
  CHECK(compare(kernel(0, 32, 100), kernel(0, 32, 100), ptxas::GuardRule::Warps).sign == 0);
  CHECK(compare(kernel(0, 32, 100), kernel(0, 32, 99), ptxas::GuardRule::Warps).sign < 0);
  CHECK(compare(kernel(0, 32, 100), kernel(0, 48, 120), ptxas::GuardRule::Warps).sign < 0);
  CHECK(compare(kernel(0, 48, 100), kernel(0, 32, 20), ptxas::GuardRule::Warps).sign > 0);
  const ptxas::Comparison spills = compare(kernel(8, 32, 100), kernel(16, 64, 20), ptxas::GuardRule::Warps);
  CHECK(spills.sign > 0);
  CHECK(spills.by == ptxas::Measure::Spills);
  CHECK(spills.before == 8);
  CHECK(spills.after == 16);
  // What one side does not know is passed over.
  ptxas::FunctionMeasures unknown = kernel(0, 32, 100);
  unknown.spillLoads.reset();
  CHECK(compare(kernel(8, 32, 100), unknown, ptxas::GuardRule::Warps).sign == 0);
  // Where no time is known, the other rule says the same.
  CHECK(compare(kernel(0, 48, 100), kernel(0, 32, 20), ptxas::GuardRule::Time).by == ptxas::Measure::Warps);
  // Another objective.
  ptxas::FunctionMeasures a = kernel(0, 64, 100), b = kernel(0, 32, 90);
  CHECK(compare(a, b, ptxas::orderOf(ptxas::Objective::Warps)).sign > 0);
  CHECK(compare(a, b, ptxas::orderOf(ptxas::Objective::Sass)).sign < 0);
}

TEST_CASE("compare: blocks that fitted have to fit") {
  const auto by = [](uint32_t before, uint32_t after, uint32_t threads = 0) {
    ptxas::FunctionMeasures a = kernel(0, 32, 100), b = kernel(0, 32, 90);
    a.registers = before;
    b.registers = after;
    a.threads = b.threads = threads;
    return compare(a, b, ptxas::GuardRule::Time);
  };
  CHECK(by(64, 65).text() == "64 -> 65: blocks of 1024 threads no longer fit");
  CHECK(by(64, 65).by == ptxas::Measure::Registers);
  CHECK(by(57, 64).sign < 0);
  CHECK(by(81, 96).sign < 0);
  CHECK(by(80, 81).text() == "80 -> 81: blocks of 768 threads no longer fit");
  CHECK(by(168, 255).text() == "168 -> 255: blocks of 384 threads no longer fit");
  CHECK(by(176, 255).sign < 0);
  CHECK(by(255, 64).sign < 0);
  // As large as they get, they fit.
  CHECK(by(64, 128, 512).sign < 0);
  CHECK(by(64, 129, 512).sign > 0);
  // Where the kernel allows fewer, that is the cause, however many registers it takes.
  ptxas::FunctionMeasures a = kernel(0, 32, 100), b = a;
  a.registers = b.registers = 32;
  b.threads = 256;
  CHECK(compare(a, b, ptxas::GuardRule::Time).by == ptxas::Measure::Block);
  CHECK(compare(a, b, ptxas::GuardRule::Warps).text() ==
        "1024 -> 256 threads at most: larger blocks can no longer be launched");
  CHECK(compare(b, a, ptxas::GuardRule::Time).sign == 0);
  a.registers = 200;  // 256 threads
  CHECK(compare(a, b, ptxas::GuardRule::Time).sign == 0);
}

TEST_CASE("compare: a body for launches of a profile has to be better, and the other one may cost the test") {
  const auto timed = [](ptxas::ModelledTime::Cycles whole, double instructions) {
    return ptxas::ModelledTime{"m", whole, {.written = 4, .instructions = instructions}, {}, whole};
  };
  ptxas::FunctionMeasures before = kernel(0, 32, 100), after = kernel(0, 32, 220);
  before.time = timed({1000, 2000, 3000}, 100);
  after.time = timed({900, 1900, 2900}, 100);
  const auto by = [&](ptxas::ModelledTime::Cycles one, ptxas::ModelledTime::Cycles other) {
    after.time->versions = {timed(one, 100), timed(other, 100)};
    return compare(before, after, ptxas::GuardRule::Time);
  };
  // Whichever stands first.
  CHECK(by({800, 1800, 2800}, {1010, 2010, 3010}).text() == "L1 1000 -> 800");
  CHECK(by({1010, 2010, 3010}, {800, 1800, 2800}).text() == "L1 1000 -> 800");
  CHECK(*ptxas::valueAfter(before, after, ptxas::Measure::Cycles) ==
        ptxas::wholeNumber(std::cbrt(800.0 * 1800 * 2800)));
  // Others would pay for it.
  const ptxas::Comparison beside = by({800, 1800, 2800}, {1030, 2010, 3010});
  CHECK(beside.sign > 0);
  CHECK(beside.text() == "L1 1000 -> 1030, in launches beside the profile");
  // It gains nothing, or costs more somewhere.
  CHECK(by({1000, 2000, 3000}, {1000, 2000, 3000}).sign > 0);
  CHECK(by({800, 1800, 3100}, {1000, 2000, 3000}).sign > 0);
  // A loop may cost more where the whole costs a tenth less wherever data lies.
  const auto withLoop = [](ptxas::ModelledTime& time, double cycles) {
    time.inner = {{8, {cycles, cycles, cycles}, {}}};
    time.loopsAlone = {{cycles, cycles, cycles}};
  };
  withLoop(*before.time, 10);
  const auto byLoop = [&](ptxas::ModelledTime::Cycles special) {
    after.time->versions = {timed(special, 100), timed({1000, 2000, 3000}, 100)};
    withLoop(after.time->versions[0], 10.5);
    withLoop(after.time->versions[1], 10);
    return compare(before, after, ptxas::GuardRule::Time);
  };
  CHECK(byLoop({800, 1700, 2600}).sign < 0);
  CHECK(byLoop({999, 1700, 2600}).sign > 0);
  before.time->inner.clear();
  // Not the same work in either: an ordinary kernel of two parts.
  after.time->versions[0].work.written = after.time->versions[1].work.written = 40;
  CHECK(*ptxas::valueAfter(before, after, ptxas::Measure::Cycles) !=
        ptxas::wholeNumber(std::cbrt(800.0 * 1800 * 2800)));
}

TEST_CASE("compareProfiled: launches beside the profile lose two percent at most, whatever others gain") {
  const auto timed = [](double cycles, double alone) {
    return ptxas::ModelledTime{
        "m", {cycles, cycles, cycles}, {.written = 4, .instructions = 100}, {}, {alone, alone, alone}};
  };
  ptxas::FunctionMeasures without = kernel(0, 32, 100), with = kernel(0, 32, 220);
  without.time = timed(1000, 4000);
  with.time = timed(900, 3000);
  const auto by = [&](const ptxas::ModelledTime& special, const ptxas::ModelledTime& general) {
    with.time->versions = {general, special};
    return compareProfiled(without, with, ptxas::GuardRule::Time);
  };
  CHECK(by(timed(700, 3000), timed(1010, 4040)).sign < 0);
  const ptxas::Comparison few = by(timed(700, 3000), timed(960, 4100));
  CHECK(few.sign > 0);
  CHECK(few.text() == "L1 4000 -> 4100 with few warps, in launches beside the profile");
  CHECK(compare(without, with, ptxas::GuardRule::Time).sign < 0);  // the whole of the body gains more with many
  // Of a kernel with one body all launches are beside it.
  with.time = timed(900, 4200);
  CHECK(compareProfiled(without, with, ptxas::GuardRule::Time).text() ==
        "L1 4000 -> 4200 with few warps, in launches beside the profile");
  with.time = timed(900, 4040);
  CHECK(compareProfiled(without, with, ptxas::GuardRule::Time).sign < 0);
}

TEST_CASE("compareProfiled: by the iterations of the profile as well as by what is assumed") {
  const auto timed = [](double cycles) {
    return ptxas::ModelledTime{
        "m", {cycles, cycles, cycles}, {.written = 4, .instructions = 100}, {}, {cycles, cycles, cycles}};
  };
  const auto by = [&](double assumed, double profiled, double computed = 64, double others = 5000,
                      double othersAlone = 5000) {
    ptxas::FunctionMeasures without = kernel(0, 32, 100), with = kernel(0, 32, 100);
    without.time = timed(1000);
    with.time = timed(assumed);
    const auto all = [](double cycles) { return ptxas::ModelledTime::Cycles{cycles, cycles, cycles}; };
    return compareProfiled(
        without, with, ptxas::GuardRule::Time,
        ptxas::ProfiledTimes{{all(5000), all(5000), all(5000), all(5000), 64, 4},
                             {all(profiled), all(profiled), all(others), all(othersAlone), computed, 4}});
  };
  CHECK(by(900, 4000).sign < 0);
  CHECK(by(900, 5000).sign < 0);
  CHECK(by(900, 5100).text() == "L1 5000 -> 5100, by the profile's iterations");
  CHECK(by(900, 5100).sign > 0);
  // Worse by what is assumed, by no more than a launch beside the profile may lose.
  CHECK(by(1015, 4000).sign < 0);
  CHECK(by(1015, 4000).text() == "L1 5000 -> 4000, by the profile's iterations");
  CHECK(by(1000, 4000).sign < 0);
  CHECK(by(1025, 4000).sign > 0);
  CHECK(by(1015, 5000).sign > 0);
  CHECK(by(1025, 5100).sign > 0);
  // What launches beside the profile lose by its iterations, though by what is assumed they lose nothing.
  CHECK(by(900, 4000, 64, 5090, 5090).sign < 0);
  CHECK(by(900, 4000, 64, 5110).text() ==
        "L1 5000 -> 5110, by the profile's iterations, in launches beside the profile");
  CHECK(by(900, 4000, 64, 5000, 5110).text() ==
        "L1 5000 -> 5110 with few warps, by the profile's iterations, in launches beside the profile");
  CHECK(by(900, 4000, 64, 5110).sign > 0);
  // Loops that were taken for others: the rule decides alone.
  CHECK(by(900, 5100, 640).sign < 0);
  CHECK(by(1015, 4000, 6).sign > 0);
}

TEST_CASE("compare: by modelled time, loops first, then the whole, then warps") {
  const auto timed = [](ptxas::ModelledTime::Cycles whole, const std::vector<ptxas::ModelledTime::Cycles>& inner,
                        uint32_t warps = 32) {
    ptxas::FunctionMeasures f = kernel(0, warps, 100);
    f.time = ptxas::ModelledTime{"m", whole, {.instructions = 100}, {}};
    for (const ptxas::ModelledTime::Cycles& cycles : inner) f.time->inner.push_back({8, cycles, {}});
    return f;
  };
  const auto by = [](const ptxas::FunctionMeasures& a, const ptxas::FunctionMeasures& b) {
    return compare(a, b, ptxas::GuardRule::Time);
  };
  const ptxas::FunctionMeasures base = timed({1000, 2000, 3000}, {{10, 20, 30}, {40, 40, 40}});
  // Faster in one place and the same elsewhere, although fewer warps are resident.
  CHECK(by(base, timed({990, 2000, 3000}, {{10, 20, 30}, {40, 40, 40}}, 16)).sign < 0);
  // Slower in one scenario.
  const ptxas::Comparison whole = by(base, timed({900, 2000, 3020}, {{10, 20, 30}, {40, 40, 40}}));
  CHECK(whole.sign > 0);
  CHECK(whole.text() == "DRAM 3000 -> 3020");
  CHECK(by(base, timed({900, 2000, 3014}, {{10, 20, 30}, {40, 40, 40}})).sign < 0);
  // A loop may not get slower because the rest shrank: here it takes 4 cycles more, and the whole 11 less.
  const ptxas::Comparison loop = by(base, timed({989, 1989, 2989}, {{10, 20, 30}, {40, 40.5, 40}}));
  CHECK(loop.sign > 0);
  CHECK(loop.by == ptxas::Measure::Cycles);
  CHECK(loop.text() == "L2 40.00 -> 40.50 in innermost loop 2");
  // A little slower it may get if the whole gains three times as much, here and where it is not slower.
  const ptxas::ModelledTime::Cycles less{988, 1988, 2988};
  CHECK(by(base, timed(less, {{10, 20, 30}, {40, 40.5, 40}})).text() == "L1 1000 -> 988");
  CHECK(by(base, timed({1000, 1988, 3001}, {{10, 20, 30}, {40, 40.5, 40}})).sign < 0);
  CHECK(by(base, timed({988, 1989, 2988}, {{10, 20, 30}, {40, 40.5, 40}})).sign > 0);
  // All slips count together.
  CHECK(by(base, timed(less, {{10, 20.5, 30}, {40, 40.5, 40}})).sign > 0);
  // By more than two cycles and a tenth it may not, whatever the whole gains, nor by two cycles that are more than a quarter.
  CHECK(by(base, timed({500, 1500, 2500}, {{12, 20, 30}, {44, 40, 40}})).sign < 0);
  const ptxas::FunctionMeasures tight = timed({1000, 2000, 3000}, {{7, 8, 8}});
  CHECK(by(tight, timed({500, 1500, 2500}, {{7, 10, 8}})).sign < 0);
  CHECK(by(tight, timed({500, 1500, 2500}, {{9, 8, 8}})).sign > 0);
  // A gain that says nothing outweighs nothing, and a loop counts that hardly iterates.
  const ptxas::FunctionMeasures large = timed({100000, 100000, 100000}, {{40, 40, 40}, {200, 200, 200}});
  ptxas::FunctionMeasures other = timed({99900, 99900, 99900}, {{42, 42, 42}, {198, 198, 198}});
  CHECK(by(large, other).sign > 0);
  other.time->whole = {99400, 99400, 99400};
  CHECK(by(large, other).sign < 0);
  ptxas::FunctionMeasures rare = base, slowed = timed({998, 1989, 2983}, {{10, 20, 30}, {42, 40, 40}});
  rare.time->inner[1].iterations = 0;
  CHECK(by(rare, slowed).sign > 0);
  slowed.time->whole = {993, 1989, 2983};
  CHECK(by(rare, slowed).sign < 0);
  CHECK(by(base, timed({500, 1500, 2500}, {{12.1, 20, 30}, {40, 40, 40}})).sign > 0);
  CHECK(by(base, timed({500, 1500, 2500}, {{10, 20, 30}, {44.1, 40, 40}})).sign > 0);
  // With few warps nothing may get slower, and what gets faster there counts. Up to a fiftieth is the same.
  ptxas::FunctionMeasures sparse = base, slower = timed({1000, 2000, 3000}, {{10, 20, 30}, {40, 40, 40}});
  slower.instructions = 110;
  sparse.time->alone = {4000, 5000, 6000};
  slower.time->alone = {4080, 5100, 5800};
  CHECK(by(sparse, slower).text() == "DRAM 6000 -> 5800 with few warps");
  CHECK(by(sparse, slower).sign < 0);
  slower.time->alone = {4000, 5110, 5000};
  CHECK(by(sparse, slower).text() == "L2 5000 -> 5110 with few warps");
  CHECK(by(sparse, slower).sign > 0);
  slower.time->alone = {4090, 5000, 6000};
  CHECK(by(sparse, slower).text() == "L1 4000 -> 4090 with few warps");
  // What many warps gain where data lies outweighs what few lose there.
  slower.time->whole = {960, 2000, 3000};
  CHECK(by(sparse, slower).text() == "L1 1000 -> 960");
  slower.time->alone = {4170, 5000, 6000};
  CHECK(by(sparse, slower).text() == "L1 4000 -> 4170 with few warps");
  // Nor may a loop, one around others included, unless the whole gets faster, by more than two cycles.
  slower.time->alone = sparse.time->alone;
  sparse.time->loopsAlone = {{100, 100, 100}, {20, 20, 20}};
  slower.time->loopsAlone = {{103, 102, 102}, {22, 22, 22}};
  CHECK(by(sparse, slower).text() == "L1 1000 -> 960");
  slower.time->whole = sparse.time->whole;
  CHECK(by(sparse, slower).text() == "L1 100.00 -> 103.00 in loop 1 with few warps");
  CHECK(by(sparse, slower).sign > 0);
  slower.time->loopsAlone[1] = {20, 20, 23};
  slower.time->alone = {3900, 5000, 6000};
  CHECK(by(sparse, slower).text() == "DRAM 20.00 -> 23.00 in loop 2 with few warps");
  slower.time->alone = {3900, 5000, 5900};
  CHECK(by(sparse, slower).text() == "L1 4000 -> 3900 with few warps");
  slower.time->loopsAlone.pop_back();
  slower.time->alone = sparse.time->alone;
  CHECK(by(sparse, slower).by == ptxas::Measure::Instructions);
  // What the whole gains with few warps outweighs what an innermost loop loses, as what it gains with many.
  slower = timed({1000, 2000, 3000}, {{10, 20.5, 30}, {40, 40, 40}});
  slower.time->alone = {4000, 4990, 6000};
  CHECK(by(sparse, slower).text() == "L2 20.00 -> 20.50 in innermost loop 1");
  slower.time->alone = {4000, 4850, 6000};
  CHECK(by(sparse, slower).text() == "L2 5000 -> 4850 with few warps");
  slower.time->whole = {1000, 2020, 3000};
  CHECK(by(sparse, slower).text() == "L2 2000 -> 2020");
  // One that got faster counts where the whole is the same; where the whole got slower it does not.
  ptxas::FunctionMeasures more = timed({1000, 2000, 3000}, {{10, 15, 30}, {40, 40, 40}});
  more.instructions = 110;
  CHECK(by(base, more).sign < 0);
  CHECK(by(base, more).text() == "L2 20.00 -> 15.00 in innermost loop 1");
  CHECK(by(base, timed({1000, 2020, 3000}, {{10, 15, 30}, {40, 40, 40}})).sign > 0);
  // With another number of loops only the whole can be compared.
  CHECK(by(base, timed({900, 1900, 2900}, {{99, 99, 99}})).sign < 0);
  // No difference in time: warps decide.
  CHECK(by(base, timed({1001, 2001, 3001}, {{10, 20, 30}, {40, 40, 40}}, 16)).by == ptxas::Measure::Warps);
  // Then the instructions that are executed, although there may be more of them.
  ptxas::FunctionMeasures fewer = base;
  fewer.instructions = 110;
  fewer.time->work.instructions = 99;
  CHECK(by(base, fewer).sign < 0);
  CHECK(by(fewer, base).text() == "executed 99 -> 100");
  fewer.time->work.instructions = 99.9;
  CHECK(by(base, fewer).by == ptxas::Measure::Instructions);
  CHECK(by(base, fewer).sign > 0);
  // Spills come first, and figures of another model say nothing.
  ptxas::FunctionMeasures spills = timed({10, 20, 30}, {});
  spills.spillLoads = 8;
  CHECK(by(base, spills).by == ptxas::Measure::Spills);
  ptxas::FunctionMeasures foreign = timed({5000, 5000, 5000}, {{10, 20, 30}, {40, 40, 40}});
  foreign.time->model = "n";
  CHECK(by(base, foreign).sign == 0);
  CHECK(value(base, ptxas::Measure::Cycles) == 1817);
  CHECK(value(timed({1e120, 1e120, 1e120}, {}), ptxas::Measure::Cycles) == 9'000'000'000'000'000);
  CHECK(by(timed({1e120, 1, 1}, {}), timed({1e121, 1, 1}, {})).sign > 0);
}

TEST_CASE("measures: JSON and back") {
  ptxas::Measures m;
  m.architecture = "sm_90a";
  m.functions = {kernel(4, 32, 7), kernel(0, 16, 9)};
  m.functions[0].name = "a";
  m.functions[1].name = "b";
  m.functions[1].isKernel = false;
  m.functions[1].spillLoads.reset();
  m.functions[1].code = "00ff";
  m.functions[0].time =
      ptxas::ModelledTime{timing::digestOf(target::Target("sm_90a").machine()), {1, 2, 3}, {.read = 4}, {}};
  m.functions[0].time->inner.push_back({8, {1, 1, 1}, {.written = 2}});
  m.functions[0].time->alone = {4, 5, 6};
  m.functions[0].time->loopsAlone = {{7, 8, 9}, {1, 1, 2}};
  CHECK(ptxas::measuresFrom(nlohmann::ordered_json::parse(toJson(m).dump())) == m);
  REQUIRE(m.find("b") != nullptr);
  CHECK(m.find("b")->instructions == 9);
  CHECK(m.find("c") == nullptr);
}

TEST_CASE("measures: warps of a kernel") {
  ptxas::FunctionMeasures f = kernel(0, 0, 1);
  f.registers = 40;  // 6 blocks of 8 warps
  ptxas::setWarps(f, "sm_80");
  CHECK(f.warps == 48);
  f.threads = 1024;
  ptxas::setWarps(f, "sm_80");
  CHECK(f.warps == 32);
  ptxas::setWarps(f, "sm_80", 1000);
  CHECK(f.warps == 32);
  f.threads = 256;
  ptxas::setWarps(f, "sm_80", 2 * 108);  // two blocks in each SM of an A100
  CHECK(f.warps == 16);
  ptxas::setWarps(f, "sm_80", 2 * 108 + 1);
  CHECK(f.warps == 24);
  ptxas::setWarps(f, "sm_88", 1);  // nobody says how many SMs there are
  CHECK(f.warps == 48);
  f.threads = 1024;
  f.registers = 255;
  ptxas::setWarps(f, "sm_80");
  CHECK(f.warps == 0);
}

TEST_CASE("cache: kept, shared, and never above its size for long") {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  const std::string key = ptxas::Cache::key("one");
  CHECK(key.size() == 32);
  CHECK(key != ptxas::Cache::key("two"));
  {
    ptxas::Cache cache(folder.path(), 1000);
    CHECK_FALSE(cache.find(key).has_value());
    cache.put(key, "value");
    CHECK(cache.find(key) == "value");
    cache.put(key, "another");
    CHECK(ptxas::Cache(folder.path(), 1000).find(key) == "another");
    for (int i = 0; i < 20; ++i) {
      const std::string name = ptxas::Cache::key(std::to_string(i));
      cache.put(name, std::string(100, 'x'));
      // In the order of their numbers, the first long ago.
      const timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
      ::utimensat(AT_FDCWD, (folder.path() + "/measures/" + name.substr(0, 2) + "/" + name.substr(2)).c_str(),
                  times, 0);
    }
  }
  ptxas::Cache cache(folder.path(), 1000);
  CHECK(cache.find(key) == "another");
  CHECK(cache.find(ptxas::Cache::key("19")).has_value());
  CHECK_FALSE(cache.find(ptxas::Cache::key("0")).has_value());
  uint64_t total = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path() + "/measures"))
    if (entry.is_regular_file()) total += entry.file_size();
  CHECK(total <= 800);
  CHECK(total >= 600);
}

TEST_CASE("cache: an entry that is not whole is none, and is replaced" * doctest::test_suite("slow")) {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  ptxas::Cache cache(folder.path());
  const std::string key = ptxas::Cache::key("one"), other = ptxas::Cache::key("two");
  const std::string value = R"({"architecture": "sm_80",)"
                            "\n"
                            R"("functions": []})";
  const auto pathOf = [&](const std::string& k) {
    return folder.path() + "/measures/" + k.substr(0, 2) + "/" + k.substr(2);
  };
  cache.put(key, value);
  cache.put(other, value + value);
  const auto read = [&](const std::string& k) {
    std::ifstream in(pathOf(k), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string whole = read(key);
  const auto isRefused = [&](const std::string& bytes) {
    std::ofstream(pathOf(key), std::ios::binary) << bytes;
    const bool none = !cache.find(key).has_value();
    cache.put(key, value);
    return none && cache.find(key) == value && read(key) == whole;
  };
  REQUIRE(whole.size() > value.size());
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      CHECK(isRefused(flipped));
    }
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(isRefused(whole.substr(0, size)));
  CHECK(isRefused(whole + "x"));
  CHECK(isRefused(whole + whole));
  CHECK(isRefused(value));
  CHECK(isRefused(read(other)));  // right in itself, of another key

  std::filesystem::remove(pathOf(key));
  std::filesystem::create_directory(pathOf(key));
  CHECK_FALSE(cache.find(key).has_value());
  cache.put(key, value);
  CHECK(cache.find(key) == value);
  std::filesystem::remove(pathOf(key));
  REQUIRE(::mkfifo(pathOf(key).c_str(), 0600) == 0);
  CHECK_FALSE(cache.find(key).has_value());  // and does not wait
  cache.put(key, value);
  CHECK(cache.find(key) == value);
}

TEST_CASE("cache: what is no entry is neither removed nor followed") {
  namespace fs = std::filesystem;
  const TemporaryFolder folder, elsewhere;
  REQUIRE(folder.isValid());
  const std::string measures = folder.file("measures"), digits = ptxas::Cache::key("mine").substr(2);
  fs::create_directories(measures + "/ab/cd");
  const std::string large(2000, 'x');
  const std::vector<std::string> mine = {measures + "/notes.txt",       measures + "/ab/notes.txt",
                                         measures + "/ab/cd/" + digits, measures + "/" + digits,
                                         measures + "/ab/" + digits,    elsewhere.file(digits)};
  for (const std::string& file : mine) std::ofstream(file) << large;
  fs::create_directory_symlink(elsewhere.path(), measures + "/ef");
  fs::create_symlink(elsewhere.file(digits), measures + "/ab/" + ptxas::Cache::key("link").substr(2));
  std::ofstream(elsewhere.file(digits))
      << "ptxopt cache 1 " << large;  // an entry by its look, in a folder that is a link
  {
    ptxas::Cache cache(folder.path(), 1000);
    for (int i = 0; i < 20; ++i) cache.put(ptxas::Cache::key(std::to_string(i)), std::string(100, 'x'));
  }
  for (const std::string& file : mine) CHECK(fs::exists(file));
  CHECK(fs::is_symlink(measures + "/ab/" + ptxas::Cache::key("link").substr(2)));
}

TEST_CASE("cache: a folder that is not this user's alone is not used") {
  namespace fs = std::filesystem;
  const auto isUsed = [](const std::string& folder) {
    ptxas::Cache cache(folder);
    cache.put(ptxas::Cache::key("a"), "b");
    const bool finds = cache.find(ptxas::Cache::key("a")).has_value();
    CHECK(finds == cache.whyNotUsed().empty());
    return finds;
  };
  const TemporaryFolder folder;
  CHECK(isUsed(folder.file("new/folder")));
  CHECK((fs::status(folder.file("new/folder")).permissions() & fs::perms::others_all) == fs::perms::none);
  for (const std::string inside : {"", "/measures"}) {
    const std::string shared = folder.file("shared"), target = folder.file("target");
    fs::create_directories(shared + "/measures");
    CHECK(isUsed(shared));
    fs::permissions(shared + inside, fs::perms::others_write, fs::perm_options::add);
    CHECK_FALSE(isUsed(shared));
    fs::permissions(shared + inside, fs::perms::others_write, fs::perm_options::remove);
    fs::permissions(shared + inside, fs::perms::group_write, fs::perm_options::add);
    CHECK_FALSE(isUsed(shared));
    fs::permissions(shared + inside, fs::perms::group_write, fs::perm_options::remove);
    CHECK(isUsed(shared));
    fs::rename(shared + inside, target);
    fs::create_directory_symlink(target, shared + inside);
    CHECK_FALSE(isUsed(shared));
    CHECK(ptxas::Cache(shared).whyNotUsed().find("symbolic link") != std::string::npos);
    fs::remove_all(shared);
    fs::remove_all(target);
    fs::create_directories(shared + "/measures");
    if (::geteuid() == 0 && ::chown((shared + inside).c_str(), 12345, static_cast<gid_t>(-1)) == 0)
      CHECK_FALSE(isUsed(shared));
    fs::remove_all(shared);
  }
}

TEST_CASE("cache: entries that are damaged so that they take memory") {
  const TemporaryFolder folder;
  ptxas::Cache cache(folder.path());
  const std::string key = ptxas::Cache::key("one"), deep(3'000'000, '['), large(ptxas::Cache::kMostEntry, ' ');
  cache.put(key, deep);  // whole, and no figures
  CHECK(cache.find(key).has_value());
  CHECK_FALSE(ptxas::measuresOfEntry(deep).has_value());
  CHECK_FALSE(ptxas::measuresOfEntry("[]").has_value());
  CHECK_FALSE(ptxas::measuresOfEntry("{\"architecture\": 1}").has_value());
  CHECK_FALSE(ptxas::measuresOfEntry("").has_value());
  ptxas::Measures measures;
  measures.architecture = "sm_80";
  measures.functions.emplace_back().name = "k";
  REQUIRE(ptxas::measuresOfEntry(toJson(measures).dump()).has_value());
  CHECK(ptxas::measuresOfEntry(toJson(measures).dump())->functions.size() == 1);
  const std::string path = folder.file("measures/" + key.substr(0, 2) + "/" + key.substr(2));
  std::filesystem::resize_file(path, uint64_t{100} << 30);
  CHECK_FALSE(cache.find(key).has_value());
  cache.put(key, "value");
  CHECK(cache.find(key) == "value");
  cache.put(ptxas::Cache::key("large"), large);
  CHECK_FALSE(cache.find(ptxas::Cache::key("large")).has_value());
}

TEST_CASE("cache: many writers and readers of one entry") {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  const std::string key = ptxas::Cache::key("one"), value(100'000, 'x');
  std::atomic<int> wrong = 0, found = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      ptxas::Cache cache(folder.path());
      for (int i = 0; i < 50; ++i) {
        cache.put(key, value);
        const auto got = cache.find(key);
        wrong += got.has_value() && *got != value;
        found += got.has_value();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(found == 200);
}

TEST_CASE("find: what is wrong with a variable") {
  const TemporaryFolder folder;
  REQUIRE(folder.isValid());
  std::ofstream(folder.file("file")) << "";
  CHECK(ptxas::whyNoProgram("PTXAS", "/bin/sh").empty());
  CHECK(ptxas::whyNoProgram("PTXAS", "sh").empty());
  CHECK(ptxas::whyNoProgram("PTXAS", "/proc/self/exe").empty());
  CHECK(ptxas::whyNoProgram("PTXAS", "/nothing") == "PTXAS is '/nothing': there is no such file");
  CHECK(ptxas::whyNoProgram("PTXAS", "no such one") == "PTXAS is 'no such one': there is no such program in PATH");
  CHECK(ptxas::whyNoProgram("PTXAS", "/tmp") == "PTXAS is '/tmp': it is a folder");
  CHECK(ptxas::whyNoProgram("PTXAS", folder.file("file")).ends_with(": it is not executable"));
  CHECK(ptxas::whyNoProgram("PTXAS", "/dev/null").ends_with(": it is not a regular file"));
  std::filesystem::create_directory(folder.file("bin"));
  CHECK(ptxas::whyNoToolkit("CUDA_HOME", folder.path(), "ptxas").ends_with(": there is no bin/ptxas in it"));
  std::ofstream(folder.file("bin/ptxas")) << "";
  CHECK(ptxas::whyNoToolkit("CUDA_HOME", folder.path(), "ptxas")
            .ends_with(": of its bin/ptxas: it is not executable"));
  std::filesystem::permissions(folder.file("bin/ptxas"), std::filesystem::perms::owner_all);
  CHECK(ptxas::whyNoToolkit("CUDA_HOME", folder.path(), "ptxas").empty());
  CHECK(ptxas::whyNoToolkit("CUDA_HOME", folder.file("none"), "ptxas").ends_with(": there is no such folder"));
  CHECK(ptxas::whyNoToolkit("CUDA_HOME", folder.file("file"), "ptxas").ends_with(": it is not a folder"));
  ::setenv("PTXOPT_PTXAS", "/nothing", 1);
  ::setenv("PTXAS", "/bin/sh", 1);
  std::vector<std::string> passedOver;
  CHECK(firstPtxas({}, &passedOver) == "/bin/sh");
  REQUIRE(passedOver == std::vector<std::string>{"PTXOPT_PTXAS is '/nothing': there is no such file"});
  CHECK(ptxas::insteadOf(passedOver[0], "/bin/sh") ==
        "PTXOPT_PTXAS is '/nothing': there is no such file; '/bin/sh' is taken instead");
  CHECK(firstPtxas("given", &passedOver) == "given");
  CHECK(passedOver.empty());
  ::unsetenv("PTXOPT_PTXAS");
  ::unsetenv("PTXAS");
}

TEST_CASE("cache: a folder that cannot be made is no error") {
  ptxas::Cache cache("/proc/nothing/here");
  cache.put(ptxas::Cache::key("a"), "b");
  CHECK_FALSE(cache.find(ptxas::Cache::key("a")).has_value());
  ptxas::Cache off("");
  off.put(ptxas::Cache::key("a"), "b");
  CHECK_FALSE(off.find(ptxas::Cache::key("a")).has_value());
}

TEST_CASE("find: never this program itself") {
  CHECK(ptxas::isThisProgram("/proc/self/exe"));
  const TemporaryFolder folder;
  const std::string link = folder.file("ptxas");
  std::filesystem::create_symlink("/proc/self/exe", link);
  CHECK(ptxas::isThisProgram(link));
  CHECK_FALSE(ptxas::isThisProgram("/bin/sh"));
  CHECK(firstPtxas("given") == "given");
  ::setenv("PTXOPT_PTXAS", "none", 1);
  CHECK(firstPtxas().empty());
  ::setenv("PTXOPT_PTXAS", "/bin/sh", 1);
  CHECK(firstPtxas() == "/bin/sh");
  ::setenv("PTXOPT_PTXAS", link.c_str(), 1);
  CHECK(firstPtxas() != link);
  ::unsetenv("PTXOPT_PTXAS");
}
