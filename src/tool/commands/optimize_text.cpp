#include "tool/commands/optimize_text.h"

#include <fmt/format.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <regex>
#include <sstream>

#include "guard/report.h"
#include "tool/commands/verify_output.h"

namespace ptxopt::tool {
namespace {

bool isWanted(const std::string& passes, const std::string& pass) {
  return !passes.empty() && std::regex_match(pass, std::regex(passes));
}

// The remarks that were asked for. The others are for -v.
void writeRemarks(const Result& result, const CommandLine& line, spdlog::logger& log, std::ostream& out) {
  for (const Remark& remark : result.remarks) {
    if (remark.name == "unknown-opcode") {
      if (line.warnUnknown) out << fmt::format("{}: warning: {}\n", remark.place, remark.message);
    } else if (!remark.pass.empty()) {
      if (isWanted(remark.missed ? line.remarksMissed : line.remarks, remark.pass))
        out << fmt::format("{}: remark: {} [-Rpass{}={}]\n", remark.place, remark.message,
                           remark.missed ? "-missed" : "", remark.pass);
    } else if (remark.name == "uninitialised-register") {
      if (line.warnUninitialised)
        out << fmt::format("{}: warning: {} [-Wuninitialised]\n", remark.place, remark.message);
    } else {
      log.info("{}: {} [{}]", remark.place, remark.message, remark.name);
    }
  }
}

}  // namespace

Optimized optimizeText(std::string_view text, const CommandLine& line, const Options& options) {
  Optimized out;
  std::ostringstream messages;
  spdlog::logger log("ptxopt", std::make_shared<spdlog::sinks::ostream_sink_st>(messages));
  log.set_pattern("ptxopt: %v");
  log.set_level(line.verbose ? spdlog::level::info : spdlog::level::warn);
  log.info("{}: {} bytes", options.fileName, text.size());

  GuardedResult guarded = optimizeGuarded(text, options, line.guard);
  const bool isUnjudged = guarded.guard.noVerdict && line.guard.isInsistent;
  out.result = std::move(guarded.result);
  const Result& result = out.result;
  out.status = result.status;
  if (result.status == Status::Usage) {
    out.error = "ptxopt: error: " + result.error;
  } else if (result.status != Status::Ok) {
    out.error = result.error;
  } else {
    messages << result.dumps;
    writeRemarks(result, line, log, messages);
    if (!isUnjudged)
      messages << (line.verbose || line.stats ? guardMessages(guarded.guard, options.fileName)
                                              : guardWarnings(guarded.guard, options.fileName));
    log.info("{} functions, {} instructions -> {}, for {}", result.functions, result.instructions,
             result.instructionsAfter, result.architecture);
  }

  if (isUnjudged && out.status == Status::Ok) {
    out.status = Status::CheckFailed;
    out.error = fmt::format("{}: error: --guard=ptxas: not compared, so nothing is written: {}\n", options.fileName,
                            guarded.guard.trouble);
  }
  if (line.verify && out.status == Status::Ok) {
    const OutputCheck check = verifyOutput(text, options.fileName, result.output, options.jobs);
    for (const std::string& message : check.notCompared) log.warn("warning: {}", message);
    if (!check.difference.empty()) {
      out.status = Status::CheckFailed;
      out.error = fmt::format("{}: error: {}", options.fileName, check.difference);
    }
  }
  out.messages = messages.str();
  return out;
}

}  // namespace ptxopt::tool
