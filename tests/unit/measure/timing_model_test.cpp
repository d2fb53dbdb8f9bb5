// The model of time on words made by hand: regions and how often they are executed, the issue of a warp, bounds.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "sass/decode.h"
#include "timing/copies.h"
#include "timing/kernel_time.h"
#include "timing/known_iterations.h"
#include "timing/profile_iterations.h"

using namespace ptxopt;
using namespace ptxopt::timing;

namespace {

constexpr uint32_t kArchitecture = 80;
constexpr uint64_t kAlways = 0x7000, kP0 = 0x0000;
constexpr uint64_t kIadd = 0x210, kLoad = 0x381, kBranch = 0x947, kExit = 0x94d, kCall = 0x944, kDepbar = 0x91a;

struct Control {
  unsigned stall = 1, write = 7, read = 7, waits = 0;
};

class Code {
 public:
  void add(uint64_t opcode, Control c = {}, uint64_t guard = kAlways, uint64_t lowBits = 0, uint64_t highBits = 0) {
    const uint64_t control =
        uint64_t{c.stall} << 41 | uint64_t{c.write} << 46 | uint64_t{c.read} << 49 | uint64_t{c.waits} << 52;
    const uint64_t words[2] = {opcode | guard | lowBits, control | highBits};
    text_.append(reinterpret_cast<const char*>(words), sizeof words);
  }
  void others(int n) {
    while (n-- > 0) add(kIadd);
  }
  void branch(int64_t to, uint64_t guard, uint64_t opcode = kBranch) {
    const int64_t offset = (to - size() - 1) * 16;
    constexpr uint64_t kNoPredicate = uint64_t{7} << (87 - 64);
    add(opcode, {}, guard, static_cast<uint64_t>(offset) << 32,
        (static_cast<uint64_t>(offset) >> 32 & 0x3ffff) | kNoPredicate);
  }
  void exit(uint64_t guard = kAlways) { add(kExit, {}, guard, 0, uint64_t{7} << (87 - 64)); }
  int64_t size() const { return static_cast<int64_t>(text_.size() / 16); }
  TimedCode timed() const { return {text_, kArchitecture, {}}; }

 private:
  std::string text_;
};

double frequencyOf(const Region& r, uint32_t block) {
  for (const Visit& v : r.visits)
    if (v.block == block) return v.frequency;
  return -1;
}

}  // namespace

TEST_CASE("timing: a loop in a loop iterates as often as both say") {
  Code c;
  c.others(2);
  c.others(1);       // 2: the outer loop
  c.others(1);       // 3: the inner one
  c.branch(3, kP0);  // 4
  c.branch(2, kP0);  // 5
  c.exit();
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(5));
  REQUIRE(regions.size() == 3);
  CHECK(regions[0].loop == Region::kNone);
  CHECK(regions[0].iterations == 1);
  CHECK(regions[1].iterations == 5);
  CHECK(regions[2].iterations == 25);
  CHECK(code.flow.loops()[regions[2].loop].isInnermost);
  for (const Visit& v : regions[1].visits) CHECK(v.frequency == 1);
}

TEST_CASE("timing: both ways of a branch count half, a way to the end of the thread not at all") {
  Code c;
  c.branch(7, kP0);  // 0: to the end
  c.branch(4, kP0);  // 1: if
  c.others(1);       // 2
  c.branch(5, kAlways);
  c.others(1);  // 4: else
  c.others(1);  // 5: both
  c.branch(7, kAlways);
  c.exit();  // 7
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(8));
  REQUIRE(regions.size() == 1);
  const auto& blocks = code.flow.blocks();
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    const uint32_t first = blocks[b].first;
    CHECK(frequencyOf(regions[0], b) == (first == 2 || first == 4 ? 0.5 : 1));
  }
}

TEST_CASE("timing: a way that leads to a loop that is never entered is not taken, one that may pass it by is") {
  Code c;
  c.branch(7, kP0);  // 0: early
  c.branch(5, kP0);  // 1: past the loop
  c.others(1);       // 2: to it
  c.others(1);       // 3: the loop
  c.branch(3, kP0);
  c.others(1);  // 5: the rest
  c.branch(8, kAlways);
  c.others(1);  // 7
  c.others(1);  // 8: both
  c.exit();
  const TimedCode code = c.timed();
  for (const bool isEntered : {true, false}) {
    const auto regions = regionsOf(code, sameIterations(isEntered ? 8 : 0));
    REQUIRE(!regions.empty());
    const auto& blocks = code.flow.blocks();
    const auto at = [&](uint32_t first) {
      for (uint32_t b = 0; b < blocks.size(); ++b)
        if (blocks[b].first == first) return frequencyOf(regions[0], b);
      return -1.0;
    };
    CHECK(at(1) == (isEntered ? 1 : 0.5));
    CHECK(at(2) == (isEntered ? 1 : 0));
    CHECK(at(5) == (isEntered ? 1 : 0.5));
    CHECK(at(7) == (isEntered ? 0 : 0.5));
    CHECK(at(8) == 1);
  }
  for (const bool hasExit : {true, false}) {  // a loop that is entered, which ends the thread
    Code ends;
    ends.branch(3, kP0);
    ends.others(1);
    ends.branch(6, kAlways);
    ends.others(1);  // 3: the loop
    if (hasExit)
      ends.exit(kP0);
    else
      ends.others(1);
    ends.branch(3, kAlways);
    ends.others(1);  // 6
    ends.exit();
    CHECK(regionsOf(ends.timed(), sameIterations(8)).at(1).iterations == 8);
  }
}

TEST_CASE("timing: counts of a run say how often a way is taken") {
  Code c;
  c.branch(3, kP0);  // 0: if
  c.others(1);       // 1
  c.branch(4, kAlways);
  c.others(1);  // 3: else
  c.others(1);  // 4: both
  c.branch(7, kP0);
  c.others(1);  // 6: or not
  c.exit();     // 7
  const TimedCode code = c.timed();
  std::vector<BlockCount> counts{{1, 100}, {10, 25}, {20, 75}, {30, 100}, {40, 10}, {50, 100}};
  const auto frequencies = [&] {
    const auto regions =
        regionsOf(code, sameIterations(8), [&](uint32_t block) { return std::optional(counts[block]); });
    std::vector<double> all;
    for (uint32_t b = 0; b < counts.size(); ++b) all.push_back(frequencyOf(regions.at(0), b));
    return all;
  };
  CHECK(frequencies() == std::vector<double>{1, 0.25, 0.75, 1, 0.1, 1});
  // Some threads of each warp go the one way and some the other: both are executed.
  counts[1].count = counts[2].count = 100;
  CHECK(frequencies() == std::vector<double>{1, 1, 1, 1, 0.1, 1});
  // A branch that the PTX does not have: of the way that is made of the same block as the branch the counts say nothing.
  counts[1].of = 1;
  CHECK(frequencies() == std::vector<double>{1, 0.5, 0.5, 1, 0.1, 1});
}

TEST_CASE("timing: what a branch only skips is executed, unless it calls something or is long") {
  // Instructions of the skipped block; whether a call is among them.
  const auto executed = [](int length, bool calls) {
    Code c;
    c.branch(length + 1, kP0);  // 0
    if (calls) c.branch(length + 4, kAlways, kCall);
    c.others(length + 1 - static_cast<int>(c.size()));
    c.others(1);
    c.branch(length + 3, kAlways);
    c.exit();
    c.others(1);  // the subroutine
    c.exit();
    const TimedCode code = c.timed();
    const auto& blocks = code.flow.blocks();
    const auto regions = regionsOf(code, sameIterations(8));
    for (uint32_t b = 0; b < blocks.size(); ++b)
      if (blocks[b].first == 1) return frequencyOf(regions[0], b);
    return -1.0;
  };
  CHECK(executed(3, false) == 1);
  CHECK(executed(64, false) == 1);
  CHECK(executed(65, false) == 0.5);
  CHECK(executed(3, true) == 0.5);
}

TEST_CASE("timing: a way that skips a loop is not taken") {
  Code c;
  c.branch(3, kP0);  // 0: around the loop
  c.others(1);       // 1: the loop
  c.branch(1, kP0);
  c.others(1);  // 3
  c.exit();
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(8));
  REQUIRE(regions.size() == 2);
  CHECK(regions[1].iterations == 8);
  for (const Visit& v : regions[0].visits) CHECK(v.frequency == 1);
}

TEST_CASE("timing: a subroutine is executed as often as it is called") {
  Code c;
  c.others(1);
  c.branch(4, kAlways, kCall);  // 1, in a loop of 0 and 1
  c.branch(0, kP0);
  c.exit();
  c.others(3);  // 4
  c.add(0x950, {}, kAlways, 0, uint64_t{7} << (87 - 64));
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(6));
  REQUIRE(regions.size() == 3);
  CHECK(regions[2].loop == Region::kNone);
  CHECK(regions[2].iterations == 6);
}

TEST_CASE("timing: a warp alone waits for its scoreboards") {
  const Machine machine(kArchitecture);
  Code c;
  c.add(kLoad, {.stall = 2, .write = 0}, kAlways, 0, uint64_t{4} << (73 - 64));
  c.others(1);
  c.add(kIadd, {.stall = 4, .waits = 1});
  c.exit();
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(8));
  for (const Scenario s : {Scenario::L1, Scenario::L2, Scenario::Dram}) {
    const Trace trace = traceOf(code, regions[0], machine, s);
    REQUIRE(trace.issues.size() == 4);
    const double latency = machine.latency(code.operations[0].kind) + machine.memory(s).latency;
    CHECK(trace.issues[2].at == doctest::Approx(latency));
    CHECK(trace.issues[2].waitedFor == 0);
    CHECK_FALSE(trace.issues[2].isFromIterationBefore);
    CHECK(trace.issues[2].wait == doctest::Approx(latency - 3));
    const auto path = criticalPath(trace);
    REQUIRE(path.size() == 3);  // not by way of what stands between
    CHECK(path[0].issue == 0);
    CHECK(path[0].cycles == doctest::Approx(latency));
  }
  CHECK(machine.memory(Scenario::L1).latency < machine.memory(Scenario::L2).latency);
  CHECK(machine.memory(Scenario::L2).latency < machine.memory(Scenario::Dram).latency);
}

TEST_CASE("timing: local memory is near whatever the scenario, textures are as far as global memory") {
  constexpr uint64_t kLocal = 0x983, kTexture = 0xb60;  // LDL, TEX
  const Machine machine(kArchitecture);
  const auto waitFor = [&](uint64_t opcode, Scenario s) {
    Code c;
    c.add(opcode, {.stall = 1, .write = 0}, kAlways, 0, uint64_t{4} << (73 - 64));
    c.add(kIadd, {.stall = 4, .waits = 1});
    c.exit();
    const TimedCode code = c.timed();
    return traceOf(code, regionsOf(code, sameIterations(8))[0], machine, s).issues[1].wait;
  };
  CHECK(waitFor(kLocal, Scenario::Dram) == waitFor(kLocal, Scenario::L1));
  CHECK(waitFor(kLocal, Scenario::L1) == doctest::Approx(waitFor(kLoad, Scenario::L1)));
  CHECK(waitFor(kTexture, Scenario::Dram) > waitFor(kTexture, Scenario::L1));
  CHECK(waitFor(kTexture, Scenario::L1) >= waitFor(kLoad, Scenario::L1));
}

TEST_CASE("timing: an iteration waits for the one before") {
  const Machine machine(kArchitecture);
  Code c;
  c.add(kIadd, {.stall = 4, .waits = 2});  // 0
  c.add(kLoad, {.stall = 1, .write = 1}, kAlways, 0, uint64_t{4} << (73 - 64));
  c.branch(0, kP0);
  c.exit();
  const TimedCode code = c.timed();
  const auto regions = regionsOf(code, sameIterations(8));
  REQUIRE(regions.size() == 2);
  const Trace trace = traceOf(code, regions[1], machine, Scenario::L2);
  const double latency = machine.latency(code.operations[1].kind) + machine.memory(Scenario::L2).latency;
  CHECK(trace.cycles == doctest::Approx(4 + latency));
  CHECK(trace.issues[0].isFromIterationBefore);
  CHECK(trace.issues[0].waitedFor == 1);
}

TEST_CASE("timing: DEPBAR waits until few enough are outstanding") {
  const Machine machine(kArchitecture);
  const uint64_t wide = uint64_t{4} << (73 - 64);
  const auto waitOf = [&](unsigned count) {
    Code c;
    c.add(kLoad, {.stall = 1, .write = 0}, kAlways, 0, wide);
    c.add(kLoad, {.stall = 15, .write = 0}, kAlways, 0, wide);
    c.add(kDepbar, {}, kAlways, uint64_t{1} << 47 | uint64_t{count} << 38);  // DEPBAR.LE SB0, count
    c.exit();
    const TimedCode code = c.timed();
    REQUIRE(code.countedWaits[2].has_value());
    CHECK(code.countedWaits[2]->count == count);
    return traceOf(code, regionsOf(code, sameIterations(8))[0], machine, Scenario::L2).issues[2].wait;
  };
  CHECK(waitOf(2) == 0);
  CHECK(waitOf(1) > 0);
  CHECK(waitOf(0) == doctest::Approx(waitOf(1) + 1));
}

TEST_CASE("timing: the bottleneck is what costs most") {
  const Machine machine(kArchitecture);
  Code c;
  c.add(kLoad, {.stall = 1, .write = 1}, kAlways, 0, uint64_t{6} << (73 - 64));  // 128 bits
  c.add(kIadd, {.stall = 4, .waits = 2});
  c.branch(0, kP0);
  c.exit();
  const TimedCode code = c.timed();
  const auto loopAt = [&](uint32_t warps) {
    return estimate(code, machine, {.warps = warps, .threads = 0, .iterationsOf = {}, .countOf = {}}).regions.at(1);
  };
  const RegionTime one = loopAt(4), many = loopAt(64);
  CHECK(one.bytes == 32 * 16);
  CHECK(nameOf(one.scenarios[2].bottleneck, Scenario::Dram) == "latency");
  CHECK(nameOf(many.scenarios[2].bottleneck, Scenario::Dram) == "DRAM bandwidth");
  CHECK(many.scenarios[2].cycles == doctest::Approx(4 * 32 * 16 / machine.memory(Scenario::Dram).bytesPerCycle));
  for (std::size_t s = 0; s < kScenarios; ++s) {
    CHECK(one.scenarios[s].cycles == doctest::Approx(one.scenarios[s].latency));
    CHECK(many.scenarios[s].cycles <= one.scenarios[s].cycles);
    CHECK(many.scenarios[s].latency == one.scenarios[s].latency);
  }
  // With few warps there is one for each part of an SM, or a block's.
  const auto aloneIn = [&](uint32_t threads) {
    return estimate(code, machine, {.warps = 64, .threads = threads, .iterationsOf = {}, .countOf = {}});
  };
  CHECK(aloneIn(0).regions.at(1).alone[0].cycles == doctest::Approx(many.scenarios[0].latency));
  CHECK(aloneIn(32).warpsAlone == 4);
  CHECK(aloneIn(1000).warpsAlone == 32);
  CHECK(aloneIn(256).whole.alone[0].cycles == doctest::Approx(aloneIn(0).whole.alone[0].cycles / 2));
  const auto wholeIn = [&](double iterations) {
    return estimate(code, machine,
                    {.warps = 64, .threads = 0, .iterationsOf = sameIterations(iterations), .countOf = {}})
        .whole.scenarios[0]
        .cycles;
  };
  CHECK(wholeIn(16) > wholeIn(8));
}

TEST_CASE("timing: what an instruction advances a register by") {
  const auto stepOf = [](uint32_t architecture, uint64_t low, uint64_t high) {
    const target::Target target(architecture);
    const sass::Word word{low, high};
    return operationOf(word, sass::Decoder(target).decode(word, 0), target).step;
  };
  constexpr uint64_t kSum = 0x0000000405057810, kControl = 0x000fe40007ffe0ff;  // IADD3 R5, R5, 0x4, RZ
  constexpr uint64_t kNegated = 1u << 8, kHalves = 1u << 9, kUpper = 1u << 10;
  for (const uint32_t architecture : {75u, 80u, 90u, 100u, 120u}) {
    CAPTURE(architecture);
    CHECK(stepOf(architecture, kSum, kControl) == 4);
    CHECK(stepOf(architecture, 0xffffffff05057810, kControl) == -1);
    CHECK(stepOf(architecture, kSum, kControl ^ kNegated) == 0);              // R5 = 4 - R5
    CHECK(stepOf(architecture, kSum, kControl ^ kUpper) == 0);                // IADD3.X
    CHECK(stepOf(architecture, kSum, (kControl & ~0xffull) | 63) == 0);       // ... + R63
    CHECK(stepOf(architecture, 0x0000000405060810 | 0x7000, kControl) == 0);  // R6 = R5 + 4
    CHECK(stepOf(architecture, kSum & ~0x7000ull, kControl) == 0);            // @P0
    // UIADD3 UR4, UR4, 0x4, URZ
    const uint64_t none = architecture >= 100 ? 255 : 63;
    CHECK(stepOf(architecture, 0x0000000404047890, 0x000fe4000fffe000 | none) == 4);
    CHECK(stepOf(architecture, 0x0000000404047890, 0x000fe4000fffe000 | 7) == 0);
  }
  CHECK(stepOf(100, 0x0000000404047890, 0x000fe4000fffe000 | 63) == 0);      // UR63
  CHECK(stepOf(90, 0x0000000400007836, 0x020fe20000000000) == 4);            // VIADD
  CHECK(stepOf(90, 0x0000000400007836, 0x020fe20000000000 | kHalves) == 0);  // VIADD.16x2
  CHECK(stepOf(120, 0x0000000404047835, 0x000fe40000000200) == 4);           // IADD.64
}

TEST_CASE("timing: a profile says how often loops iterate, and unrolled ones iterate less often") {
  std::string error;
  const auto profile = readProfile(R"({"blocks": [
      {"function": "k", "label": "", "line": 1, "entered": {"warps": 2, "threads": 64}},
      {"function": "k", "label": "L", "line": 10, "entered": {"warps": 200, "threads": 6400}},
      {"function": "k", "label": "M", "line": 20, "entered": {"warps": 2, "threads": 64}}]})",
                                   error);
  REQUIRE(profile.has_value());
  const uint64_t wide = uint64_t{4} << (73 - 64);
  const auto iterationsWith = [&](int copies) {
    Code c;
    c.others(1);
    for (int i = 0; i < copies; ++i) c.add(kLoad, {}, kAlways, 0, wide);
    c.branch(1, kP0);
    c.exit();
    const TimedCode code = c.timed();
    const auto lineAt = [&](uint64_t at) -> uint32_t { return at == 0 ? 1 : at == 16u * (copies + 2) ? 20 : 11; };
    return regionsOf(code, profiledIterations(code, *profile, "k", lineAt)).at(1).iterations;
  };
  CHECK(iterationsWith(1) == 100);
  CHECK(iterationsWith(4) == 25);
  // A line of which ptxas makes two instructions, next to others that tell how many copies there are.
  Copies copies;
  const TimedCode loads = [&] {
    Code c;
    c.add(kLoad, {}, kAlways, 0, wide);
    return c.timed();
  }();
  for (const uint32_t line : {11, 11, 11, 11, 12, 12, 13, 13}) copies.add(line, loads.operations[0]);
  CHECK(copies.count() == 2);
  CHECK_FALSE(readProfile("{}", error).has_value());
  CHECK_FALSE(error.empty());
}

TEST_CASE("timing: many loops in each other come to finite figures") {
  constexpr int64_t kLoops = 40;
  Code c;
  c.others(kLoops + 1);
  for (int64_t l = kLoops; l-- != 0;) c.branch(l + 1, kP0);
  c.exit();
  const FunctionTime time =
      estimate(c.timed(), Machine(kArchitecture),
               {.warps = 64, .threads = 0, .iterationsOf = sameIterations(1e12), .countOf = {}});
  CHECK(time.regions.size() == kLoops + 1);
  CHECK(time.regions.back().region.iterations == 1e15);
  CHECK(std::isfinite(time.whole.scenarios[0].cycles));
  CHECK(time.whole.scenarios[0].cycles > 1e15);
}

TEST_CASE("timing: constant trip counts say how often loops iterate") {
  // Lines of the PTX: the inner loop has 11 to 13 and runs 100 iterations, the outer one 10 and 14 to 15, 5 times.
  const PtxLoops loops{.iterations = {5, 100, 0},
                       .loopOfLine = {{10, 0}, {11, 1}, {12, 1}, {13, 1}, {14, 0}, {15, 0}, {20, 2}}};
  struct Built {
    Code code;
    std::vector<uint32_t> lines;
    void load(uint32_t line) {
      code.add(kLoad, {}, kAlways, 0, uint64_t{4} << (73 - 64));
      lines.push_back(line);
    }
    void back(int64_t to, uint32_t line) {
      code.branch(to, kP0);
      lines.push_back(line);
    }
    // 0: not known.
    std::vector<double> iterations(const PtxLoops& of) {
      code.exit();
      lines.push_back(0);
      const TimedCode timed = code.timed();
      const auto iterationsOf = knownOrAssumedIterations(
          timed, of, [&](uint64_t at) { return lines[at / 16]; }, 0);
      std::vector<double> all;
      for (uint32_t l = 0; l < timed.flow.loops().size(); ++l) all.push_back(iterationsOf(l, 1).all);
      return all;
    }
  };
  using Found = std::vector<double>;
  const auto unrolled = [&](int copies, uint32_t lineOfBranch = 13) {
    Built b;
    b.load(1);
    for (int i = 0; i < copies; ++i) b.load(11);
    b.back(1, lineOfBranch);
    return b.iterations(loops);
  };
  CHECK(unrolled(1) == Found{100});
  CHECK(unrolled(4) == Found{25});
  CHECK(unrolled(3) == Found{33});   // the last iteration is somewhere else
  CHECK(unrolled(200) == Found{0});  // that cannot be
  CHECK(unrolled(1, 20) == Found{0});
  CHECK(unrolled(1, 99) == Found{0});
  {  // A loop of three copies, and one for what is left.
    Built b;
    for (int i = 0; i < 3; ++i) b.load(11);
    b.back(0, 13);
    b.load(11);
    b.back(4, 13);
    CHECK(b.iterations(loops) == Found{33, 1});
  }
  {  // The same of a trip count that is not known: of what may be left, half. Of the most copies nothing is known.
    Built b;
    for (const int copies : {16, 4, 1}) {
      const auto first = static_cast<int64_t>(b.lines.size());
      for (int i = 0; i < copies; ++i) b.load(20);
      b.back(first, 20);
    }
    CHECK(b.iterations(loops) == Found{0, 1.5, 1.5});
  }
  {  // Launches were seen to make two iterations, in the mean: a loop of four copies is left after two, or two of three more copies run.
    const PtxLoops seen{.iterations = {2}, .loopOfLine = {{11, 0}, {13, 0}}, .isSeen = {true}};
    for (const int rest : {0, 3}) {
      Built b;
      for (int i = 0; i < 4; ++i) b.load(11);
      b.back(0, 13);
      for (int i = 0; i < rest; ++i) b.load(11);
      CHECK(b.iterations(seen) == Found{rest == 0 ? 0.5 : 0});
    }
    Built b;
    for (int i = 0; i < 4; ++i) b.load(11);
    b.back(0, 13);
    b.load(11);
    b.back(5, 13);
    CHECK(b.iterations(seen) == Found{0, 2});
  }
  {  // The inner loop is unrolled as a whole: what is left is the outer one.
    Built b;
    b.load(10);
    for (int i = 0; i < 100; ++i) b.load(11);
    b.back(0, 15);
    CHECK(b.iterations(loops) == Found{5});
  }
  {  // Branches back of two loops.
    Built b;
    b.load(11);
    b.back(0, 13);
    b.load(10);
    b.back(0, 15);
    CHECK(b.iterations(loops) == Found{0});
  }
  {  // No access and no arithmetic: known only where no line has two instructions.
    for (const bool isTwice : {false, true}) {
      Built b;
      b.code.others(2);
      b.lines = {11, isTwice ? 11u : 12u};
      b.back(0, 13);
      CHECK(b.iterations(loops) == (isTwice ? Found{0} : Found{100}));
    }
  }
  // In a whole run, and who says so.
  Built b;
  b.load(10);
  b.load(11);
  b.back(1, 13);
  b.back(0, 15);
  b.code.exit();
  const TimedCode code = b.code.timed();
  const auto lineAt = [&](uint64_t at) { return at / 16 < b.lines.size() ? b.lines[at / 16] : 0; };
  const auto regions = regionsOf(code, knownOrAssumedIterations(code, loops, lineAt, 8));
  REQUIRE(regions.size() == 3);
  CHECK(regions[1].iterations == 5);
  CHECK(regions[2].iterations == 500);
  CHECK(regions[2].from == IterationsFrom::Known);
  const auto assumed = regionsOf(
      code, knownOrAssumedIterations(code, {.iterations = {5, 0, 0}, .loopOfLine = loops.loopOfLine}, lineAt, 8));
  CHECK(assumed[2].iterations == 40);
  CHECK(assumed[2].from == IterationsFrom::Assumed);
  CHECK(regionsOf(code, sameIterations(3, IterationsFrom::Given))[2].from == IterationsFrom::Given);
}

TEST_CASE("timing: the digest of a model depends on its figures") {
  CHECK(digestOf(Machine(80)) == digestOf(Machine(80)));
  CHECK(digestOf(Machine(80)) != digestOf(Machine(120)));
}
