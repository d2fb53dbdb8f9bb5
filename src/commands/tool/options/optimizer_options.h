// The options that say how the optimizer works: those of the command line and of $PTXOPT_OPTIONS are the same.
#pragma once

#include <string>
#include <vector>

#include "ptxopt/ptxopt.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ptxopt::tool {

// Declares them in an app and puts what was said into Options. Has to live until the app has parsed.
class OptimizerOptions {
 public:
  explicit OptimizerOptions(Options& options) : options_(options) {}
  OptimizerOptions(const OptimizerOptions&) = delete;
  OptimizerOptions& operator=(const OptimizerOptions&) = delete;

  // -O, --passes, --skip-pass.
  void addPasses(CLI::App& app, const std::string& group);
  // One for each name of each knob, and what cicc has beside these: all that $PTXOPT_OPTIONS takes as a knob.
  void addKnobs(CLI::App& app);
  // After app.parse(). `usualLevel`: that without -O.
  void finish(int usualLevel = 2);

 private:
  struct KnobOption {
    std::string knob;
    CLI::Option* option;
    bool isInverted;  // it means the opposite of the knob
  };

  Options& options_;
  int level_ = 2;
  bool isHigher_ = false;  // -O3 was given
  std::vector<std::string> passes_;
  CLI::Option* levelOption_ = nullptr;
  CLI::Option* passesOption_ = nullptr;
  std::vector<KnobOption> knobOptions_;
};

}  // namespace ptxopt::tool
