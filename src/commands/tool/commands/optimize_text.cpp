// The order of steps: debug information is stripped, copies for --specialize are made, the text is optimized under the
// guard, the result is verified, and checks of facts are added. The guard and --verify pass over texts that call OptiX,
// which ptxas refuses.
#include "tool/commands/optimize_text.h"

#include <fmt/format.h>

#include <stdexcept>

#include "facts/check_code.h"
#include "facts/facts.h"
#include "facts/specialize.h"
#include "guard/report.h"
#include "support/log.h"
#include "text/parse.h"
#include "text/rewrite.h"
#include "tool/commands/verify_output.h"

namespace ptxopt::tool {
namespace {

using log::Level;

void add(Optimized& to, Level level, const log::Source& source, std::string text) {
  if (!text.empty() && log::isEnabled(level)) to.messages.push_back({level, &source, std::move(text)});
}

// The remarks that were asked for. The others are for -v.
void addRemarks(const Result& result, const CommandLine& line, Optimized& out) {
  for (const Remark& remark : result.remarks) {
    if (remark.name == "unknown-opcode") {
      if (line.warnUnknown)
        add(out, Level::Warn, log::kTool, fmt::format("{}: warning: {}\n", remark.place, remark.message));
    } else if (!remark.pass.empty()) {
      if ((remark.missed ? line.remarksMissed : line.remarks).matches(remark.pass))
        add(out, Level::Asked, log::kPasses,
            fmt::format("{}: remark: {} [-Rpass{}={}]\n", remark.place, remark.message,
                        remark.missed ? "-missed" : "", remark.pass));
    } else if (remark.name == "uninitialised-register") {
      if (line.warnUninitialised)
        add(out, Level::Warn, log::kTool,
            fmt::format("{}: warning: {} [-Wuninitialised]\n", remark.place, remark.message));
    } else if (remark.name == "level") {
      add(out, Level::Warn, log::kTool, fmt::format("ptxopt: remark: {}: {}\n", remark.place, remark.message));
    } else {
      add(out, Level::Info, log::kPasses,
          fmt::format("ptxopt: {}: {} [{}]\n", remark.place, remark.message, remark.name));
    }
  }
}

// The output with code that checks the facts; they were right for the input, so they are for it.
std::string withChecks(const std::string& output, const Options& options) {
  const auto parsed = text::parse(output, options.fileName, options.optixExternals);
  Module& module = *std::get<0>(parsed);
  facts::readFacts(options.facts, options.factsName, module);
  return facts::withFactChecks(module);
}

Optimized optimizePrepared(std::string_view text, const CommandLine& line, const Options& options) {
  Optimized out;
  guard::GuardOptions guardOptions = line.guard;
  const bool isGuarded = guardOptions.mode != guard::GuardMode::Off && !guardOptions.isInsistent;
  const bool isForOptix =
      options.optixExternals && (isGuarded || line.verify) && text::callsOptix(text, options.fileName);
  if (isForOptix && isGuarded) {
    guardOptions.mode = guard::GuardMode::Off;
    add(out, Level::Info, log::kGuard,
        fmt::format("ptxopt: {}: calls functions of OptiX, which ptxas refuses: not compared\n", options.fileName));
  }
  add(out, Level::Info, log::kTool, fmt::format("ptxopt: {}: {} bytes\n", options.fileName, text.size()));

  ptxas::PtxasTimes ptxas;
  if (options.times) guardOptions.ptxas.times = &ptxas;
  guard::GuardedResult guarded = guard::optimizeGuarded(text, options, guardOptions);
  out.times.guardCpuSeconds = guarded.guard.cpuSeconds;
  out.times.guardWallSeconds = guarded.guard.mode == guard::GuardMode::Off ? 0 : guarded.guard.wallSeconds;
  out.times.ptxasRuns = ptxas.runs;
  out.times.ptxasCpuSeconds = ptxas.cpuSeconds;
  out.times.ptxasWallSeconds = ptxas.wallSeconds;
  if (guarded.guard.noFolder) {
    out.status = Status::Usage;
    out.error = fmt::format("ptxopt: error: {}\n", guarded.guard.trouble);
    return out;
  }
  const bool isUnjudged = guarded.guard.noVerdict && line.guard.isInsistent;
  out.result = std::move(guarded.result);
  const Result& result = out.result;
  out.status = result.status;
  if (result.status == Status::Usage) {
    out.error = "ptxopt: error: " + result.error;
  } else if (result.status != Status::Ok) {
    out.error = result.error;
    if (!options.optixExternals && text::callsOptix(text, options.fileName))
      out.error += "ptxopt: --externals=optix takes the functions of OptiX as they are\n";
  } else {
    add(out, Level::Asked, log::kTool, result.dumps);
    addRemarks(result, line, out);
    const guard::GuardReport& guard = guarded.guard;
    add(out, Level::Info, log::kGuard, guard::ptxasAsked(guard, options.fileName));
    if (!isUnjudged) {
      add(out, Level::Warn, log::kGuard, guard::guardWarnings(guard, options.fileName));
      add(out, line.stats ? Level::Asked : Level::Info, log::kGuard, guard::keptFunctions(guard, options.fileName));
    }
    add(out, Level::Info, log::kTool,
        fmt::format("ptxopt: {} functions, {} instructions -> {}, for {}\n", result.functions, result.instructions,
                    result.instructionsAfter, result.architecture));
  }

  if (isUnjudged && out.status == Status::Ok) {
    out.status = Status::CheckFailed;
    out.error = fmt::format("{}: error: --guard=ptxas: not compared, so nothing is written: {}\n", options.fileName,
                            guarded.guard.trouble);
  }
  if (line.verify && isForOptix && out.status == Status::Ok) {
    add(out, Level::Warn, log::kTool,
        fmt::format(
            "ptxopt: warning: {}: --verify: calls functions of OptiX, which nothing here executes: not compared\n",
            options.fileName));
  } else if (line.verify && out.status == Status::Ok) {
    const OutputCheck check = verifyOutput(text, options.fileName, result.output, options.jobs, options.facts);
    for (const std::string& message : check.notCompared)
      add(out, Level::Warn, log::kTool, fmt::format("ptxopt: warning: {}\n", message));
    if (!check.difference.empty()) {
      out.status = Status::CheckFailed;
      out.error = fmt::format("{}: error: {}", options.fileName, check.difference);
    }
  }
  try {
    if (line.checkFacts && out.status == Status::Ok) out.result.output = withChecks(result.output, options);
  } catch (const std::invalid_argument& e) {
    out.status = Status::Usage;
    out.error = fmt::format("ptxopt: error: --facts-check: {}\n", e.what());
  }
  return out;
}

}  // namespace

Optimized optimizeText(std::string_view text, const CommandLine& line, const Options& options) {
  // What is compared, verified and reported is then the text without debug information.
  std::string stripped;
  if (line.stripDebug) text = stripped = text::withoutDebug(text, options.fileName, options.optixExternals);
  if (line.specialize.empty()) return optimizePrepared(text, line, options);
  // What is compared, verified and reported from here on is the text with the copies, whose facts are comments.
  Optimized out;
  const auto parsed = text::parse(text, options.fileName, options.optixExternals);
  if (std::holds_alternative<text::ParseError>(parsed))
    return optimizePrepared(text, line, options);  // which says so
  Module& module = *std::get<0>(parsed);
  std::string error = facts::readFacts(options.facts, options.factsName, module);
  facts::Specialized specialized;
  try {
    if (error.empty()) specialized = facts::withSpecialized(module, line.specialize);
    if (error.empty() && specialized.kernels.empty()) error = "--specialize: no kernel has facts";
  } catch (const std::invalid_argument& e) {
    error = fmt::format("--specialize: {}", e.what());
  }
  if (!error.empty()) {
    out.status = Status::Usage;
    out.error = "ptxopt: error: " + error + "\n";
    return out;
  }
  Options prepared = options;
  prepared.facts.clear();
  out = optimizePrepared(specialized.text, line, prepared);
  for (const std::string& kernel : specialized.kernels)
    add(out, Level::Asked, log::kTool,
        fmt::format("ptxopt: {}: '{}' has a copy for its facts, '{}{}'\n", options.fileName, kernel, kernel,
                    line.specialize));
  return out;
}

}  // namespace ptxopt::tool
