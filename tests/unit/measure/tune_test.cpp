// The parts of `ptxopt tune`: pieces, units, variants, recipes as JSON, and choosing.
#include <algorithm>
#include <set>

#include "support.h"
#include "tune/pieces.h"
#include "tune/select.h"
#include "tune/tuning_file.h"
#include "tune/units.h"
#include "tune/variants.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

std::string moduleOf(const std::string& functions) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + functions;
}

ptxas::FunctionMeasures figures(uint64_t spills, uint32_t warps, uint32_t instructions, uint32_t registers = 32) {
  ptxas::FunctionMeasures f;
  f.isKernel = true;
  f.spillStores = f.spillLoads = spills / 2;
  f.warps = warps;
  f.instructions = instructions;
  f.registers = registers;
  return f;
}

tune::Outcome measured(std::vector<std::optional<ptxas::FunctionMeasures>> members) {
  return {tune::Outcome::State::Measured, {}, std::move(members)};
}

std::size_t chosen(const std::vector<tune::Outcome>& ways, ptxas::Objective objective = ptxas::Objective::Warps) {
  std::vector<const tune::Outcome*> pointers;
  for (const tune::Outcome& w : ways) pointers.push_back(&w);
  const std::vector<tune::VariantVerdict> all = tune::choose(pointers, objective);
  CHECK(std::ranges::count(all, tune::VariantVerdict::Why::Chosen, &tune::VariantVerdict::why) == 1);
  return static_cast<std::size_t>(
      std::ranges::find(all, tune::VariantVerdict::Why::Chosen, &tune::VariantVerdict::why) - all.begin());
}

}  // namespace

TEST_CASE("tune: a text is its pieces, put together again") {
  const std::string text = moduleOf(
      ".extern .func e();\n// before\n.visible .entry a()\n.maxntid 32, 1, 1\n{ ret; } // behind\n"
      ".func b() { ret; }\n.entry c(){ret;}");
  const auto pieces = tune::cut(text);
  REQUIRE(pieces);
  REQUIRE(pieces->functions.size() == 3);
  CHECK(pieces->functions[0].name == "a");
  CHECK(pieces->functions[0].isKernel);
  CHECK_FALSE(pieces->functions[1].isKernel);
  CHECK(pieces->architecture == "sm_80");
  CHECK_FALSE(pieces->kernelsNamed);
  std::vector<std::string_view> own;
  for (const tune::FunctionPiece& p : pieces->functions) own.push_back(pieces->textOf(p));
  CHECK(tune::compose(*pieces, own) == text);
  const std::string limited =
      tune::withLimit(own[0], pieces->functions[0].brace - pieces->functions[0].source.begin, 40);
  CHECK(limited == ".visible .entry a()\n.maxntid 32, 1, 1\n.maxnreg 40\n{ ret; }");
  CHECK(tune::withLimit(own[2], own[2].find('{'), 40) == ".entry c()\n.maxnreg 40\n{ret;}");
  const auto again = tune::cut(moduleOf(limited));
  REQUIRE(again);
  CHECK(again->functions[0].whyNoLimit == "has-limit");
  CHECK_FALSE(tune::cut("nonsense"));
  // A byte order mark stays where it is.
  const std::string marked = "\xef\xbb\xbf" + text;
  const auto withMark = tune::cut(marked);
  REQUIRE(withMark);
  CHECK(tune::compose(*withMark, own) == marked);
}

TEST_CASE("tune: which kernels may get a limit") {
  const auto why = [](const std::string& body, const std::string& before = {}) {
    const std::string text = moduleOf(before + ".entry k(.param .u64 p)\n{\n" + body + "ret;\n}\n");
    const auto pieces = tune::cut(text);
    REQUIRE(pieces);
    return std::string(pieces->functions.back().whyNoLimit);
  };
  CHECK(why("") == "");
  CHECK(why("setmaxnreg.inc.sync.aligned.u32 64;\n") == "setmaxnreg");
  CHECK(why("call g, ();\n", ".func g() { ret; }\n") == "calls");
  CHECK(why("call g, ();\n", ".extern .func g();\n") == "calls");
  CHECK(why(".reg .b64 %f;\nP: .callprototype _ ();\ncall %f, (), P;\n") == "calls");
  CHECK(why("{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\ncall (r), vprintf, (a, b);\n}\n",
            ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n") == "");
}

TEST_CASE("tune: who may name a kernel") {
  const auto named = [](const std::string& functions) { return tune::cut(moduleOf(functions))->kernelsNamed; };
  CHECK_FALSE(named(".entry k() { ret; }\n.entry l() { ret; }\n"));
  CHECK(named(".entry k() { ret; }\n.entry l() {\n.reg .b64 %d;\nmov.u64 %d, k;\nret; }\n"));
  CHECK(named(".entry k() { ret; }\n.global .u64 table[1] = { k };\n"));
  CHECK_FALSE(named(".entry k() { ret; }\n.global .u64 table[1] = { 1 };\n"));
}

TEST_CASE("tune: units are what is connected by mentions") {
  std::vector<FunctionOutcome> f(7);
  f[1].mentions = {0};     // k1 -> g
  f[3].mentions = {0, 2};  // k3 -> g, h
  f[6].mentions = {5};
  const tune::Units units(f);
  CHECK(units.members == std::vector<std::vector<uint32_t>>{{0, 1, 2, 3}, {4}, {5, 6}});
  CHECK(units.unitOf == std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 2});
}

TEST_CASE("tune: the table of variants makes sense") {
  const auto& all = tune::variants();
  REQUIRE(all.size() > 2);
  CHECK(all[0].recipe.isAsItIs());
  std::set<std::string> names;
  std::set<tune::Recipe> recipes;
  for (const tune::Variant& v : all) {
    CAPTURE(v.name);
    CHECK(names.insert(v.name).second);
    CHECK(recipes.insert(v.recipe).second);
    // All passes and knobs are there, and the recipe survives being written.
    Options options;
    v.recipe.applyTo(options);
    const Result result = optimize(moduleOf(".entry k() { ret; }\n"), options);
    CHECK(result.status == Status::Ok);
    CHECK(tune::recipeFrom(tune::toJson(v.recipe)) == v.recipe);
  }
  for (const tune::LimitVariant& v : tune::limitVariants()) CHECK(names.insert(std::string(v.name)).second);
}

TEST_CASE("tune: a variant of -O2 unrolls no loop that -O2 does not, unless it says so") {
  const auto loop = [](const std::string& facts) {
    return moduleOf(
        ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 s)\n{\n" + facts +
        ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %d<8>;\n"
        "ld.param.u64 %d1, [p];\nld.param.u32 %r1, [n];\nld.param.u32 %r2, [s];\nmov.u32 %r3, %tid.x;\n"
        "mov.f32 %f1, 0f00000000;\nL:\nmul.wide.s32 %d3, %r3, 4;\nadd.s64 %d4, %d1, %d3;\n"
        "ld.global.f32 %f2, [%d4];\nadd.f32 %f1, %f1, %f2;\nadd.s32 %r3, %r3, %r2;\nsetp.lt.s32 %p1, %r3, %r1;\n"
        "@%p1 bra L;\nst.global.f32 [%d1], %f1;\nret;\n}\n");
  };
  const auto sums = [&](const tune::Variant& v, const std::string& facts) {
    Options options;
    v.recipe.applyTo(options);
    const Result result = optimize(loop(facts), options);
    REQUIRE(result.status == Status::Ok);
    std::size_t n = 0;
    for (std::size_t at = 0; (at = result.output.find("add.f32", at)) != std::string::npos; ++at) ++n;
    return n;
  };
  for (const tune::Variant& v : tune::variants()) {
    CAPTURE(v.name);
    const bool isAsked = v.name == "runtime-unrolled";
    const bool isO2 =
        v.recipe.level == 2 || (v.recipe.passes && std::ranges::count(*v.recipe.passes, "dce@2") != 0);
    CHECK((sums(v, "") > 1) == isAsked);
    CHECK((sums(v, "//ptxopt:facts {\"iterations\": 1000}\n") > 1) == (isAsked || isO2));
  }
}

TEST_CASE("tune: recipes are spelled as on the command line") {
  tune::Recipe r;
  CHECK(r.spelled() == "as it is");
  r.limit = 40;
  CHECK(r.spelled() == ".maxnreg 40");
  r.level = 2;
  r.skip = {"lsr", "divide"};
  r.knobs = {{"lsr-check-rp", 0}, {"lsr-selection", 1}};
  CHECK(r.spelled() == "-O2 --skip-pass=lsr,divide --lsr-check-rp=0 --lsr-selection=cheapest, .maxnreg 40");
  CHECK(tune::toJson(r).dump() ==
        R"({"level":2,"skip":["lsr","divide"],"knobs":{"lsr-check-rp":0,"lsr-selection":"cheapest"},)"
        R"("maxnreg":40})");
  CHECK(tune::recipeFrom(tune::toJson(r)) == r);
}

TEST_CASE("tune: the best is chosen among what is not worse, the first of equals") {
  const ptxas::FunctionMeasures base = figures(0, 32, 100);
  CHECK(chosen({measured({base}), measured({base})}) == 0);
  CHECK(chosen({measured({base}), measured({figures(0, 32, 99)}), measured({figures(0, 32, 99)})}) == 1);
  CHECK(chosen({measured({base}), measured({figures(0, 32, 99)}), measured({figures(0, 40, 120)})}) == 2);
  CHECK(chosen({measured({base}), measured({figures(8, 64, 50)})}) == 0);
  // For instructions: but not at the price of warps.
  CHECK(chosen({measured({base}), measured({figures(0, 40, 120)}), measured({figures(0, 32, 90)}),
                measured({figures(0, 24, 50)})},
               ptxas::Objective::Sass) == 2);
  CHECK(chosen({measured({base}), measured({figures(0, 32, 100, 30)}), measured({figures(0, 32, 101, 20)})},
               ptxas::Objective::Regs) == 1);
  // What is not known is not chosen.
  CHECK(chosen({measured({base}), tune::Outcome{}, tune::Outcome{tune::Outcome::State::Failed, "no", {}}}) == 0);
}

TEST_CASE("tune: a unit is as good as its functions together, and none may be worse") {
  const ptxas::FunctionMeasures a = figures(0, 32, 100), b = figures(0, 48, 200);
  CHECK(chosen({measured({a, b}), measured({figures(0, 32, 50), figures(0, 48, 201)})}) == 0);
  CHECK(chosen({measured({a, b}), measured({figures(0, 32, 90), b}),
                measured({figures(0, 32, 95), figures(0, 48, 150)})}) == 2);
  // A function that is in no code counts for nothing; one that has none any more is worse.
  CHECK(chosen({measured({a, std::nullopt}), measured({figures(0, 32, 90), std::nullopt})}) == 1);
  CHECK(chosen({measured({a, b}), measured({figures(0, 32, 90), std::nullopt})}) == 0);
}

TEST_CASE("tune: --apply puts the same together") {
  const std::string text = moduleOf(
      ".entry a(.param .u64 p)\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\nret;\n}\n"
      ".entry b(.param .u64 p)\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\nret;\n}\n");
  tune::Recipe clean;
  clean.level = 1;
  tune::Recipe limited;
  limited.limit = 64;
  const tune::Applied done = tune::applyRecipes(text, {{"b", clean}, {"a", limited}, {"c", clean}},
                                                {.architecture = "sm_80", .fileName = "x.ptx", .jobs = 2});
  REQUIRE(done.status == Status::Ok);
  CHECK(done.output ==
        moduleOf(".entry a(.param .u64 p)\n.maxnreg 64\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, 1;\nret;\n}\n"
                 ".entry b(.param .u64 p)\n{\n.reg .b32 %r<3>;\nret;\n}\n"));
  CHECK(done.missing == std::vector<std::string>{"there is no function c"});
  CHECK(tune::applyRecipes("nonsense", {}, {.architecture = "sm_80", .fileName = "x.ptx"}).status ==
        Status::InvalidInput);
}
