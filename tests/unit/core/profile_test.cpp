// Profiles: their text, merging, and finding a module's kernels in them.
#include "profile/profile.h"

#include <algorithm>

#include "facts/facts.h"
#include "support.h"

namespace ptxopt {
namespace {

using profile::File;
using profile::SeenKernel;
using profile::Unit;

ParameterPart exactly(uint32_t parameter, int64_t value) { return {parameter, 0, 4, false, {value, value}}; }

LaunchClass launchesWith(uint32_t block, std::vector<ParameterPart> parts, double time, uint64_t launches = 1) {
  LaunchClass c;
  c.launches = launches;
  c.time = time;
  c.block = {block, 1, 1};
  c.grid = {NumberFact{4, 4}, {1, 1}, {1, 1}};
  c.parts = std::move(parts);
  return c;
}

SeenKernel kernelOf(std::vector<LaunchClass> classes, std::string name = "k", std::string digest = "0") {
  SeenKernel k{.name = std::move(name), .digest = std::move(digest), .parameterBytes = {8, 4, 4}};
  for (LaunchClass& c : classes) profile::addLaunches(k, std::move(c));
  return k;
}

std::string readInto(Module& module, const File& file, profile::Match* match = nullptr) {
  return profile::read(profile::write(file), "p.json", module, match);
}

const char* const kLoop =
    "\tld.param.u32 %r1, [k_param_1];\n"
    "\t.loc 1 7 3\n"
    "$L__tmp0:\n"
    "\tmov.u32 %r2, 0;\n"
    "$L__BB0_1:\n"
    "\tadd.s32 %r2, %r2, 1;\n"
    "\tsetp.lt.s32 %p1, %r2, %r1;\n"
    "\t@%p1 bra $L__BB0_1;\n"
    "\tret;\n";

std::string moduleText(const std::string& name, std::string body, const std::string& types = ".u32 .f32") {
  const auto replaceAll = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = body.find(from); at != body.npos; at = body.find(from, at + to.size()))
      body.replace(at, from.size(), to);
  };
  replaceAll("k_param", name + "_param");
  return testing::kHeader + ".visible .entry " + name + "(.param .u64 " + name + "_param_0, .param " +
         types.substr(0, 4) + " " + name + "_param_1, .param " + types.substr(5) + " " + name +
         "_param_2)\n{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n" + body + "}\n";
}

TEST_CASE("a profile is read as it was written") {
  LaunchClass c = launchesWith(256, {{0, 0, 8, true, {INT64_MIN, INT64_MAX, 256}}, exactly(1, -5)}, 12.5);
  c.grid[0] = {1, 4096, 4};
  c.isMemoryKnown = true;
  c.written = {0};
  SeenKernel k = kernelOf({c});
  k.parameterBytes = {8, 4, 8};
  k.classes[0].parts.push_back({2, 0, 4, false, {-7, 900, 7}});
  k.classes[0].parts.push_back({2, 4, 4, false, {}});
  k.classes[0].overlapping = {{0, 2}};
  k.loops = {{"$L__BB0_1", 0, "a \"b\".cu:7", 3, 30}};
  const File file{Unit::Microseconds, {k}};
  const auto again = profile::parse(profile::write(file), "p.json");
  REQUIRE(std::holds_alternative<File>(again));
  CHECK(std::get<File>(again).unit == Unit::Microseconds);
  CHECK(std::get<File>(again).kernels == file.kernels);
}

TEST_CASE("what is not a profile is an error that names the place") {
  const auto errorOf = [](std::string_view json) {
    const auto parsed = profile::parse(json, "p.json");
    const std::string* const error = std::get_if<std::string>(&parsed);
    return error == nullptr ? std::string() : *error;
  };
  const auto isIn = [](std::string_view word, const std::string& text) { return text.find(word) != text.npos; };
  CHECK(isIn("p.json is not a profile", errorOf("{")));
  CHECK(isIn("p.json is not a profile", errorOf("[]")));
  CHECK(isIn("p.json is not a profile", errorOf(R"({"version": 1, "kernels": []})")));
  CHECK(isIn("p.json is not a profile", errorOf(std::string(100, '['))));
  const std::string good = profile::write({Unit::Instructions, {kernelOf({launchesWith(32, {exactly(1, 7)}, 1)})}});
  CHECK(errorOf(good).empty());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != text.npos);
    return errorOf(text.replace(at, from.size(), to));
  };
  CHECK(isIn("the version is 2, not 1", with("\"version\": 1", "\"version\": 2")));
  CHECK(isIn("the unit is 'hours'", with("instructions", "hours")));
  CHECK(isIn("k: a class: block is 0", with("\"block\": [32", "\"block\": [0")));
  CHECK(isIn("a part: parameter is 3", with("\"parameter\": 1", "\"parameter\": 3")));
  CHECK(isIn("ends after the parameter", with("\"offset\": 0", "\"offset\": 2")));
  CHECK(isIn("bytes is 3", with("\"bytes\": 4", "\"bytes\": 3")));
  CHECK(isIn("has a value and a range", with("\"value\": 7", "\"value\": 7, \"least\": 1")));
  CHECK(isIn("has 'often'", with("\"launches\": 1", "\"often\": 1")));
  CHECK(isIn("launches is 0", with("\"launches\": 1", "\"launches\": 0")));
  CHECK(isIn("time is -1", with("\"time\": 1", "\"time\": -1")));
  CHECK(isIn("has no 'loops'", with("\"loops\": [],", "")));
}

TEST_CASE("equal launches add up and others stay apart") {
  File a{Unit::Instructions,
         {kernelOf({launchesWith(256, {exactly(1, 1000)}, 10), launchesWith(128, {exactly(1, 1000)}, 1)})}};
  File b{Unit::Instructions,
         {kernelOf({launchesWith(256, {exactly(1, 1000)}, 30), launchesWith(256, {exactly(1, 50)}, 2)})}};
  b.kernels[0].classes[0].grid[0] = {8, 8};
  a.kernels[0].loops = {{"L", 0, "", 1, 10}};
  b.kernels[0].loops = {{"L", 0, "a.cu:3", 2, 20}, {"M", 1, "", 1, 1}};
  File ab = a, ba = b;
  CHECK(profile::merge(ab, b).empty());
  CHECK(profile::merge(ba, a).empty());
  CHECK(profile::write(ab) == profile::write(ba));
  REQUIRE(ab.kernels.size() == 1);
  const SeenKernel& k = ab.kernels[0];
  CHECK(k.launches == 4);
  CHECK(k.time == 43);
  REQUIRE(k.classes.size() == 3);
  CHECK(k.classes[0].launches == 2);
  CHECK(k.classes[0].time == 40);
  CHECK(k.classes[0].grid[0] == NumberFact{4, 8, 4});
  CHECK(k.classes[1].parts[0].number.exact() == 50);
  CHECK(k.classes[2].block[0] == 128);
  CHECK(k.loops == std::vector<profile::SeenLoop>{{"L", 0, "a.cu:3", 3, 30}, {"M", 1, "", 1, 1}});

  File other{Unit::Microseconds, {kernelOf({launchesWith(32, {}, 1)})}};
  CHECK(profile::merge(other, a).find("do not add up") != std::string::npos);
}

TEST_CASE("launches whose memory overlaps are a class of their own") {
  LaunchClass apart = launchesWith(32, {}, 1), met = apart;
  apart.isMemoryKnown = met.isMemoryKnown = true;
  apart.written = {0};
  met.written = {2};
  met.overlapping = {{0, 1}};
  SeenKernel k = kernelOf({apart, met, met});
  profile::boundClasses(k);
  REQUIRE(k.classes.size() == 2);
  CHECK(k.classes[0].overlapping.size() == 1);
  CHECK(k.classes[0].launches == 2);
  CHECK(k.classes[1].written == std::vector<uint32_t>{0});
}

TEST_CASE("a value that varies becomes a range, but for the values that take much time") {
  std::vector<LaunchClass> classes;
  for (int64_t n = 1; n <= 40; ++n) classes.push_back(launchesWith(256, {exactly(1, 8 * n), exactly(2, n % 2)}, 1));
  classes.push_back(launchesWith(256, {exactly(1, 4096), exactly(2, 1)}, 60));
  SeenKernel forward = kernelOf(classes);
  std::ranges::reverse(classes);
  SeenKernel backward = kernelOf(classes);
  profile::boundClasses(forward);
  profile::boundClasses(backward);
  CHECK(forward == backward);
  REQUIRE(forward.classes.size() == 3);
  CHECK(forward.classes[0].parts == std::vector{exactly(1, 4096), exactly(2, 1)});
  for (const LaunchClass& c : {forward.classes[1], forward.classes[2]}) {
    const bool isOdd = c.parts[1] == exactly(2, 1);
    CHECK(c.launches == 20);
    CHECK(c.parts[0].number == (isOdd ? NumberFact{8, 312, 8} : NumberFact{16, 320, 16}));
    CHECK(c.parts[1].number.exact().has_value());
  }
}

TEST_CASE("values that vary together, and many launches, stay within the bounds") {
  SeenKernel k = kernelOf({});
  for (int64_t n = 0; n < 5000; ++n)
    profile::addLaunches(k, launchesWith(32, {exactly(1, n), exactly(2, 3 * n)}, 1));
  CHECK(k.classes.size() <= 8 * profile::kMostClasses);
  profile::boundClasses(k);
  REQUIRE(k.classes.size() == 1);
  CHECK(k.classes[0].launches == 5000);
  CHECK(k.classes[0].parts[0].number == NumberFact{0, 4999});
  CHECK(k.classes[0].parts[1].number == NumberFact{0, 14997, 3});

  SeenKernel blocks = kernelOf({});
  for (uint32_t n = 1; n <= 100; ++n) profile::addLaunches(blocks, launchesWith(n, {}, n));
  profile::boundClasses(blocks);
  CHECK(blocks.launches == 100);
  REQUIRE(blocks.classes.size() == profile::kMostClasses);
  CHECK(blocks.classes[0].block[0] == 100);
}

TEST_CASE("names match without hashes of paths") {
  CHECK(profile::matchName("_Z1kPfi") == "k(float*, int)");
  CHECK(profile::matchName("triton_k") == "triton_k");
  CHECK(profile::matchName("_ZN47_GLOBAL__N__0bb7ea09_4_a_cu_d2d39b30_10100001kEPf") ==
        profile::matchName("_ZN47_GLOBAL__N__f2b7ea09_4_a_cu_aad39b30_20200001kEPf"));
  CHECK(profile::matchName("_INTERNAL_0bb7ea09_4_a_cu_d2d39b30_1010") ==
        profile::matchName("_INTERNAL_f2b7ea09_4_a_cu_aad39b30_2020"));
}

TEST_CASE("a digest is of what the kernel does") {
  const auto digest = [](const std::string& text) {
    const testing::Parsed parsed(text);
    return profile::digestOf(*parsed.module, parsed.module->functions[0]);
  };
  const std::string body = kLoop, first = digest(moduleText("k", body));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = body;
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
  CHECK(digest(moduleText("k", with("\t.loc 1 7 3\n", ""))) == first);
  CHECK(digest(moduleText("k", with("$L__tmp0:\n", "// a word\n"))) == first);
  CHECK(digest(moduleText("k", with("$L__BB0_1", "$L__BB3_1"))) == first);
  CHECK(digest(moduleText("other", body)) == first);
  CHECK(digest(moduleText("k", with("%r2, 1", "%r2, 2"))) != first);
  CHECK(digest(moduleText("k", body, ".u32 .u32")) != first);
}

// A profile of the kernel of this text.
File profileOf(const std::string& text, const std::string& digest = "") {
  const testing::Parsed parsed(text);
  const Function& f = parsed.module->functions[0];
  SeenKernel k{.name = std::string(parsed.module->text(f.name)),
               .digest = digest.empty() ? profile::digestOf(*parsed.module, f) : digest,
               .parameterBytes = profile::parameterBytes(*parsed.module, f)};
  profile::addLaunches(k, launchesWith(256, {exactly(1, 9)}, 30, 3));
  k.loops = {{"$L__BB0_1", 0, "", 3, 301}};
  return {Unit::Instructions, {k}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST_CASE("a module gets the profile of its kernels, and the iterations of their loops") {
  const std::string text = moduleText("k", kLoop);
  File file = profileOf(text);
  file.kernels.push_back(kernelOf({launchesWith(32, {}, 10)}, "_Z5otherv"));
  testing::Parsed parsed(text);
  profile::Match match;
  CHECK(readInto(*parsed.module, file, &match).empty());
  CHECK(match.kernels == 1);
  CHECK(match.unmatched == std::vector<std::string>{"other()"});
  REQUIRE(parsed.module->profiles.size() == 1);
  const LaunchProfile& seen = parsed.module->profiles[0];
  CHECK(seen.launches == 3);
  CHECK(seen.share == 0.75);
  CHECK(seen.classes == file.kernels[0].classes);
  REQUIRE(seen.loops.size() == 1);
  REQUIRE(parsed.module->facts.size() == 1);
  CHECK(parsed.module->facts[0].iterationsOf(seen.loops[0].header) == 100);

  testing::Parsed others(moduleText("l", kLoop));
  CHECK(readInto(*others.module, file).empty());
  CHECK(others.module->profiles.empty());
  CHECK(others.module->facts.empty());
}

TEST_CASE("what the user says of loops wins") {
  const std::string text = moduleText("k", kLoop);
  const File file = profileOf(text);
  for (const char* const said : {R"("iterations": 5)", R"("loops": [{"label": "$L__BB0_1", "iterations": 5}])"}) {
    testing::Parsed parsed(text);
    const std::string json = std::string(R"({"version": 1, "kernels": [{"kernel": "k", )") + said + "}]}";
    REQUIRE(facts::readFacts(json, "f.json", *parsed.module).empty());
    CHECK(readInto(*parsed.module, file).empty());
    CHECK(parsed.module->facts[0].iterationsOf(parsed.module->profiles[0].loops[0].header) == 5);
  }
}

TEST_CASE("a kernel with another digest has its classes, and loops whose labels are there") {
  const std::string text = moduleText("k", kLoop);
  testing::Parsed same(text), moved(replaced(text, "BB0_1", "BB4_1"));
  CHECK(readInto(*same.module, profileOf(text, "other")).empty());
  CHECK(same.module->profiles[0].loops.size() == 1);
  CHECK(readInto(*moved.module, profileOf(text, "other")).empty());
  CHECK(moved.module->profiles[0].launches == 3);
  CHECK(moved.module->profiles[0].loops.empty());
  CHECK(moved.module->facts.empty());
  // With the same digest the label's place says which it is.
  CHECK(readInto(*moved.module, profileOf(text)).empty());
  CHECK(moved.module->profiles[0].loops.size() == 1);

  testing::Parsed wider(moduleText("k", kLoop, ".u64 .f32"));
  CHECK(readInto(*wider.module, profileOf(text, "other")).empty());
  CHECK(wider.module->profiles.empty());

  // Of several kernels with the name, the one with the digest.
  File both = profileOf(text);
  both.kernels.push_back(profileOf(text, "other").kernels[0]);
  both.kernels[1].launches = 1000;
  testing::Parsed chosen(text);
  CHECK(readInto(*chosen.module, both).empty());
  CHECK(chosen.module->profiles[0].launches == 3);
}

TEST_CASE("copies of a loop say by their labels which loop of the profile they are") {
  const std::string text = moduleText("k", kLoop);
  for (const char* const label : {"made_L3_of_$L__BB0_1", "made__L12_of_made_L3_of_$L__BB0_1"}) {
    testing::Parsed copied(replaced(text, "$L__BB0_1", label));
    CHECK(readInto(*copied.module, profileOf(text, "other")).empty());
    REQUIRE(copied.module->profiles[0].loops.size() == 1);
    CHECK(copied.module->profiles[0].loops[0].iterations == 301);
  }
  // A profile of the copies, made with the output, says it of the loop in the input.
  File ofCopies = profileOf(text, "other");
  ofCopies.kernels[0].loops = {{"made_L3_of_$L__BB0_1", 0, "", 3, 60}, {"made_L4_of_$L__BB0_1", 1, "", 1, 5}};
  testing::Parsed original(text);
  CHECK(readInto(*original.module, ofCopies).empty());
  REQUIRE(original.module->profiles[0].loops.size() == 1);
  CHECK(original.module->profiles[0].loops[0].iterations == 65);
  for (const char* const label : {"made_L3", "made_L3_of_$L__BB0_10", "made_of_$L__BB0_1", "L3_of_$L__BB0_1"}) {
    testing::Parsed others(replaced(text, "$L__BB0_1", label));
    CHECK(readInto(*others.module, profileOf(text, "other")).empty());
    CHECK(others.module->profiles[0].loops.empty());
  }
}

TEST_CASE("a function that does not use the profile gets nothing of it") {
  const std::string text = moduleText("k", kLoop);
  testing::Parsed parsed(text);
  profile::Match match;
  CHECK(profile::read(profile::write(profileOf(text)), "p.json", *parsed.module, &match, [](const Function&) {
          return false;
        }).empty());
  CHECK(match.kernels == 1);  // that the profile has
  CHECK(!parsed.module->profiles[0].isSeen());
  CHECK(parsed.module->facts.empty());
}

}  // namespace
}  // namespace ptxopt
