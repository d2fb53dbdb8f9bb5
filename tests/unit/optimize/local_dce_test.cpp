// local-dce against a reference on the notes of random functions, and beside dce.
#include "passes/manager/pass.h"
#include "random_function.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// What the pass may remove, by its definition: within [first, last] of each block, statement by statement.
std::vector<bool> expectedDead(const RandomFunction& g, const Function& f, const Cfg& cfg) {
  const std::size_t n = g.statements.size();
  std::vector<std::pair<std::size_t, std::size_t>> blockOf(n);
  for (uint32_t b = 0; b < cfg.size(); ++b)
    for (std::size_t i = cfg[BlockId(b)].first.value; i <= cfg[BlockId(b)].last.value; ++i)
      blockOf[i] = {b, cfg[BlockId(b)].last.value};
  REQUIRE(f.instructions.size() == n);

  // Registers that a block reads before it writes them: at first by all statements, then by those that are left.
  std::vector<bool> needed(n, true);
  std::set<std::string> exposed;
  const auto findExposed = [&] {
    exposed = {"%o"};
    for (std::size_t i = 0; i < n; ++i) {
      if (!needed[i]) continue;
      for (const std::string& r : g.statements[i].reads) {
        bool isWritten = false;
        for (std::size_t k = i; k-- > 0 && blockOf[k].first == blockOf[i].first;)
          isWritten = isWritten || (needed[k] && g.statements[k].writes.count(r) != 0);
        if (!isWritten) exposed.insert(r);
      }
    }
  };
  const auto isLiveBehind = [&](std::size_t i, const std::string& r) {
    for (std::size_t k = i + 1; k <= blockOf[i].second; ++k) {
      if (needed[k] && g.statements[k].reads.count(r) != 0) return true;
      if (needed[k] && g.statements[k].writes.count(r) != 0) return false;
    }
    const std::size_t last = blockOf[i].second;
    const BlockId block(static_cast<uint32_t>(blockOf[i].first));
    if (cfg[block].returns && r == "%o") return true;
    bool goesOn = false;
    for (const std::size_t s : g.successors(last)) goesOn = goesOn || s < n;
    return goesOn && exposed.count(r) != 0;
  };
  for (std::vector<bool> before; before != needed;) {
    before = needed;
    findExposed();
    for (std::size_t i = 0; i < n; ++i) needed[i] = !g.statements[i].removable;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = n; i-- > 0;) {
        if (needed[i]) continue;
        std::set<std::string> results = g.statements[i].writes;
        results.insert(g.statements[i].mods.begin(), g.statements[i].mods.end());
        for (const std::string& r : results)
          if (!needed[i] && isLiveBehind(i, r)) needed[i] = again = true;
      }
    }
  }
  needed.flip();
  return needed;
}

std::string after(const std::string& text, std::vector<std::string> passes) {
  const Parsed p(text);
  Function& f = p.function(1);
  Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  for (const std::string& name : passes) {
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    const PassInfo* pass = findPass(name);
    REQUIRE(pass != nullptr);
    const bool changed = pass->run(f, context);
    if (changed) analyses.invalidate(pass->preserves);
    CHECK(analyses.stale().empty());
  }
  return text::print(*p);
}

}  // namespace

TEST_CASE("local-dce: removes just what its definition says, on random functions") {
  std::size_t removed = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    const RandomFunction g(seed);
    CAPTURE(seed);
    CAPTURE(g.text);
    const Parsed p(g.text);
    Function& f = p.function(1);
    const Cfg cfg(*p, f);
    const std::vector<bool> expected = expectedDead(g, f, cfg);
    Knobs knobs;
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    const bool changed = localDce(f, context);
    std::size_t n = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (f.instructions[i].is(Instruction::Erased) != expected[i]) FAIL("differs at " << g.statements[i].text);
      n += expected[i];
    }
    CHECK(changed == (n != 0));
    CHECK(report.counters["dead"] == n);
    removed += n;
    analyses.invalidate();
    CHECK_FALSE(localDce(f, context));  // a second run finds nothing
  }
  CHECK(removed > 500);
}

TEST_CASE("local-dce: dce leaves the same with it and without") {
  for (uint64_t seed = 2001; seed <= 2400; ++seed) {
    const std::string text = randomFunction(seed);
    CAPTURE(seed);
    CAPTURE(text);
    const std::string early = "local-dce";
    REQUIRE(after(text, {early, "dce"}) == after(text, {"dce"}));
    REQUIRE(after(text, {"dce", early, "dce"}) == after(text, {"dce"}));
  }
}

TEST_CASE("local-dce: a long chain over blocks, along the text and against it") {
  const int n = 20000;
  for (const bool along : {true, false}) {
    std::string body = "bra L0;\n";
    for (int k = 0; k < n; ++k) {
      const int b = along ? k : n - 1 - k;
      const std::string here = std::to_string(b), next = std::to_string(b + 1);
      body += "L" + here + ":\nadd.s32 %c" + next + ", %c" + here + ", 1;\n";
      body += b + 1 == n ? "ret;\n" : "bra L" + next + ";\n";
    }
    const Parsed p(kernel(".reg .b32 %c<" + std::to_string(n + 1) + ">;\nmov.u32 %c0, %ctaid.x;\n" + body));
    Knobs knobs;
    Analyses analyses(*p, p.function(), livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    CHECK(localDce(p.function(), context));
    CHECK(report.counters["dead"] == static_cast<uint64_t>(n) + 1);
  }
}
