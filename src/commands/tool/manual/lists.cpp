// Each list has fixed columns and one row for each pass, step, knob or opcode. Time that no pass accounts for is a row
// of its own.
#include "tool/manual/lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes/manager/pipeline.h"

namespace ptxopt::tool {

namespace {

// " (also: dce)"
std::string also(const std::vector<std::string_view>& aliases) {
  return aliases.empty() ? "" : fmt::format(" (also: {})", fmt::join(aliases, ", "));
}

}  // namespace

std::string listPasses() {
  std::string out;
  for (const PassDescription& p : describePasses())
    out += fmt::format("{:<24}{:<12}{}{}\n", p.name, p.level <= 2 ? fmt::format("-O{}", p.level) : "on request",
                       p.summary, also(p.aliases));
  return out;
}

std::string listPipeline() {
  std::string out, error;
  for (const Step& step : makePipeline({}, {}, error))
    out += fmt::format("{:<24}-O{}  {:<16}{}\n", step.name, step.level, name(step.kind), asksOf(*step.pass));
  return out;
}

std::string listKnobs(bool isForTests) {
  std::string out;
  for (const KnobDescription& k : describeKnobs()) {
    if (k.isForTests != isForTests) continue;
    out += k.values.empty()
               ? fmt::format("{:<32} {:>8} in {}..{}  {}", k.name, k.defaultValue, k.least, k.most, k.summary)
               : fmt::format("{:<32} {:>8} in {}  {}", k.name, k.defaultName, k.values, k.summary);
    for (const KnobDescription::Alias& alias : k.aliases)
      out += fmt::format(" ({}: {})", alias.isInverted ? "its opposite in cicc" : "in cicc", alias.name);
    out += '\n';
  }
  return out;
}

std::string listOpcodes() {
  std::string out;
  for (const OpcodeDescription& o : describeOpcodes())
    out +=
        fmt::format("{:<40}{:<10}{:<44}{}\n", o.name, o.operands.empty() ? "-" : o.operands, o.effects, o.summary);
  return out;
}

std::string statistics(const Result& result) {
  std::string out = fmt::format("{} functions, {} instructions -> {}\n", result.functions, result.instructions,
                                result.instructionsAfter);
  for (const PassSummary& pass : result.passes) {
    out += fmt::format("{:<24}{} functions changed", pass.name, pass.changedFunctions);
    if (pass.skippedFunctions != 0) out += fmt::format(", {} skipped", pass.skippedFunctions);
    for (const auto& [counter, n] : pass.counters) out += fmt::format(", {} {}", n, counter);
    out += '\n';
  }
  for (const Remark& remark : result.remarks)
    out += fmt::format("{}: {}: {}\n", remark.name, remark.place, remark.message);
  return out;
}

std::string timeReport(const Result& result, double totalSeconds) {
  std::string out;
  const auto row = [&](std::string_view name, double seconds) {
    out += fmt::format("{:<24}{:>9.3f} ms {:>5.1f}%\n", name, seconds * 1e3,
                       100 * seconds / std::max(totalSeconds, 1e-9));
  };
  row("parse", result.parseSeconds);
  double rest = totalSeconds - result.parseSeconds - result.printSeconds;
  for (const PassSummary& pass : result.passes) {
    row(pass.name, pass.seconds);
    rest -= pass.seconds;
  }
  row("print", result.printSeconds);
  row("everything else", std::max(rest, 0.0));
  row("CPU time in all", totalSeconds);
  return out;
}

}  // namespace ptxopt::tool
