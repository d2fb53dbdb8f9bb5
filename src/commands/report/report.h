// The report: one HTML page that shows the kernels of a module with their register pressure and their modelled time.
//
// The page holds everything it needs: its style, its program and the data, as JSON in a `script` element that is not a
// program. All that comes from the module gets into the document as text by that program, never as markup; in the
// JSON `<` is written as an escape, so that no text can end the element. What is not UTF-8 is replaced.
// Cost: linear in the module, plus the segments of live ranges.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ptxas/measures.h"
#include "ptxas/timed_cubin.h"
#include "report/source_files.h"

namespace ptxopt::report {

struct ReportOptions {
  std::string architecture;  // empty: the module's
  std::string version;       // of ptxopt
  ptxas::Measures ptxas;     // what ptxas makes of it, if it was asked
  ptxas::TimedCubin time;    // the modelled time of that
  std::string ptxasVersion;
  std::vector<std::string> notes;  // for the reader, above everything
  SourceFiles* sources = nullptr;  // the text of what .file names is read by it; nullptr: not at all
};

std::string makeReport(const Module& module, const ReportOptions& options);

}  // namespace ptxopt::report
