// What ptxas says besides figures, and of which function it says it.
#include <doctest/doctest.h>

#include <algorithm>

#include "ptxas/compare.h"
#include "ptxas/function_places.h"
#include "ptxas/measures.h"
#include "ptxas/notes.h"

using namespace ptxopt;
using ptxas::Note;

namespace {

constexpr std::string_view kText =
    ".version 8.0\n"      // 1
    ".target sm_90a\n"    // 2
    "// .entry none()\n"  // 3
    ".func (.reg .b32 %r) f(.reg .b32 %a);\n"
    ".visible .entry one()\n"  // 5
    "{\n"
    "  setmaxnreg.dec.sync.aligned.u32 24; // }\n"
    "}\n"  // 8
    ".global .b32 g[2] = {1, 2};\n"
    ".func (.reg .b32 %r) f(.reg .b32 %a)\n"  // 10
    "{ /* } */\n"
    "  { ret; }\n"
    "}\n"  // 13
    ".entry two() { // setmaxnreg.dec\n"
    "  ret; }\n"  // 15
    ".entry three() {\n"
    "  setmaxnreg.inc.sync.aligned.u32 240;\n"
    "}\n";

ptxas::Measures measures(std::initializer_list<const char*> names) {
  ptxas::Measures m;
  for (const char* const name : names) {
    m.functions.emplace_back().name = name;
    m.functions.back().isKernel = std::string_view(name) != "f";
  }
  std::ranges::sort(m.functions, {}, &ptxas::FunctionMeasures::name);
  return m;
}

// "one: C7508" of each function that has notes.
std::vector<std::string> said(std::string_view messages) {
  ptxas::Measures m = measures({"one", "two", "three", "f"});
  ptxas::addNotes(messages, kText, "", m);
  std::vector<std::string> out;
  for (const ptxas::FunctionMeasures& f : m.functions)
    for (const Note& note : f.notes.value()) {
      out.push_back(f.name + ": " + note.id + " " + note.text);
      if (note.times != 0) out.back() += " x" + std::to_string(note.times);
    }
  return out;
}
using Said = std::vector<std::string>;

ptxas::FunctionMeasures withNotes(std::optional<std::vector<Note>> notes, uint64_t spills = 0) {
  ptxas::FunctionMeasures f;
  f.isKernel = true;
  f.spillStores = spills;
  f.spillLoads = 0;
  f.notes = std::move(notes);
  return f;
}

}  // namespace

TEST_CASE("notes of ptxas: where functions are") {
  const auto places = ptxas::functionPlaces(kText);
  REQUIRE(places.size() == 4);
  std::vector<std::string> found;
  for (const ptxas::FunctionPlace& p : places)
    found.push_back((p.isKernel ? "entry " : "func ") + p.name + " " + std::to_string(p.firstLine) + "-" +
                    std::to_string(p.lastLine));
  CHECK(found == Said{"entry one 5-8", "func f 10-13", "entry two 14-15", "entry three 16-18"});
  CHECK(ptxas::mentions(places[0], "setmaxnreg"));
  CHECK_FALSE(ptxas::mentions(places[0], "maxnreg"));
  CHECK_FALSE(ptxas::mentions(places[2], "setmaxnreg"));
  CHECK(ptxas::functionPlaces(".entry k( {").empty());
}

TEST_CASE("notes of ptxas: figures and options are none") {
  CHECK(
      said(
          "ptxas info    : 0 bytes gmem\n"
          "ptxas info    : Compiling entry function 'one' for 'sm_90a'\n"
          "ptxas info    : Function properties for one\n"
          "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
          "ptxas info    : Used 168 registers, used 0 barriers\n"
          "ptxas info    : Overriding maximum register limit 256 for 'one' with  16 of maxrregcount option\n"
          "ptxas warning : Registers are spilled to local memory in function 'one', 8 bytes spill stores, 8 bytes\n"
          "ptxas warning : Conflicting options --a and --b specified, ignoring --b option\n"
          "something else: warning : no\n") == Said{});
}

TEST_CASE("notes of ptxas: of the function that is named, or has the line") {
  CHECK(said("ptxas info    : (C7510) Potential Performance Loss: serialized in the function 'two' in line 15\r\n"
             "ptxas /a warning/in.ptx, line 12; warning : Odd\n"
             "ptxas in.ptx, line 14; info    : Advisory: slow\n"
             "ptxas info    : (C7700) Found 3 potentially uninitialized register(s) in function three\n"
             "ptxas info    : (C7517) warpgroup.wait is injected in around line 7 by compiler in function 'one'\n"
             "ptxas info    : (C7517) warpgroup.wait is injected in around line 9 by compiler in function 'one'") ==
        Said{"f: warning Odd", "one: C7517 warpgroup.wait is injected by compiler",
             "three: C7700 Found 3 potentially uninitialized register(s)",
             "two: C7510 Potential Performance Loss: serialized", "two: info Advisory: slow"});
  CHECK(
      said("ptxas warning : Value of threads per SM for entry two is out of range. .minnctapersm will be ignored\n"
           "ptxas warning : Too many values specified for entry one, will be ignored\n"
           "ptxas warning : of entry nobody, and of entry three too\n") ==
      Said{"one: warning Too many values specified, will be ignored", "three: warning of entry nobody, and of too",
           "two: warning Value of threads per SM is out of range. .minnctapersm will be ignored"});
}

TEST_CASE("notes of ptxas: where none is named, of those that it can be about") {
  const std::string ignored = "ptxas info    : (C7508) 'setmaxnreg' ignored\n";
  CHECK(said(ignored) == Said{"one: C7508 'setmaxnreg' ignored x1", "three: C7508 'setmaxnreg' ignored x1"});
  CHECK(said(ignored + ignored) == Said{"one: C7508 'setmaxnreg' ignored", "three: C7508 'setmaxnreg' ignored"});
  const std::string pragma = "ptxas warning : Pragma 'x' unsupported\n";
  CHECK(said(pragma) == said(pragma + pragma));  // of two copies
  CHECK(said(pragma) == Said{"one: warning Pragma 'x' unsupported x1", "three: warning Pragma 'x' unsupported x1",
                             "two: warning Pragma 'x' unsupported x1"});
}

TEST_CASE("notes of ptxas: a new one is worse than any figure is better") {
  const Note serialized{"C7510", "serialized", 0}, waits{"C7517", "2 waits", 0}, waitsMore{"C7517", "3 waits", 0};
  const auto sign = [](const ptxas::FunctionMeasures& a, const ptxas::FunctionMeasures& b) {
    const int time = compare(a, b, ptxas::GuardRule::Time).sign,
              warps = compare(a, b, ptxas::GuardRule::Warps).sign;
    CHECK(time == warps);
    return time;
  };
  CHECK(sign(withNotes({{}}, 8), withNotes({{serialized}})) == 1);
  CHECK(sign(withNotes({{serialized}}), withNotes({{waits}})) == 1);
  CHECK(sign(withNotes({{serialized}}), withNotes({{}})) == -1);
  CHECK(sign(withNotes({{serialized}}), withNotes({{}}, 8)) == 1);
  CHECK(sign(withNotes({{waits}}), withNotes({{waitsMore}})) == 0);
  CHECK(sign(withNotes({{}}), withNotes(std::nullopt)) == 0);
  CHECK(sign(withNotes(std::nullopt), withNotes({{serialized}})) == 0);
  // What several have together is new where it is said more often.
  const Note once{"C7508", "ignored", 1}, twice{"C7508", "ignored", 2}, own{"C7508", "ignored", 0};
  CHECK(sign(withNotes({{once}}), withNotes({{twice}})) == 1);
  CHECK(sign(withNotes({{twice}}), withNotes({{once}})) == -1);
  CHECK(sign(withNotes({{own}}), withNotes({{twice}})) == 0);
  const ptxas::Comparison by =
      compare(withNotes({{}}), withNotes({{{"C7508", "ignored", 0}}}), ptxas::GuardRule::Time);
  CHECK(name(by.by) == "notes");
  CHECK(Note{"C7519", "wgmma.mma_async instructions are serialized due to", 0}.brief() ==
        "wgmma is serialized: an arrival on a divergent path");
  CHECK(Note{"C7519", "warpgroup.arrive is injected by compiler", 0}.brief() == "an arrival of wgmma was added");
  CHECK(Note{"C7999", "something new", 0}.brief() == "something new");
  CHECK(by.text() == "new C7508 (setmaxnreg is ignored: no register count at entry)");
}
