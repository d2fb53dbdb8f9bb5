// What `ptxopt time` found out, and how it says it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptxas/timed_cubin.h"

namespace ptxopt::tool {

struct SourceLine {
  std::string file;
  uint32_t line = 0;
};

struct TimeReport {
  std::string file, architecture, ptxas;   // ptxas: its version; empty where not known
  uint32_t figuresOf = 0;                  // the architecture whose figures the model has
  double iterations = 0;                   // assumed of each loop
  std::string profile;                     // the file that says iterations instead; empty: none
  std::vector<std::string_view> ptx;       // its lines; none for a cubin
  std::map<uint32_t, SourceLine> sources;  // of lines of the PTX
  std::vector<ptxas::TimedFunction> functions;

  // The line of the PTX without blanks around it; empty where there is none.
  std::string_view textOf(uint32_t line) const;
  // The line of the PTX, or of the source where the PTX names it; nullptr where not known.
  const SourceLine* sourceOf(uint32_t line) const;
};

struct TimeTextOptions {
  bool colours = false;
  std::size_t width = 0;  // of the terminal; 0: none
  bool path = false;      // the critical path of each loop
  bool code = false;      // each instruction
};

std::string timeText(const TimeReport& report, const TimeTextOptions& options);
// schemas/time.schema.json. With `code`: each instruction, too.
std::string timeJson(const TimeReport& report, bool code);

}  // namespace ptxopt::tool
