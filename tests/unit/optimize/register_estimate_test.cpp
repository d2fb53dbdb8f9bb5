// The model behind the estimates of register counts: which values are kept, where the fat-point model puts them,
// what reordering makes of a block; by hand, and that placements are sound on random functions.
#include "analysis/machine/register_estimate.h"

#include "analysis/machine/eager_schedule.h"
#include "analysis/machine/fat_point.h"
#include "analysis/values/uniform_registers.h"
#include "random_function.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

struct Estimated {
  const Parsed& p;
  const Function& f;
  Cfg cfg;
  SlotIndexes slots;
  DominatorTree dominators;
  LiveIntervals intervals;
  RegisterPressure pressure;
  AllocatedValues kept;

  explicit Estimated(const Parsed& parsed, std::size_t index = 0)
      : p(parsed),
        f(p.function(index)),
        cfg(*p, f),
        slots(f, cfg),
        dominators(cfg, DominatorTree::Direction::Dominators),
        intervals(f, cfg, slots, &dominators),
        pressure(*p, f, cfg, slots, intervals, findRegisterFiles(*p, f, cfg, dominators)),
        kept(allocatedValues(*p, f, pressure)) {}

  // "%r1 %rd2"
  std::string names() const {
    std::vector<std::string> sorted;
    for (const AllocatedValue& v : kept.values) sorted.emplace_back(p.name(f.registers[v.reg.value].name));
    std::ranges::sort(sorted);
    std::string text;
    for (const std::string& n : sorted) text += (text.empty() ? "" : " ") + n;
    return text;
  }
  const AllocatedValue& value(std::string_view name) const {
    for (const AllocatedValue& v : kept.values)
      if (p.name(f.registers[v.reg.value].name) == name) return v;
    FAIL("not kept");
    return kept.values.front();
  }
  FatPointResult placed() const { return placeValues(f, pressure.points(), kept); }
  uint32_t slotOf(const FatPointResult& r, std::string_view name) const {
    return r.slot[static_cast<std::size_t>(&value(name) - kept.values.data())];
  }
  RegisterEstimate estimate() const { return estimateRegisters(*p, f, pressure); }
};

std::string keptOf(std::string_view body) {
  const Parsed p(kernel(body));
  return Estimated(p).names();
}

}  // namespace

TEST_CASE("constants, parameters and uniform values are not kept") {
  CHECK(keptOf("\tld.param.u64 %rd1, [p];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tmov.u32 %r1, 5;\n"
               "\tmov.u32 %r2, %tid.x;\n\tmov.u32 %r3, %ntid.x;\n\tadd.u32 %r4, %r2, %r3;\n"
               "\tst.global.v2.u32 [%rd2], {%r4, %r1};\n\tst.global.u32 [%rd2], %r3;\n") == "%r2 %r4");
  // Two definitions, or a guard: it has to be somewhere.
  CHECK(keptOf("\tmov.u32 %r2, %tid.x;\n\tsetp.eq.u32 %p1, %r2, 0;\n\tmov.u32 %r1, 5;\n\t@%p1 mov.u32 %r1, 6;\n"
               "\tst.shared.u32 [%r2], %r1;\n") == "%r1 %r2");
  // A float is computed per thread even where it is uniform.
  CHECK(keptOf("\tld.param.u32 %r1, [n];\n\tadd.u32 %r2, %r1, 1;\n\tcvt.rn.f32.u32 %f1, %r2;\n"
               "\tst.shared.f32 [%r2], %f1;\n") == "%f1");
}

TEST_CASE("what lends its range") {
  // The source of a copy lives as long as the copy.
  const Parsed copy(
      kernel("\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %r1;\n\tst.shared.u32 [0], 1;\n"
             "\tst.shared.u32 [4], %r2;\n"));
  const Estimated c(copy);
  CHECK(c.names() == "%r1");
  CHECK(std::ranges::equal(c.value("%r1").spans, std::vector<AllocatedValue::Span>{{1, 3}}));
  // A sum that is only an address; one that is read otherwise stays.
  CHECK(keptOf("\tmov.u64 %rd1, %clock64;\n\tadd.s64 %rd2, %rd1, 16;\n\tld.global.u32 %r1, [%rd2];\n"
               "\tst.global.u32 [%rd2+4], %r1;\n") == "%r1 %rd1");
  CHECK(keptOf("\tmov.u64 %rd1, %clock64;\n\tadd.s64 %rd2, %rd1, 16;\n\tst.global.u64 [%rd2], %rd2;\n") ==
        "%rd1 %rd2");
  // Scaling goes to the sum; its source has one unit where the product had two.
  const Parsed scaled(
      kernel("\tld.param.u64 %rd9, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd1, %r1, 4;\n"
             "\tadd.s64 %rd2, %rd9, %rd1;\n\tld.global.f32 %f1, [%rd2];\n"
             "\tst.global.f32 [%rd2], %f1;\n"));
  CHECK(Estimated(scaled).names() == "%f1 %r1 %rd2");
  CHECK(
      keptOf(
          "\tld.param.u64 %rd9, [p];\n\tmov.u32 %r1, %tid.x;\n\tcvt.s64.s32 %rd1, %r1;\n\tshl.b64 %rd2, %rd1, 2;\n"
          "\tadd.s64 %rd3, %rd9, %rd2;\n\tst.global.u32 [%rd3], 0;\n") == "%r1 %rd3");
  // Read by something else as well, it has to be there.
  CHECK(keptOf("\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd1, %r1, 4;\n\tst.shared.u64 [0], %rd1;\n") == "%r1 %rd1");
  // Zeros above take nothing.
  const Parsed zeros(kernel("\tmov.u32 %r1, %tid.x;\n\tcvt.u64.u32 %rd1, %r1;\n\tst.shared.u64 [0], %rd1;\n"));
  CHECK(Estimated(zeros).value("%rd1").size.units == 1);
}

TEST_CASE("the fat-point model packs what does not meet and aligns what is wide") {
  const Parsed p(
      kernel("\tmov.u32 %r1, %tid.x;\n"        // a single first
             "\tld.shared.u64 %rd1, [%r1];\n"  // a pair beside it
             "\tld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];\n"
             "\tst.shared.v4.u32 [%r1], {%r5, %r4, %r3, %r2};\n"
             "\tst.shared.u64 [%r1+16], %rd1;\n"
             "\tmov.u32 %r6, %laneid;\n\tst.shared.u32 [32], %r6;\n"));
  const Estimated e(p);
  const FatPointResult r = e.placed();
  CHECK(e.slotOf(r, "%r1") == 0);
  CHECK(e.slotOf(r, "%rd1") == 2);
  CHECK(e.slotOf(r, "%r2") == 4);
  CHECK(e.slotOf(r, "%r3") == 5);
  CHECK(e.slotOf(r, "%r4") == 6);
  CHECK(e.slotOf(r, "%r5") == 7);
  CHECK(e.slotOf(r, "%r6") == 1);  // free, and nothing was ever in it
  CHECK(r.slots == 8);
  CHECK(r.spilled == 0);
}

TEST_CASE("the fat-point model keeps operands of one instruction in different banks") {
  // Slots 0 to 3 were used for equally long; %r5 is read together with what is in slot 0.
  const Parsed p(
      kernel("\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %tid.y;\n\tmov.u32 %r3, %tid.z;\n"
             "\tst.shared.v2.u32 [0], {%r2, %r3};\n"
             "\tmov.u32 %r5, %laneid;\n\tadd.u32 %r6, %r1, %r5;\n\tst.shared.u32 [4], %r6;\n"));
  const Estimated e(p);
  const FatPointResult r = e.placed();
  CHECK(r.spilled == 0);
  CHECK(e.slotOf(r, "%r5") % 2 != e.slotOf(r, "%r1") % 2);
}

TEST_CASE("more values than slots") {
  std::string body = "\tmov.u32 %r1, %tid.x;\n", stores;
  body += "\t.reg .b32 %x<300>;\n";
  for (int i = 0; i < 300; ++i) {
    body += "\tld.shared.u32 %x" + std::to_string(i) + ", [%r1+" + std::to_string(4 * i) + "];\n";
    stores += "\tst.shared.u32 [%r1], %x" + std::to_string(i) + ";\n";
  }
  const Parsed p(kernel(body + stores));
  const Estimated e(p);
  const FatPointResult r = e.placed();
  CHECK(r.slots == 255);
  CHECK(r.spilled == 301 - 255);
  CHECK(e.estimate().mostAllocated == 301);
  CHECK(e.estimate().plain == 255);
  CHECK(e.estimate().fatPoint == 255);
}

TEST_CASE("placements on random functions") {
  std::size_t values = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    const RandomFunction g(seed, {12, 8, 25, 67, 20});
    const Parsed p(g.text);
    const Estimated e(p, 1);
    const FatPointResult r = e.placed();
    CHECK(r.spilled == 0);
    std::vector<std::vector<uint32_t>> at(e.pressure.points().size(), std::vector<uint32_t>(r.slots, UINT32_MAX));
    uint32_t highest = 0;
    for (uint32_t v = 0; v < e.kept.values.size(); ++v) {
      const AllocatedValue& value = e.kept.values[v];
      const uint32_t units = std::max(value.size.units, 1u);
      REQUIRE(r.slot[v] % (units > 2 ? 4 : units) == 0);
      REQUIRE(r.slot[v] + units <= r.slots);
      highest = std::max(highest, r.slot[v] + units);
      for (std::size_t s = 0; s < value.spans.size(); ++s) {
        REQUIRE(value.spans[s].first <= value.spans[s].last);
        if (s > 0) REQUIRE(value.spans[s - 1].last + 1 < value.spans[s].first);
        for (uint32_t q = value.spans[s].first; q <= value.spans[s].last; ++q)
          for (uint32_t u = 0; u < units; ++u) {
            REQUIRE(at[q][r.slot[v] + u] == UINT32_MAX);  // two values in one slot at once
            at[q][r.slot[v] + u] = v;
          }
      }
    }
    CHECK(highest == r.slots);
    CHECK(e.estimate().slots >= e.estimate().mostAllocated);
    CHECK(e.estimate().mostAllocated <= e.estimate().mostUnits);
    values += e.kept.values.size();
  }
  CHECK(values > 500);
}

TEST_CASE("reordering for speed") {
  // In the order of the text one value at a time; reordered, all loads come first.
  std::string body = "\tmov.u32 %r1, %tid.x;\n";
  for (int i = 0; i < 8; ++i)
    body += "\tld.global.u32 %r" + std::to_string(10 + i) + ", [" + std::to_string(64 * i) + "];\n\tadd.u32 %r" +
            std::to_string(20 + i) + ", %r" + std::to_string(10 + i) + ", " +
            (i == 0 ? std::string("%r1") : "%r" + std::to_string(19 + i)) + ";\n";
  const Parsed p(kernel(body + "\tst.global.u32 [0], %r27;\n"));
  const Estimated e(p);
  CHECK(e.estimate().mostAllocated == 2);
  CHECK(e.estimate().eager == 9);
  // A barrier behind each load keeps them where they are.
  std::string fenced;
  for (std::size_t at = 0, end; at < body.size(); at = end + 1) {
    end = body.find('\n', at);
    fenced += body.substr(at, end + 1 - at);
    if (body.compare(at, 4, "\tadd") == 0) fenced += "\tbar.sync 0;\n";
  }
  const Parsed q(kernel(fenced + "\tst.global.u32 [0], %r27;\n"));
  const Estimated barred(q);
  CHECK(barred.estimate().mostAllocated == 2);
  CHECK(barred.estimate().eager <= 3);
  CHECK(eagerPressure(*p, e.f, e.pressure, e.kept) == 9);
}

TEST_CASE("reordering for speed: of several blocks the most counts") {
  // Loads and sums of them; behind a barrier each stays where it is.
  const auto part = [](int loads, int first, std::string_view barrier) {
    std::string text = "\tmov.u32 %r" + std::to_string(first) + ", %tid.x;\n";
    for (int i = 0; i < loads; ++i) {
      const std::string loaded = "%r" + std::to_string(first + 1 + i), sum = "%r" + std::to_string(first);
      text += "\tld.global.u32 " + loaded + ", [" + std::to_string(64 * i) + "];\n\tadd.u32 " + sum + ", " + sum +
              ", " + loaded + ";\n" + std::string(barrier);
    }
    return text + "\tst.global.u32 [0], %r" + std::to_string(first) + ";\n";
  };
  const auto eager = [](const std::string& body, uint32_t enough = UINT32_MAX) {
    const Parsed p(kernel(body));
    const Estimated e(p);
    return eagerPressure(*p, e.f, e.pressure, e.kept, enough);
  };
  // The first block writes most, and takes least.
  const std::string fenced = part(12, 10, "\tbar.sync 0;\n"), free = part(5, 40, "");
  CHECK(eager(fenced) < eager(free));
  CHECK(eager(fenced + "L1:\n" + free) == eager(free));
  CHECK(eager(free + "L1:\n" + fenced) == eager(free));
  CHECK(eager(fenced + "L1:\n" + free, 4) >= 4);
}

TEST_CASE("limits, calls and empty kernels") {
  const auto estimate = [](std::string_view directives, std::string_view body) {
    const Parsed p(kHeader + ".func g() { ret; }\n.visible .entry k()\n" + std::string(directives) +
                   "\n{\n\t.reg .b32 %r<99>;\n" + std::string(body) + "\tret;\n}\n");
    return Estimated(p, 1).estimate();
  };
  CHECK(estimate("", "").fatPoint == 4);
  CHECK(estimate("", "").plain == 4);
  CHECK(estimate("", "").limit == 255);
  CHECK(estimate("", "\tmov.u32 %r1, %tid.x;\n\tst.shared.u32 [%r1], %r1;\n").fatPoint >= 8);
  CHECK(estimate("", "\tcall g;\n").fatPoint == 24);
  CHECK(estimate("", "\tcall g;\n").hasCalls);
  CHECK(estimate(".maxntid 1024", "").limit == 64);
  CHECK(estimate(".reqntid 16, 16, 1\n.minnctapersm 4", "").limit == 64);
  CHECK(estimate(".maxntid 256\n.minnctapersm 5", "").limit == 48);
  CHECK(estimate(".maxntid 64", "").limit == 255);
  CHECK(estimate(".maxnreg 40", "").limit == 40);
}

TEST_CASE("the text of an estimate says that it is one") {
  RegisterEstimate e;
  e.mostUnits = 20, e.mostAllocated = 12, e.eager = 17, e.slots = 14, e.plain = 22, e.fatPoint = 25;
  CHECK(toString(e) ==
        "registers (estimate): 22 by the plain maximum, 25 by the fat-point model; units live 20, kept 12, "
        "reordered 17, "
        "slots 14\n");
}
