// The reducer: each reduction by what it leaves, the search by what it finds and in how many tests.
#include "reduce/reducer.h"

#include <mutex>
#include <set>

#include "ir/verify.h"
#include "reduce/reductions.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::reduce;
using namespace ptxopt::testing;

namespace {

std::string normal(const std::string& text) {
  const NormalizedText result = normalize(text, "", "test.ptx");
  REQUIRE(result.error == "");
  return result.text;
}

// How many opportunities a reduction sees in a text.
std::size_t opportunities(void (*reduction)(Edit&, Choices&), const std::string& text) {
  const Parsed p(text);
  Edit edit(*p);
  Choices choices;
  reduction(edit, choices);
  CHECK_FALSE(edit.hasCuts());
  CHECK(text::print(*p, {.reprint = true}) == normal(text));  // none taken, nothing done
  return choices.asked();
}

// The text with only the `index`-th opportunity taken, or all for -1.
std::string after(void (*reduction)(Edit&, Choices&), const std::string& text, int index = -1) {
  const Parsed p(text);
  std::vector<bool> taken(opportunities(reduction, text), index < 0);
  REQUIRE(index < static_cast<int>(taken.size()));
  if (index >= 0) taken[static_cast<std::size_t>(index)] = true;
  Edit edit(*p);
  Choices choices(taken);
  reduction(edit, choices);
  CHECK(choices.asked() == taken.size());  // the same ones, whatever is taken
  return normal(edit.hasCuts() ? edit.cutText() : text::print(*p, {.reprint = true}));
}

// The statements of kernel(body) after the reduction, separated by blanks.
std::string body(const std::string& text) {
  const std::size_t begin = text.find("\t.reg .v4 .b32 %v<9>;\n");
  REQUIRE(begin != std::string::npos);
  std::string out;
  for (const char c : text.substr(begin + 22, text.rfind('}') - begin - 22))
    if (c == '\n')
      out += ' ';
    else if (c != '\t')
      out += c;
  if (!out.empty()) out.pop_back();
  return out;
}

std::string bodyAfter(void (*reduction)(Edit&, Choices&), const std::string& statements, int index = -1) {
  return body(after(reduction, kernel(statements), index));
}

const std::string kCalls =
    kHeader +
    ".extern .func g();\n.global .u32 x = 5, y[4];\n.func f()\n{\nst.global.u32 [x], 1;\nret;\n}\n"
    ".visible .entry a()\n{\ncall f;\ncall g;\nret;\n}\n"
    ".visible .entry b()\n{\ncall f;\nst.global.u32 [y], 2;\nret;\n}\n";

}  // namespace

TEST_CASE("reduce: functions go with their calls") {
  CHECK(opportunities(dropFunctions, kCalls) == 4);
  CHECK(after(dropFunctions, kCalls, 1) ==
        normal(kHeader + ".extern .func g();\n.global .u32 x = 5, y[4];\n.visible .entry a()\n{\ncall g;\nret;\n}\n"
                         ".visible .entry b()\n{\nst.global.u32 [y], 2;\nret;\n}\n"));
  CHECK(after(dropFunctions, kCalls) == normal(kHeader + ".global .u32 x = 5, y[4];\n"));
}

TEST_CASE("reduce: one kernel") {
  const NormalizedText one = normalize(kCalls, "b", "t.ptx");
  CHECK(one.error == "");
  CHECK(one.text.find(".entry a") == std::string::npos);
  CHECK(one.text.find(".entry b") != std::string::npos);
  CHECK(one.text.find(".func f") != std::string::npos);
  CHECK(normalize(kCalls, "c", "t.ptx").error == "there is no kernel 'c' in 't.ptx'");
  CHECK(normalize("no ptx", "", "t.ptx").isSyntax);
}

TEST_CASE("reduce: module variables, bodies, directives") {
  CHECK(after(dropModuleVariables, kCalls).find("st.global") == std::string::npos);
  CHECK(opportunities(dropBodies, kCalls) == 3);
  CHECK(countInstructions(after(dropBodies, kCalls)) == 0);
  const std::string directives = kHeader +
                                 ".file 1 \"a.cu\"\n.entry k() .maxntid 256, 1, 1 .minnctapersm 2\n{\n.loc 1 1 1\n"
                                 ".pragma \"nounroll\";\nret;\n}\n.section .debug_str { .b8 1, 2 }\n";
  CHECK(after(dropDirectives, directives).find("section") == std::string::npos);
  CHECK(after(dropLineInfo, directives).find(".loc") == std::string::npos);
  CHECK(after(dropLineInfo, directives, 0).find("nounroll") != std::string::npos);
}

TEST_CASE("reduce: what is cut from the text") {
  const auto cut = [](void (*reduction)(Edit&, Choices&), const std::string& text) {
    const Parsed p(text);
    Edit edit(*p);
    const std::vector<bool> all(100, true);
    Choices choices(all);
    reduction(edit, choices);
    return normal(edit.cutText());
  };
  const std::string text =
      kHeader +
      ".shared .align 4 .b8 s[8][4];\n.global .u32 t[2] = {1, 2};\n"
      ".entry kernel(.param .u64 a, .param .align 8 .b8 b[16], .param .u32 c) .maxntid 256, 1, 1\n"
      "{\n.reg .b32 %r<3>;\nbra $done;\nld.param.u32 %r1, [b+4];\n$done:\nret;\n}\n";
  CHECK(cut(dropFunctionDirectives, text).find("maxntid") == std::string::npos);
  CHECK(cut(dropInitializers, text).find(".global .u32 t[2];") != std::string::npos);
  CHECK(cut(shrinkDimensionsToOne, text).find("s[1];") != std::string::npos);
  CHECK(cut(halveDimensions, text).find("s[16];") != std::string::npos);
  CHECK(cut(dropParameters, text).find("param") == std::string::npos);
  CHECK(cut(shortenNames, text).find("bra L0;") != std::string::npos);
  CHECK(cut(shortenNames, text).find("kernel") != std::string::npos);
  CHECK(cut(shortenKernelNames, text).find(".entry k0(") != std::string::npos);
}

TEST_CASE("reduce: control flow") {
  const std::string flow = "@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA:\nmov.u32 %r2, 2;\nB:\nret;\n";
  CHECK(bodyAfter(dropBranches, flow, 0) == "mov.u32 %r1, 1; bra B; A: B: ret;");
  CHECK(bodyAfter(takeBranchesAlways, flow) == "bra A; A: mov.u32 %r2, 2; B: ret;");
  CHECK(bodyAfter(emptyBlocks, flow, 1) == "@%p1 bra A; A: mov.u32 %r2, 2; B: ret;");
  // What was unreachable before stays.
  CHECK(bodyAfter(takeBranchesAlways, "@%p1 ret;\nbra A;\nmov.u32 %r1, 1;\nA: ret;\n") ==
        "ret; mov.u32 %r1, 1; A:");
  CHECK(bodyAfter(directIndirectBranches, "T: .branchtargets A, B;\nbrx.idx %r1, T;\nA: ret;\nB: exit;\n", 1) ==
        "T: .branchtargets A, B; bra B; A: B: exit;");
  CHECK(bodyAfter(threadJumps, "@%p1 bra A;\nret;\nA: bra B;\nmov.u32 %r1, 1;\nB: exit;\n") ==
        "@%p1 bra B; ret; A: mov.u32 %r1, 1; B: exit;");
  CHECK(opportunities(threadJumps, kernel("bra A;\nA: bra B;\nB: bra A;\n")) == 0);
}

TEST_CASE("reduce: statements") {
  CHECK(bodyAfter(dropStatements, "A: add.u32 %r1, %r2, 3;\n{\nbra A;\n}\nret;\n", 0) == "A: { bra A; } ret;");
  CHECK(bodyAfter(dropUnusedLabels, "A: B: bra A;\n") == "A: bra A;");
  CHECK(bodyAfter(dropScopes, "{\n{\nret;\n}\n}\n", 0) == "{ ret; }");
  CHECK(bodyAfter(dropGuards, "@%p1 mov.u32 %r1, 1;\n@!%p2 ret;\n") == "mov.u32 %r1, 1; ret;");
  CHECK(bodyAfter(bypass, "add.u32 %r2, %r1, 1;\nmul.lo.u32 %r3, %r2, 2;\nst.global.u32 [%rd1], %r3;\n") ==
        "st.global.u32 [%rd1], %r1;");
  CHECK(bodyAfter(replaceByMoveOfZero, "@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;\nadd.s64 %rd1, %rd2, 1;\nret;\n") ==
        "@%p1 mov.f32 %f1, 0f00000000; mov.b64 %rd1, 0; ret;");
  CHECK(bodyAfter(replaceByMoveOfSource, "mad.wide.s32 %rd1, %r2, 4, %rd3;\nsetp.eq.u32 %p1|%p2, %r1, %r2;\n") ==
        "mov.b64 %rd1, %rd3; setp.eq.u32 %p1|%p2, %r1, %r2;");
  CHECK(bodyAfter(shortenVectors,
                  "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];\n"
                  "st.global.v2.b32 [%rd1], {%r1, %r2};\n") ==
        "ld.global.v2.f32 {%f1, %f2}, [%rd1+16]; st.global.b32 [%rd1], %r1;");
  CHECK(bodyAfter(dropModifiers, "add.rn.ftz.sat.f32 %f1, %f2, %f3;\n") == "add.rn.f32 %f1, %f2, %f3;");
}

TEST_CASE("reduce: operands") {
  CHECK(bodyAfter(operandsToZero,
                  "fma.rn.f32 %f1, %f2, %f3, %f4;\nadd.f32 %r1, %r2, %r3;\nmov.u32 %r1, %tid.x;\n"
                  "st.global.u32 [%rd1], %r1;\nsetp.eq.or.s32 %p1, %r1, 5, %p2;\n") ==
        "fma.rn.f32 %f1, 0f00000000, 0f00000000, 0f00000000; add.f32 %r1, 0f00000000, 0f00000000; mov.u32 %r1, 0; "
        "st.global.u32 [%rd1], 0; setp.eq.or.s32 %p1, 0, 5, %p2;");
  CHECK(bodyAfter(operandsToOne, "add.f64 %fd1, %fd2, %fd3;\n", 1) == "add.f64 %fd1, %fd2, 0d3FF0000000000000;");
  CHECK(bodyAfter(operandsToFirst, "mad.wide.s32 %rd1, %r1, %r2, %rd2;\nst.global.u64 [%rd1], %rd2;\n") ==
        "mad.wide.s32 %rd1, %r1, %r1, %rd2; st.global.u64 [%rd1], %rd1;");
  CHECK(bodyAfter(dropOffsets, "ld.global.u32 %r1, [%rd1+-8];\nld.param.u64 %rd1, [p+4];\n") ==
        "ld.global.u32 %r1, [%rd1]; ld.param.u64 %rd1, [p];");
  CHECK(
      bodyAfter(immediatesToZero,
                "add.s32 %r1, %r2, -7;\nadd.f32 %f1, %f2, 0f80000000;\nadd.f64 %fd1, %fd1, 2.5;\n"
                "mov.u64 %rd1, 0x123456789abcdef0;\nld.global.u32 %r1, [%rd1+4];\n") ==
      "add.s32 %r1, %r2, 0; add.f32 %f1, %f2, 0f00000000; add.f64 %fd1, %fd1, 0d0000000000000000; mov.u64 %rd1, 0; "
      "ld.global.u32 %r1, [%rd1+4];");
  CHECK(opportunities(immediatesToOne, kernel("add.s32 %r1, 0, 1;\nadd.f32 %f1, 0f3F800000, 0f00000000;\n")) == 0);
  CHECK(bodyAfter(halveImmediates, "add.s32 %r1, %r2, -7;\nadd.s32 %r1, %r2, 1;\nmov.u64 %rd1, 0x8000000000;\n") ==
        "add.s32 %r1, %r2, -3; add.s32 %r1, %r2, 1; mov.u64 %rd1, 0x4000000000;");
}

TEST_CASE("reduce: registers and declarations") {
  const std::string text =
      kHeader +
      ".entry k()\n{\n.reg .b32 %r<10>, %a, %b;\n.reg .pred %p<3>;\n.shared .u32 s, t;\n"
      "{\n.reg .b32 %r<4>;\nmov.u32 %r3, %b;\n}\nst.shared.u32 [t], %r5;\nmov.u32 %r7, %r5;\n}\n";
  CHECK(after(dropUnusedDeclarations, text) ==
        normal(kHeader +
               ".entry k()\n{\n.reg .b32 %r<8>, %b;\n.shared .u32 t;\n{\n.reg .b32 %r<4>;\nmov.u32 %r3, %b;\n}\n"
               "st.shared.u32 [t], %r5;\nmov.u32 %r7, %r5;\n}\n"));
  CHECK(opportunities(renumberRegisters, text) == 0);  // %r is declared twice
  CHECK(after(renumberRegisters, kernel("add.u32 %r7, %r90, %r7;\n")).find("%r<2>") != std::string::npos);
  CHECK(bodyAfter(mergeRegisters, "add.u32 %r7, %r90, %r7;\nadd.u64 %rd1, %rd1, 1;\n") ==
        "add.u32 %r7, %r7, %r7; add.u64 %rd1, %rd1, 1;");
}

namespace {

// A kernel of which three instructions are needed together.
std::string haystack() {
  std::string statements;
  for (int i = 0; i < 60; ++i) {
    const std::string r = "%r" + std::to_string(i);
    if (i == 7) statements += "@%p1 bra SKIP;\n";
    if (i == 11) statements += "popc.b32 %r3, %r11;\n";
    if (i == 40) statements += "SKIP:\nbrev.b32 " + r + ", %r3;\n";
    if (i == 59) statements += "clz.b32 " + r + ", 12345;\n";
    statements += "add.u32 " + r + ", " + r + ", " + std::to_string(i) + ";\n";
  }
  return normal(kernel(statements + "ret;\n"));
}

bool hasNeedles(const std::string& text) {
  return text.find("popc") != std::string::npos && text.find("brev") != std::string::npos &&
         text.find("clz") != std::string::npos;
}

ReduceResult reduceHaystack(unsigned jobs, uint64_t maxTests = 0, std::multiset<std::string>* tested = nullptr) {
  std::mutex mutex;
  ReduceOptions options;
  options.jobs = jobs;
  options.maxTests = maxTests;
  options.interface = true;
  options.test = [&](const std::string& text, unsigned worker, const std::atomic<bool>&) {
    const std::scoped_lock lock(mutex);
    if (tested != nullptr) tested->insert(text);
    CHECK(worker < jobs);
    return hasNeedles(text);
  };
  return reduceText(haystack(), options);
}

}  // namespace

TEST_CASE("reduce: the search finds three needles and nothing else") {
  std::multiset<std::string> tested;
  const ReduceResult result = reduceHaystack(1, 0, &tested);
  CHECK(result.end == ReduceResult::End::FixedPoint);
  CHECK(countInstructions(result.text) == 3);
  CHECK(result.text == kHeader +
                           ".visible .entry k()\n{\n\t.reg .b32 %r<1>;\n\tpopc.b32 %r0, 0;\n"
                           "\tbrev.b32 %r0, 0;\n\tclz.b32 %r0, 0;\n}\n");
  CHECK(result.tests == tested.size());
  CHECK(result.tests < 150);
  for (const std::string& text : tested) {
    CHECK(tested.count(text) == 1);  // none twice
    const Parsed p(text);            // each is PTX
    CHECK(verify(*p).empty());
    CHECK(text == normal(text));
  }
}

TEST_CASE("reduce: the same for any number of jobs") {
  const ReduceResult one = reduceHaystack(1);
  for (const unsigned jobs : {2u, 3u, 8u}) {
    const ReduceResult many = reduceHaystack(jobs);
    CHECK(many.text == one.text);
    CHECK(many.tests == one.tests);
    CHECK(many.known == one.known);
    CHECK(many.invalid == one.invalid);
  }
  for (const uint64_t most : {1u, 5u, 17u}) {
    const ReduceResult a = reduceHaystack(1, most), b = reduceHaystack(4, most);
    CHECK(a.end == ReduceResult::End::MaxTests);
    CHECK(a.tests == most);
    CHECK(a.text == b.text);
    CHECK(hasNeedles(a.text));
  }
}

TEST_CASE("reduce: stopping keeps the best") {
  std::atomic<bool> stop = false;
  std::string accepted;
  int count = 0;
  ReduceOptions options;
  options.stop = &stop;
  options.test = [&](const std::string& text, unsigned, const std::atomic<bool>&) { return hasNeedles(text); };
  options.accept = [&](const std::string& text) {
    accepted = text;
    stop = ++count == 3;
    return true;
  };
  const ReduceResult result = reduceText(haystack(), options);
  CHECK(result.end == ReduceResult::End::Stopped);
  CHECK(count == 3);
  CHECK(result.text == accepted);
  CHECK(hasNeedles(result.text));

  stop = false;
  options.accept = [](const std::string&) { return false; };  // it could not be written
  CHECK(reduceText(haystack(), options).end == ReduceResult::End::Stopped);
}

TEST_CASE("reduce: what is always or never interesting") {
  ReduceOptions options;
  options.test = [](const std::string&, unsigned, const std::atomic<bool>&) { return true; };
  CHECK(reduceText(haystack(), options).text == kHeader);
  options.test = [](const std::string&, unsigned, const std::atomic<bool>&) { return false; };
  CHECK(reduceText(haystack(), options).text == haystack());
}

TEST_CASE("reduce: every reduction alone leaves PTX") {
  // Single opportunities of each reduction on something of everything; those that the parser refuses do not count.
  const std::string text = normal(kernel(
      "{\n.reg .b32 r0;\nld.global.v2.u32 {r0, %r2}, [%rd1+8];\n@%p1 bra $L__BB0_1;\nadd.cc.u32 %r3, r0, 7;\n"
      "addc.u32 %r4, %r2, 0;\n}\n$L__BB0_1:\nmov.b64 %rd2, {%r3, %r4};\nmov.u32 %r5, %v1.x;\n"
      "T: .branchtargets $L__BB0_1, U;\nbrx.idx %r5, T;\nU:\ncvt.rn.f32.s32 %f1, %r5;\nst.global.f32 [%rd2], %f1;\n"
      "mov.u64 %rd3, 99999999999;\nfrob.x %r1, %r2;\nld.param.u32 %r9, [n];\nret;\n"));
  std::size_t valid = 0, all = 0;
  for (const Reduction& reduction : reductions()) {
    std::size_t count = 0;
    {
      const Parsed p(text);
      Edit edit(*p);
      Choices choices;
      reduction.apply(edit, choices);
      count = choices.asked();
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Parsed p(text);
      std::vector<bool> taken(count);
      taken[i] = true;
      Edit edit(*p);
      Choices choices(taken);
      reduction.apply(edit, choices);
      CHECK(choices.asked() == count);
      const NormalizedText now =
          normalize(edit.hasCuts() ? edit.cutText() : text::print(*p, {.reprint = true}), "", "test.ptx");
      INFO(reduction.name, " ", i, "\n", now.error);
      ++all;
      if (!now.error.empty()) continue;
      ++valid;
      CHECK(now.text != text);
    }
  }
  CHECK(all > 80);
  CHECK(valid * 10 > all * 9);
}
