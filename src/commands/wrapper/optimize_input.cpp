// Exceptions and refusals of the optimizer become a line of trouble and an unchanged text. A text that calls OptiX is
// optimized without the guard, because ptxas refuses it.
#include "wrapper/optimize_input.h"

#include <fmt/format.h>

#include <exception>

#include "guard/report.h"
#include "text/parse.h"
#include "text/rewrite.h"

namespace ptxopt::wrapper {
namespace {

std::string firstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

OptimizedInput optimizeIt(std::string_view text, const Options& options, const guard::GuardOptions& guard) {
  OptimizedInput out;
  guard::GuardedResult guarded = guard::optimizeGuarded(text, options, guard);
  Result& result = guarded.result;
  if (result.status != Status::Ok) {
    out.trouble = firstLine(result.error) + kNotOptimized;
    return out;
  }
  out.notes.push_back(fmt::format("{}: {} functions, {} instructions -> {}, for {}", options.fileName,
                                  result.functions, result.instructions, result.instructionsAfter,
                                  result.architecture));
  for (const Remark& remark : result.remarks)
    if (remark.pass.empty())
      out.notes.push_back(fmt::format("{}: {} [{}]", remark.place, remark.message, remark.name));
  for (const std::string& fault : guarded.guard.avoided)
    out.notes.push_back(fmt::format("{}: written in another form: {} [guard]", options.fileName, fault));
  out.avoided = guarded.guard.avoided;
  for (const guard::KeptFunction& f : guarded.guard.kept)
    out.notes.push_back(fmt::format("{}: {}: kept as it was: {}{}{} [guard]", options.fileName, f.name, f.reason,
                                    f.detail.empty() ? "" : " ", f.detail));
  for (const guard::WithoutProfile& f : guarded.guard.withoutProfile)
    out.notes.push_back(fmt::format("{}: {}: kept without the profile: {}{}{} [guard]", options.fileName, f.name,
                                    f.reason, f.detail.empty() ? "" : " ", f.detail));
  if (!guarded.guard.trouble.empty())
    out.trouble = fmt::format("{}: {}: {}", options.fileName,
                              guarded.guard.refused ? "ptxas refuses the optimized PTX, which is left as it was"
                                                    : "the PTX cannot be compared and is left as it was",
                              firstLine(guarded.guard.trouble));
  else if (const std::string unjudged = guard::unjudgedFunctions(guarded.guard); !unjudged.empty())
    out.trouble = fmt::format("{}: {}", options.fileName, unjudged);
  out.changed = result.output != text;
  out.text = std::move(result.output);
  out.made = std::move(guarded.guard.output);
  out.reportJson = std::move(result.reportJson);
  out.dumps = std::move(result.dumps);
  out.outcomes = std::move(result.outcomes);
  return out;
}

}  // namespace

OptimizedInput optimizeInput(std::string_view text, const std::string& name, const std::string& architecture,
                             const WrapperOptions& options) {
  OptimizedInput out;
  try {
    Options o = options.optimizer;
    o.fileName = name;
    o.architecture = architecture;
    o.report = !options.report.empty();
    guard::GuardOptions guard = options.guard;
    if (o.optixExternals && !guard.isInsistent && text::callsOptix(text, name))
      guard.mode = guard::GuardMode::Off;  // ptxas refuses it
    out = optimizeIt(options.stripsDebug ? text::withoutDebug(text, name, o.optixExternals) : std::string(text), o,
                     guard);
    if (!out.text.empty()) out.changed = out.text != text;
  } catch (const std::exception& e) {
    out = {};
    out.trouble = fmt::format("{}: {}{}", name, e.what(), kNotOptimized);
  }
  if (!out.changed) out.text.assign(text);
  return out;
}

}  // namespace ptxopt::wrapper
