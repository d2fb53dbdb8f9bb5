// Live ranges against arrays with one entry a slot.
#include "analysis/dataflow/live_range.h"

#include <array>
#include <random>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

constexpr uint32_t kSlots = 72;
constexpr int kNothing = -1;
using Model = std::array<int, kSlots>;

Model nothing() {
  Model m;
  m.fill(kNothing);
  return m;
}
SlotIndex at(uint32_t raw) { return SlotIndex(raw); }

// The range says what the model says, in as few segments as can be.
void check(const LiveRange& range, const Model& model) {
  CAPTURE(range.toString());
  std::size_t pieces = 0;
  for (uint32_t i = 0; i < kSlots; ++i) {
    const int expected = model[i];
    const ValueId value = range.valueAt(at(i));
    if (range.isLiveAt(at(i)) != (expected != kNothing)) FAIL("live at " << i);
    if ((value.valid() ? static_cast<int>(value.value) : kNothing) != expected) FAIL("value at " << i);
    pieces += expected != kNothing && (i == 0 || model[i - 1] != expected);
    CHECK((range.valueIn(at(i)) == range.valueAt(at(i & ~3u))));
    // A value that begins at the instruction.
    const ValueId out = range.valueAt(at(i).reg());
    const bool begins = out.valid() && range[out].def == at(i).reg();
    CHECK((range.valueOut(at(i)) == (begins ? out : ValueId())));
  }
  REQUIRE(range.segments().size() == pieces);
  if (pieces > 0) {
    uint32_t first = 0, last = kSlots;
    while (model[first] == kNothing) ++first;
    while (model[last - 1] == kNothing) --last;
    CHECK((range.start() == at(first)));
    CHECK((range.end() == at(last)));
  }
}

}  // namespace

TEST_CASE("live range: look-ups, against an array of slots") {
  std::size_t outs = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    LiveRange range;
    Model model = nothing();
    const auto values = static_cast<uint32_t>(1 + random() % 4);
    std::vector<uint32_t> defs;
    for (uint32_t start = 0; start < kSlots;) {
      const auto end = static_cast<uint32_t>(std::min<uint64_t>(kSlots, start + 1 + random() % 12));
      if (defs.size() < values) {
        defs.push_back(start);
        range.addValue({at(start)});
      }
      const ValueId v(static_cast<uint32_t>(random() % defs.size()));
      range.append({at(start), at(end), v});
      std::fill(model.begin() + start, model.begin() + end, static_cast<int>(v.value));
      outs += at(defs.back()).slot() == SlotIndex::Register;
      start = end + static_cast<uint32_t>(random() % 3 * 3);
    }
    check(range, model);
  }
  CHECK(outs > 100);
}

TEST_CASE("live range: append") {
  LiveRange range;
  const ValueId a = range.addValue({at(2)}), b = range.addValue({at(10)});
  range.append({at(2), at(4), a});
  range.append({at(4), at(8), a});
  range.append({at(10), at(12), b});
  range.append({at(12), at(13), a});
  CHECK(range.toString() == "[0r,8B:0) [8r,12B:1) [12B,12e:0) 0@0r 1@8r");
}

TEST_CASE("live range: values in the order of their definitions") {
  LiveRange range;
  const ValueId a = range.addValue({at(42)}), b = range.addValue({at(2)}), c = range.addValue({at(22)});
  range.append({at(2), at(9), b});
  range.append({at(22), at(23), c});
  range.append({at(42), at(44), a});
  range.renumberValues();
  CHECK(range.toString() == "[0r,8e:0) [20r,20d:1) [40r,44B:2) 0@0r 1@20r 2@40r");
}

TEST_CASE("live range: verify finds what is wrong") {
  LiveRange range;
  CHECK(range.verify() == "");
  const ValueId a = range.addValue({at(2)});
  CHECK(range.verify() != "");  // a value that is live nowhere
  range.append({at(2), at(6), a});
  CHECK(range.verify() == "");
  range.append({at(10), at(12), a});  // begins with nothing
  CHECK(range.verify() != "");
  LiveRange overlapping;
  const ValueId b = overlapping.addValue({at(2)}), c = overlapping.addValue({at(6)});
  overlapping.append({at(2), at(8), b});
  overlapping.append({at(6), at(9), c});
  CHECK(overlapping.verify() != "");
  LiveRange phi;  // a phi may be live in the block before in the text, too
  const ValueId d = phi.addValue({at(8), ValueKind::Phi, false});
  phi.append({at(4), at(12), d});
  CHECK(phi.verify() == "");
}
