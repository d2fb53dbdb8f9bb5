// What functions are called.
#include "support/demangle.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_CASE("demangle: the kernel that a name means") {
  const std::vector<std::string> names{"_Z5scalePfi", "_Z6reduceIfEvPT_i", "_Z6reduceIdEvPT_i", "plain",
                                       "_Z5plainPf"};
  CHECK(nameMeant("scale", names) == "_Z5scalePfi");
  CHECK(nameMeant("scale(float*, int)", names) == "_Z5scalePfi");
  CHECK(nameMeant("_Z5scalePfi", names) == "_Z5scalePfi");
  CHECK(nameMeant("void reduce<double>(double*, int)", names) == "_Z6reduceIdEvPT_i");
  CHECK(nameMeant("reduce", names) == "reduce");  // which of two is not known
  CHECK(nameMeant("plain", names) == "plain");
  CHECK(nameMeant("scal", names) == "scal");
  CHECK(nameMeant("", names).empty());
}
