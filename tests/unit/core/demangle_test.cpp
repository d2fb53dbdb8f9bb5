// What functions are called.
#include "support/demangle.h"

#include <doctest/doctest.h>

using namespace ptxopt;

TEST_CASE("demangle: names that people call a kernel by") {
  using Names = std::array<std::string, 3>;
  CHECK(calledNames("scale") == Names{"scale", "scale", "scale"});
  CHECK(calledNames("_Z5scalePfi") == Names{"_Z5scalePfi", "scale(float*, int)", "scale"});
  CHECK(calledNames("_Z6reduceIfEvPT_i") ==
        Names{"_Z6reduceIfEvPT_i", "void reduce<float>(float*, int)", "reduce"});
  CHECK(calledNames("_ZN3lib5scaleEPf") == Names{"_ZN3lib5scaleEPf", "lib::scale(float*)", "lib::scale"});
  // No name without parameters is left of this one.
  const Names hidden = calledNames("_ZN12_GLOBAL__N_15scaleEPf");
  CHECK(hidden[1] == "(anonymous namespace)::scale(float*)");
  CHECK(hidden[2] == hidden[1]);
}
