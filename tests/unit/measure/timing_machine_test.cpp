// The tables of the model of time: that none is incomplete or contradicts itself.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sass/decode.h"
#include "target/machine.h"
#include "timing/operation.h"

using namespace ptxopt;
using namespace ptxopt::timing;
using namespace ptxopt::target;

namespace {

constexpr Kind kAllKinds[] = {
#define TARGET_KIND(name, text) Kind::name,
#include "target/kinds.def"
};

struct Row {
  std::string table, key;
  uint32_t first, last;
  double figure;
  Source source;
};

const Row kRows[] = {
#define TARGET_USE(kind, first, last, unit, cycles, source) \
  {"uses", #kind " " #unit, first, last, cycles, Source::source},
#include "target/uses.def"
#define TARGET_LATENCY(kind, first, last, cycles, source) {"latencies", #kind, first, last, cycles, Source::source},
#include "target/latencies.def"
};

// The numbers of the targets that have figures of their own.
std::vector<uint32_t> withFigures() {
  std::vector<uint32_t> numbers;
  for (const Limits& target : targets())
    if (target.figures == target.number) numbers.push_back(target.number);
  return numbers;
}

// The instruction of each encoding of an architecture, with all other bits 0.
template <typename F>
void forEachEncoding(uint32_t architecture, F&& f) {
  const sass::Decoder decoder(architecture);
  for (uint64_t encoding = 0; encoding < 1 << 13; ++encoding) {
    const sass::Word word{encoding & 0xfff, (encoding >> 12) << 27};
    const sass::Instruction i = decoder.decode(word, 0);
    if (i.opcode != sass::Opcode::Unknown) f(word, i);
  }
}

}  // namespace

TEST_CASE("timing: every kind has uses and a latency on every architecture") {
  for (const uint32_t architecture : withFigures()) {
    CAPTURE(architecture);
    const Machine machine(architecture);
    CHECK(machine.figuresOf() == architecture);
    for (const Kind kind : kAllKinds) {
      CAPTURE(nameOf(kind));
      const auto uses = machine.uses(kind);
      REQUIRE_FALSE(uses.empty());
      CHECK(uses[0].unit == Unit::Issue);
      const bool isFree = kind == Kind::Nothing || kind == Kind::Wait || kind == Kind::AsyncCommit;
      CHECK(uses.size() == (isFree ? 1 : std::max<std::size_t>(uses.size(), 2)));
      for (const Use& use : uses) {
        CHECK(use.cycles > 0);
        CHECK(std::count_if(uses.begin(), uses.end(), [&](const Use& u) { return u.unit == use.unit; }) == 1);
        if (isShared(use.unit)) CHECK(use.cycles >= 4);
      }
      CHECK(machine.latency(kind) >= 0);
    }
    double latency = 0, bytes = 1e9;
    for (const Scenario scenario : {Scenario::L1, Scenario::L2, Scenario::Dram}) {
      const Memory& memory = machine.memory(scenario);
      CHECK(memory.latency > latency);
      CHECK(memory.bytesPerCycle < bytes);
      CHECK(memory.bytesPerCycle > 0);
      latency = memory.latency;
      bytes = memory.bytesPerCycle;
    }
  }
}

TEST_CASE("timing: no two rows have a figure for the same architecture, and none is left out") {
  std::map<std::tuple<std::string, std::string>, std::set<uint32_t>> covered;
  for (const Row& row : kRows) {
    CAPTURE(row.table);
    CAPTURE(row.key);
    CHECK(row.first <= row.last);
    bool coversOne = false;
    for (const uint32_t architecture : withFigures()) {
      if (architecture < row.first || row.last < architecture) continue;
      coversOne = true;
      CAPTURE(architecture);
      CHECK(covered[{row.table, row.key}].insert(architecture).second);
    }
    CHECK(coversOne);
  }
  for (const auto& [key, architectures] : covered) {
    if (std::get<0>(key) != "latencies") continue;
    CAPTURE(std::get<1>(key));
    CHECK(architectures.size() == withFigures().size());
  }
}

TEST_CASE("timing: every source of sources.def is used, and says what it is") {
  std::set<Source> used;
  for (const Row& row : kRows) used.insert(row.source);
  const std::set<Source> memory = {
#define TARGET_MEMORY(architecture, scenario, latency, latencySource, bytes, bytesSource) \
  Source::latencySource, Source::bytesSource,
#include "target/memory.def"
  };
  used.insert(memory.begin(), memory.end());
  std::size_t sources = 0;
#define TARGET_SOURCE(id, text)     \
  ++sources;                        \
  CAPTURE(idOf(Source::id));        \
  CHECK(used.contains(Source::id)); \
  CHECK_FALSE(textOf(Source::id).empty());
#include "target/sources.def"
  CHECK(sources >= 20);
}

TEST_CASE("timing: a target without figures has those of the one that its row names, or of the newest before it") {
  CHECK(Machine(70).figuresOf() == 75);
  CHECK(Machine(87).figuresOf() == 86);
  CHECK(Machine(88).figuresOf() == 86);
  CHECK(Machine(101).figuresOf() == 110);
  CHECK(Machine(999).figuresOf() == Machine(target::targets().back().number).figuresOf());
}

TEST_CASE("timing: every opcode of every architecture has a kind, and takes a unit unless it does nothing") {
  for (const uint32_t architecture : withFigures()) {
    CAPTURE(architecture);
    const Machine machine(architecture);
    std::set<Kind> kinds;
    forEachEncoding(architecture, [&](sass::Word word, const sass::Instruction& i) {
      CAPTURE(sass::mnemonicOf(i.opcode));
      const Operation operation = operationOf(word, i, Target(architecture));
      kinds.insert(operation.kind);
      CHECK(operation.repeats >= 1);
      CHECK((operation.space == Space::None) == !(operation.reads || operation.writes));
      const bool isUnknownPipe = sass::pipeOf(i.opcode) == sass::Pipe::Unknown;
      if (!isUnknownPipe) CHECK(operation.kind != Kind::Unknown);
    });
    CHECK(kinds.size() >= 50);
    CHECK(kinds.contains(Kind::Fp32));
    CHECK(kinds.contains(Kind::GlobalLoad));
  }
}

TEST_CASE("timing: every kind but those of forms is that of an opcode") {
  std::set<Kind> kinds;
  for (const uint32_t architecture : withFigures())
    forEachEncoding(architecture, [&](sass::Word word, const sass::Instruction& i) {
      for (const uint64_t high : {uint64_t{0}, ~uint64_t{0} << 9 & ~(uint64_t{1} << 27)})
        kinds.insert(operationOf({word.low, word.high | (high & 0x00ffffffff)}, i, Target(architecture)).kind);
    });
  CHECK(kinds.size() >= 70);
}

TEST_CASE("timing: portions of accesses to memory") {
  CHECK(portionsOf({.kind = Kind::Fp32}) == 1);
  const auto load = [](uint16_t bytes, bool isUniform, bool writes) {
    return portionsOf({.kind = Kind::SharedLoad,
                       .space = Space::Shared,
                       .bytes = bytes,
                       .reads = !writes,
                       .writes = writes,
                       .isUniform = isUniform});
  };
  CHECK(load(1, false, false) == 1);
  CHECK(load(4, false, false) == 1);
  CHECK(load(8, false, false) == 2);
  CHECK(load(16, false, false) == 4);
  CHECK(load(32, false, false) == 8);
  // What holds the address does not count, but for constants.
  CHECK(load(16, true, false) == 4);
  CHECK(load(16, true, true) == 4);
  const auto constant = [](bool isUniform) {
    return portionsOf(
        {.kind = Kind::ConstantLoad, .space = Space::Constant, .bytes = 8, .reads = true, .isUniform = isUniform});
  };
  CHECK(constant(true) == 1);
  CHECK(constant(false) == 2);
}

TEST_CASE("timing: a figure can be scaled, and no other changes") {
  const auto scaled = [](const char* text) {
    const auto scaling = scalingFrom(text);
    REQUIRE(scaling);
    return Machine(90, std::span(&*scaling, 1));
  };
  const Machine machine(90);
  const auto cyclesOf = [](const Machine& m, Kind kind, Unit unit) {
    for (const Use& use : m.uses(kind))
      if (use.unit == unit) return use.cycles;
    return 0.0;
  };
  const double fma = cyclesOf(machine, Kind::Fp32, Unit::Fma);
  CHECK(cyclesOf(scaled("use:Fp32:Fma=1.5"), Kind::Fp32, Unit::Fma) == doctest::Approx(1.5 * fma));
  CHECK(cyclesOf(scaled("use:Fp32:Fma=1.5"), Kind::IntegerMultiply, Unit::Fma) ==
        cyclesOf(machine, Kind::IntegerMultiply, Unit::Fma));
  CHECK(scaled("latency:SharedLoad=2").latency(Kind::SharedLoad) == 2 * machine.latency(Kind::SharedLoad));
  CHECK(scaled("latency:SharedLoad=2").latency(Kind::Special) == machine.latency(Kind::Special));
  CHECK(scaled("memory-latency:L2=0.5").memory(Scenario::L2).latency == machine.memory(Scenario::L2).latency / 2);
  CHECK(scaled("memory-latency:L2=0.5").memory(Scenario::L1).latency == machine.memory(Scenario::L1).latency);
  CHECK(scaled("memory-bytes:Dram=2").memory(Scenario::Dram).bytesPerCycle ==
        2 * machine.memory(Scenario::Dram).bytesPerCycle);
  for (const char* wrong : {"", "use:Fp32:Fma", "use:Fp32=2", "use:Fp32:Fma=", "use:Fp32:Fma=x", "use:Fp32:Fma=0",
                            "use:Nothing:Fma:=2", "latency:None=2", "memory-latency:L3=2", "speed:L2=2"}) {
    CAPTURE(wrong);
    CHECK_FALSE(scalingFrom(wrong));
  }
}

TEST_CASE("timing: a stall of 0 with a yield is a long one") {
  CHECK(stallOf({.stall = 5, .yields = true}) == 5);
  CHECK(stallOf({.stall = 1}) == 1);
  CHECK(stallOf({.stall = 0, .yields = true}) == 46);
  CHECK(stallOf({.stall = 0}) == 1);
}
