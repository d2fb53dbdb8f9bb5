// Tables and what they stand on: widths, cutting, colours, markdown that means itself.
#include "tool/terminal/table.h"

#include <doctest/doctest.h>

using namespace ptxopt::tool;
using Align = Table::Align;

namespace {

Table sample() {
  Table table({{"kernel", Align::Left, true}, {"before", Align::Right}, {"after", Align::Right}, {"note"}});
  table.addRow({"saxpy", "9", {"10", Style::Bad}, "worse"});
  table.addRow({"a_much_longer_name_of_a_kernel", "1234", "7"});
  table.addRule();
  table.addRow({"all", "1243", {"17", Style::Good}});
  return table;
}

}  // namespace

TEST_CASE("tables: columns are aligned and no line ends with blanks") {
  CHECK(sample().text({}) ==
        "kernel                          before  after  note\n"
        "saxpy                                9     10  worse\n"
        "a_much_longer_name_of_a_kernel    1234      7\n"
        "----------------------------------------------------\n"
        "all                               1243     17\n");
}

TEST_CASE("tables: names give way where the terminal is narrow, numbers do not") {
  CHECK(sample().text({.width = 40, .indent = "  "}) ==
        "  kernel            before  after  note\n"
        "  saxpy                  9     10  worse\n"
        "  a_much_...kernel    1234      7\n"
        "  --------------------------------------\n"
        "  all                 1243     17\n");
  // Nothing can make it fit: it keeps its least width.
  CHECK(sample().text({.width = 5}).find("a_muc...rnel  ") != std::string::npos);
}

TEST_CASE("tables: colours are around the text only") {
  const std::string plain = sample().text({}), coloured = sample().text({.colours = true});
  CHECK(coloured.find("     \x1b[1m\x1b[31m10\x1b[0m  worse\n") != std::string::npos);
  CHECK(coloured.find("\x1b[32m17\x1b[0m\n") != std::string::npos);
  std::string stripped;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b')
      i = coloured.find('m', i);
    else
      stripped += coloured[i];
  }
  CHECK(stripped == plain);
}

TEST_CASE("tables: markdown keeps what has a meaning in it") {
  Table table({{"name"}, {"n", Align::Right}});
  table.addRow({{"void f<int*>(a | b)", Style::Plain, true}, "1"});
  table.addRow({"a_b*c|d <x>", {"-2", Style::Bad}});
  table.addRow({{"`tick", Style::Plain, true}});
  table.addRule();
  table.addRow({"all", "3"});
  CHECK(table.markdown() ==
        "| name | n |\n"
        "|---|---:|\n"
        "| `void f<int*>(a \\| b)` | 1 |\n"
        "| a\\_b\\*c\\|d \\<x\\> | **-2** |\n"
        "| `` `tick `` | |\n"
        "| **all** | **3** |\n");
}

TEST_CASE("tables: a name cannot break a row or write to the terminal") {
  Table table({{"name"}});
  table.addRow({"a\nb\x1b[31m\x7f"});
  CHECK(table.text({}) == "name\na\\x0ab\\x1b[31m\\x7f\n");
  CHECK(table.markdown() == "| name |\n|---|\n| a\\\\x0ab\\\\x1b\\[31m\\\\x7f |\n");
}

TEST_CASE("terminal: widths count columns, and cutting keeps characters whole") {
  CHECK(displayWidth("") == 0);
  CHECK(displayWidth("kernel") == 6);
  CHECK(displayWidth("gr\u00f6\u00dfe") == 5);
  CHECK(displayWidth("\u6838") == 2);
  CHECK(shortened("abcdefghij", 10) == "abcdefghij");
  CHECK(shortened("abcdefghij", 9) == "abc...hij");
  CHECK(shortened("abcdefghij", 8) == "abc...ij");
  CHECK(shortened("abcdefghij", 3) == "...");
  CHECK(shortened("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 5) == "\u00e4...\u00fc");
  CHECK(shortened("\u6838\u6838\u6838\u6838", 7) == "\u6838...\u6838");
  for (std::size_t width = 3; width < 12; ++width)
    CHECK(displayWidth(shortened("a\u6838b\u6838c\u6838d", width)) <= width);
}

TEST_CASE("terminal: a choice of colours stands above the terminal") {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  CHECK_FALSE(hasColours(file));
  CHECK_FALSE(isTerminal(file));
  CHECK(terminalWidth(file, 77) == 77);
  chooseColours(ColourChoice::Always);
  CHECK(hasColours(file));
  chooseColours(ColourChoice::Never);
  CHECK_FALSE(hasColours(file));
  chooseColours(ColourChoice::Auto);
  std::fclose(file);
  CHECK(styled("x", Style::Strong, false) == "x");
  CHECK(styled("x", Style::Plain, true) == "x");
  CHECK(styled("", Style::Bad, true).empty());
}
