// Local variables: which accesses reach them, what pins them, and how they fall into slots.
#include "analysis/addresses/local_addresses.h"

#include <fmt/format.h>

#include "passes/memory/local_slots.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The accesses of `a` as "offset:bytes", or why it is pinned.
std::string accesses(std::string_view body) {
  const Parsed p(kernel(".local .align 16 .b8 a[64];\n.local .align 4 .b8 b[8];\n" + std::string(body)));
  const Function& f = p.function();
  const Cfg cfg(*p, f);
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  const LocalAddresses addresses(*p, f, cfg, slots, intervals);
  REQUIRE(addresses.variables().size() == 2);
  const VariableId a = addresses.variables().front();
  if (!addresses.whyPinned(a).empty()) return std::string(addresses.whyPinned(a));
  std::string text;
  for (const LocalAccess& access : addresses.accesses())
    if (access.variable == a)
      text += fmt::format("{}{}{}:{}", text.empty() ? "" : " ", access.isStore ? "s" : "l", access.offset,
                          access.bytes * access.elements);
  return text;
}

// "0-4 4-8w": the slots, `w` for words.
std::string slotsOf(std::vector<LocalSlots::Element> elements) {
  std::string_view whyNot;
  std::string text;
  for (const LocalSlot& s : LocalSlots::make(std::move(elements), whyNot))
    text += fmt::format("{}{}-{}{}", text.empty() ? "" : " ", s.begin, s.end, s.isWhole ? "" : "w");
  return whyNot.empty() ? text : std::string(whyNot);
}

const std::string kBase = "mov.u64 %rd1, a;\ncvta.local.u64 %rd2, %rd1;\n";

}  // namespace

TEST_CASE("local addresses: constants are followed") {
  CHECK(accesses(kBase + "st.u32 [%rd2+4], 1;\nld.local.u64 %rd5, [%rd1+8];\n") == "s4:4 l8:8");
  CHECK(accesses("st.local.u32 [a+12], 1;\n") == "s12:4");
  CHECK(accesses(kBase + "add.s64 %rd3, %rd2, 16;\nadd.s64 %rd3, 4, %rd3;\nst.u8 [%rd3+-1], %r1;\n") == "s19:1");
  CHECK(accesses(kBase +
                 "mov.u64 %rd4, 8;\nadd.s64 %rd3, %rd2, %rd4;\nsub.s64 %rd3, %rd3, 4;\nst.u32 [%rd3], 1;\n") ==
        "s4:4");
  CHECK(accesses(kBase + "add.s64 %rd3, %rd2, 16;\nor.b64 %rd3, %rd3, 4;\nst.v2.u16 [%rd3], {%h1, %h2};\n") ==
        "s20:4");
  CHECK(accesses(kBase + "cvta.to.local.u64 %rd3, %rd2;\nst.local.v4.f32 [%rd3], {%f1, %f2, %f3, %f4};\n") ==
        "s0:16");
  CHECK(accesses("mov.u64 %rd1, a+8;\nst.local.u32 [%rd1], 1;\n") == "s8:4");
  CHECK(accesses(kBase + "mov.u64 %rd3, %rd2;\n@%p1 mov.u64 %rd3, %rd2;\nL: st.u32 [%rd3], 1;\n@%p2 bra L;\n") ==
        "s0:4");
}

TEST_CASE("local addresses: what pins a variable") {
  CHECK(accesses(kBase + "st.global.u64 [%rd9], %rd2;\n") == "escapes");
  CHECK(accesses(kBase + "st.u64 [%rd2], %rd2;\nst.u32 [%rd2+4], 1;\n") == "escapes");
  CHECK(accesses(kBase + "mov.b64 {%r1, %r2}, %rd2;\n") == "escapes");
  CHECK(accesses(kBase + "cvt.u32.u64 %r1, %rd1;\n") == "escapes");
  CHECK(accesses(kBase + "sub.s64 %rd3, %rd2, %rd9;\nst.u32 [%rd3], 1;\n") == "dynamic-index");
  CHECK(accesses(kBase + "add.s64 %rd3, %rd2, %rd9;\nor.b64 %rd3, %rd3, 4;\nst.u32 [%rd3], 1;\n") ==
        "dynamic-index");
  CHECK(accesses(kBase + "and.b64 %rd3, %rd2, -16;\nst.u32 [%rd3], 1;\n") == "dynamic-index");
  CHECK(accesses(kBase + "or.b64 %rd3, %rd2, 16;\nst.u32 [%rd3], 1;\n") == "dynamic-index");
  CHECK(accesses(kBase + "selp.b64 %rd3, %rd2, %rd1, %p1;\n") == "dynamic-index");
  CHECK(accesses(kBase + "L: st.u32 [%rd2], 1;\nadd.s64 %rd2, %rd2, 4;\n@%p2 bra L;\n") == "dynamic-index");
  CHECK(accesses(kBase + "@%p1 add.s64 %rd2, %rd2, 4;\nst.u32 [%rd2], 1;\n") == "dynamic-index");
  CHECK(accesses(kBase + "mov.u64 %rd3, b;\n@%p1 mov.u64 %rd3, %rd1;\nst.local.u32 [%rd3], 1;\n") == "escapes");
  CHECK(accesses(kBase + "setp.eq.s64 %p1, %rd2, 0;\n") == "compared");
  CHECK(accesses(kBase + "ld.volatile.u32 %r1, [%rd2];\n") == "volatile");
  CHECK(accesses(kBase + "ld.relaxed.gpu.u32 %r1, [%rd2];\n") == "volatile");
  CHECK(accesses(kBase + "atom.add.u32 %r1, [%rd2], 1;\n") == "atomic");
  CHECK(accesses(kBase + "prefetch.L1 [%rd2];\n") == "escapes");
  CHECK(accesses(kBase + "isspacep.local %p1, %rd2;\n") == "escapes");
  CHECK(accesses(kBase + "st.u32 [%rd2+62], 1;\n") == "out-of-bounds");
  CHECK(accesses(kBase + "st.u32 [%rd2+-4], 1;\n") == "out-of-bounds");
  CHECK(accesses(kBase + "ld.local.b128 %q1, [%rd1];\n") == "wide");
  CHECK(accesses(kBase + "ld.local.v2.u32 {%r1, %r1}, [%rd1];\n") == "lanes");
}

TEST_CASE("local addresses: through memory") {
  // The address of `a` is kept in `b`, or in itself, and read back.
  const std::string keep = kBase + "mov.u64 %rd5, b;\nst.local.u64 [%rd5], %rd2;\n";
  CHECK(accesses(keep + "ld.local.u64 %rd6, [%rd5];\nst.u32 [%rd6+4], 1;\n") == "s4:4");
  CHECK(
      accesses(kBase +
               "add.s64 %rd3, %rd2, 40;\nst.u64 [%rd2+8], %rd3;\nld.u64 %rd6, [%rd2+8];\nst.u32 [%rd6+4], 1;\n") ==
      "s8:8 l8:8 s44:4");
  // Under a guard it may be what was there before, which nobody stored.
  CHECK(accesses(kBase + "mov.u64 %rd5, b;\n@%p1 st.local.u64 [%rd5], %rd2;\nld.local.u64 %rd6, [%rd5];\nst.u32 "
                         "[%rd6+4], 1;\n") == "s4:4");
  // Something else is kept there as well, half of it is read or written, or the place is pinned.
  CHECK(accesses(keep + "cvt.u64.u32 %rd9, %r1;\nst.local.u64 [%rd5], %rd9;\n") == "escapes");
  CHECK(accesses(keep + "st.local.u64 [%rd5], 0;\n") == "escapes");
  CHECK(accesses(keep + "add.s64 %rd6, %rd2, 8;\nst.local.u64 [%rd5], %rd6;\n") == "escapes");
  CHECK(accesses(keep + "ld.local.u32 %r1, [%rd5+4];\n") == "escapes");
  CHECK(accesses(keep + "st.local.u8 [%rd5+7], %r1;\n") == "escapes");
  CHECK(accesses(keep + "st.global.u64 [%rd9], %rd5;\n") == "escapes");
  CHECK(accesses(keep + "add.s64 %rd6, %rd5, %rd9;\nst.local.u32 [%rd6], 1;\n") == "escapes");
  CHECK(accesses(keep + "ld.local.u64 %rd6, [%rd5];\nst.global.u64 [%rd9], %rd6;\n") == "escapes");
}

TEST_CASE("local addresses: with an index") {
  const Parsed p(kernel(".local .align 16 .b8 a[64];\n" + kBase +
                        "cvt.u64.u32 %rd8, %r1;\ncvt.u64.u32 %rd9, %r2;\nadd.s64 %rd3, %rd2, 8;\nadd.s64 %rd4, "
                        "%rd9, %rd3;\nadd.s64 %rd4, %rd4, 4;\n"
                        "add.s64 %rd5, %rd4, %rd8;\nld.v2.u32 {%r1, %r2}, [%rd5+-4];\nst.u32 [%rd2+60], %r1;\n"));
  const Function& f = p.function();
  const Cfg cfg(*p, f);
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  const LocalAddresses addresses(*p, f, cfg, slots, intervals);
  CHECK(addresses.whyPinned(addresses.variables().front()).empty());
  REQUIRE(addresses.indexed().size() == 1);
  const IndexedAccess& access = addresses.indexed().front();
  CHECK(access.offset == 8);
  CHECK(access.bytes == 8);
  REQUIRE(access.addends.size() == 2);
  CHECK((*p).text(f.registers[access.addends[0].index.value].name) == "%rd8");
  CHECK((*p).text(f.registers[access.addends[1].index.value].name) == "%rd9");
  CHECK(addresses.accesses().size() == 1);
}

TEST_CASE("local slots: what overlaps belongs together") {
  CHECK(slotsOf({{0, 4, 1}, {4, 4, 1}, {0, 4, 1}}) == "0-4 4-8");
  CHECK(slotsOf({{8, 8, 1}, {12, 4, 1}}) == "8-16w");
  CHECK(slotsOf({{0, 1, 1}, {1, 1, 1}, {2, 2, 1}, {3, 1, 1}}) == "0-1 1-2 2-4w");
  CHECK(slotsOf({{2, 4, 1}, {4, 1, 1}}) == "unaligned");
  CHECK(slotsOf({{2, 4, 1}}) == "2-6");
}

TEST_CASE("local slots: every byte of an access is found, and no other") {
  std::string_view whyNot;
  auto slots = LocalSlots::make({{1, 1, 1}, {2, 2, 1}, {3, 1, 1}, {8, 8, 1}, {12, 4, 1}, {20, 1, 1}}, whyNot);
  const auto begin = [&](int64_t offset) {
    const LocalSlot* s = LocalSlots::find(slots, offset);
    return s == nullptr ? int64_t{-1} : s->begin;
  };
  const int64_t expected[] = {-1, 1, 2, 2, -1, -1, -1, -1, 8, 8, 8, 8, 8, 8, 8, 8, -1, -1, -1, -1, 20, -1};
  for (std::size_t k = 0; k < std::size(expected); ++k) CHECK(begin(static_cast<int64_t>(k)) == expected[k]);
  CHECK(LocalSlots::find(slots, 8)->units() == 2);
  CHECK(LocalSlots::find(slots, 2)->units() == 1);
  CHECK(LocalSlots::find(slots, 20)->units() == 1);
}
