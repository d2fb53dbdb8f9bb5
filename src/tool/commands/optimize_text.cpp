#include "tool/commands/optimize_text.h"

#include <fmt/format.h>

#include "guard/report.h"
#include "tool/commands/verify_output.h"

namespace ptxopt::tool {
namespace {

// The remarks that were asked for. The others are for -v.
void writeRemarks(const Result& result, const CommandLine& line, std::string& out) {
  for (const Remark& remark : result.remarks) {
    if (remark.name == "unknown-opcode") {
      if (line.warnUnknown) out += fmt::format("{}: warning: {}\n", remark.place, remark.message);
    } else if (!remark.pass.empty()) {
      if ((remark.missed ? line.remarksMissed : line.remarks).matches(remark.pass))
        out += fmt::format("{}: remark: {} [-Rpass{}={}]\n", remark.place, remark.message,
                           remark.missed ? "-missed" : "", remark.pass);
    } else if (remark.name == "uninitialised-register") {
      if (line.warnUninitialised)
        out += fmt::format("{}: warning: {} [-Wuninitialised]\n", remark.place, remark.message);
    } else if (line.verbose) {
      out += fmt::format("ptxopt: {}: {} [{}]\n", remark.place, remark.message, remark.name);
    }
  }
}

}  // namespace

Optimized optimizeText(std::string_view text, const CommandLine& line, const Options& options) {
  Optimized out;
  std::string& messages = out.messages;
  if (line.verbose) messages = fmt::format("ptxopt: {}: {} bytes\n", options.fileName, text.size());

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
    messages += result.dumps;
    writeRemarks(result, line, messages);
    if (const GuardReport& guard = guarded.guard; line.verbose && !guard.ptxas.empty())
      messages += fmt::format("ptxopt: {}: ptxas: {} ({}) [guard]\n", options.fileName, guard.ptxas, guard.why);
    if (!isUnjudged)
      messages += line.verbose || line.stats ? guardMessages(guarded.guard, options.fileName)
                                             : guardWarnings(guarded.guard, options.fileName);
    if (line.verbose)
      messages += fmt::format("ptxopt: {} functions, {} instructions -> {}, for {}\n", result.functions,
                              result.instructions, result.instructionsAfter, result.architecture);
  }

  if (isUnjudged && out.status == Status::Ok) {
    out.status = Status::CheckFailed;
    out.error = fmt::format("{}: error: --guard=ptxas: not compared, so nothing is written: {}\n", options.fileName,
                            guarded.guard.trouble);
  }
  if (line.verify && out.status == Status::Ok) {
    const OutputCheck check = verifyOutput(text, options.fileName, result.output, options.jobs, options.facts);
    for (const std::string& message : check.notCompared) messages += fmt::format("ptxopt: warning: {}\n", message);
    if (!check.difference.empty()) {
      out.status = Status::CheckFailed;
      out.error = fmt::format("{}: error: {}", options.fileName, check.difference);
    }
  }
  return out;
}

}  // namespace ptxopt::tool
