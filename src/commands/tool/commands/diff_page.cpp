// A row's history is looked up in each older version under its present file, architecture and name, and otherwise under
// those that it had before.
#include "tool/commands/diff_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "diff/names.h"
#include "diff/output.h"
#include "report/page.h"
#include "support/json.h"
#include "tool/commands/diff_output.h"
#include "tool/commands/diff_table.h"
#include "tool/revision.h"

namespace ptxopt::tool {
namespace {

// Figures of a version, by file, architecture and name.
class Version {
 public:
  explicit Version(const diff::Side& side) {
    for (const diff::Unit& unit : side.units)
      for (const ptxas::FunctionMeasures& f : unit.measures.functions)
        functions_.emplace(std::tuple(unit.file, unit.measures.architecture, f.name), &f);
  }

  // Under the names of today, otherwise those that it had before.
  const ptxas::FunctionMeasures* find(const diff::Row& row) const {
    const auto orOld = [](const std::string& old, const std::string& now) { return old.empty() ? now : old; };
    for (const auto& key : {std::tuple(row.file, row.architecture, row.name),
                            std::tuple(orOld(row.oldFile, row.file), orOld(row.oldArchitecture, row.architecture),
                                       orOld(row.oldName, row.name))})
      if (const auto found = functions_.find(key); found != functions_.end()) return found->second;
    return nullptr;
  }

 private:
  std::map<std::tuple<std::string, std::string, std::string>, const ptxas::FunctionMeasures*> functions_;
};

Json orNull(const std::optional<uint64_t>& figure) { return figure ? Json(*figure) : Json(nullptr); }

// All, but for compile times that nobody asked for.
std::vector<DiffFigure> figuresFor(const diff::Result& result) {
  const bool hasTime = std::ranges::any_of(result.rows, [](const diff::Row& row) {
    return (row.before && row.before->compileTime) || (row.after && row.after->compileTime);
  });
  std::vector<DiffFigure> figures;
  for (std::size_t n = 0; n < diffFigures().size(); ++n)
    if (const auto figure = static_cast<DiffFigure>(n); figure != DiffFigure::CompileTime || hasTime)
      figures.push_back(figure);
  return figures;
}

Json figuresOfVersion(const ptxas::FunctionMeasures* f, const std::vector<DiffFigure>& wanted) {
  if (f == nullptr) return nullptr;
  Json figures = Json::array();
  for (const DiffFigure figure : wanted) figures.push_back(orNull(figureOf(*f, figure)));
  return figures;
}

std::string sideText(const std::string& name, const std::string& ptxas) {
  return ptxas.empty() ? name : fmt::format("{} (ptxas {})", name, ptxas);
}

std::string place(const std::string& old, const std::string& now) {
  return old.empty() ? now : fmt::format("{} \u2192 {}", old, now);
}

Json rowOf(const diff::Result& result, std::size_t n, const std::string& code, const std::vector<Version>& versions,
           const std::vector<DiffFigure>& wanted) {
  const diff::Row& row = result.rows[n];
  Json figures = Json::array(), history = Json::array();
  for (const DiffFigure figure : wanted) {
    const DiffFigures both = figuresOf(row, figure);
    figures.push_back({orNull(both.before), orNull(both.after)});
  }
  for (const Version& v : versions) history.push_back(figuresOfVersion(v.find(row), wanted));
  if (!versions.empty()) history.push_back(figuresOfVersion(row.after ? &*row.after : nullptr, wanted));
  const std::size_t index[] = {n};
  std::vector<std::string> names(result.rows.size());
  names[n] = diff::fullName(row.name, {});
  Json details = Json::array();
  for (const std::string& line : detailLines(result, index, names))
    details.push_back(line.substr(names[n].size() + std::string_view(": ").size()));
  return {{"name", names[n]},
          {"mangled", row.name},
          {"place",
           fmt::format("{} for {}", place(row.oldFile, row.file), place(row.oldArchitecture, row.architecture))},
          {"architecture", row.architecture},
          {"change", changeWord(row)},
          {"by", decidedBy(row)},
          {"isCompared", row.isCompared()},
          {"figures", std::move(figures)},
          {"details", std::move(details)},
          {"code", code},
          {"history", std::move(history)}};
}

}  // namespace

std::string diffPage(const diff::Result& result, const std::vector<std::string>& code,
                     const std::vector<diff::Side>& history) {
  std::vector<Version> versions;
  Json labels = Json::array(), figures = Json::array(), rows = Json::array(), problems = Json::array();
  for (const diff::Side& side : history) {
    versions.emplace_back(side);
    labels.push_back(side.name);
  }
  if (!history.empty()) labels.push_back("now");
  const std::vector<DiffFigure> wanted = figuresFor(result);
  for (const DiffFigure figure : wanted) {
    const DiffFigureInfo& f = diffFigures()[static_cast<std::size_t>(figure)];
    const bool isNeutral =
        !f.measure || figure == DiffFigure::CompileTime;  // a clock's noise is neither better nor worse
    figures.push_back({{"name", f.head},
                       {"sign", isNeutral                  ? 0
                                : isMoreBetter(*f.measure) ? -1
                                                           : 1},
                       {"isPercent", f.isPercent}});
  }
  for (std::size_t n = 0; n < result.rows.size(); ++n)
    rows.push_back(rowOf(result, n, code.empty() ? std::string() : code[n], versions, wanted));
  for (const diff::Problem& p : result.problems) problems.push_back(diff::text(p));
  for (const std::string& note : result.notes) problems.push_back("note: " + note);
  const std::string about = result.isOneSide
                                ? sideText(result.after, result.ptxasAfter)
                                : fmt::format("{} \u2192 {}", sideText(result.before, result.ptxasBefore),
                                              sideText(result.after, result.ptxasAfter));
  return report::pageWith(report::diffPage(), {{"verdict", name(result.verdict())},
                                               {"headline", diffHeadline(result)},
                                               {"before", result.before},
                                               {"after", result.after},
                                               {"about", about + " \u00b7 " + versionText()},
                                               {"figures", std::move(figures)},
                                               {"rows", std::move(rows)},
                                               {"summary", diffSummary(result)},
                                               {"problems", std::move(problems)},
                                               {"history", std::move(labels)}});
}

}  // namespace ptxopt::tool
