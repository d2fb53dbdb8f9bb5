// Register pressure by hand, and against a count at every point from the generator's notes of random functions.
#include "analysis/machine/register_pressure.h"

#include <map>

#include "analysis/values/uniform_registers.h"
#include "random_function.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// Everything that pressure needs, for one function.
struct Analyzed {
  const Function& f;
  Cfg cfg;
  SlotIndexes slots;
  LiveIntervals intervals;
  Loops loops;
  RegisterPressure pressure;

  explicit Analyzed(const Parsed& p, std::size_t index = 0, const BitVector* uniform = nullptr)
      : f(p.function(index)),
        cfg(*p, f),
        slots(f, cfg),
        intervals(f, cfg, slots),
        loops(cfg),
        pressure(*p, f, cfg, slots, intervals, files(f, uniform)) {}

  static RegisterFiles files(const Function& f, const BitVector* uniform) {
    RegisterFiles result(f);
    if (uniform != nullptr) result.moveToUniform(*uniform);
    return result;
  }
  std::vector<uint32_t> data() const {
    std::vector<uint32_t> result;
    for (const auto& u : pressure.along()) result.push_back(u.data);
    return result;
  }
};

std::vector<std::string> names(const Parsed& p, const Function& f, const std::vector<RegId>& registers) {
  std::vector<std::string> result;
  for (const RegId r : registers) result.emplace_back(p.name(f.registers[r.value].name));
  return result;
}

}  // namespace

TEST_CASE("pressure along straight code") {
  const Parsed p(
      kernel("\tld.param.u64 %rd1, [p];\n"             // rd1: 2
             "\tld.global.u32 %r1, [%rd1];\n"          // + r1: 3
             "\tld.global.u32 %r2, [%rd1+4];\n"        // + r2: 4
             "\tadd.u32 %r3, %r1, %r2;\n"              // - r1 r2, + r3: 3
             "\tadd.u32 %r4, %r3, 1;\n"                // nobody reads r4, r3 stays: 4
             "\tsetp.eq.u32 %p1, %r3, 0;\n"            // 3 and a predicate
             "\t@%p1 st.global.u32 [%rd1], %r3;\n"));  // 0
  const Analyzed a(p);
  REQUIRE(a.data() == std::vector<uint32_t>{0, 2, 3, 4, 3, 4, 3, 0});
  CHECK(a.pressure.maximum() == RegisterPressure::Units{4, 1, 0});
  const std::size_t most = a.pressure.place(RegisterFile::Data);
  CHECK(most == 3);
  CHECK(a.pressure.points()[most].instruction == p.at(2));
  CHECK(names(p, a.f, a.pressure.liveAt(most, RegisterFile::Data)) ==
        std::vector<std::string>{"%rd1", "%r1", "%r2"});
  CHECK(a.pressure.place(RegisterFile::Predicate) == 6);
  CHECK(a.pressure.at(6).predicate == 1);
  CHECK(a.pressure.at(7).predicate == 0);
}

TEST_CASE("units of registers") {
  const Parsed p(
      kernel("\tmov.b32 %r1, {%h1, %h2};\n\tmov.b64 {%h3, %h4, %h5, %h6}, %rd1;\n"
             "\tmov.b64 {%r2, %r3}, %rd1;\n\tld.global.v2.u16 {%h7, %h8}, [%rd1];\n"
             "\tmov.f32 %f1, 0f00000000;\n\tmov.f64 %fd1, 0d0000000000000000;\n"
             "\tmov.b128 %q1, {%rd1, %rd1};\n\tmov.b32 %r4, %v1.x;\n\tsetp.eq.u32 %p1, %r4, 0;\n"));
  const Function& f = p.function();
  const std::vector<RegisterSize> sizes = registerSizes(*p, f);
  const auto of = [&](std::string_view name) {
    for (std::size_t r = 1; r < f.registers.size(); ++r)
      if (p.name(f.registers[r].name) == name) return sizes[r];
    FAIL("no such register");
    return RegisterSize{};
  };
  for (const char* half : {"%h1", "%h2", "%h3", "%h6"}) CHECK(of(half) == RegisterSize{0, true});
  for (const char* one : {"%r1", "%r2", "%f1", "%p1", "%h7", "%h8"}) CHECK(of(one) == RegisterSize{1, false});
  for (const char* two : {"%rd1", "%fd1"}) CHECK(of(two) == RegisterSize{2, false});
  for (const char* four : {"%q1", "%v1"}) CHECK(of(four) == RegisterSize{4, false});
  CHECK(sizes[Function::kCarry.value] == RegisterSize{1, false});
  const Parsed lanes(kHeader +
                     ".entry k()\n{\n\t.reg .v4 .b16 %a;\n\t.reg .v2 .b8 %b;\n\t.reg .v2 .f64 %c;\n"
                     "\t.reg .b8 %d;\n\tmov.v4.b16 %a, {0, 0, 0, 0};\n\tret;\n}\n");
  const Function& g = lanes.function();
  const std::vector<RegisterSize> wide = registerSizes(*lanes, g);
  std::map<std::string_view, uint32_t> units;
  for (std::size_t r = 1; r < g.registers.size(); ++r) units[lanes.name(g.registers[r].name)] = wide[r].units;
  const std::map<std::string_view, uint32_t> expected{{"%a", 2}, {"%b", 1}, {"%c", 4}, {"%d", 1}};
  for (const auto& [name, u] : units) {
    CAPTURE(name);
    CHECK(u == expected.at(name));
  }
  CHECK(units.size() == expected.size());
}

TEST_CASE("two halves fill a register") {
  const Parsed p(
      kernel("\tld.param.u64 %rd1, [p];\n"
             "\tld.global.b16 %h1, [%rd1];\n"    // 2 and a half: 3
             "\tld.global.b16 %h2, [%rd1+2];\n"  // 2 and two halves: 3
             "\tld.global.b16 %h3, [%rd1+4];\n"  // 4
             "\tmov.b32 %r1, {%h1, %h2};\n"      // 2, half and 1: 4
             "\tmov.b32 %r2, {%h3, %h3};\n"      // 4
             "\tst.global.v2.b32 [%rd1], {%r1, %r2};\n"));
  const Analyzed a(p);
  CHECK(a.data() == std::vector<uint32_t>{0, 2, 3, 3, 4, 4, 4, 0});
}

TEST_CASE("blocks, loops and the uniform file") {
  const Parsed p(
      kernel("\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r9, [n];\n\tmov.u32 %r1, 0;\n\tmov.f32 %f1, 0f00000000;\n"
             "L:\n\tld.global.f32 %f2, [%rd1];\n\tadd.f32 %f1, %f1, %f2;\n\tadd.u32 %r1, %r1, 1;\n"
             "\tsetp.lt.u32 %p1, %r1, %r9;\n\t@%p1 bra L;\n"
             "\tst.global.f32 [%rd1], %f1;\n\tret;\n"
             "\tadd.u32 %r5, %r5, %r6;\n"));
  const Analyzed a(p);
  REQUIRE(a.cfg.size() == 4);
  REQUIRE(a.loops.size() == 1);
  CHECK(a.pressure.maximumOf(BlockId(0u)).data == 5);
  CHECK(a.pressure.maximumOf(BlockId(1u)) == RegisterPressure::Units{6, 1, 0});
  CHECK(a.pressure.maximumOf(a.loops, LoopId(0u)) == RegisterPressure::Units{6, 1, 0});
  CHECK(a.pressure.maximumOf(BlockId(2u)).data == 3);
  CHECK(a.pressure.maximumOf(BlockId(3u)).data == 0);  // nothing reaches it
  const BitVector uniform = findUniform(*p, a.f, a.cfg, DominatorTree(a.cfg, DominatorTree::Direction::Dominators));
  const Analyzed u(p, 0, &uniform);
  // The pointer and the bound come from parameters.
  CHECK(u.pressure.maximumOf(BlockId(1u)) == RegisterPressure::Units{3, 1, 3});
}

TEST_CASE("a function without instructions") {
  const Parsed p(kernel(""));
  const Analyzed a(p);
  CHECK(a.pressure.maximum() == RegisterPressure::Units{});
  CHECK(a.pressure.spans().empty());
}

namespace {

// The reference: what is live before each statement, by following the notes until nothing changes.
std::vector<std::set<std::string>> liveBefore(const RandomFunction& g) {
  std::vector<std::set<std::string>> live(g.statements.size() + 1);
  live.back() = {"%o"};  // the end of the text returns
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = g.statements.size(); i-- > 0;) {
      const RandomStatement& s = g.statements[i];
      std::set<std::string> now;
      for (const std::size_t next : g.successors(i)) now.insert(live[next].begin(), live[next].end());
      for (const std::string& w : s.writes) now.erase(w);
      now.insert(s.reads.begin(), s.reads.end());
      if (now != live[i]) again = true;
      live[i] = std::move(now);
    }
  }
  return live;
}

std::string nameOf(const Parsed& p, const Function& f, std::size_t reg) {
  if (reg == 0) return "carry";
  std::size_t ordinal = 1;
  for (std::size_t r = 1; r < reg; ++r) ordinal += f.registers[r].name == f.registers[reg].name;
  return std::string(p.name(f.registers[reg].name)) + (ordinal == 1 ? "" : "#" + std::to_string(ordinal));
}

// All points of one function: the registers, the units of each file, and the spans.
std::size_t compare(uint64_t seed) {
  const RandomFunction g(seed);
  CAPTURE(seed);
  INFO(g.text);
  const Parsed p(g.text);
  const Analyzed a(p, 1);
  const auto live = liveBefore(g);
  std::vector<RegisterSize> sizes = registerSizes(*p, a.f);
  std::vector<std::string> name;
  for (std::size_t r = 0; r < a.f.registers.size(); ++r) name.push_back(nameOf(p, a.f, r));
  std::vector<uint32_t> statementOf(a.f.instructions.size());
  uint32_t statement = 0;
  for (const InstrId id : a.f) statementOf[id.value] = statement++;
  REQUIRE(statement == g.statements.size());

  std::vector<std::set<uint32_t>> spanned(a.pressure.points().size());
  for (const RegisterPressure::Span& s : a.pressure.spans())
    for (uint32_t q = s.first; q <= s.last; ++q) spanned[q].insert(s.reg.value);

  RegisterPressure::Units most;
  for (std::size_t q = 0; q < a.pressure.points().size(); ++q) {
    const PressurePoints::Point& point = a.pressure.points()[q];
    std::set<std::string> expected;
    if (a.cfg[point.block].reachable) {
      if (!point.instruction.valid()) {
        expected = live[statementOf[a.cfg[point.block].first.value]];
      } else {
        const uint32_t i = statementOf[point.instruction.value];
        for (const std::size_t next : g.successors(i)) expected.insert(live[next].begin(), live[next].end());
        const RandomStatement& s = g.statements[i];
        expected.insert(s.writes.begin(), s.writes.end());
        expected.insert(s.mods.begin(), s.mods.end());
      }
    }
    uint32_t data = 0, halves = 0, predicates = 0;
    for (std::size_t r = 0; r < name.size(); ++r) {
      const bool isLive = expected.count(name[r]) != 0;
      CAPTURE(q);
      CAPTURE(name[r]);
      REQUIRE((spanned[q].count(static_cast<uint32_t>(r)) != 0) == isLive);
      if (!isLive) continue;
      if (a.pressure.fileOf(RegId(r)) == RegisterFile::Predicate)
        ++predicates;
      else if (sizes[r].isHalf)
        ++halves;
      else
        data += sizes[r].units;
    }
    const RegisterPressure::Units units{data + (halves + 1) / 2, predicates, 0};
    CAPTURE(q);
    REQUIRE(a.pressure.at(q) == units);
    most = most.max(units);
  }
  CHECK(a.pressure.maximum() == most);
  for (const RegisterFile file : {RegisterFile::Data, RegisterFile::Predicate})
    CHECK(a.pressure.at(a.pressure.place(file))[file] == most[file]);
  return a.pressure.points().size();
}

}  // namespace

TEST_CASE("pressure against a count at every point of random functions") {
  std::size_t points = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) points += compare(seed);
  CHECK(points > 5000);
}
