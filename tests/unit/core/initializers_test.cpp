// Functions that initializers name, among numbers of any length before and after.
#include "ir/initializers.h"

#include <string>
#include <vector>

#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The functions `f` and `x1F`, and an array of numbers with `element` after `before` digits.
std::vector<uint32_t> foundIn(std::size_t before, const std::string& element, std::size_t after) {
  std::string numbers;
  for (std::size_t k = 0; k < before; ++k)
    numbers += k % 7 == 6 ? "," : std::string(1, static_cast<char>('1' + k % 7));
  if (!numbers.empty() && numbers.back() != ',') numbers += ",";
  std::string text =
      ".version 8.3\n.target sm_80\n.address_size 64\n.func f()\n{\nret;\n}\n.func x1F()\n{\nret;\n}\n";
  text += ".global .align 8 .u64 t[200] = {" + numbers + element;
  for (std::size_t k = 0; k < after; ++k) text += ",7";
  const Parsed p(text + "};\n");
  return functionsInInitializers(*p);
}

}  // namespace

TEST_CASE("initializers: a name is found wherever it stands among numbers") {
  for (std::size_t before = 0; before < 140; ++before)
    for (const std::size_t after : {0, 5, 40, 90}) {
      CAPTURE(before);
      CAPTURE(after);
      CHECK(foundIn(before, "f", after) == std::vector<uint32_t>{0});
      CHECK(foundIn(before, "x1F", after) == std::vector<uint32_t>{1});
    }
}

TEST_CASE("initializers: the letters of a number are no name") {
  for (std::size_t before = 0; before < 140; ++before) {
    CAPTURE(before);
    CHECK(foundIn(before, "0x1F", 90).empty());
    CHECK(foundIn(before, "12", 90).empty());
  }
}

TEST_CASE("initializers: generic addresses of constant variables") {
  const auto points = [](const std::string& text) {
    const Parsed p(".version 8.3\n.target sm_80\n.address_size 64\n.const .u32 c[2];\n.global .u32 g[2];\n" + text);
    return initializersPointToConstants(*p);
  };
  CHECK(points(".global .u64 x = generic(c);\n"));
  CHECK(points(".global .u64 x[3] = {0, generic(g), generic(c)+4};\n"));
  CHECK(points(".global .u64 x = generic /* of */ ( /* it */ c);\n"));
  CHECK(points(".const .u8 x[1] = {0xFF(generic(c))};\n"));
  CHECK(!points(".global .u64 x[2] = {generic(g), 3};\n"));
  CHECK(!points(".global .u64 x[2] = {c, g};\n"));
  CHECK(!points(""));
}
