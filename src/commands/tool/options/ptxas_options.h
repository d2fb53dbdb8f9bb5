// Options of the commands that ask ptxas about many files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diff/bounds.h"
#include "diff/fail_on.h"
#include "diff/measure.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct PtxasLine {
  std::string program, only;
  std::vector<std::string> arguments, architectures;
  double timeout = 600;
  unsigned jobs = 0;
  bool compileTime = false;

  void addTo(CLI::App& app);
  void addCompileTime(CLI::App& app);
  // With the program that was found; it may be empty. False, with the reason in `error`, where a version that was asked for
  // is not there.
  bool options(diff::MeasureOptions& options, std::string& error) const;
  // Drops what --only leaves out. False, with the reason in `error`, where nothing is left.
  bool keep(diff::Collected& side, std::string& error) const;
};

// A version instead of a program is looked for. False, with the reason in `error`, where there is none.
bool programOf(std::string& word, std::string& error);

// Why PTX cannot be measured; empty where it can, or where there is none.
std::string whyNoPtxas(std::span<const diff::Collected> sides, const diff::MeasureOptions& options);

// Adds --fail-on, whose text goes to `text`.
void addFailOn(CLI::App& app, std::string& text);
// Adds --limit and --limits.
struct LimitLine {
  std::vector<std::string> limits, files;

  void addTo(CLI::App& app);
  bool isGiven() const { return !limits.empty() || !files.empty(); }
  // What they say; none, with the reason in `error`, where that makes no sense.
  std::optional<std::vector<diff::Bound>> bounds(std::string& error) const;
};
// What that text says; the usual where the option was not given.
std::optional<diff::FailOn> failOnOf(const CLI::App& app, const std::string& text, std::string& error);

}  // namespace ptxopt::tool
