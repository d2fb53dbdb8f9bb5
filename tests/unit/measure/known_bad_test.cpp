// Which rows of known_bad.def concern a release, an architecture and a text, and how the choice of a ptxas takes them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ptxas/abilities.h"
#include "ptxas/avoid_bad.h"
#include "ptxas/choose.h"
#include "ptxas/known_bad.h"
#include "text/parse.h"

using namespace ptxopt;

namespace {

std::string kernel(std::string_view body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n"
         ".reg .b16 %h<8>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<4>;\n" +
         std::string(body) + "\nret;\n}\n";
}

std::vector<std::string> names(const std::vector<ptxas::KnownBadHit>& hits) {
  std::vector<std::string> all;
  for (const ptxas::KnownBadHit& hit : hits) all.emplace_back(hit.row->name);
  return all;
}

std::vector<std::string> triggers(std::string_view body, const char* release, const char* architecture = "sm_90a") {
  return names(ptxas::triggersIn(kernel(body), ptxas::releaseOf(release), architecture));
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("known bad: releases") {
  CHECK(ptxas::releaseOf("V12.3.103") == ptxas::Release{{12, 3, 103}});
  CHECK(ptxas::releaseOf("12.3") == ptxas::Release{{12, 3, 0}});
  CHECK(ptxas::toText(ptxas::releaseOf("12.10.7")) == "12.10.7");
  CHECK(ptxas::releaseOf("12.9.86") < ptxas::releaseOf("12.10.1"));
  CHECK(ptxas::releaseOf("12.3.99") < ptxas::releaseOf("12.3.103"));
  for (const char* none : {"", "V", "12.", "12.x", "12.3.103.4", "12.3.103 ", "-1.2", "a12.3"})
    CHECK_MESSAGE(!ptxas::releaseOf(none).isKnown(), none);
}

TEST_CASE("known bad: rows are well-formed") {
  std::set<std::string_view> rows, sources;
  for (const ptxas::KnownBad& row : ptxas::knownBadRows()) {
    CAPTURE(row.name);
    CHECK(rows.insert(row.name).second);
    sources.insert(row.source);
    CHECK(row.source.starts_with("https://"));
    for (const std::string_view release : {row.firstBad, row.firstGood})
      CHECK((release.empty() || ptxas::releaseOf(release).isKnown()));
    if (!row.firstGood.empty()) CHECK(ptxas::releaseOf(row.firstBad) < ptxas::releaseOf(row.firstGood));
    CHECK((row.evidence == ptxas::Evidence::Tried) == !row.seen.empty());
    CHECK((ptxas::rowOf(row.pattern).kind == ptxas::PatternKind::Any) == ptxas::rowOf(row.pattern).words.empty());
  }
  CHECK(sources.size() >= 25);
}

TEST_CASE("known bad: what concerns a release and an architecture") {
  const auto row = [](std::string_view name) {
    const auto rows = ptxas::knownBadRows();
    const auto it = std::ranges::find(rows, name, &ptxas::KnownBad::name);
    REQUIRE(it != rows.end());
    return *it;
  };
  const auto is = [&](std::string_view name, const char* release, const char* architecture) {
    return ptxas::concerns(row(name), ptxas::releaseOf(release), architecture);
  };
  CHECK_FALSE(is("xla-12.3.103", "12.3.102", "sm_80"));
  CHECK(is("xla-12.3.103", "12.3.103", "sm_80"));
  CHECK_FALSE(is("xla-12.3.103", "12.3.104", "sm_80"));
  CHECK(is("abs-relu", "12.6.84", "sm_90a"));
  CHECK_FALSE(is("abs-relu", "12.6.85", "sm_90a"));
  CHECK_FALSE(is("abs-relu", "12.6.84", "sm_89"));
  CHECK(is("abs-relu", "12.6.84", "sm_120f"));
  CHECK(is("negated-maximum", "13.3.73", "sm_103a"));
  for (const char* other : {"sm_101a", "sm_110a", "sm_120"}) CHECK_FALSE(is("negated-maximum", "13.3.73", other));
  CHECK(is("exits-and-shared-memory", "11.4.2", "sm_61"));
  CHECK_FALSE(is("exits-and-shared-memory", "11.4.2", "sm_70"));
  CHECK(is("barrier-arrivals", "99.0", "sm_107a"));  // no good release is known
  CHECK(is("abs-relu", "12.6.84", "compute_80"));    // any
  CHECK_FALSE(is("trap-falls-through", "", "sm_80"));
  CHECK(ptxas::knownBadOf({}).empty());
  CHECK_FALSE(ptxas::knownBadOf(ptxas::releaseOf("12.9.86")).empty());
}

TEST_CASE("known bad: words are looked for of faults that a ptxas for the version may have") {
  const auto may = [](const char* text, ptxas::PtxVersion version, const char* architecture) {
    return ptxas::mayHaveTrigger(text, version, architecture);
  };
  CHECK(may("abs.s32", {8, 5}, "sm_90"));        // of 12.5, where abs-relu is
  CHECK_FALSE(may("abs.s32", {8, 6}, "sm_90"));  // of 12.7: abs-relu was gone in 12.6.85
  CHECK_FALSE(may("abs.s32", {8, 5}, "sm_89"));
  CHECK(may("abs.s32", {8, 5}, ""));
  CHECK(may("abs.s32", {}, "sm_90"));
  CHECK(may("add.u16x2", {9, 0}, "sm_90"));
  CHECK_FALSE(may("add.u16x2", {9, 1}, "sm_90"));
  CHECK(may("trap;", {8, 2}, "sm_75"));
  CHECK_FALSE(may("trap;", {8, 3}, "sm_75"));
  CHECK_FALSE(may("add.s32", {8, 0}, "sm_90"));
}

TEST_CASE("known bad: a trap before a label") {
  CHECK(triggers("@%p1 bra L;\ntrap;\nL:", "12.2.140") == Names{"trap-falls-through"});
  CHECK(triggers("@%p1 bra L;\ntrap;\n.loc 1 2 3\nL:", "12.2.140") == Names{"trap-falls-through"});
  CHECK(triggers("@%p1 bra L;\ntrap;\nexit;\nL:", "12.2.140").empty());
  CHECK(triggers("@%p1 trap;\nL:", "12.2.140").empty());
  CHECK(triggers("@%p1 bra L;\ntrap;\nL:", "12.3.107").empty());
}

TEST_CASE("known bad: one half of a packed sum with a constant") {
  const std::string sum = "mov.b32 %r1, 327689;\nadd.s16x2 %r2, %r3, %r1;\n";
  for (const char* half : {"mov.b32 {%h1, %h2}, %r2;\nst.global.u16 [%rd1], %h1;",
                           "mov.b32 {%h1, %h2}, %r2;\nst.global.u16 [%rd1], %h2;",
                           "cvt.u16.u32 %h1, %r2;\nst.global.u16 [%rd1], %h1;"}) {
    CAPTURE(half);
    CHECK(triggers(sum + half, "12.9.86") == Names{"add-16x2-immediate"});
    CHECK(triggers(sum + half, "13.1.115").empty());
    CHECK(triggers(sum + half, "12.9.86", "sm_89").empty());
  }
  CHECK(triggers(sum + "mov.b32 {%h1, %h2}, %r2;\nadd.s16 %h3, %h2, 1;\nshr.u16 %h4, %h3, 1;\nmul.lo.s16 %h5, %h4, "
                       "7;\nst.global.u16 [%rd1], %h1;",
                 "12.9.86") == Names{"add-16x2-immediate"});  // nobody reads %h5
  CHECK(triggers("mov.b32 %r4, 327689;\nmov.b32 %r1, %r4;\nadd.s16x2 %r2, %r3, %r1;\nmov.u32 %r5, %r2;\n"
                 "cvt.u16.u32 %h1, %r5;\nst.global.u16 [%rd1], %h1;",
                 "12.9.86") == Names{"add-16x2-immediate"});
  CHECK(
      triggers("mov.b32 %r1, {5, 9};\nadd.u16x2 %r2, %r1, %r3;\ncvt.u16.u32 %h1, %r2;\nst.global.u16 [%rd1], %h1;",
               "13.0.88") == Names{"add-16x2-immediate"});
  for (const char* both : {"mov.b32 {%h1, %h2}, %r2;\nst.global.u16 [%rd1], %h1;\nst.global.u16 [%rd1], %h2;",
                           "and.b32 %r4, %r2, 65535;\nst.global.u32 [%rd1], %r4;", "st.global.u32 [%rd1], %r2;"})
    CHECK_MESSAGE(triggers(sum + both, "12.9.86").empty(), both);
  CHECK(triggers("add.s16x2 %r2, %r3, %r1;\ncvt.u16.u32 %h1, %r2;\nst.global.u16 [%rd1], %h1;", "12.9.86").empty());
}

TEST_CASE("known bad: the absolute value before a clamp") {
  CHECK(triggers("abs.s32 %r1, %r2;\nmin.relu.s32 %r3, %r1, 5;", "12.0.140") == Names{"abs-relu"});
  CHECK(triggers("abs.s32 %r1, %r2;\nmin.relu.s32 %r3, %r4, 5;", "12.0.140").empty());
  const char* const clamp = "abs.s32 %r1, %r2;\nmin.s32 %r3, %r4, %r1;\nmax.s32 %r5, %r3, 0;";
  CHECK(triggers(clamp, "12.5.82") == Names{"abs-clamp"});
  CHECK(triggers(clamp, "12.4.131").empty());
  CHECK(triggers(clamp, "12.6.85").empty());
  CHECK(triggers("abs.s32 %r1, %r2;\nmin.s32 %r3, %r4, %r1;\nmax.s32 %r5, %r3, 1;", "12.5.82").empty());
}

TEST_CASE("known bad: a negation in the maximum of three") {
  const auto at = [](std::string_view body, const char* release) { return triggers(body, release, "sm_100a"); };
  CHECK(at("neg.s32 %r1, %r2;\nmax.s32 %r3, %r2, %r1;\nmax.s32 %r5, %r4, %r3;", "13.3.73") ==
        Names{"negated-maximum"});
  CHECK(at("sub.s32 %r1, 0, %r2;\nmin.s32 %r3, %r6, %r1;\nmin.s32 %r5, %r3, %r4;", "12.8.93") ==
        Names{"negated-maximum"});
  CHECK(
      at("neg.s32 %r1, %r2;\nmov.u32 %r7, %r1;\nmax.s32 %r3, %r2, %r7;\nmov.u32 %r8, %r3;\nmax.s32 %r5, %r4, %r8;",
         "13.3.73") == Names{"negated-maximum"});
  CHECK(at("neg.s32 %r1, %r2;\n@%p1 mov.u32 %r1, %r6;\nmax.s32 %r3, %r2, %r1;\nmax.s32 %r5, %r4, %r3;", "13.3.73")
            .empty());
  CHECK(at("neg.s32 %r1, %r2;\nmax.s32 %r3, %r1, %r2;\nmax.s32 %r5, %r4, %r3;", "13.3.73").empty());
  CHECK(at("neg.s32 %r1, %r2;\nmax.s32 %r3, %r2, %r1;\nmax.s32 %r5, %r3, 7;", "13.3.73").empty());
  CHECK(at("neg.s32 %r1, %r2;\nmax.s32 %r3, %r2, %r1;\nmin.s32 %r5, %r4, %r3;", "13.3.73").empty());
  CHECK(at("neg.s32 %r1, %r2;\nmax.s32 %r3, %r2, %r1;\nmax.s32 %r5, %r4, %r3;", "13.4.92").empty());
}

TEST_CASE("known bad: strides of tensor maps, and parts of patterns") {
  CHECK(triggers("tensormap.replace.tile.global_stride.global.b1024.b64 [%rd1], 1, %rd2;", "12.4.131") ==
        Names{"tensormap-stride"});
  CHECK(triggers("tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;", "12.4.131").empty());
  CHECK(triggers("setp.lt.and.s32 %p1, %r1, %r2, %p1;", "8.0.61", "sm_60") == Names{"setp-onto-itself"});
  CHECK(triggers("setp.lt.and.s32 %p1, %r1, %r2, %p2;", "8.0.61", "sm_60").empty());
  CHECK(ptxas::triggersIn("trap, but no PTX\nL:", ptxas::releaseOf("12.0"), "sm_90").empty());

  const std::string text = kernel(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd1, 1, 1, "
      "1, 0;");
  const auto parsed = text::parse(text);
  const auto& module = *std::get<std::unique_ptr<Module>>(parsed);
  CHECK(names(ptxas::knownBadIn(module, ptxas::releaseOf("12.8.93"), "sm_90a")) ==
        Names{"wgmma-registers", "descriptor-sum"});
  CHECK(ptxas::triggersIn(text, ptxas::releaseOf("12.9.86"), "sm_90a").empty());
}

TEST_CASE("known bad: what a warning says") {
  const std::string text = kernel("abs.s32 %r1, %r2;\nmin.relu.s32 %r3, %r1, 5;");
  const ptxas::Release release = ptxas::releaseOf("12.5.82");
  const auto hits = ptxas::triggersIn(text, release, "sm_90");
  REQUIRE(hits.size() == 1);
  CHECK(ptxas::warningOf(hits[0], release) ==
        "ptxas 12.5.82 makes wrong code of 'k', line 11: the absolute value is not taken (abs-relu; not from "
        "12.6.85 on): "
        "https://github.com/openxla/xla/pull/19927");
}

TEST_CASE("known bad: what has another form is written in it") {
  const auto avoided = [](std::string_view body, const char* release, const char* architecture) {
    const auto found = ptxas::avoidKnownBad(kernel(body), ptxas::releaseOf(release), architecture);
    if (!found) return std::pair(std::string("none"), Names());
    const std::string text = found->text, head = kernel("@"), at = text.substr(head.find('@'));
    return std::pair(at.substr(0, at.size() - std::string_view("\nret;\n}\n").size()), names(found->hits));
  };
  using Found = std::pair<std::string, Names>;
  const Found none{"none", {}};
  const Names trap{"trap-falls-through"}, maximum{"negated-maximum"};

  CHECK(avoided("trap;\nL:", "12.2.140", "sm_90a") == Found{"trap; exit;\nL:", trap});
  CHECK(avoided("trap ; // on\nL: trap;", "12.2.140", "sm_90a") == Found{"trap ; exit; // on\nL: trap;", trap});
  CHECK(avoided("trap;\nL:", "12.3.107", "sm_90a") == none);
  CHECK(avoided("@%p1 trap;\nL:", "12.2.140", "sm_90a") == none);
  CHECK(avoided("trap;\nexit;\nL:", "12.2.140", "sm_90a") == none);

  const std::string negated = "neg.s32 %r1, %r2;\n", after = "max.s32 %r5, %r4, %r6;\nst.global.u32 [%rd1], %r5;";
  const auto both = [&](std::string_view inner) { return negated + std::string(inner) + after; };
  CHECK(avoided(both("max.s32 %r4, %r3, %r1;\n"), "13.0.88", "sm_100") ==
        Found{both("max.s32 %r4, %r1, %r3;\n"), maximum});
  CHECK(avoided(both("@%p1  max.s32\t%r4,%r3 ,\n %r1 ;\n"), "13.0.88", "sm_103a") ==
        Found{both("@%p1  max.s32\t%r4, %r1, %r3;\n"), maximum});
  CHECK(avoided(both("max.s32 %r4, %r1, %r3;\n"), "13.0.88", "sm_100") == none);
  CHECK(avoided(both("max.s32 %r4, %r1, %r1;\n"), "13.0.88", "sm_100") == none);
  CHECK(avoided(both("max.s32 %r4, %r3, /* n */ %r1;\n"), "13.0.88", "sm_100") == none);
  CHECK(avoided(both("max.s32 %r4, %r3, %r1;\n"), "13.4.92", "sm_100") == none);
  CHECK(avoided(both("max.s32 %r4, %r3, %r1;\n"), "13.0.88", "sm_90") == none);
  // One that stays is named no longer as avoided.
  CHECK(avoided(both("max.s32 %r4, %r3, %r1;\nmax.s32 %r4, %r1, %r1;\n"), "13.0.88", "sm_100").second == Names{});
}
