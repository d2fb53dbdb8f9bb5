// Each function has a table of its regions, then for each loop its details with the longest waits of a warp alone, then
// with --code its instructions.
#include <fmt/format.h>

#include <algorithm>

#include "diff/names.h"
#include "sass/decode.h"
#include "support/printable.h"
#include "tool/commands/time_report.h"
#include "tool/terminal/table.h"

namespace ptxopt::tool {
namespace {

using namespace timing;

constexpr std::size_t kMostText = 60;  // columns of a line of PTX
constexpr double kShown = 0.05;        // cycles: less is shown as nothing

std::string cyclesText(double cycles) { return fmt::format("{:.1f}", cycles); }

std::string blankTabs(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\t', ' ');
  return out;
}

class FunctionText {
 public:
  FunctionText(const TimeReport& report, const ptxas::TimedFunction& f, const TimeTextOptions& options)
      : report_(report), f_(f), options_(options), machine_(f.code.target.machine()) {}

  std::string text() {
    heading();
    regions();
    for (const RegionTime& r : f_.time.regions)
      if (r.region.loop != Region::kNone) loopDetails(r);
    if (options_.code) code();
    return std::move(out_);
  }

 private:
  const sass::Instruction& at(uint32_t i) const { return f_.code.instructions[i]; }

  void heading() {
    out_ += styled(diff::fullName(f_.name, {}), Style::Strong, options_.colours);
    out_ += fmt::format(", {}", report_.architecture);
    if (f_.isKernel)
      out_ += fmt::format(", {} registers, {} resident warps with {} threads a block", f_.registers, f_.time.warps,
                          f_.threads);
    out_ += '\n';
  }

  uint32_t depthOf(const RegionTime& r) const {
    return r.region.loop == Region::kNone ? 0 : f_.code.flow.loops()[r.region.loop].depth;
  }

  void regions() {
    Table table({{"cycles of a warp, an iteration", Table::Align::Left},
                 {"iterations", Table::Align::Right},
                 {"", Table::Align::Left},
                 {"instr.", Table::Align::Right},
                 {"L1", Table::Align::Right},
                 {"", Table::Align::Left},
                 {"L2", Table::Align::Right},
                 {"", Table::Align::Left},
                 {"DRAM", Table::Align::Right},
                 {"", Table::Align::Left}});
    for (const RegionTime& r : f_.time.regions) {
      std::vector<Table::Cell> row{std::string(2 * depthOf(r), ' ') + nameOf(f_, r),
                                   fmt::format("{:.6g}", r.region.iterations)};
      const bool isLoop = r.region.loop != Region::kNone;
      row.emplace_back(isLoop ? std::string(nameOf(r.region.from)) : std::string(), Style::Faint);
      row.emplace_back(cyclesText(r.work.instructions));
      for (std::size_t s = 0; s < kScenarios; ++s) {
        row.emplace_back(cyclesText(r.scenarios[s].cycles));
        row.emplace_back(nameOf(r.scenarios[s].bottleneck, static_cast<Scenario>(s)), Style::Faint);
      }
      table.addRow(std::move(row));
    }
    table.addRule();
    for (const ptxas::TimedBody& body : f_.bodies) {
      const bool isForOthers = &body == &f_.bodies.back();
      addSum(table,
             fmt::format("body {}lines {}-{}", isForOthers ? "for all others, " : "", body.of.firstLine,
                         body.of.lastLine),
             body.time.whole.scenarios, fmt::format("{:.3g}%", 100 * body.of.share),
             nameOf(body.of.isSeen ? IterationsFrom::Profiled : IterationsFrom::Assumed));
    }
    addSum(table, f_.bodies.empty() ? "the whole, all iterations" : "all launches", f_.time.whole.scenarios);
    addSum(table, f_.time.warpsAlone == kParts ? "with one warp per scheduler" : "with one block",
           f_.time.whole.alone);
    out_ += table.text({.colours = options_.colours, .width = options_.width, .indent = "  "});
  }

  static void addSum(Table& table, std::string name, const std::array<ScenarioTime, kScenarios>& times,
                     std::string share = {}, std::string_view from = {}) {
    std::vector<Table::Cell> sum{std::move(name), std::move(share)};
    sum.emplace_back(std::string(from), Style::Faint);
    sum.emplace_back("");
    for (std::size_t s = 0; s < kScenarios; ++s) {
      sum.emplace_back(fmt::format("{:.0f}", times[s].cycles), Style::Strong);
      sum.emplace_back(nameOf(times[s].bottleneck, static_cast<Scenario>(s)), Style::Faint);
    }
    table.addRow(std::move(sum));
  }

  void loopDetails(const RegionTime& r) {
    out_ += fmt::format("\n  {}\n    units, cycles an iteration:", nameOf(f_, r));
    std::vector<std::pair<double, std::size_t>> units;
    for (std::size_t u = 0; u < kUnits; ++u)
      if (r.units[u] >= kShown) units.emplace_back(r.units[u], u);
    std::ranges::sort(units, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (std::size_t i = 0; i < units.size(); ++i)
      out_ += fmt::format("{} {} {:.1f}", i == 0 ? "" : ",", nameOf(static_cast<Unit>(units[i].second)),
                          units[i].first);
    out_ += fmt::format("\n    a warp alone, cycles an iteration: L1 {:.0f}, L2 {:.0f}, DRAM {:.0f}\n",
                        r.scenarios[0].latency, r.scenarios[1].latency, r.scenarios[2].latency);
    waits(r);
    if (options_.path) path(r);
  }

  std::string describe(uint32_t i) const {
    const uint32_t line = f_.lineOf(i);
    std::string text = fmt::format("{:#06x} {}", i * sass::kInstructionBytes, sass::mnemonicOf(at(i).opcode));
    if (line != 0)
      text += fmt::format(" (line {}: {})", line, shortened(printable(blankTabs(report_.textOf(line))), kMostText));
    return text;
  }

  // The longest waits of a warp alone, with what they are for.
  void waits(const RegionTime& r) {
    constexpr std::size_t kMost = 3;
    const Trace trace = traceOf(f_.code, r.region, machine_, Scenario::L2);
    std::vector<const Issue*> longest;
    for (const Issue& i : trace.issues)
      if (i.wait >= kShown && i.waitedFor != Issue::kNone) longest.push_back(&i);
    std::ranges::stable_sort(longest, std::ranges::greater(), &Issue::wait);
    if (longest.size() > kMost) longest.resize(kMost);
    for (const Issue* i : longest) {
      const Issue& cause = trace.issues[i->waitedFor];
      out_ += fmt::format("    waits {:.0f} cycles (L2) at {}\n      for {}{}\n", i->wait, describe(i->instruction),
                          describe(cause.instruction), i->isFromIterationBefore ? " of the iteration before" : "");
    }
  }

  void path(const RegionTime& r) {
    const Trace trace = traceOf(f_.code, r.region, machine_, Scenario::L2);
    out_ += "    critical path of a warp alone (L2)\n";
    for (const PathStep& step : criticalPath(trace))
      out_ += fmt::format("      {:>6.1f}  {}\n", step.cycles, describe(trace.issues[step.issue].instruction));
  }

  void code() {
    out_ += "\n";
    Table table({{"at", Table::Align::Left},
                 {"instruction", Table::Align::Left},
                 {"times", Table::Align::Right},
                 {"stall", Table::Align::Right},
                 {"wait", Table::Align::Right},
                 {"for", Table::Align::Left},
                 {"kind", Table::Align::Left},
                 {"line", Table::Align::Right},
                 {"PTX", Table::Align::Left, true}});
    std::map<uint32_t, std::vector<Table::Cell>> rows;  // by address
    for (const RegionTime& r : f_.time.regions) {
      const Trace trace = traceOf(f_.code, r.region, machine_, Scenario::L2);
      for (const Issue& i : trace.issues) {
        const uint32_t line = f_.lineOf(i.instruction);
        std::string cause;
        if (i.wait >= kShown && i.waitedFor != Issue::kNone)
          cause = fmt::format("{:#06x}{}", trace.issues[i.waitedFor].instruction * sass::kInstructionBytes,
                              i.isFromIterationBefore ? " before" : "");
        rows[i.instruction] = {fmt::format("{:#06x}", i.instruction * sass::kInstructionBytes),
                               std::string(sass::mnemonicOf(at(i.instruction).opcode)),
                               fmt::format("{:.6g}", i.frequency * r.region.iterations),
                               fmt::format("{}", at(i.instruction).control.stall),
                               i.wait >= kShown ? fmt::format("{:.0f}", i.wait) : "",
                               cause,
                               std::string(nameOf(f_.code.operations[i.instruction].kind)),
                               line == 0 ? "" : fmt::format("{}", line),
                               blankTabs(report_.textOf(line))};
      }
    }
    for (auto& [at, row] : rows) table.addRow(std::move(row));
    out_ += table.text({.colours = options_.colours, .width = options_.width, .indent = "  "});
  }

  const TimeReport& report_;
  const ptxas::TimedFunction& f_;
  const TimeTextOptions& options_;
  const Machine& machine_;
  std::string out_;
};

}  // namespace

std::string_view TimeReport::textOf(uint32_t line) const {
  if (line == 0 || line > ptx.size()) return {};
  std::string_view text = ptx[line - 1];
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

const SourceLine* TimeReport::sourceOf(uint32_t line) const {
  const auto found = sources.find(line);
  return found == sources.end() ? nullptr : &found->second;
}

std::string timeText(const TimeReport& report, const TimeTextOptions& options) {
  std::string out;
  for (const ptxas::TimedFunction& f : report.functions) {
    if (!out.empty()) out += '\n';
    out += FunctionText(report, f, options).text();
  }
  return out;
}

}  // namespace ptxopt::tool
