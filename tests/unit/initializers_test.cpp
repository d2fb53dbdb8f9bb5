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
