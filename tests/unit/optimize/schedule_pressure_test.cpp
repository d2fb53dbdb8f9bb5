// schedule-pressure: the orders that it makes, what it must not reorder by the notes of random functions, and
// that values live no longer.
#include <algorithm>

#include "ir/verify.h"
#include "passes/manager/pass.h"
#include "random_function.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

std::vector<InstrId> listOf(const Function& f) {
  std::vector<InstrId> all;
  for (const InstrId id : f) all.push_back(id);
  return all;
}

struct Run {
  bool changed = false;
  PassCounters counters;
};

Run run(const Parsed& p, Function& f, int64_t order) {
  Knobs knobs;
  REQUIRE(knobs.set("schedule-order", order).empty());
  Analyses analyses(*p, f, livenessLimits(knobs));
  PassReport report;
  PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
  Run result;
  result.changed = schedulePressure(f, context);
  result.counters = report.counters;
  return result;
}

// The body behind the declarations, one instruction a line.
std::string bodyAfter(const std::string& body, int64_t order) {
  const Parsed p(kernel(body));
  run(p, p.function(), order);
  std::string out;
  std::size_t i = 0;
  for (const InstrId id : p.function())
    if (i++ >= kDeclarations) out += text::printInstruction(*p, p.function(), p.function()[id]) + "\n";
  return out;
}

bool intersect(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& s) { return b.count(s) != 0; });
}

// Whether the two may not change places, by their notes.
bool conflict(const RandomStatement& a, const RandomStatement& b) {
  const auto written = [](const RandomStatement& s) {
    std::set<std::string> all = s.writes;
    all.insert(s.mods.begin(), s.mods.end());
    return all;
  };
  return intersect(written(a), written(b)) || intersect(written(a), b.reads) || intersect(a.reads, written(b));
}

}  // namespace

TEST_CASE("schedule-pressure: late puts each before the first that needs it") {
  CHECK(bodyAfter("mov.u32 %r1, %tid.x;\n"
                  "ld.global.u32 %r2, [%rd1];\n"
                  "ld.global.u32 %r3, [%rd1+4];\n"
                  "add.s32 %r4, %r1, 1;\n"
                  "add.s32 %r5, %r4, %r2;\n"
                  "add.s32 %r6, %r5, %r3;\n"
                  "st.global.u32 [%rd1], %r6;\n"
                  "ret;\n",
                  0) ==
        "mov.u32 %r1, %tid.x;\n"
        "add.s32 %r4, %r1, 1;\n"
        "ld.global.u32 %r2, [%rd1];\n"
        "add.s32 %r5, %r4, %r2;\n"
        "ld.global.u32 %r3, [%rd1+4];\n"
        "add.s32 %r6, %r5, %r3;\n"
        "st.global.u32 [%rd1], %r6;\n"
        "ret;\n");
}

TEST_CASE("schedule-pressure: pressure closes what is open before it opens more") {
  CHECK(bodyAfter("ld.global.u32 %r1, [%rd1];\n"
                  "ld.global.u32 %r2, [%rd1+4];\n"
                  "ld.global.u32 %r3, [%rd1+8];\n"
                  "ld.global.u32 %r4, [%rd1+12];\n"
                  "add.s32 %r5, %r1, %r2;\n"
                  "add.s32 %r6, %r3, %r4;\n"
                  "add.s32 %r7, %r5, %r6;\n"
                  "st.global.u32 [%rd1], %r7;\n"
                  "ret;\n",
                  1) ==
        "ld.global.u32 %r1, [%rd1];\n"
        "ld.global.u32 %r2, [%rd1+4];\n"
        "add.s32 %r5, %r1, %r2;\n"
        "ld.global.u32 %r3, [%rd1+8];\n"
        "ld.global.u32 %r4, [%rd1+12];\n"
        "add.s32 %r6, %r3, %r4;\n"
        "add.s32 %r7, %r5, %r6;\n"
        "st.global.u32 [%rd1], %r7;\n"
        "ret;\n");
}

TEST_CASE("schedule-pressure: walls, guards, carries and pragmas keep their places") {
  // In each the first instruction would move down to its reader if it might.
  const std::string early = "add.s32 %r1, %r9, 1;\nadd.s32 %r2, %r9, 2;\nadd.s32 %r8, %r9, 8;\n";
  const std::string reader = "sub.s32 %r3, %r2, %r8;\nadd.s32 %r4, %r3, %r1;\nst.global.u32 [%rd1], %r4;\nret;\n";
  for (const int64_t order : {0, 1}) {
    CAPTURE(order);
    for (const char* const wall :
         {"st.shared.u32 [%r7], %r9;", "bar.sync 0;", "membar.gl;", "atom.global.add.u32 %r20, [%rd1], 1;",
          "ld.volatile.global.u32 %r20, [%rd2];", "ld.acquire.gpu.global.u32 %r20, [%rd2];",
          "mov.u32 %r20, %clock;", "shfl.sync.bfly.b32 %r20, %r9, 1, 31, -1;", "activemask.b32 %r20;",
          "vote.sync.any.pred %p2, %p1, -1;", "made_up.op %r20, %r9;", "$L:", "{", ".loc 1 2 3",
          "cp.async.ca.shared.global [%r7], [%rd1], 4;", "call g, ();", "prefetch.global.L2 [%rd1];",
          "@%p1 bra $M;"}) {
      CAPTURE(wall);
      const bool opens = std::string_view(wall) == "{";
      std::string text = kernel(early + wall + "\n" + reader + (opens ? "}\n" : "") + "$M:\nret;\n");
      text.insert(kHeader.size(), ".file 1 \"a\"\n.extern .func g();\n");
      const Parsed p(text);
      Function& f = p.function(1);
      std::vector<InstrId> before = listOf(f);
      run(p, f, order);
      const std::vector<InstrId> after = listOf(f);
      // The wall is the fourth behind the declarations; what was before it still is.
      const std::size_t at = kDeclarations + 3;
      CHECK(after[at] == before[at]);
      const auto sorted = [&](const std::vector<InstrId>& list) {
        std::vector<uint32_t> some;
        for (std::size_t i = kDeclarations; i < at; ++i) some.push_back(list[i].value);
        std::ranges::sort(some);
        return some;
      };
      CHECK(sorted(after) == sorted(before));
    }
  }
  // A load keeps the pragma before it.
  const std::string body =
      ".pragma \"used_bytes_mask 15\";\nld.global.v4.u32 {%r1, %r2, %r5, %r6}, [%rd1];\n"
      "add.s32 %r7, %r9, 1;\nadd.s32 %r8, %r7, %r9;\nadd.s32 %r3, %r8, %r9;\nadd.s32 %r4, %r3, %r1;\n"
      "st.global.u32 [%rd1], %r4;\nret;\n";
  for (const int64_t order : {0, 1})
    CHECK(bodyAfter(body, order).starts_with(".pragma \"used_bytes_mask 15\";\nld.global.v4.u32"));
}

TEST_CASE("schedule-pressure: what depends on each other keeps its order, on random functions" *
          doctest::test_suite("slow")) {
  std::size_t moved = 0;
  for (uint64_t seed = 1; seed <= 1200; ++seed) {
    RandomOptions options;
    options.mostStatements = 4 + seed % 30;
    options.copyPercent = seed % 3 == 0 ? 40 : 0;
    const RandomFunction g(seed, options);
    CAPTURE(seed);
    CAPTURE(g.text);
    for (const int64_t order : {0, 1}) {
      const Parsed p(g.text);
      Function& f = p.function(1);
      REQUIRE(f.instructions.size() == g.statements.size());
      const Cfg cfg(*p, f);
      std::vector<BlockId> blockOf;
      for (uint32_t i = 0; i < g.statements.size(); ++i) blockOf.push_back(cfg.blockOf(InstrId(i)));
      const Run result = run(p, f, order);
      const std::vector<InstrId> list = listOf(f);
      REQUIRE(list.size() == g.statements.size());
      std::vector<std::size_t> place(list.size());
      for (std::size_t i = 0; i < list.size(); ++i) place[list[i].value] = i;
      std::size_t out = 0;
      for (std::size_t i = 0; i < list.size(); ++i) {
        // Places of a block stay its own.
        CHECK(blockOf[list[i].value] == blockOf[i]);
        out += list[i].value != i;
        for (std::size_t k = i + 1; k < list.size() && blockOf[k] == blockOf[i]; ++k)
          if (place[i] > place[k] && conflict(g.statements[i], g.statements[k]))
            FAIL(g.statements[k].text << " moved over " << g.statements[i].text);
      }
      CHECK((out != 0) == result.changed);
      moved += out;
      CHECK(verify(*p, f) == "");
    }
  }
  CHECK(moved > 1000);
}

TEST_CASE("schedule-pressure: a long run is taken in pieces") {
  std::string body = "ld.global.u32 %r0, [%rd0];\n";
  for (int i = 0; i < 3000; ++i)
    body += "mul.lo.s32 %r" + std::to_string(1 + i % 90) + ", %r" + std::to_string((i * 7) % 90) + ", 3;\n";
  const Parsed p(kernel(body + "ret;\n"));
  CHECK(run(p, p.function(), 1).changed);
  CHECK(verify(*p, p.function()) == "");
}
