// Prices by architecture: which row a target gets. Whether the figures hold is tests/codegen/prices/run.py's business.
#include "analysis/machine/prices.h"

#include "analysis/machine/target_number.h"
#include "support.h"

using namespace ptxopt;

TEST_CASE("numbers of targets") {
  CHECK(targetNumber("sm_90") == 90);
  CHECK(targetNumber("sm_120f") == 120);
  CHECK(targetNumber("compute_103a") == 103);
  for (const char* bad : {"", "sm", "sm_", "sm_90x", "sm_90aa", "gfx_90", "90"}) {
    CAPTURE(bad);
    CHECK(!targetNumber(bad));
  }
}

TEST_CASE("prices by the names of targets") {
  CHECK(machinePrices("sm_80").architecture == 80);
  CHECK(machinePrices("sm_90a").architecture == 90);
  CHECK(machinePrices("compute_121").architecture == 121);
  // The newest one before an architecture that has no row.
  CHECK(machinePrices("sm_87").architecture == 86);
  CHECK(machinePrices("sm_101a").architecture == 100);
  CHECK(machinePrices("sm_200").architecture == 121);
  for (const char* other : {"", "sm_70", "gfx_90"}) {
    CAPTURE(other);
    CHECK(machinePrices(other).architecture == 75);
  }
}

TEST_CASE("the table of prices") {
  uint32_t last = 0;
  for (const MachinePrices& p : machinePrices()) {
    CAPTURE(p.architecture);
    CHECK(p.architecture > last);
    last = p.architecture;
    // sm_107, 120 and 121 add, compare and choose 64 bits in one instruction; the others need one for each half.
    const bool addsWhole = p.architecture == 107 || p.architecture >= 120;
    CHECK((p.add64 == 1) == addsWhole);
    CHECK((p.compare64 == 1) == addsWhole);
    CHECK((p.step64 <= p.productStep64) == addsWhole);
    CHECK(p.wideProduct == 1);
  }
}
