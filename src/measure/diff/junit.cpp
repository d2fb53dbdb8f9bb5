// A suite holds the rows of one architecture, with a test case for each; a regression is a failure and a problem an
// error. Characters that XML 1.0 cannot hold become question marks.
#include <fmt/format.h>

#include <map>

#include "diff/names.h"
#include "diff/output.h"

namespace ptxopt::diff {
namespace {

// Text of an element or an attribute. XML 1.0 has no way to write most control characters, nor bytes that are not
// UTF-8: '?'.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = c < 0x80                ? 1
                               : c >= 0xC2 && c < 0xE0 ? 2
                               : c >= 0xE0 && c < 0xF0 ? 3
                               : c >= 0xF0 && c < 0xF5 ? 4
                                                       : 0;
    bool isWhole = length != 0 && i + length <= text.size();
    for (std::size_t k = 1; isWhole && k < length; ++k)
      isWhole = (static_cast<unsigned char>(text[i + k]) & 0xC0) == 0x80;
    // Surrogates, what is written longer than needed, what is beyond Unicode, and the two that are not characters.
    if (isWhole && length > 2) {
      const auto d = static_cast<unsigned char>(text[i + 1]);
      isWhole =
          !((c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0) || (c == 0xF0 && d < 0x90) ||
            (c == 0xF4 && d >= 0x90) || text.substr(i, 3) == "\xEF\xBF\xBE" || text.substr(i, 3) == "\xEF\xBF\xBF");
    }
    if (!isWhole || (c < 0x20 && c != '\t' && c != '\n')) {
      out += '?';
      ++i;
      continue;
    }
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

struct Suite {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string cases;

  // `outcome`: an element or nothing.
  void add(std::string_view className, std::string_view caseName, const std::string& outcome) {
    ++tests;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escaped(className), escaped(caseName));
    cases += outcome.empty() ? "/>\n" : fmt::format(">\n      {}\n    </testcase>\n", outcome);
  }
  std::string counts() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures, errors,
                       skipped);
  }
};

void addRow(const Row& row, Suite& suite) {
  std::string outcome;
  if (row.change == Change::Regression) {
    ++suite.failures;
    std::string message;
    for (const Regression& r : row.regressions) message += (message.empty() ? "" : ", ") + text(r);
    for (const Breach& b : row.breaches) message += (message.empty() ? "" : ", ") + text(b);
    if (!row.after) message = "the kernel is gone";
    outcome = fmt::format("<failure type=\"regression\" message=\"{}\">{}</failure>", escaped(message),
                          escaped(differences(row)));
  } else if (row.change == Change::Missing) {
    ++suite.skipped;
    outcome = "<skipped message=\"only on the side before\"/>";
  }
  // What fails nothing, and is of interest.
  if (outcome.empty() && row.isCompared() && row.change != Change::Same) {
    const std::string by =
        row.by.sign == 0 ? std::string() : fmt::format(" by {}: {}", ptxas::name(row.by.by), row.by.text());
    outcome = fmt::format("<system-out>{}</system-out>",
                          escaped(fmt::format("{}{}; {}", name(row.change), by, differences(row))));
  }
  suite.add(row.file, fullName(row.name, {}) + (row.isKernel ? "" : " (device function)"), outcome);
}

}  // namespace

std::string writeJunit(const Result& result) {
  std::map<std::string, Suite> suites;
  for (const Row& row : result.rows) addRow(row, suites[row.architecture]);
  if (!result.problems.empty()) {
    Suite& suite = suites["not compared"];
    for (const Problem& p : result.problems) {
      ++suite.errors;
      suite.add(p.file.empty() ? "ptxopt" : p.file, p.architecture.empty() ? "comparison" : p.architecture,
                fmt::format("<error type=\"not-compared\" message=\"{}\"/>", escaped(text(p))));
    }
  }
  Suite all;
  std::string body;
  for (const auto& [name, suite] : suites) {
    all.tests += suite.tests;
    all.failures += suite.failures;
    all.errors += suite.errors;
    all.skipped += suite.skipped;
    body +=
        fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", escaped(name), suite.counts(), suite.cases);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ptxopt diff\" {}>\n{}</testsuites>\n",
      all.counts(), body);
}

}  // namespace ptxopt::diff
