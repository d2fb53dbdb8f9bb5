// Line tables, on bytes as ptxas writes them.
#include "ptxas/line_table.h"

#include <doctest/doctest.h>

#include <string>

using namespace ptxopt;

namespace {

// DWARF 2, the least instruction 16 bytes, lines from -5 to 8 in special opcodes, which begin at 10.
const std::string kHeader("\x02\0\x10\0\0\0\x01\x01\xfb\x0e\x0a\0\x01\x01\x01\x01\0\0\0\x01\0\0", 22);

std::string unit(const std::string& program) {
  const auto size = static_cast<uint32_t>(kHeader.size() + program.size());
  return std::string(reinterpret_cast<const char*>(&size), 4) + kHeader + program;
}
const std::string kBegin("\0\x09\x02\0\0\0\0\0\0\0\0", 11);  // an address to be filled in
const std::string kEnd("\0\x01\x01", 3);

}  // namespace

TEST_CASE("line table: addresses and lines") {
  // Line 22 at 0; line 36 sixteen bytes on; the next line sixteen bytes on; the end 32 bytes on.
  const std::string section = unit(kBegin + std::string("\x03\x15\x01\x03\x0e\x02\x10\x01\xf0\x02\x20", 11) + kEnd);
  const auto all = ptxas::readLineTable(section);
  REQUIRE(all.size() == 1);
  CHECK(all[0].relocatedAt == 4 + kHeader.size() + 3);
  const std::vector<ptxas::LineRow> expected{{0, 22}, {16, 36}, {32, 37}, {64, 0}};
  CHECK(all[0].rows == expected);
  CHECK(ptxas::lineAt(all[0].rows, 0) == 22);
  CHECK(ptxas::lineAt(all[0].rows, 16) == 36);
  CHECK(ptxas::lineAt(all[0].rows, 48) == 37);
  CHECK(ptxas::lineAt(all[0].rows, 64) == 0);
  CHECK(ptxas::lineAt({}, 0) == 0);
}

TEST_CASE("line table: several functions in one unit") {
  const auto all = ptxas::readLineTable(unit(kBegin + "\x01" + kEnd + kBegin + "\x03\x02\x01" + kEnd));
  REQUIRE(all.size() == 2);
  CHECK(all[0].rows[0].line == 1);
  CHECK(all[1].rows[0].line == 3);
}

TEST_CASE("line table: what is cut off or of another version ends without harm") {
  const std::string section = unit(kBegin + std::string("\x03\x15\x01\xf0\xf0", 5) + kEnd);
  for (std::size_t size = 0; size < section.size(); ++size) ptxas::readLineTable(section.substr(0, size));
  std::string other = section;
  other[4] = 5;
  CHECK(ptxas::readLineTable(other).empty());
  for (std::size_t i = 0; i < section.size(); ++i)
    for (const int value : {0, 1, 127, 255}) {
      std::string broken = section;
      broken[i] = static_cast<char>(value);
      ptxas::readLineTable(broken);
    }
}
