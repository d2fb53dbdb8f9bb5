// Comparing figures of two sides: names, targets, limits, matching, baselines, ratchets, and what is written of it.
#include <doctest/doctest.h>

#include <array>
#include <map>

#include "diff/baseline.h"
#include "diff/built.h"
#include "diff/diff.h"
#include "diff/match.h"
#include "diff/measure.h"
#include "diff/names.h"
#include "diff/output.h"
#include "diff/ratchet.h"
#include "timing/kernel_time.h"
#include "tool/commands/diff_output.h"

using namespace ptxopt;
using namespace ptxopt::diff;

namespace {

ptxas::FunctionMeasures kernel(std::string name, uint64_t spills = 0, uint32_t warps = 64,
                               uint32_t instructions = 100) {
  ptxas::FunctionMeasures f;
  f.name = std::move(name);
  f.isKernel = true;
  f.registers = 32;
  f.spillStores = spills;
  f.spillLoads = 0;
  f.warps = warps;
  f.instructions = instructions;
  return f;
}

// With so many cycles wherever data lies.
ptxas::FunctionMeasures timed(std::string name, double cycles,
                              std::string model = timing::digestOf(target::Machine(80))) {
  ptxas::FunctionMeasures f = kernel(std::move(name));
  f.time = ptxas::ModelledTime{std::move(model), {cycles, cycles, cycles}, {.written = 4, .instructions = 9}, {}};
  f.time->inner.push_back({8, {1.5, 2.25, 3}, {.read = 4, .computed = 1, .instructions = 5}});
  return f;
}

Unit unit(std::string file, std::vector<ptxas::FunctionMeasures> functions, std::string architecture = "sm_80") {
  Unit u;
  u.file = std::move(file);
  u.measures.architecture = std::move(architecture);
  u.measures.functions = std::move(functions);
  return u;
}

Side side(std::vector<Unit> units) {
  Side s;
  s.name = "side";
  s.units = std::move(units);
  s.sortUnits();
  return s;
}

// "a.ptx:k>b.ptx:k", with '-' for what is not there.
std::vector<std::string> pairs(const Side& before, const Side& after) {
  std::vector<std::string> out;
  for (const Match& m : match(before, after).matches) {
    const auto shown = [](const Unit* u, const ptxas::FunctionMeasures* f) {
      return u == nullptr ? std::string("-") : u->file + ":" + f->name;
    };
    out.push_back(shown(m.beforeUnit, m.before) + ">" + shown(m.afterUnit, m.after));
  }
  return out;
}
using Pairs = std::vector<std::string>;

Limit limit(std::string_view text) {
  std::string error;
  const auto failOn = parseFailOn(text, error);
  REQUIRE(failOn);
  REQUIRE(failOn->limits.size() == 1);
  return failOn->limits[0];
}

}  // namespace

TEST_CASE("diff: names without parameters") {
  CHECK(withoutParameters("f(int)") == "f");
  CHECK(withoutParameters("f") == "f");
  CHECK(withoutParameters("void f<int, A<(B)2> >(int (*)(int), A<3>)") == "f<int, A<(B)2> >");
  CHECK(withoutParameters("void (anonymous namespace)::f<x y>(int)") == "(anonymous namespace)::f<x y>");
  CHECK(withoutParameters("a::operator()(int) const") == "a::operator()");
  CHECK(withoutParameters("") == "");
  CHECK(withoutParameters(")(") == ")(");
}

TEST_CASE("diff: targets in PTX") {
  using Words = std::vector<std::string>;
  CHECK(targetWords(".version 8.0\n.target sm_90a, texmode_independent , debug\n") ==
        Words{"sm_90a", "texmode_independent", "debug"});
  CHECK(targetWords("// .target sm_10\n/* .target sm_20 */ .version 8.0 .target/**/sm_80 // x\n.entry") ==
        Words{"sm_80"});
  CHECK(targetWords("").empty());
  CHECK(targetWords("/*").empty());
  CHECK(targetWords("//").empty());
  CHECK(targetWords(".target").empty());
  CHECK(targetWords("nothing of the kind").empty());
}

TEST_CASE("diff: stems of file names") {
  CHECK(stemOf("a/b.ptx") == "a/b");
  CHECK(stemOf("a.sm_80.cubin") == "a");
  CHECK(stemOf("a.compute_90a.sm_90a.ptx") == "a");
  CHECK(stemOf("a.v2.ptx") == "a.v2");
  CHECK(stemOf("a.d/b") == "a.d/b");
  CHECK(stemOf("sm_80.ptx") == "sm_80");
}

TEST_CASE("diff: limits") {
  std::string error;
  CHECK(!limit("spills").isExceeded(4, 4));
  CHECK(limit("spills").isExceeded(4, 5));
  CHECK(!limit("spills").isExceeded(4, 0));
  CHECK(limit("warps").isExceeded(64, 63));
  CHECK(!limit("warps").isExceeded(63, 64));
  CHECK(!limit("warps:4").isExceeded(64, 60));
  CHECK(limit("warps:4").isExceeded(64, 59));
  CHECK(!limit("sass:2%").isExceeded(150, 153));
  CHECK(limit("sass:2%").isExceeded(150, 154));
  CHECK(!limit("sass:0.7%").isExceeded(1000, 1007));
  CHECK(limit("sass:0.7%").isExceeded(1000, 1008));
  CHECK(limit("inner:100%").isExceeded(0, 1));
  CHECK(limit("regs:0").isExceeded(32, 33));
  const auto all = parseFailOn("stack,missing,sass:2.5%,spills,regs:1", error);
  REQUIRE(all);
  CHECK(all->text() == "spills,sass:2.5%,regs:1,stack,missing");
  CHECK(all->missing);
  CHECK(all->find(ptxas::Measure::Warps) == nullptr);
  CHECK(!all->isUsual);
  CHECK(usualFailOn().text() == "spills,warps");
  CHECK(parseFailOn("none", error)->text() == "none");
  for (const char* bad :
       {"", ",", "x", "sass:", "sass:2.5", "sass:1e3%", "sass:inf%", "sass:-1%", "regs,regs", "none,regs"}) {
    CAPTURE(bad);
    CHECK(!parseFailOn(bad, error));
  }
}

TEST_CASE("diff: matching by file and name") {
  const Side a = side({unit("a.ptx", {kernel("k"), kernel("l")}), unit("b.ptx", {kernel("k")})});
  const Side b = side({unit("a.ptx", {kernel("k"), kernel("m")}), unit("b.ptx", {kernel("k")})});
  CHECK(pairs(a, b) == Pairs{"a.ptx:k>a.ptx:k", "a.ptx:l>-", "->a.ptx:m", "b.ptx:k>b.ptx:k"});
  CHECK(pairs(a, a) == Pairs{"a.ptx:k>a.ptx:k", "a.ptx:l>a.ptx:l", "b.ptx:k>b.ptx:k"});
  CHECK(pairs(side({}), b) == Pairs{"->a.ptx:k", "->a.ptx:m", "->b.ptx:k"});
  // Another architecture is another kernel.
  CHECK(pairs(side({unit("a.ptx", {kernel("k")}, "sm_90")}), side({unit("a.ptx", {kernel("k")})})) ==
        Pairs{"->a.ptx:k", "a.ptx:k>-"});
}

TEST_CASE("diff: matching single files, renamed files and moved kernels") {
  Side a = side({unit("x.ptx", {kernel("k"), kernel("l")})});
  Side b = side({unit("y.ptx", {kernel("k")}, "sm_90")});
  CHECK(pairs(a, b) == Pairs{"x.ptx:k>-", "x.ptx:l>-", "->y.ptx:k"});
  a.isOneFile = b.isOneFile = true;
  CHECK(pairs(a, b) == Pairs{"x.ptx:l>-", "x.ptx:k>y.ptx:k"});
  // The same kernels, also if others have one of these names.
  CHECK(pairs(side({unit("x", {kernel("k"), kernel("l")}), unit("z", {kernel("k")})}),
              side({unit("y", {kernel("k"), kernel("l")}), unit("z", {kernel("k")})})) ==
        Pairs{"x:k>y:k", "x:l>y:l", "z:k>z:k"});
  // Not if there are two such files.
  CHECK(pairs(side({unit("x", {kernel("k")}), unit("w", {kernel("k")})}), side({unit("y", {kernel("k")})})) ==
        Pairs{"w:k>-", "x:k>-", "->y:k"});
  // A kernel of its own name moves between files; a device function does not.
  ptxas::FunctionMeasures f = kernel("f");
  f.isKernel = false;
  CHECK(pairs(side({unit("x", {f, kernel("k"), kernel("l")}), unit("y", {kernel("m")})}),
              side({unit("x", {kernel("l")}), unit("y", {f, kernel("k"), kernel("m")})})) ==
        Pairs{"x:f>-", "x:l>x:l", "->y:f", "x:k>y:k", "y:m>y:m"});
}

TEST_CASE("diff: a file that could not be measured says nothing of its counterpart") {
  Unit broken = unit("a.ptx", {});
  broken.error = "no";
  const Side b = side({unit("a.ptx", {kernel("k")}), unit("b.ptx", {kernel("l")})});
  CHECK(pairs(side({broken, unit("b.ptx", {kernel("l")})}), b) == Pairs{"b.ptx:l>b.ptx:l"});
  broken.measures.architecture.clear();  // not even read
  CHECK(pairs(side({broken, unit("b.ptx", {kernel("l")})}), b) == Pairs{"b.ptx:l>b.ptx:l"});
  CHECK(pairs(b, side({broken, unit("b.ptx", {kernel("l")})})) == Pairs{"b.ptx:l>b.ptx:l"});
  const Result result = compareSides(b, side({broken, unit("b.ptx", {kernel("l")})}), usualFailOn(), {});
  CHECK(result.verdict() == Result::Verdict::NotCompared);
  REQUIRE(result.problems.size() == 1);
  CHECK(diff::text(result.problems[0]) == "after: a.ptx: no");
}

TEST_CASE("diff: names for tables") {
  const auto named = [](std::vector<std::string> names, NameOptions options) {
    std::vector<Row> rows;
    for (std::string& name : names) {
      rows.emplace_back().name = std::move(name);
      rows.back().isKernel = true;
    }
    return displayNames(rows, options);
  };
  using Names = std::vector<std::string>;
  CHECK(named({"_Z3runPiS_"}, {false, 0}) == Names{"run(int*, int*)"});
  CHECK(named({"_Z3runPiS_"}, {true, 0}) == Names{"_Z3runPiS_"});
  CHECK(named({"_Z3runPiS_"}, {false, 12}) == Names{"run(...)"});
  CHECK(named({"_Z3runI4type4typeEvPi"}, {false, 16}) == Names{"run<...>(...)"});
  CHECK(named({"plain_name_of_a_kernel"}, {false, 11}) == Names{"plai...rnel"});
  // Overloads would look the same.
  CHECK(named({"_Z3runPiS_", "_Z3runPfS_", "k"}, {false, 12}) ==
        Names{"run(int*, int*)", "run(float*, float*)", "k"});
}

TEST_CASE("diff: baselines come back as they were") {
  Side s = side({unit("b.ptx", {kernel("k\"\n", 8)}), unit("a.ptx", {kernel("k"), kernel("l")}, "sm_90a"),
                 unit("a.ptx", {})});
  s.units[2].measures.functions[0].spillLoads = s.units[2].measures.functions[0].spillStores = std::nullopt;
  s.ptxas = "V13.0.88";
  s.ptxasOptions = {"-O1"};
  const std::string text = writeBaseline(s);
  Side back;
  std::string error;
  REQUIRE(readBaseline(text, back, error));
  CHECK(writeBaseline(back) == text);
  CHECK(back.ptxas == s.ptxas);
  CHECK(back.ptxasOptions == s.ptxasOptions);
  REQUIRE(back.units.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(back.units[i].file == s.units[i].file);
    CHECK(back.units[i].measures == s.units[i].measures);
  }
  CHECK(!readBaseline("[]", back, error));
  CHECK(!readBaseline("", back, error));
}

TEST_CASE("diff: a ratchet keeps what is better") {
  std::string error;
  const Side old = side({unit("a", {kernel("gone"), kernel("k", 0, 64, 100)})});
  const Side now = side({unit("a", {kernel("k", 4, 66, 90), kernel("new")})});
  const auto kept = [&](std::string_view failOn) {
    return ratchet(old, now, *parseFailOn(failOn, error)).side.units.at(0).measures.functions;
  };
  using Functions = std::vector<ptxas::FunctionMeasures>;
  CHECK(kept("none") == Functions{kernel("k", 4, 66, 90), kernel("new")});
  // All figures are of one version: nobody ever had 0 bytes of spills and 90 instructions.
  CHECK(kept("warps,sass") == Functions{kernel("k", 4, 66, 90), kernel("new")});
  CHECK(kept("spills,warps,sass") == Functions{kernel("k", 0, 64, 100), kernel("new")});
  CHECK(kept("spills:100,missing") == Functions{kernel("gone"), kernel("k", 0, 64, 100), kernel("new")});
  const Ratcheted r = ratchet(now, old, *parseFailOn("spills,sass", error));
  CHECK(r.side.units[0].measures.functions == Functions{kernel("gone"), kernel("k", 4, 66, 90)});
  CHECK(r.tightened == 0);
  CHECK(r.kept == 1);
  // By default what is better to the guard is taken as it is, in spite of fewer warps.
  const Ratcheted usual = ratchet(now, old, usualFailOn());
  CHECK(usual.side.units[0].measures.functions == old.units[0].measures.functions);
  CHECK(usual.tightened == 1);
  // Notes count, and code has no better or worse.
  ptxas::FunctionMeasures quiet = kernel("k"), noted = kernel("k", 0, 64, 90);
  quiet.code = "1";
  noted.code = "2";
  quiet.notes.emplace();
  noted.notes = {{{"C7510", "serialized", 0}}};
  const auto ratchetedTo = [&](std::string_view failOn) {
    return ratchet(side({unit("a", {quiet})}), side({unit("a", {noted})}), *parseFailOn(failOn, error))
        .side.units[0]
        .measures.functions[0]
        .code;
  };
  CHECK(ratchetedTo("notes,sass") == "1");
  CHECK(ratchetedTo("sass,code") == "2");
}

TEST_CASE("diff: a ratchet does not follow a clock's noise") {
  std::string error;
  const auto ratcheted = [&](uint64_t before, uint64_t after) {
    ptxas::FunctionMeasures a = kernel("k"), b = kernel("k");
    a.compileTime = before;
    b.compileTime = after;
    return ratchet(side({unit("a", {a})}), side({unit("a", {b})}), *parseFailOn("compile-time", error));
  };
  for (const auto& [before, after, tightened, kept] : {std::array{1000, 1499, 0, 0},
                                                       {1499, 1000, 0, 0},
                                                       {10, 109, 0, 0},
                                                       {1000, 1501, 0, 1},
                                                       {1501, 1000, 1, 0}}) {
    const Ratcheted r = ratcheted(static_cast<uint64_t>(before), static_cast<uint64_t>(after));
    CHECK(r.tightened == static_cast<std::size_t>(tightened));
    CHECK(r.kept == static_cast<std::size_t>(kept));
  }
}

TEST_CASE("diff: equal functions of a built file's modules are one, whatever their compile times") {
  ptxas::FunctionMeasures a = kernel("k"), b = kernel("k"), other = kernel("k", 8);
  a.compileTime = 10;
  b.compileTime = 12;
  std::vector<Unit> units{unit("a", {a}), unit("a", {other}), unit("a", {b})};
  mergeUnits(units);
  REQUIRE(units.size() == 1);
  REQUIRE(units[0].measures.functions.size() == 2);
  CHECK(units[0].measures.functions[0].compileTime == 12);
}

TEST_CASE("diff: modelled cycles are limited, and come back from baselines of the same model alone") {
  std::string error;
  const auto verdict = [&](double before, double after, std::string_view failOn) {
    const auto limits = parseFailOn(failOn, error);
    REQUIRE(limits.has_value());
    return compareSides(side({unit("a", {timed("k", before)})}), side({unit("a", {timed("k", after)})}), *limits,
                        {})
        .verdict();
  };
  CHECK(verdict(1000, 1001, "cycles") == Result::Verdict::Regression);
  CHECK(verdict(1000, 999, "cycles") == Result::Verdict::Ok);
  CHECK(verdict(1000, 1020, "cycles:2%") == Result::Verdict::Ok);
  CHECK(verdict(1000, 1021, "cycles:2%") == Result::Verdict::Regression);
  CHECK(verdict(1000, 1007, "cycles:7") == Result::Verdict::Ok);
  CHECK(verdict(1000, 1008, "cycles:7") == Result::Verdict::Regression);
  CHECK(verdict(1000, 2000, "spills,warps") == Result::Verdict::Ok);
  const Result row = compareSides(side({unit("a", {timed("k", 1000)})}), side({unit("a", {timed("k", 1100)})}),
                                  *parseFailOn("cycles", error), {});
  REQUIRE(row.rows.size() == 1);
  CHECK(differences(row.rows[0]) == "cycles 1000 -> 1100");

  // Unrolled four times, an iteration costs twice as much, and so does the whole, of eight iterations each: cycles are
  // for the same work.
  ptxas::FunctionMeasures plain = timed("k", 1000), unrolled = timed("k", 1800);
  plain.time->inner[0] = {8, {100, 100, 100}, {.read = 4, .instructions = 5}};
  unrolled.time->inner[0] = {8, {200, 200, 200}, {.read = 16, .instructions = 17}};
  const auto limits = parseFailOn("cycles", error);
  const Side rolled = side({unit("a", {plain})}), four = side({unit("a", {unrolled})});
  const Result better = compareSides(rolled, four, *limits, {}), worse = compareSides(four, rolled, *limits, {});
  CHECK(better.verdict() == Result::Verdict::Ok);
  CHECK(differences(better.rows.at(0)) == "cycles 1000 -> 600");
  CHECK(worse.verdict() == Result::Verdict::Regression);
  CHECK(differences(worse.rows.at(0)) == "cycles 1800 -> 3400");
  CHECK(ratchet(rolled, four, *limits).tightened == 1);
  CHECK(ratchet(four, rolled, *limits).kept == 1);

  const std::string written = writeBaseline(side({unit("a", {timed("k", 1000)})}));
  Side back;
  REQUIRE(readBaseline(written, back, error));
  CHECK(back.units.at(0).measures.functions.at(0) == timed("k", 1000));
  // Another model knows other things; its figures may have other fields.
  const std::string digest = timing::digestOf(target::Machine(80));
  std::string other = written;
  other.replace(other.find(digest), digest.size(), "00000000");
  for (const bool hasOtherFields : {false, true}) {
    if (hasOtherFields) other.replace(other.find("\"inner\":["), 8, "\"issued\":0,\"outer\":");
    Side foreign;
    REQUIRE(readBaseline(other, foreign, error));
    CHECK(!foreign.units.at(0).measures.functions.at(0).time.has_value());
    const Result r =
        compareSides(foreign, side({unit("a", {timed("k", 5000)})}), *parseFailOn("cycles", error), {});
    CHECK(r.verdict() == Result::Verdict::NotCompared);
    REQUIRE(r.problems.size() == 1);
    CHECK(diff::text(r.problems[0]).find("cycles are not known of 1 kernel") != std::string::npos);
    // What is not known is taken over.
    const Ratcheted ratcheted =
        ratchet(foreign, side({unit("a", {timed("k", 5000)})}), *parseFailOn("cycles", error));
    CHECK(ratcheted.side.units[0].measures.functions[0] == timed("k", 5000));
    CHECK(ratcheted.kept == 0);
  }

  const auto ratcheted = [&](double was, double is, std::string_view failOn) {
    return ratchet(side({unit("a", {timed("k", was)})}), side({unit("a", {timed("k", is)})}),
                   *parseFailOn(failOn, error));
  };
  CHECK(ratcheted(1000, 900, "cycles").side.units[0].measures.functions[0] == timed("k", 900));
  CHECK(ratcheted(1000, 900, "cycles").tightened == 1);
  CHECK(ratcheted(1000, 1010, "cycles:5%").side.units[0].measures.functions[0] == timed("k", 1000));
  CHECK(ratcheted(1000, 1010, "cycles:5%").kept == 1);
  CHECK(ratcheted(1000, 1010, "sass").side.units[0].measures.functions[0] == timed("k", 1010));
}

TEST_CASE("diff: the same in words, JUnit and markdown") {
  const Side before = side({unit("a.ptx", {kernel("k", 0, 64, 100), kernel("<&>\x02\xff", 0, 64)})});
  const Side after = side({unit("a.ptx", {kernel("k", 12, 48, 90), kernel("<&>\x02\xff", 0, 64)})});
  const Result result = compareSides(before, after, usualFailOn(), {});
  CHECK(result.verdict() == Result::Verdict::Regression);
  REQUIRE(result.rows.size() == 2);
  CHECK(differences(result.rows[0]) == "spills 0 -> 12, warps 64 -> 48, sass 100 -> 90");
  CHECK(tool::diffHeadline(result) == "1 regression in 2 kernels");
  const std::string junit = writeJunit(result);
  CHECK(junit.find("name=\"&lt;&amp;&gt;??\"/>") != std::string::npos);
  CHECK(junit.find("message=\"spills 0 -&gt; 12, warps 64 -&gt; 48\"") != std::string::npos);
  const std::string text = tool::diffText(result, {});
  CHECK(
      text.starts_with("            kernel  regs  spills  sass  warps\n"
                       "REGRESSION  k         32       0   100     64\n"
                       "by spills                     12    90     48\n\n"));
  CHECK(text.find('\x1b') == std::string::npos);
  const std::string coloured = tool::diffText(result, {.colours = true});
  CHECK(coloured.find("\x1b[1m\x1b[31m12\x1b") != std::string::npos);
  CHECK(coloured.find("\x1b[32m90\x1b") != std::string::npos);
  const std::string markdown = tool::diffMarkdown(result, {});
  CHECK(markdown.find("| **REGRESSION by spills** | `k` | 32 | **0\u00a0→\u00a012 (+12)** |") != std::string::npos);
  CHECK(markdown.find("`<&>") == std::string::npos);  // it did not change
}
