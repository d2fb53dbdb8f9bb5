// What a pass reports of what it did, for the reports and the remarks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"
#include "passes/manager/pass_counters.h"

namespace ptxopt {

// Why a pass left something as it was. `reason` is one of a fixed set of names.
struct Decline {
  std::string_view reason;
  std::string detail;
};

// Something that a pass expects or found, for the user.
struct Note {
  std::string_view name;  // one of a fixed set of names
  std::string text;
};

// What a pass found of a loop, and did with it.
struct LoopReport {
  struct Form {
    std::string_view name;
    double perIteration = 0;    // machine instructions, by the pass's cost
    int setup = 0;              // ... before the loop
    int saved = 0;              // ... that are no longer needed there
    int registers = 0;          // 32-bit units that it adds
    std::string_view rejected;  // why it could not be chosen
    bool chosen = false;
  };
  struct Group {
    std::string_view space;
    std::size_t uses = 0;
    std::string address;  // in terms of scalar evolution
    std::vector<Form> forms;
    uint32_t sourceBegin = 0;   // of the first use
    std::string_view declined;  // why there are no forms; empty when there are
  };
  std::string header;        // its label, or empty
  uint32_t sourceBegin = 0;  // of the first instruction, in the module's text
  Loc line;                  // where that comes from; line 0: not said
  uint32_t depth = 1;
  std::string tripCount;  // "unknown" and why, or an expression
  std::vector<Group> groups;
  struct Instructions {
    double before = 0, after = 0;
  };
  std::optional<Instructions> instructions;  // integer, an iteration; where a group may take several forms
  std::string_view declined;                 // why nothing was done; empty when something was
};

struct PassReport {
  std::string_view pass;  // as the step of the pipeline is called: "dce@2"
  bool changed = false;
  bool skipped = false;  // nothing had changed since it ran last, or it only tidies
  PassCounters counters;
  std::vector<Decline> declines;
  std::vector<Note> notes;
  std::vector<LoopReport> loops;
  double seconds = 0;  // CPU time of the thread, if Options::times
};

}  // namespace ptxopt
