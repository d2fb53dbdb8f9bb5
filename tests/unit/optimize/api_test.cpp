// The library as its users see it.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "ptxopt/ptxopt.h"
#include "support.h"

using namespace ptxopt;
using ptxopt::testing::kernel;
using ptxopt::testing::kHeader;

namespace {

// A module of many different functions with something to do for every pass.
std::string manyFunctions(std::size_t count) {
  std::string text = kHeader;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    text += ".visible .entry k" + n +
            "(.param .u64 p)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<3>;\n"
            "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, " +
            n + ";\n";
    if (i % 2 == 0) text += "\tmov.u32 %r2, %tid.x; // dead\n";
    if (i % 3 == 0) text += "\tst.global.u32 [%rd1], %r1;\n\tmov.u32 %r1, 7;\n\tst.global.u32 [%rd1+4], %r1;\n";
    if (i % 5 == 0) text += "L:\n\tadd.s32 %r3, %r3, 1;\n\tsetp.lt.s32 %p1, %r1, 9;\n\t@%p1 bra L;\n";
    if (i % 7 == 0) text += "\tfrob" + n + ".b32 %r1;\n";
    text += "\tst.global.u32 [%rd1+8], %r1;\n\tret;\n}\n\n";
  }
  return text;
}

const std::string kDead = kernel(
    "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, 5;\n\tmov.u32 %r2, 6;\n\tst.global.u32 [%rd1], %r1;\n\tret;\n");
bool contains(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("api: the default does the clean-up") {
  const Result r = optimize(kDead);
  REQUIRE(r.status == Status::Ok);
  CHECK_FALSE(contains(r.output, "%r2, 6"));
  CHECK(contains(r.output, "%r1, 5"));
  CHECK(r.error.empty());
  CHECK(r.remarks.empty());
  CHECK(r.dumps.empty());
  CHECK(r.reportJson.empty());
  CHECK(r.functions == 1);
  CHECK(r.instructions == 5);
  CHECK(r.instructionsAfter == 4);
  CHECK(r.architecture == "sm_90a");
  REQUIRE(r.passes.size() >= 1);
  CHECK(r.passes[0].name == "local-dce");
  CHECK(r.passes[0].changedFunctions == 1);
  CHECK(r.passes[0].counters.at("dead") == 1);
}

TEST_CASE("api: levels, passes and skip") {
  const auto ran = [](const Options& options) {
    std::string names;
    for (const PassSummary& p : optimize(kDead, options).passes) names += p.name + " ";
    return names;
  };
  CHECK(ran({.level = 0}) == "");
  CHECK(contains(ran({.level = 1}), "dce"));
  CHECK_FALSE(contains(ran({.level = 2}), "rename-webs"));
  CHECK(ran({.passes = {{"rename-webs", "dce", "rename-webs"}}}) == "rename-webs@1 dce rename-webs@2 ");
  CHECK(ran({.level = 0, .passes = {{"dce"}}}) == "dce ");
  CHECK(ran({.passes = std::vector<std::string>{}}) == "");
  CHECK(ran({.passes = {{"rename-webs", "dce"}}, .skip = {"rename-webs"}}) == "dce ");
  CHECK(ran({.skip = {"dce"}}) ==
        "local-dce inline-calls version-kernels apply-facts sroa uniformize-broadcasts infer-address-space "
        "read-only-loads "
        "lsr-divisions "
        "cssa-coalesce "
        "register-coalescer "
        "cross-type-coalescer "
        "divide licm-slow-ops wide-multiply local-cse version-loops slsr lsr runtime-unroll "
        "widen-accesses "
        "schedule-loads loop-forms join-versions ");
  CHECK(ran({.skip = {"local-dce", "dce@1"}}) ==
        "inline-calls version-kernels apply-facts sroa uniformize-broadcasts infer-address-space read-only-loads "
        "lsr-divisions "
        "cssa-coalesce "
        "register-coalescer "
        "cross-type-coalescer divide "
        "licm-slow-ops wide-multiply local-cse version-loops slsr lsr runtime-unroll dce@2 "
        "widen-accesses "
        "schedule-loads loop-forms join-versions ");
  CHECK(optimize(kDead, {.level = 0}).output == kDead);
  CHECK(optimize(kDead, {.passes = std::vector<std::string>{}}).output == kDead);
}

TEST_CASE("api: options that make no sense") {
  const auto usage = [](const Options& options) {
    const Result r = optimize(kDead, options);
    CHECK(r.status == Status::Usage);
    CHECK(r.output.empty());
    return r.error;
  };
  CHECK(usage({.passes = {{"nope"}}}) == "there is no pass 'nope'\n");
  CHECK(usage({.skip = {"nope"}}) == "there is no pass 'nope'\n");
  CHECK(usage({.printAfter = {"nope"}}) == "there is no pass 'nope'\n");
  CHECK(usage({.knobs = {{"nope", 1}}}) == "there is no knob 'nope'\n");
  CHECK(usage({.knobs = {{"nope", 1}, {"nothing", 1}}}) == "there is no knob 'nothing'\n");
  CHECK(usage({.knobs = {{"disable-unknown-trip-lsr", 1}, {"lsr-unknown-trip", 1}}}) ==
        "disable-unknown-trip-lsr excludes lsr-unknown-trip\n");
  CHECK(usage({.knobs = {{"remove-unreachable", 2}}}) == "remove-unreachable is 0 to 1, not 2\n");
  CHECK(usage({.knobs = {{"remove-unreachable", -1}}}) == "remove-unreachable is 0 to 1, not -1\n");
  CHECK(usage({.knobs = {{"liveness-memory-mb", INT64_MAX}}}) ==
        "liveness-memory-mb is 0 to 1048576, not 9223372036854775807\n");
}

TEST_CASE("api: a level that there is not") {
  CHECK(optimize(kDead, {.level = 4}).status == Status::Usage);
  // The usual one of ptxas is the highest of ours.
  const Result higher = optimize(kDead, {.level = 3});
  CHECK(higher.output == optimize(kDead, {.level = 2}).output);
  REQUIRE(higher.remarks.size() == 1);
  CHECK(higher.remarks[0].name == "level");
  CHECK(optimize(kDead, {.level = 100}).status == Status::Usage);
  CHECK(optimize(kDead, {.level = -1}).status == Status::Usage);
}

TEST_CASE("api: not PTX") {
  const Result r = optimize("nonsense", {.fileName = "a.ptx"});
  CHECK(r.status == Status::InvalidInput);
  CHECK(r.error == "a.ptx:1:1: error: a module begins with .version\nnonsense\n^\n");
  CHECK(r.output.empty());
  CHECK(optimize("").status == Status::InvalidInput);
}

TEST_CASE("api: knobs reach the passes") {
  const std::string text = kernel("\tret;\n\tbar.sync 0;\nL:\n\tret;\n");
  CHECK(optimize(text).instructionsAfter == 1);
  CHECK(optimize(text, {.knobs = {{"remove-unreachable", 0}}}).instructionsAfter == 3);
  const Result r = optimize(kDead, {.knobs = {{"liveness-memory-mb", 0}}});
  CHECK(r.status == Status::Ok);
  CHECK(r.instructionsAfter == 4);  // no register is live between blocks: that takes no memory
  const Result declined = optimize(kernel("mov.u32 %r1, 1;\nL:\nst.global.u32 [%rd1], %r2;\n"),
                                   {.skip = {"local-dce"}, .knobs = {{"liveness-memory-mb", 0}}});
  CHECK(declined.instructionsAfter == 2);
  REQUIRE(declined.remarks.size() == 1);
  CHECK(declined.remarks[0].name == "too-large");
  CHECK(declined.remarks[0].place == "k");
}

TEST_CASE("api: remarks") {
  const Result unknown =
      optimize(kernel("\tfrob.b32 %r1;\n\tfrob.b32 %r2;\n\tfrob.b64 %rd1;\n"), {.fileName = "a.ptx"});
  REQUIRE(unknown.remarks.size() == 2);
  CHECK(unknown.remarks[0].name == "unknown-opcode");
  CHECK(unknown.remarks[0].place == "a.ptx:14:2");
  CHECK(unknown.remarks[1].place == "a.ptx:16:2");
  CHECK(contains(unknown.remarks[0].message, "'frob.b32'"));

  const std::string debug =
      ".version 8.0\n.target sm_80, debug\n.entry k()\n{\n\t.reg .b32 %r;\n\tmov.u32 %r, 1;\n}\n";
  const Result d = optimize(debug);
  CHECK(d.output == debug);
  REQUIRE(d.remarks.size() == 1);
  CHECK(d.remarks[0].name == "debug-module");
  CHECK(d.passes.empty());
  CHECK(optimize(debug, {.level = 0}).remarks.empty());
  CHECK(contains(optimize(debug, {.reprint = true}).output, "mov.u32 %r, 1;"));

  const std::string registers = ".version 3.0\n.target sm_20\n.reg .b32 %g;\n.entry k()\n{\n\tmov.u32 %g, 1;\n}\n";
  const Result m = optimize(registers);
  CHECK(m.output == registers);
  REQUIRE(m.remarks.size() == 1);
  CHECK(m.remarks[0].name == "module-registers");
}

TEST_CASE("api: architecture") {
  CHECK(optimize(kDead, {.architecture = "sm_75"}).architecture == "sm_75");
  CHECK(contains(optimize(kDead, {.architecture = "sm_75"}).output, ".target sm_90a"));
}

TEST_CASE("api: a byte order mark stays, and is no part of a reprint") {
  const std::string mark = "\xef\xbb\xbf";
  CHECK(optimize(mark + kDead, {.level = 0}).output == mark + kDead);
  CHECK(optimize(mark + kDead).output == mark + optimize(kDead).output);
  CHECK(optimize(mark + kDead, {.reprint = true}).output == optimize(kDead, {.reprint = true}).output);
}

TEST_CASE("api: NUL bytes at the end are dropped, and are an error elsewhere") {
  const std::string nuls(3, '\0');
  for (const int level : {0, 2}) {
    const Result r = optimize(kDead + nuls, {.level = level});
    CHECK(r.status == Status::Ok);
    CHECK(r.output == optimize(kDead, {.level = level}).output);
  }
  CHECK(optimize(kDead + nuls, {.reprint = true}).output == optimize(kDead, {.reprint = true}).output);
  CHECK(optimize(kDead + nuls + "\n").status != Status::Ok);
  CHECK(optimize(nuls).status != Status::Ok);
}

TEST_CASE("api: dumps") {
  const std::string two = kDead + ".entry second()\n{\n\tret;\n}\n";
  const Result r = optimize(two, {.passes = {{"dce", "rename-webs"}}, .printAfter = {"dce"}});
  CHECK(contains(r.dumps, "// k after dce\n.visible .entry k("));
  CHECK(contains(r.dumps, "// second after dce\n"));
  CHECK_FALSE(contains(r.dumps, "after rename-webs"));
  CHECK(r.dumps.find("// k ") < r.dumps.find("// second "));
  const Result all = optimize(two, {.passes = {{"dce", "rename-webs"}}, .printAfterAll = true});
  CHECK(contains(all.dumps, "// second after rename-webs\n"));
}

TEST_CASE("api: the output does not depend on the number of threads") {
  const std::string text = manyFunctions(400);
  Options options{.passes = {{"dce", "rename-webs", "dce"}},
                  .verifyEach = true,
                  .jobs = 1,
                  .printAfterAll = true,
                  .report = true};
  const Result one = optimize(text, options);
  REQUIRE(one.status == Status::Ok);
  CHECK(one.functions == 400);
  CHECK(one.instructionsAfter < one.instructions);
  CHECK(one.passes.at(1).changedFunctions > 100);
  for (const unsigned jobs : {2u, 8u, 0u, 8u}) {
    options.jobs = jobs;
    const Result many = optimize(text, options);
    CHECK(many.output == one.output);
    CHECK(many.reportJson == one.reportJson);
    CHECK(many.dumps == one.dumps);
  }
}

TEST_CASE("api: passes are idempotent") {
  const std::string text = manyFunctions(60);
  for (const std::vector<std::string>& passes :
       {std::vector<std::string>{"dce"}, {"rename-webs"}, {"dce", "rename-webs"}}) {
    const Options options{.passes = passes, .verifyEach = true};
    const Result once = optimize(text, options);
    REQUIRE(once.status == Status::Ok);
    CHECK(once.output != text);
    const Result twice = optimize(once.output, options);
    CHECK(twice.output == once.output);
    for (const PassSummary& p : twice.passes) CHECK(p.changedFunctions == 0);
  }
}

// Three invocations of the passes that see the same function, so that none works with analyses of what was before
// it.
TEST_CASE("api: a pass sees what the pass before it left") {
  const std::string text = kernel(
      "\tld.param.u64 %rd1, [p];\n\tbra M;\nU:\n\t.loc 1 2 3\nM:\n\tmov.u32 %r1, 1;\n\tst.global.u32 [%rd1], %r1;\n"
      "\tmov.u32 %r1, 2;\n\tst.global.u32 [%rd1+4], %r1;\n\tret;\n");
  const Result both = optimize(text, {.passes = {{"dce", "rename-webs"}}, .verifyEach = true});
  const Result first = optimize(text, {.passes = {{"dce"}}});
  const Result second = optimize(first.output, {.passes = {{"rename-webs"}}});
  CHECK(both.output == second.output);
  CHECK(both.passes.at(1).counters.at("webs-renamed") == 1);
  CHECK(first.passes.at(0).changedFunctions == (first.output == text ? 0 : 1));
}

TEST_CASE("api: the JSON report") {
  const std::string text = kDead + ".func f()\n{\n\tret;\n\ttrap;\n\tfrob.x;\n}\n.func proto()\n;\n";
  const Result r = optimize(
      text, {.passes = {{"dce"}},
             .knobs = {{"rename-webs-keep-tied", 1}, {"remove-unreachable", 1}, {"disable-unknown-trip-lsr", 1}},
             .fileName = "a\xff.ptx",
             .report = true});
  REQUIRE(r.status == Status::Ok);
  CHECK(r.reportJson.ends_with("}\n"));
  const auto json = nlohmann::json::parse(r.reportJson);
  CHECK(json.at("ptxopt") == version());
  CHECK(json.at("input").get<std::string>().starts_with("a"));
  CHECK(json.at("ptx-version") == "9.0");
  CHECK(json.at("architecture") == "sm_90a");
  CHECK(json.at("instructions").at("before") == 8);
  CHECK(json.at("instructions").at("after") == 5);
  CHECK(json.at("knobs") == nlohmann::json{{"rename-webs-keep-tied", 1}, {"lsr-unknown-trip", 0}});
  REQUIRE(json.at("passes").size() == 1);
  CHECK(json.at("passes")[0].at("name") == "dce");
  CHECK(json.at("passes")[0].at("changed-functions") == 2);
  CHECK(json.at("passes")[0].at("counters").at("unreachable") == 2);
  CHECK(json.at("passes")[0].at("counters").at("dead") == 1);
  REQUIRE(json.at("remarks").size() == 1);
  CHECK(json.at("remarks")[0].at("name") == "unknown-opcode");
  REQUIRE(json.at("functions").size() == 2);
  const auto& f = json.at("functions")[1];
  CHECK(f.at("name") == "f");
  CHECK(f.at("kind") == "func");
  CHECK(f.at("changed") == true);
  CHECK(f.at("instructions").at("before") == 3);
  CHECK(f.at("instructions").at("after") == 1);
  CHECK(f.at("passes")[0].at("changed") == true);
  CHECK(f.at("passes")[0].at("counters").at("unreachable") == 2);
  CHECK(json.at("functions")[0].at("kind") == "entry");
  CHECK_FALSE(contains(r.reportJson, "seconds"));
}

TEST_CASE("api: what is described is what there is") {
  const auto passes = describePasses();
  CHECK(passes.size() >= 2);
  for (const PassDescription& p : passes) {
    CHECK_FALSE(p.summary.empty());
    CHECK(optimize(kDead, {.passes = {{std::string(p.name)}}}).status == Status::Ok);
  }
  for (const KnobDescription& k : describeKnobs()) {
    CAPTURE(k.name);
    CHECK(k.least <= k.defaultValue);
    CHECK(k.defaultValue <= k.most);
    CHECK_FALSE(k.summary.empty());
    CHECK(optimize(kDead, {.knobs = {{std::string(k.name), k.least}}}).status == Status::Ok);
    CHECK(optimize(kDead, {.knobs = {{std::string(k.name), k.most}}}).status == Status::Ok);
    CHECK(optimize(kDead, {.knobs = {{std::string(k.name), k.most + 1}}}).status == Status::Usage);
    CHECK(optimize(kDead, {.knobs = {{std::string(k.name), k.least - 1}}}).status == Status::Usage);
  }
  const auto opcodes = describeOpcodes();
  const auto ld = std::find_if(opcodes.begin(), opcodes.end(), [](const auto& o) { return o.name == "ld"; });
  REQUIRE(ld != opcodes.end());
  CHECK(ld->operands == "d");
  CHECK(ld->effects == "read");
  CHECK(version() == "0.1.0");
}

TEST_CASE("api: analyses that a pass preserves are as good as new ones") {
  const std::string text = manyFunctions(40) + R"(
.entry web(.param .u64 p) {
	.reg .pred %p<3>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, 1;
	st.global.u32 [%rd1], %r1;
	mov.u32 %r1, 0;
L:
	mov.u32 %r2, %r1;
	add.u32 %r2, %r2, 5;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, 9;
	@%p1 bra L;
	ret;
}
)";
  const Result renamed = optimize(text, {.passes = {{"rename-webs"}}, .verifyEach = true});
  REQUIRE(renamed.status == Status::Ok);
  REQUIRE(renamed.passes.at(0).changedFunctions >= 1);
  const Result apart = optimize(renamed.output, {.passes = {{"dce"}}, .verifyEach = true});
  REQUIRE(apart.status == Status::Ok);
  REQUIRE(apart.passes.at(0).counters.at("dead") >= 2);
  const Result together = optimize(text, {.passes = {{"rename-webs", "dce"}}, .verifyEach = true});
  CHECK(together.output == apart.output);
}

TEST_CASE("api: times are measured where they are asked for, and only there") {
  for (const bool times : {false, true}) {
    Options options;
    options.times = times;
    const Result result = optimize(kDead, options);
    double passes = 0;
    for (const PassSummary& p : result.passes) passes += p.seconds;
    CHECK((result.parseSeconds > 0) == times);
    CHECK((result.printSeconds > 0) == times);
    CHECK((passes > 0) == times);
  }
}
