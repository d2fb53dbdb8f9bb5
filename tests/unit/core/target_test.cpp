// Targets: which rows a name gets. Whether costs hold is tests/codegen/costs/run.py's business.
#include "target/target.h"

#include <algorithm>

#include "support.h"
#include "target/machine.h"

using namespace ptxopt::target;

TEST_CASE("numbers of targets") {
  CHECK(numberOf("sm_90") == 90);
  CHECK(numberOf("sm_120f") == 120);
  CHECK(numberOf("compute_103a") == 103);
  for (const char* bad : {"", "sm", "sm_", "sm_90x", "sm_90aa", "gfx_90", "90"}) {
    CAPTURE(bad);
    CHECK(!numberOf(bad));
  }
}

TEST_CASE("costs by the names of targets") {
  const auto costsOf = [](const char* name) { return Target(name).costs().number; };
  CHECK(costsOf("sm_80") == 80);
  CHECK(costsOf("sm_90a") == 90);
  CHECK(costsOf("compute_121") == 121);
  CHECK(costsOf("sm_87") == 86);     // figures of
  CHECK(costsOf("sm_101a") == 110);  // renamed
  CHECK(costsOf("sm_105") == 103);   // the newest before it
  CHECK(costsOf("sm_999") == Target(targets().back().number).costs().number);
  for (const char* other : {"", "sm_70", "gfx_90"}) {
    CAPTURE(other);
    CHECK(costsOf(other) == 75);
  }
}

TEST_CASE("limits, machine code and times by the names of targets") {
  CHECK(Target("sm_90a").limits()->number == 90);
  CHECK(Target("sm_101f").limits() == Target("sm_110").limits());
  for (const char* unknown : {"", "sm_70", "sm_105", "gfx_90"}) CHECK(Target(unknown).limits() == nullptr);
  CHECK(Target("sm_70").encodings() == 75);
  CHECK(Target("sm_87").encodings() == 87);
  CHECK(Target("sm_101").encodings() == 110);
  CHECK(Target("sm_105").encodings() == 103);
  CHECK(Target("sm_87").machine().figuresOf() == 86);
  CHECK(&Target("sm_101").machine() == &Target("sm_110a").machine());
}

TEST_CASE("capabilities are ranges of targets, and a name without a number has none") {
  CHECK(Target("sm_90").has(Capability::Clusters));
  CHECK(Target("sm_200").has(Capability::Clusters));
  CHECK_FALSE(Target("sm_89").has(Capability::Clusters));
  CHECK(Target("sm_100").has(Capability::ParametersInRegisters));
  CHECK(Target("sm_101").has(Capability::ParametersInRegisters));
  CHECK_FALSE(Target("sm_89").has(Capability::ParametersInRegisters));
  for (std::size_t c = 0; c < kCapabilities; ++c) {
    const auto capability = static_cast<Capability>(c);
    CHECK_FALSE(Target("gfx_90").has(capability));
    // Some target has it, and some name does not: otherwise it says nothing.
    CHECK(std::ranges::any_of(targets(), [&](const Limits& t) { return Target(t.number).has(capability); }) !=
          (capability == Capability::SlowSums64));
    CHECK_FALSE((Target("sm_20").has(capability) && Target("sm_200").has(capability)));
  }
}

TEST_CASE("the figures of a target are those of one with costs, which has its own") {
  for (const Limits& target : targets()) {
    CAPTURE(target.number);
    CHECK(Target(target.number).costs().number == target.figures);
    CHECK(Target(target.figures).figures() == target.figures);
  }
}

TEST_CASE("the table of costs") {
  uint32_t last = 0;
  for (const Costs& c : costs()) {
    CAPTURE(c.number);
    CHECK(c.number > last);
    last = c.number;
    // sm_107, 120 and 121 add, compare and choose 64 bits in one instruction; the others need one for each half.
    const bool addsWhole = c.number == 107 || c.number >= 120;
    CHECK((c.add64 == 1) == addsWhole);
    CHECK((c.compare64 == 1) == addsWhole);
    CHECK((c.step64 <= c.productStep64) == addsWhole);
    CHECK(c.wideProduct == 1);
  }
}

TEST_CASE("which targets run code of a target") {
  CHECK(runsOn("sm_80", "sm_90a"));
  CHECK(runsOn("sm_80", "sm_80"));
  CHECK(!runsOn("sm_90", "sm_80"));
  CHECK(runsOn("sm_90a", "sm_90a"));
  CHECK(!runsOn("sm_90a", "sm_90"));
  CHECK(!runsOn("sm_90a", "sm_100a"));
  CHECK(runsOn("sm_100f", "sm_103a"));
  CHECK(runsOn("sm_100f", "sm_103f"));
  CHECK(runsOn("sm_100f", "sm_103"));
  CHECK(runsOn("sm_100f", "sm_107a"));
  CHECK(runsOn("sm_103f", "sm_107"));
  CHECK(!runsOn("sm_107f", "sm_103"));
  CHECK(!runsOn("sm_100f", "sm_101"));
  CHECK(!runsOn("sm_100f", "sm_110"));
  CHECK(!runsOn("sm_100f", "sm_120f"));
  CHECK(runsOn("sm_120f", "sm_121"));
  CHECK(!runsOn("sm_103f", "sm_100f"));
  CHECK(runsOn("sm_101a", "sm_110a"));
  CHECK(!runsOn("sm_100f", "sm_120f"));
  CHECK(runsOn("", "sm_80"));  // for ptxas to say
}
