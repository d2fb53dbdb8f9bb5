// cssa-coalesce on random functions made of copies, run before and after by a small interpreter of their own kind.
#include <map>
#include <random>

#include "analysis/dataflow/copies.h"
#include "passes/manager/pass.h"
#include "sampled.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// Blocks of copies, additions and stores, some under guards, with branches anywhere.
std::string randomKernel(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<unsigned>(random() % n); };
  const unsigned registers = 2 + pick(6), blocks = 1 + pick(6), copyPercent = 40 + pick(55);
  const auto reg = [&] { return "%r" + std::to_string(pick(registers)); };
  const auto pred = [&] { return "%p" + std::to_string(pick(3)); };
  std::string text;
  for (unsigned r = 0; r < registers; ++r)
    text += "mov.u32 %r" + std::to_string(r) + ", " + std::to_string(100 + r) + ";\n";
  for (unsigned p = 0; p < 3; ++p) text += "setp.lt.u32 %p" + std::to_string(p) + ", %r0, %r1;\n";
  text += "ld.param.u64 %rd1, [p];\n";
  for (unsigned b = 0; b < blocks; ++b) {
    text += "L" + std::to_string(b) + ":\n";
    std::string guard, last = reg();
    unsigned scopes = 0;
    for (unsigned k = pick(14); k > 0; --k) {
      if (pick(5) == 0) guard = pick(2) == 0 ? "" : (pick(2) == 0 ? "@" : "@!") + pred() + " ";
      if (pick(100) < copyPercent) {
        const std::string to = pick(2) == 0 ? last : reg();
        last = reg();
        text += guard + "mov.u32 " + to + ", " + last + ";\n";
        continue;
      }
      switch (pick(6)) {
        case 0: text += guard + "add.u32 " + reg() + ", " + reg() + ", " + reg() + ";\n"; break;
        case 1: text += "mov.pred " + pred() + ", " + pred() + ";\n"; break;
        case 2: text += guard + "setp.lt.u32 " + pred() + ", " + reg() + ", " + reg() + ";\n"; break;
        case 3:
          if (pick(3) == 0) text += "{\n", ++scopes;
          break;
        default: text += guard + "st.global.u32 [%rd1], " + reg() + ";\n"; break;
      }
    }
    for (; scopes > 0; --scopes) text += "}\n";
    if (pick(3) != 0)
      text += (pick(2) == 0 ? "@" : "@!") + pred() + " bra L" + std::to_string(pick(blocks)) + ";\n";
  }
  for (unsigned r = 0; r < registers; ++r)
    if (pick(2) == 0) text += "st.global.u32 [%rd1], %r" + std::to_string(r) + ";\n";
  return text + "ret;\n";
}

// What is stored, in order, until the end or so many instructions other than copies.
std::vector<uint32_t> stores(const Module& module, const Function& f) {
  std::vector<uint32_t> result, values(f.registers.size(), 0);
  int left = 300;
  for (InstrId id = f.first; id.valid() && left > 0;) {
    const Instruction& i = f[id];
    InstrId next = i.next;
    if (i.isInstruction()) {
      auto o = f.operandsOf(i);
      bool acts = true;
      if (i.is(Instruction::Guarded)) {
        acts = (values[o[0].payload] != 0) != o[0].is(Operand::Not);
        o = o.subspan(1);
      }
      const std::string_view key = module.form(i).row->key;
      const auto value = [&](const Operand& x) { return x.isRegister() ? values[x.payload] : x.payload; };
      left -= key != "mov";
      if (!acts || key == "ld") {
      } else if (key == "mov") {
        values[o[0].payload] = value(o[1]);
      } else if (key == "add") {
        values[o[0].payload] = value(o[1]) + value(o[2]);
      } else if (key == "setp") {
        values[o[0].payload] = value(o[1]) < value(o[2]);
      } else if (key == "st") {
        result.push_back(value(o.back()));
      } else if (key == "bra") {
        next = f.labels[o[0].payload].place;
      } else if (key == "ret") {
        break;
      } else {
        FAIL("what is ", key);
      }
    }
    id = next;
  }
  return result;
}

std::size_t copies(const Module& module, const Function& f) {
  std::size_t n = 0;
  for (const InstrId id : f) n += readCopy(module, f, id).has_value();
  return n;
}

struct Outcome {
  bool changed = false;
  PassCounters counters;
};

Outcome apply(const Parsed& p, const Knobs& knobs) {
  Function& f = p.function();
  Analyses analyses(*p, f, livenessLimits(knobs));
  PassReport report;
  PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
  Outcome outcome;
  outcome.changed = findPass("cssa-coalesce")->run(f, context);
  if (!outcome.changed) CHECK(analyses.stale().empty());
  outcome.counters = report.counters;
  return outcome;
}

}  // namespace

TEST_CASE("cssa-coalesce: random copies, run before and after" * doctest::test_suite("slow")) {
  std::size_t shortened = 0, joined = 0, guarded = 0, before = 0, byValues = 0, byRanges = 0;
  for (uint64_t seed = 1; seed <= sampled(6000); ++seed) {
    const std::string text = kernel(randomKernel(seed));
    for (const bool ranges : {false, true}) {
      const Parsed p(text);
      CAPTURE(seed);
      CAPTURE(ranges);
      INFO(text);
      Knobs knobs;
      knobs.set("cssa-interference", ranges);
      knobs.set("join-guarded-definitions", seed % 2);
      const std::vector<uint32_t> expected = stores(*p, p.function());
      const std::size_t copiesBefore = copies(*p, p.function());
      Outcome outcome = apply(p, knobs);
      INFO(text::print(*p));
      REQUIRE(stores(*p, p.function()) == expected);
      const std::size_t copiesAfter = copies(*p, p.function());
      CHECK(outcome.changed == (copiesAfter < copiesBefore));
      // Another run finds nothing.
      CHECK_FALSE(apply(p, knobs).changed);
      shortened += outcome.counters["shortened-runs"];
      joined += outcome.counters["phis-joined"];
      guarded += outcome.counters["kept-partial"];
      before += copiesBefore;
      (ranges ? byRanges : byValues) += copiesAfter;
    }
  }
  CHECK(shortened > sampled(10000));
  CHECK(joined > sampled(300));
  CHECK(guarded > sampled(100));
  CHECK(byValues < byRanges);
  CHECK(byRanges < before / 2);
}
