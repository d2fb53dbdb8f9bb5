// The guard without a ptxas: what is not optimized, who mentions whom, what counts as worse, the report.
#include "guard/guard.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cut/closure.h"
#include "cut/cut.h"
#include "guard/report.h"
#include "guard/retry.h"

using namespace ptxopt;

namespace {

constexpr std::string_view kText = R"(.version 8.0
.target sm_80
.address_size 64
.func leaf() { .reg .b32 %r<3>; mov.u32 %r1, 7; mov.u32 %r2, %r1; ret; }
.func middle() { .reg .b32 %r<3>; mov.u32 %r1, 7; call.uni leaf, (); ret; }
.visible .entry direct() { .reg .b32 %r<3>; mov.u32 %r1, 7; call.uni middle, (); ret; }
.visible .entry alone() { .reg .b32 %r<3>; mov.u32 %r1, 7; ret; }
.visible .entry indirect(.param .u64 f) {
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [f];
  proto: .callprototype _ ();
  call %rd1, (), proto;
  ret;
}
)";

Result run(std::vector<std::string> leave = {}) {
  Options options;
  options.passes = {"dce"};
  options.outcomes = true;
  options.leave = std::move(leave);
  return optimize(kText, options);
}

std::vector<std::string> namesOf(const Result& r, const std::vector<uint32_t>& functions) {
  std::vector<std::string> names;
  for (const uint32_t f : functions) names.push_back(r.outcomes[f].name);
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

// Of the five functions of kText.
BitVector setOf(std::initializer_list<uint32_t> functions) {
  BitVector set(5);
  for (const uint32_t f : functions) set.set(f);
  return set;
}

}  // namespace

TEST_CASE("outcomes: what changed, and who mentions whom") {
  const Result r = run();
  REQUIRE(r.status == Status::Ok);
  REQUIRE(r.outcomes.size() == 5);
  const cut::CallGraph graph(r.outcomes);
  for (const char* name : {"leaf", "middle", "direct", "alone"}) CHECK(r.outcomes[graph.indexOf(name)].changed);
  CHECK_FALSE(r.outcomes[graph.indexOf("indirect")].changed);
  CHECK(r.outcomes[graph.indexOf("direct")].isKernel);
  CHECK_FALSE(r.outcomes[graph.indexOf("leaf")].isKernel);
  CHECK(graph.indexOf("nobody") == cut::CallGraph::kNone);
  CHECK(namesOf(r, graph.closure(graph.indexOf("direct"))) == Names{"direct", "leaf", "middle"});
  CHECK(namesOf(r, graph.closure(graph.indexOf("alone"))) == Names{"alone"});
  CHECK(namesOf(r, graph.closure(graph.indexOf("indirect"))) == Names{"indirect", "leaf", "middle"});
  const BitVector leafs = setOf({graph.indexOf("leaf")});
  CHECK(graph.whoReach(leafs).test(graph.indexOf("direct")));
  CHECK_FALSE(graph.whoReach(leafs).test(graph.indexOf("alone")));
}

TEST_CASE("outcomes: what is put into a kernel is still what it depends on") {
  Options options;
  options.passes = {"inline-calls"};
  options.outcomes = true;
  const Result r = optimize(kText, options);
  REQUIRE(r.status == Status::Ok);
  const cut::CallGraph graph(r.outcomes);
  CHECK(r.outcomes[graph.indexOf("direct")].changed);
  CHECK(r.output.find("call.uni middle") == std::string::npos);
  CHECK(namesOf(r, graph.closure(graph.indexOf("direct"))) == Names{"direct", "leaf", "middle"});
}

TEST_CASE("outcomesAfter: as if the output were given") {
  const std::string marked = "\xef\xbb\xbf" + std::string(kText);
  const auto check = [](std::string_view text, const Options& options) {
    const Result r = optimize(text, options);
    REQUIRE(r.status == Status::Ok);
    Options none;
    none.level = 0;
    none.outcomes = true;
    const std::vector<FunctionOutcome> expected = optimize(r.output, none).outcomes;
    REQUIRE(r.outcomesAfter.size() == expected.size());
    for (std::size_t f = 0; f < expected.size(); ++f) {
      const FunctionOutcome& a = r.outcomesAfter[f];
      const FunctionOutcome& b = expected[f];
      CHECK(a.name == b.name);
      CHECK(a.isKernel == b.isKernel);
      CHECK_FALSE(a.changed);
      CHECK(a.mentions == b.mentions);
      CHECK(a.takesAddress == b.takesAddress);
      CHECK(a.elsewhere == b.elsewhere);
      CHECK(a.begin == b.begin);
      CHECK(a.body == b.body);
      CHECK(a.end == b.end);
    }
  };
  for (const std::string_view text : {std::string_view(kText), std::string_view(marked)})
    for (const char* pass : {"dce", "inline-calls", "slsr"})
      for (const bool reprint : {false, true}) {
        Options options;
        options.passes = {pass};
        options.outcomes = true;
        options.reprint = reprint;
        check(text, options);
        options.leave = {"leaf", "direct"};
        check(text, options);
      }
}

TEST_CASE("leave: these functions stay as they are") {
  const Result r = run({"leaf", "direct"});
  const cut::CallGraph graph(r.outcomes);
  CHECK_FALSE(r.outcomes[graph.indexOf("leaf")].changed);
  CHECK_FALSE(r.outcomes[graph.indexOf("direct")].changed);
  CHECK(r.outcomes[graph.indexOf("middle")].changed);
  CHECK(r.output.find(".func leaf() { .reg .b32 %r<3>; mov.u32 %r1, 7; mov.u32 %r2, %r1; ret; }") !=
        std::string::npos);
  CHECK(run({"leaf", "middle", "direct", "alone"}).output == kText);
}

TEST_CASE("inFunction: passes leave out a function of their own, and knobs are its own") {
  Options options;
  options.passes = {"dce", "slsr"};
  options.outcomes = true;
  options.inFunction = {{"alone", {{"dce"}, {}, {}}}, {"leaf", {{"slsr"}, {}, {}}}, {"nobody", {{"dce"}, {}, {}}}};
  const Result r = optimize(kText, options);
  REQUIRE(r.status == Status::Ok);
  const cut::CallGraph graph(r.outcomes);
  CHECK_FALSE(r.outcomes[graph.indexOf("alone")].changed);
  CHECK(r.outcomes[graph.indexOf("alone")].passes.empty());
  CHECK(r.outcomes[graph.indexOf("leaf")].passes == Names{"dce"});
  CHECK(r.outcomes[graph.indexOf("middle")].changed);
  options.inFunction = {{"alone", {{"dec"}, {}, {}}}};
  CHECK(optimize(kText, options).status == Status::Usage);
  options.inFunction = {{"alone", {{}, {{"do-lsr-64-bit", 7}}, {}}}};
  CHECK(optimize(kText, options).status == Status::Usage);

  Options joins;
  joins.passes = {"register-coalescer"};
  joins.outcomes = true;
  joins.inFunction = {{"second", {{}, {{"join-liveintervals", 0}}, {}}}};
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (const char* name : {"first", "second"})
    text += fmt::format(
        ".visible .entry {}(.param .u64 p) {{ .reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; "
        "ld.global.u32 %r1, [%rd1]; mov.u32 %r2, %r1; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; ret; }}\n",
        name);
  const Result joined = optimize(text, joins);
  REQUIRE(joined.outcomes.size() == 2);
  CHECK(joined.outcomes[0].changed);
  CHECK_FALSE(joined.outcomes[1].changed);
}

TEST_CASE("attemptsOf: fewer registers, without the likeliest pass, without it in a loop, then two, never all") {
  using Attempts = std::vector<FunctionOptions>;
  const FunctionOptions carry{{}, {{"form-carry-steps", 2}}, {}}, products{{}, {{"form-shifted-products", 0}}, {}},
      narrow{{}, {{"do-lsr-64-bit", 0}}, {}}, fewer{{}, {{"lsr-rp-limit", 28}}, {}};
  const auto without = [](std::vector<std::string> passes) { return FunctionOptions{std::move(passes), {}, {}}; };
  const auto in = [](std::string decline) { return FunctionOptions{{}, {}, {std::move(decline)}}; };
  CHECK(guard::attemptsOf({}, {}, {32, "L"}) == Attempts{});
  CHECK(guard::attemptsOf({"slsr"}, {}, {32, {}}) == Attempts{});
  CHECK(guard::attemptsOf({"slsr"}, {}, {32, "L"}) == Attempts{in("slsr@L")});
  CHECK(guard::attemptsOf({"sroa"}, {}, {32, "L"}) == Attempts{});  // which works on whole functions
  CHECK(guard::attemptsOf({"lsr"}, {}, {32, {}}) == Attempts{fewer, narrow});
  CHECK(guard::attemptsOf({"lsr"}, {}, {4, {}}) == Attempts{narrow});
  CHECK(guard::attemptsOf({"lsr"}, {}, {}) == Attempts{narrow});
  CHECK(guard::attemptsOf({"lsr"}, {{"do-lsr-64-bit", 1}, {"lsr-rp-limit", 40}}, {32, {}}) == Attempts{});
  CHECK(guard::attemptsOf({"loop-forms", "lsr"}, {}, {32, "L"}) ==
        Attempts{fewer, without({"lsr"}), in("lsr@L"), carry, products, narrow, without({"loop-forms"})});
  CHECK(guard::attemptsOf({"sroa", "divide", "lsr"}, {}, {}) ==
        Attempts{without({"lsr"}), without({"lsr", "divide"}), narrow, without({"divide"}),
                 without({"lsr", "sroa"}), without({"divide", "sroa"}), without({"sroa"})});
}

TEST_CASE("worstLoop: the one that lost most cycles of a run, of as many loops") {
  const auto f = [](const std::vector<std::pair<double, double>>& loops) {
    ptxas::FunctionMeasures m;
    m.time.emplace();
    m.time->model = "m";
    for (const auto& [iterations, cycles] : loops)
      m.time->inner.push_back({iterations, {cycles, 2 * cycles, 100}, timing::Work()});
    return m;
  };
  CHECK(guard::worstLoop(f({{8, 10}, {8, 10}}), f({{8, 10}, {8, 11}})) == 1);
  CHECK(guard::worstLoop(f({{8, 10}, {64, 10}, {8, 10}}), f({{8, 12}, {64, 11}, {8, 9}})) == 1);
  CHECK(guard::worstLoop(f({{8, 10}, {8, 10}}), f({{8, 9}, {8, 8}})) ==
        0);  // each gains least where data is in DRAM
  CHECK_FALSE(guard::worstLoop(f({{8, 10}}), f({{8, 12}})).has_value());
  CHECK_FALSE(guard::worstLoop(f({{8, 10}, {8, 10}}), f({{8, 12}})).has_value());
  CHECK_FALSE(guard::worstLoop(f({{8, 10}, {8, 10}}), {}).has_value());
}

TEST_CASE("innermostLoops: labels in the order of the text") {
  const std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u32 n) { .reg .pred %p<3>; .reg .b32 %r<3>; ld.param.u32 %r1, [n];\n"
      "setp.gt.u32 %p1, %r1, 7;\n"
      "OUTER: add.u32 %r1, %r1, 1; INNER: add.u32 %r1, %r1, 2; @%p1 bra INNER; @%p1 bra OUTER;\n"
      "A: B: add.u32 %r1, %r1, 3; @%p1 bra B; bra C; C: ret; }\n"
      ".visible .entry none() { ret; }\n";
  const auto loops = innermostLoops(text, {"k", "none", "nobody"});
  CHECK(loops == std::map<std::string, Names>{{"k", {"INNER", "A"}}, {"none", {}}});
  CHECK(innermostLoops("no PTX", {"k"}).empty());
}

TEST_CASE("keptFunctions: a retry says what was left out, and values of knobs by their names") {
  const auto said = [](FunctionOptions with) {
    guard::GuardReport report;
    report.retried.push_back({"k", std::move(with), "cycles", "L1 3 -> 2", {}});
    return guard::keptFunctions(report, "f");
  };
  CHECK(said({{"lsr", "slsr"}, {}, {}}) == "f: k: kept without lsr and slsr: cycles L1 3 -> 2 [guard]\n");
  CHECK(said({{}, {{"form-carry-steps", 2}}, {}}) ==
        "f: k: kept with form-carry-steps=always: cycles L1 3 -> 2 [guard]\n");
  CHECK(said({{}, {{"lsr-rp-limit", 28}}, {}}) == "f: k: kept with lsr-rp-limit=28: cycles L1 3 -> 2 [guard]\n");
  CHECK(said({{}, {}, {"lsr@$L"}}) == "f: k: kept without lsr in the loop at $L: cycles L1 3 -> 2 [guard]\n");
}

TEST_CASE("retriesOf: what others have in them is not tried") {
  const Result r = run();
  const cut::CallGraph graph(r.outcomes);
  const auto rootsOf = [&](const std::vector<guard::WorseFunction>& worse) {
    Names roots;
    for (const guard::Retry& retry : guard::retriesOf(kText, worse, r.outcomes, graph, {}, {}, {}))
      roots.push_back(r.outcomes[retry.root].name);
    return roots;
  };
  CHECK(rootsOf({{"alone", {}}}) == Names{"alone"});
  CHECK(rootsOf({{"direct", {}}}) == Names{});  // `indirect` has `leaf` and `middle` in it
  CHECK(rootsOf({{"alone", {}, true}, {"nobody", {}}}) == Names{});
  std::vector<FunctionOutcome> outcomes = r.outcomes;
  outcomes[graph.indexOf("indirect")].mentions.clear();
  const cut::CallGraph two(outcomes);
  const auto retries = guard::retriesOf(kText, {{"direct", {}}, {"leaf", {}}}, outcomes, two, {}, {}, {});
  REQUIRE(retries.size() == 1);  // `leaf` goes with `direct`
  CHECK(namesOf(r, retries[0].functions) == Names{"direct", "leaf", "middle"});
}

TEST_CASE("isNew: a text of the functions is new once") {
  const Result r = run();
  const uint32_t alone = cut::CallGraph(r.outcomes).indexOf("alone");
  guard::Retry retry{.root = alone, .functions = {alone}};
  CHECK(guard::isNew(retry, r.outcomes, r.output, cut::CallGraph(r.outcomesAfter)));
  CHECK_FALSE(guard::isNew(retry, r.outcomes, r.output, cut::CallGraph(r.outcomesAfter)));
  CHECK(guard::isNew(retry, r.outcomes, kText, cut::CallGraph(r.outcomes)));
  const Result other = run({"leaf"});
  CHECK_FALSE(guard::isNew(retry, r.outcomes, other.output, cut::CallGraph(other.outcomesAfter)));
}

TEST_CASE("gainOf and isPreferred: better than the input, then by cycles in L1, L2, DRAM, then instructions") {
  const auto f = [](double l1, double l2, uint32_t instructions, uint64_t spills = 0) {
    ptxas::FunctionMeasures m;
    m.name = "alone";
    m.isKernel = true;
    m.instructions = instructions;
    m.spillStores = m.spillLoads = spills;
    m.code = fmt::format("{} {} {}", l1, l2, instructions);
    m.time.emplace();
    m.time->model = "m";
    m.time->whole = m.time->alone = {l1, l2, 1000};
    return m;
  };
  const Result r = run();
  const uint32_t alone = cut::CallGraph(r.outcomes).indexOf("alone");
  const auto gain = [&](const ptxas::FunctionMeasures& now) {
    return guard::gainOf({alone}, alone, r.outcomes, {{}, {f(100, 500, 50)}}, {{}, {now}}, ptxas::GuardRule::Time);
  };
  CHECK(gain(f(90, 500, 50))->text() == "L1 100 -> 90");
  CHECK_FALSE(gain(f(100, 500, 50)).has_value());
  CHECK_FALSE(gain(f(90, 600, 50)).has_value());
  CHECK_FALSE(gain(f(90, 500, 50, 8)).has_value());
  CHECK_FALSE(guard::gainOf({alone}, alone, r.outcomes, {{}, {f(100, 500, 50)}}, {}, ptxas::GuardRule::Time));
  const ptxas::FunctionMeasures input = f(100, 500, 50);
  CHECK(guard::isPreferred(input, f(90, 500, 50), f(89, 510, 60)));
  CHECK(guard::isPreferred(input, f(90, 500, 50), f(90, 490, 60)));
  CHECK(guard::isPreferred(input, f(90, 500, 50), f(90, 500, 49)));
  CHECK_FALSE(guard::isPreferred(input, f(90, 500, 50), f(90, 500, 50)));
  CHECK_FALSE(guard::isPreferred(input, f(90, 500, 50), f(91, 400, 40)));
}

TEST_CASE("worseFunctions: by figures, missing kernels too, not where the code is the same") {
  const auto f = [](const char* name, uint32_t instructions, const char* code) {
    ptxas::FunctionMeasures m;
    m.name = name;
    m.isKernel = true;
    m.instructions = instructions;
    m.code = code;
    return m;
  };
  ptxas::Measures before, after;
  before.functions = {f("a", 10, "1"), f("b", 10, "2"), f("c", 10, "3"), f("d", 10, "4")};
  after.functions = {f("a", 9, "5"), f("b", 11, "6"), f("d", 12, "4")};
  const std::vector<guard::WorseFunction> worse = guard::worseFunctions(before, after);
  REQUIRE(worse.size() == 2);
  CHECK(worse[0].name == "b");
  CHECK(worse[0].by.by == ptxas::Measure::Instructions);
  CHECK(worse[0].by.after == 11);
  CHECK(worse[1].name == "c");
  CHECK(worse[1].missing);
  CHECK(guard::worseFunctions(before, before).empty());
  // What ptxas says counts more than figures.
  before.functions[0].notes = after.functions[0].notes.emplace();
  CHECK(guard::worseFunctions(before, after).size() == 2);
  after.functions[0].notes->push_back({"C7510", "serialized", 0});
  const std::vector<guard::WorseFunction> noted = guard::worseFunctions(before, after);
  REQUIRE(noted.size() == 3);
  CHECK(noted[0].by.by == ptxas::Measure::Notes);
  CHECK(noted[0].by.text() == "new C7510 (wgmma is serialized: its pipeline crosses a call)");
  after.functions[0].notes->clear();
  before.functions[2].isKernel = false;  // nobody calls it any longer
  CHECK(guard::worseFunctions(before, after).size() == 1);
}

TEST_CASE("closure: what several functions reach") {
  const Result r = run();
  const cut::CallGraph graph(r.outcomes);
  CHECK(graph.reachedFrom(setOf({})) == setOf({}));
  const uint32_t leaf = graph.indexOf("leaf"), middle = graph.indexOf("middle"), alone = graph.indexOf("alone");
  CHECK(graph.reachedFrom(setOf({middle, alone})) == setOf({leaf, middle, alone}));
}

TEST_CASE("cut: kernels that did not change and reach nothing that did are left out") {
  // Only `alone` changes.
  const Result result = run({"leaf", "middle", "direct", "indirect"});
  const BitVector which = cut::unaffectedKernels(result.outcomes);
  CHECK(which == setOf({2, 4}));
  const std::string input = cut::cutText(kText, result.outcomes, which);
  CHECK(input.find(".visible .entry alone() { .reg") != std::string::npos);
  for (const char* kernel : {".entry direct", ".entry indirect"}) CHECK(input.find(kernel) == std::string::npos);
  CHECK(input.find("mov.u32 %r2, %r1; ret; }\n.func middle() { .reg") != std::string::npos);
  CHECK(cut::bytesOf(result.outcomes, which) == kText.size() - input.size());
  CHECK(optimize(input).status == Status::Ok);
  const std::string output = cut::cutText(result.output, result.outcomesAfter, which);
  for (const char* kernel : {".entry direct", ".entry indirect"}) CHECK(output.find(kernel) == std::string::npos);
  CHECK(output.find(".visible .entry alone()") != std::string::npos);
  CHECK(output.find("alone() { .reg .b32 %r<3>; mov.u32 %r1, 7; ret; }") == std::string::npos);
  // With a byte order mark positions are those of the text after it.
  CHECK(cut::cutText("\xef\xbb\xbf" + std::string(kText), result.outcomes, which) == input);
}

TEST_CASE("cut::renamedKernel: the name after .entry, and no other") {
  const auto renamed = [](std::string_view text) {
    Options none;
    none.level = 0;
    none.outcomes = true;
    const Result r = optimize(text, none);
    REQUIRE(r.outcomes.size() == 1);
    return cut::renamedKernel(text, r.outcomes[0], "k$try1");
  };
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n", body = "{ ret; }";
  CHECK(renamed(head + ".visible .entry k()" + body + "\n\n") == ".visible .entry k$try1()" + body + "\n");
  CHECK(renamed("\xef\xbb\xbf" + head + ".entry\n\tk (.param .u32 k_param_0)\n.maxntid 32\n" + body) ==
        ".entry\n\tk$try1 (.param .u32 k_param_0)\n.maxntid 32\n" + body + "\n");
  CHECK(renamed(head + ".entry k" + body) == ".entry k$try1" + body + "\n");
  CHECK(renamed(head + ".entry /* k( */ k()" + body).empty());
}

TEST_CASE("cut: a changed function affects all kernels that reach it") {
  const Result result = run({"alone", "direct"});  // leaf and middle change
  CHECK(cut::unaffectedKernels(result.outcomes) == setOf({3}));
}

TEST_CASE("cut: what other kernels depend on is not left out") {
  constexpr std::string_view kHead = ".version 8.5\n.target sm_80\n.address_size 64\n.func f() { ret; }\n";
  constexpr std::string_view kKernels =
      ".entry a() { .reg .b32 %r<3>; mov.u32 %r1, 7; ret; }\n.entry b() { call f, (); ret; }\n";
  const auto leftOut = [&](std::string_view variables, std::string_view more) {
    Options options;
    options.outcomes = true;
    options.passes = {"dce"};  // changes `a` alone
    const Result result = optimize(fmt::format("{}{}{}{}", kHead, variables, kKernels, more), options);
    REQUIRE(result.status == Status::Ok);
    int kernels = 0;
    cut::unaffectedKernels(result.outcomes).forEach([&](std::size_t) { ++kernels; });
    return kernels;
  };
  CHECK(leftOut("", "") == 1);
  CHECK(leftOut(".global .u64 x[2] = {5, 6};\n", "") == 1);
  CHECK(leftOut(".global .u64 x[2] = {5, f};\n", "") == 0);
  CHECK(leftOut("", ".entry c() { .reg .b64 %rd; mov.u64 %rd, f; ret; }\n") == 0);
  CHECK(leftOut("", ".entry c() { .reg .b64 %rd; mov.u64 %rd, a; ret; }\n") == 0);
  CHECK(leftOut("", ".func g() { .reg .b64 %rd; T: .calltargets f; mov.u64 %rd, 1; call %rd, T; ret; }\n") == 0);
  // Nor what reaches a function of another file.
  constexpr std::string_view kOther = ".extern .func g();\n";
  CHECK(leftOut(kOther, ".entry c() { ret; }\n") == 2);
  CHECK(leftOut(kOther, ".entry c() { call g, (); ret; }\n") == 1);
  CHECK(leftOut(kOther, ".func h() { call g, (); ret; }\n.entry c() { call h, (); ret; }\n") == 1);
  CHECK(leftOut(".extern .func free(.param .b64 p);\n",
                ".entry c() { .param .b64 x; st.param.b64 [x], 0; call free, (x); ret; }\n") == 2);
}

TEST_CASE("guard: no ptxas to ask keeps the input and says so") {
  guard::GuardOptions guard;
  guard.mode = guard::GuardMode::Ptxas;
  guard.ptxas.program = "/nothing/here/ptxas";
  Options options;
  options.passes = {"dce"};
  options.report = true;
  const guard::GuardedResult done = guard::optimizeGuarded(kText, options, guard);
  CHECK(done.result.output == kText);
  CHECK(done.guard.asked);
  CHECK(done.guard.noVerdict);
  CHECK(done.guard.kept.size() == 4);
  for (const guard::KeptFunction& f : done.guard.kept) CHECK(f.reason == guard::kNotJudged);
  CHECK(done.guard.trouble.find("could not be started") != std::string::npos);
  CHECK(guard::guardWarnings(done.guard, "f.ptx").find("f.ptx: warning: the input is kept") == 0);
  const auto json = nlohmann::json::parse(done.result.reportJson);
  CHECK(json.at("guard").at("mode") == "ptxas");
  CHECK(json.at("guard").at("trouble") == done.guard.trouble);
  CHECK(json.at("functions").size() == 5);
  // Nothing changed: nobody is asked.
  options.leave = {"leaf", "middle", "direct", "alone"};
  CHECK_FALSE(guard::optimizeGuarded(kText, options, guard).guard.asked);
}
