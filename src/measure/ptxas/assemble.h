// Asking ptxas what it makes of a PTX text.
//
// Each run has a folder of its own, a time limit, and no say beyond its figures: what it prints is kept for
// messages, the code is read and thrown away. Figures are kept in the cache; refusals are not. A text that calls
// functions of other files is only taken as relocatable code: where ptxas refuses it as a whole program for that
// reason, it is asked again with -c.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/cache.h"
#include "ptxas/cubin.h"
#include "ptxas/measures.h"

namespace ptxopt::ptxas {

// What runs of ptxas took, added up, from several threads.
struct PtxasTimes {
  std::atomic<unsigned> runs = 0;
  std::atomic<double> wallSeconds = 0, cpuSeconds = 0;
};

struct PtxasSettings {
  std::string program;                 // see find.h
  std::vector<std::string> arguments;  // besides -arch, -v, the file and -o
  double timeoutSeconds = 600;
  Cache* cache = nullptr;    // none: always run it
  LaunchSizes launches;      // of kernels that the text does not say all of
  bool keepsOutput = false;  // what ptxas made is of interest, not the figures alone
  PtxasTimes* times = nullptr;
};

// What a run of ptxas made, but for -v: as it would be for who calls it with the same arguments.
struct PtxasOutput {
  std::string cubin;
  std::string out, err;  // what it wrote to its streams
  std::string input;     // its input, as these name it
};

// What messages of ptxas call the text.
inline constexpr const char* kInputName = "in.ptx";

struct Assembly {
  enum class Status {
    Ok,
    NoProgram,  // there is no ptxas, or it could not be started
    Refused,    // it says that the text is wrong
    Failed,     // it crashed, took too long, or wrote no cubin that can be read
    NoFolder,   // temporary files cannot be written: it was not asked, or could not answer
  };
  Status status = Status::Failed;
  Measures measures;
  std::string error;  // why there are none, in words
  bool fromCache = false;
  double cpuSeconds = 0;  // of ptxas, where it was run
  // If it is to be kept, and the text was assembled now, as a whole program unless the arguments say otherwise.
  std::optional<PtxasOutput> output;

  explicit operator bool() const { return status == Status::Ok; }
};

// The architecture to assemble a text for if nobody says: its own, or the oldest one that ptxas 13 makes code for.
std::string architectureToAssemble(std::string_view target);

// `architecture`: "sm_90a". Safe to call from several threads.
Assembly assemble(std::string_view text, std::string_view architecture, const PtxasSettings& settings);

// What the figures of a text depend on besides the text: the program, as it is now, and how it is called. Empty: there is no
// such program.
std::string callOf(std::string_view architecture, const PtxasSettings& settings);

// "V13.0.88", or empty.
std::string versionOfPtxas(const std::string& program);

}  // namespace ptxopt::ptxas
