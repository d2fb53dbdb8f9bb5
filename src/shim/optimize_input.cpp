#include "shim/optimize_input.h"

#include <fmt/format.h>

#include <exception>

namespace ptxopt {
namespace {

std::string firstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

OptimizedInput optimizeIt(std::string_view text, const Options& options) {
  OptimizedInput out;
  Result result = optimize(text, options);
  if (result.status != Status::Ok) {
    out.trouble = firstLine(result.error);
    return out;
  }
  out.notes.push_back(fmt::format("{}: {} functions, {} instructions -> {}, for {}", options.fileName,
                                  result.functions, result.instructions, result.instructionsAfter,
                                  result.architecture));
  for (const Remark& remark : result.remarks)
    out.notes.push_back(fmt::format("{}: {} [{}]", remark.place, remark.message, remark.name));
  out.changed = result.output != text;
  out.text = std::move(result.output);
  out.reportJson = std::move(result.reportJson);
  return out;
}

}  // namespace

OptimizedInput optimizeInput(std::string_view text, const std::string& name, const std::string& architecture,
                             const std::string& /*ptxas*/, const std::vector<std::string>& /*arguments*/,
                             const ShimOptions& options) {
  OptimizedInput out;
  try {
    Options o = options.optimizer;
    o.fileName = name;
    o.architecture = architecture;
    o.report = !options.report.empty();
    out = optimizeIt(text, o);
  } catch (const std::exception& e) {
    out = {};
    out.trouble = fmt::format("{}: {}", name, e.what());
  }
  if (!out.changed) out.text.assign(text);
  return out;
}

}  // namespace ptxopt
