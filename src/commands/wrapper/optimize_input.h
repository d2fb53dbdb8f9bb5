// Optimizing one input of the drop-in ptxas: whatever goes wrong, there is a text to go on with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/guard.h"
#include "ptxopt/ptxopt.h"
#include "wrapper/client.h"

namespace ptxopt::wrapper {

// Ends each reason for which an input is given to ptxas as it is.
inline constexpr const char* kNotOptimized = "; the PTX is left as it is";

// What $PTXOPT_OPTIONS and other variables say, and who called.
struct WrapperOptions {
  Options optimizer;          // architecture and file name are those of each input
  guard::GuardOptions guard;  // architecture and arguments are those of ptxas's command line
  std::string ptxas;          // not empty: the real one
  Client client;
  std::string versionLine;   // what the output of --version has in addition, for a client that is keyed by it
  std::string log;           // not empty: a file that gets a line for each call
  bool stripsDebug = false;  // debug information goes first
  bool leavesAlone = false;  // touch nothing: somebody before us did
  std::vector<std::string> warnings;  // of the environment, which are not a reason to touch nothing
  std::vector<std::string> remarks;   // ... and not even wrong
  std::string mistake;                // not empty: $PTXOPT_OPTIONS makes no sense, no PTX is touched
  std::string report;     // a file, or a folder (with a slash at its end, or there already) for one report an input
  bool keepsPtx = false;  // write what ptxas gets beside the input, as NAME.ptxopt.ptx
  bool verbose = false;   // say what is done
};

struct OptimizedInput {
  std::string text;                  // to be assembled
  bool changed = false;              // ... and not the one that was given
  std::string trouble;               // what went wrong, in a line
  std::vector<std::string> avoided;  // what ptxas is known to make wrong code of, and this text has no longer
  std::vector<std::string> notes;    // for who asked for more words
  std::string dumps;                 // of functions before passes, as asked for
  std::string reportJson;
  std::vector<FunctionOutcome> outcomes;   // if Options::outcomes
  std::optional<ptxas::PtxasOutput> made;  // what ptxas made of this text, where the guard had it assembled
};

// `architecture`: that ptxas was asked for; empty: none. `guard` has what ptxas is to be asked with.
OptimizedInput optimizeInput(std::string_view text, const std::string& name, const std::string& architecture,
                             const WrapperOptions& options);

}  // namespace ptxopt::wrapper
