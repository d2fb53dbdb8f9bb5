// The command line as a structure.
#pragma once

#include <string>
#include <vector>

#include "guard/guard.h"
#include "ptxopt/ptxopt.h"
#include "tool/options/pass_pattern.h"

namespace ptxopt::tool {

struct CommandLine {
  enum class Action {
    Optimize,
    ListPasses,
    ListPipeline,
    ListKnobs,
    ListTestKnobs,
    ListOpcodes,
    PrintCompletion,
    WriteManual
  };

  Action action = Action::Optimize;
  std::string input;                // the only one, without --in-place
  std::vector<std::string> inputs;  // files, and folders with --in-place
  bool inPlace = false;
  std::string output = "-";
  std::string report;              // path of the JSON report, or empty
  std::vector<std::string> dumps;  // names of analyses to show
  std::string dumpFile = "-";
  bool writesOutput = true;  // false: only dumps were asked for
  Options options;
  guard::GuardOptions guard;
  std::string specialize;  // the suffix; empty: no copies
  bool checkFacts = false;
  bool stripDebug = false;
  std::string externals;  // whose functions may be called undeclared; empty: not said
  bool verify = false;    // run input and output and compare
  bool warnUnknown = false, warnUninitialised = false;
  bool timeReport = false;
  bool stats = false;
  bool verbose = false;
  std::string shell;                   // of --completion
  std::string manualFolder;            // of --write-manual
  PassPattern remarks, remarksMissed;  // passes whose remarks are printed
};

// Reads the arguments. False when the program is to end with `exitCode`: after --help, or with a message on
// standard error.
bool readCommandLine(int argc, char** argv, CommandLine& line, int& exitCode);

}  // namespace ptxopt::tool
