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

std::string timeReport(const Result& result, const TimesOfAll& times) {
  std::string out = fmt::format("{:<24}{:>12} {:>6} {:>12}\n", "", "CPU", "", "wall");
  const auto row = [&](std::string_view name, double seconds, bool isOurs = true, double wall = -1) {
    const std::string part =
        isOurs ? fmt::format("{:.1f}%", 100 * seconds / std::max(times.cpuSeconds, 1e-9)) : std::string();
    const std::string elapsed = wall < 0 ? std::string() : fmt::format(" {:>9.3f} ms", wall * 1e3);
    out += fmt::format("{:<24}{:>9.3f} ms {:>6}{}\n", name, seconds * 1e3, part, elapsed);
  };
  row("parse", result.parseSeconds);
  double rest = times.cpuSeconds - result.parseSeconds - result.printSeconds - times.guardCpuSeconds;
  for (const PassSummary& pass : result.passes) {
    row(pass.name, pass.seconds);
    rest -= pass.seconds;
  }
  row("print", result.printSeconds);
  if (times.guardWallSeconds > 0) row("guard", times.guardCpuSeconds, true, times.guardWallSeconds);
  row("everything else", std::max(rest, 0.0));
  row("all", times.cpuSeconds, true, times.wallSeconds);
  row("analyses, within these", result.analysisSeconds);
  if (times.ptxasRuns != 0)
    row(fmt::format("ptxas, {} run{}", times.ptxasRuns, times.ptxasRuns == 1 ? "" : "s"), times.ptxasCpuSeconds,
        false, times.ptxasWallSeconds);
  return out;
}

}  // namespace ptxopt::tool
