// Reasons are counted in two maps, for loops and for groups, while loops are handled, and given to the pass's declines
// at the end; descriptions of loops are made only if somebody reads them.
#include "passes/addressing/loop_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace ptxopt {

namespace {

// Whether a group stays as it is, and formulas were rejected for their registers.
bool lacksRoom(const GroupForms& g) {
  return g.chosen == 0 && std::ranges::any_of(g.formulas, [](const Formula& f) { return f.bad == kNoRoom; });
}

}  // namespace

std::string LoopReports::text(ExprId e) const {
  return context_.analyses.scalarEvolution().toString(e, [&](RegId r, ValueId v) {
    const Register& reg = f_.registers[r.value];
    const std::string_view spelled = reg.name.valid() ? context_.module.text(reg.name) : "made";
    return fmt::format("{}:{}", spelled, v.value);
  });
}

LoopReport& LoopReports::begin(LoopId l) {
  const Cfg& cfg = context_.analyses.cfg();
  const Loops& loops = context_.analyses.loops();
  LoopReport& report = context_.report.loops.emplace_back();
  const Block& header = cfg[loops[l].header];
  if (f_[header.first].kind == InstrKind::Label && f_.labels[f_[header.first].payload].name.valid())
    report.header = context_.module.text(f_.labels[f_[header.first].payload].name);
  for (InstrId id = header.first; id.valid(); id = id == header.last ? InstrId() : f_[id].next) {
    if (const Loc* loc = f_.lineOf(f_[id]); loc != nullptr && report.line.line == 0) report.line = *loc;
    if (f_[id].isInstruction()) {
      report.sourceBegin = f_[id].sourceBegin;
      break;
    }
  }
  report.depth = loops[l].depth;
  const TripCount& trip = context_.analyses.scalarEvolution().tripCount(l);
  report.tripCount = trip.exact.valid() ? text(trip.exact) : fmt::format("unknown ({})", trip.unknown);
  if (trip.most) report.tripCount += fmt::format(", at most {}", *trip.most);
  return report;
}

void LoopReports::decline(LoopId l, std::string_view reason) {
  if (context_.describesLoops) begin(l).declined = reason;
  ++loops_[reason];
}

LoopReport::Group& LoopReports::describe(LoopReport& report, const UseGroup& group) const {
  LoopReport::Group& to = report.groups.emplace_back();
  to.space = name(group.space);
  to.uses = group.uses.size();
  to.address = text(group.uses.front().address);
  to.sourceBegin = f_[group.uses.front().instruction].sourceBegin;
  return to;
}

void LoopReports::tell(LoopId l, std::span<const GroupForms> groups, std::span<const SkippedGroup> skipped,
                       bool stepsChange, const SelectionResult& result) {
  for (const SkippedGroup& g : skipped) ++groups_[g.why];
  const std::string_view declined = whyUnchanged(groups, skipped, stepsChange);
  // Where all groups were skipped, each is counted by itself already.
  if (!declined.empty() && (!groups.empty() || skipped.empty())) ++loops_[declined];
  if (const auto n = std::ranges::count_if(groups, lacksRoom); n != 0 && declined.empty())
    groups_[kNoRoom] += static_cast<uint64_t>(n);
  if (!context_.describesLoops) return;
  LoopReport& report = begin(l);
  if (!groups.empty()) report.instructions = {result.before, result.after};
  report.declined = declined;
  for (const GroupForms& g : groups) {
    LoopReport::Group& to = describe(report, *g.group);
    for (std::size_t k = 0; k < g.formulas.size(); ++k) {
      const Formula& f = g.formulas[k];
      to.forms.push_back(
          {addressForm(f.kind).name, f.perIteration, f.setup, f.saved, f.registers, f.bad, k == g.chosen});
    }
  }
  for (const SkippedGroup& g : skipped) describe(report, *g.group).declined = g.why;
}

std::string_view LoopReports::whyUnchanged(std::span<const GroupForms> groups,
                                           std::span<const SkippedGroup> skipped, bool stepsChange) {
  if (stepsChange || std::ranges::any_of(groups, [](const GroupForms& g) { return g.chosen != 0; })) return {};
  if (std::ranges::any_of(groups, lacksRoom)) return kNoRoom;
  if (!groups.empty()) return "not-better";
  return skipped.empty() ? "no-uses" : skipped.front().why;
}

void LoopReports::tellDeclines() {
  for (const auto& [reason, n] : loops_) context_.decline(reason, fmt::format("{} loop{}", n, n == 1 ? "" : "s"));
  for (const auto& [reason, n] : groups_)
    context_.decline(reason, fmt::format("{} group{} of addresses", n, n == 1 ? "" : "s"));
}

}  // namespace ptxopt
