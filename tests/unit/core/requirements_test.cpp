// What texts need: sets of targets and their names. The rows are compared with ptxas by tests/inputs/opcodes/requirements.py.
#include "ir/requirements.h"

#include <doctest/doctest.h>

#include "ir/signatures.h"

namespace ptxopt {
namespace {

TEST_CASE("requirements: sets of targets") {
  const TargetSet from90 = TargetSet::of("90+"), some = TargetSet::of("100a 103a");
  CHECK(from90.text() == "sm_90");
  CHECK(some.text() == "sm_100a, sm_103a");
  CHECK(from90.has("sm_90a"));
  CHECK(!from90.has("sm_89"));
  CHECK(some.has("sm_103a"));
  CHECK(!some.has("sm_103f"));
  CHECK(some.has("sm_999"));  // nobody knows
  CHECK((from90 & some) == some);
  CHECK((some & TargetSet::of("120f")).empty());
  CHECK(some.least() == "sm_100a");
  CHECK(TargetSet::of("100f 100a 103f").least() == "sm_100a");  // .version 8.6, the other 8.8
  CHECK(TargetSet::all().least() == "sm_20");
  CHECK(versionOfTarget("sm_90a") == 80u);
  CHECK(!versionOfTarget("compute_90"));
  CHECK(versionText(102) == "10.2");
}

TEST_CASE("requirements: directives and special registers") {
  CHECK(requirementOfSpecial("%clusterid.x").version == 78);
  CHECK(requirementOfSpecial("%clusterid.x").targets.text() == "sm_90");
  CHECK(requirementOfSpecial("%tid.x").isAny());
  CHECK(requirementOfDirective(".alias")->version == 63);
  CHECK(!requirementOfDirective(".reg"));
}

TEST_CASE("signatures: registers that ptxas takes") {
  using enum ScalarType;
  CHECK(takesRegister(s32, f16x2, false));
  CHECK(takesRegister(f32, b32, false));
  CHECK(!takesRegister(f32, u32, false));
  CHECK(!takesRegister(s32, f32, false));
  CHECK(!takesRegister(s32, b64, false));
  CHECK(takesRegister(s32, b64, true));
  CHECK(!takesRegister(u64, b32, true));
  CHECK(takesRegister(b32, f64, true));
  CHECK(!takesRegister(u32, f64, true));
  CHECK(takesRegister(pred, f16x2, false));  // so it does
  CHECK(!takesRegister(b32, pred, false));
  CHECK(isAddressType(b8));
  CHECK(!isAddressType(f32));
  CHECK(missingWord(readOpcode("setp.u32")) == "a comparison");
  CHECK(missingWord(readOpcode("add")) == "a type");
  CHECK(missingWord(readOpcode("add.f32x2")).empty());
  CHECK(signatureOf(readOpcode("mad.wide.u16"))->letter(3) == 'w');
  CHECK(signatureOf(readOpcode("min.s32"))->least() == 3);
  CHECK(signatureOf(readOpcode("min.s32"))->most() == 4);
}

}  // namespace
}  // namespace ptxopt
