// Steps of all levels get their names in one count, so that pass@n means the same step at any level. A chosen pipeline
// has its names checked first and is then reduced by what is skipped.
#include "passes/manager/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "support/nearest.h"

namespace ptxopt {
namespace {

struct TableRow {
  int level;
  PassId pass;
  StepKind kind;
};

constexpr TableRow kTable[] = {
#define PTXOPT_STEP(level, pass, kind) {level, PassId::pass, StepKind::kind},
#include "passes/manager/pipeline.def"
#undef PTXOPT_STEP
};

std::size_t runsOf(const PassInfo& pass) {
  return static_cast<std::size_t>(std::count_if(std::begin(kTable), std::end(kTable),
                                                [&](const TableRow& row) { return &passInfo(row.pass) == &pass; }));
}

std::string_view passPart(std::string_view name) { return name.substr(0, name.find('@')); }

// The n of `pass@n`; 0 when there is none or it is not a number.
std::size_t numberPart(std::string_view name) {
  const std::string_view digits = name.substr(std::min(name.size(), passPart(name).size() + 1));
  std::size_t n = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return code == std::errc() && end == digits.data() + digits.size() ? n : 0;
}

// The n-th run is called `pass@n` when there are several; n counts also the runs of higher levels and skipped ones.
std::string stepName(std::string_view pass, std::size_t n, std::size_t runs) {
  return runs > 1 ? fmt::format("{}@{}", pass, n) : std::string(pass);
}

std::vector<Step> standardPipeline(int level) {
  std::vector<Step> steps;
  for (const TableRow* row = std::begin(kTable); row != std::end(kTable); ++row) {
    if (row->level > level) continue;
    const auto n =
        std::count_if(std::begin(kTable), row + 1, [&](const TableRow& r) { return r.pass == row->pass; });
    const PassInfo& pass = passInfo(row->pass);
    steps.push_back({&pass, stepName(pass.name, static_cast<std::size_t>(n), runsOf(pass)), row->kind, row->level});
  }
  return steps;
}

// For the n-th run of the pass in the whole pipeline; for one that only `passes` has: Optimize.
StepKind kindOf(const PassInfo& pass, std::size_t n) {
  for (const TableRow& row : kTable)
    if (&passInfo(row.pass) == &pass && --n == 0) return row.kind;
  return StepKind::Optimize;
}

std::vector<Step> chosenPipeline(std::span<const std::string> names) {
  const auto isPlain = [](std::string_view name) { return name.find('@') == std::string_view::npos; };
  std::vector<Step> steps;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const PassInfo* const pass = findPass(passPart(names[k]));
    if (!isPlain(names[k])) {
      const std::size_t n = numberPart(names[k]);
      steps.push_back({pass, fmt::format("{}@{}", pass->name, n), kindOf(*pass, n)});
      continue;
    }
    const auto isRun = [&](const std::string& name) { return isPlain(name) && findPass(name) == pass; };
    const auto all = std::ranges::count_if(names, isRun);
    const auto n = std::ranges::count_if(names.first(k + 1), isRun);
    steps.push_back({pass, stepName(pass->name, static_cast<std::size_t>(n), static_cast<std::size_t>(all))});
  }
  return steps;
}

// What is wrong with a name that is neither a pass nor one of the runs of `steps` or of the whole pipeline.
std::string checkName(const std::string& name, std::span<const Step> steps) {
  const std::string_view pass = passPart(name);
  const PassInfo* const info = findPass(pass);
  if (info == nullptr) {
    std::vector<std::string_view> names;
    for (const PassInfo& known : passTable()) names.push_back(known.name);
    return fmt::format("there is no pass '{}'{}", pass, orNearest(pass, names));
  }
  if (pass.size() == name.size()) return {};
  const std::size_t n = numberPart(name), runs = runsOf(*info);
  if (n >= 1 && n <= runs) return {};
  if (std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return isNamed(step, {&name, 1}); }))
    return {};
  return fmt::format("there is no '{}': the pipeline runs {} {} time{}", name, pass, runs, runs == 1 ? "" : "s");
}

}  // namespace

std::string_view name(StepKind kind) {
  constexpr std::string_view kNames[] = {"Optimize", "Cleanup", "ManyIterations"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string asksOf(const PassInfo& pass) {
  constexpr std::pair<ModuleFact, std::string_view> kOfModule[] = {
      {ModuleFact::AddressFacts, "addresses of the module"},
      {ModuleFact::CalledNeeds, "needs of called functions"},
      {ModuleFact::CallBodies, "bodies of called functions"}};
  std::string out = pass.asks.empty() ? "" : names(pass.asks);
  for (const auto& [fact, words] : kOfModule)
    if (pass.needs.has(fact)) out += fmt::format("{}{}", out.empty() ? "" : ", ", words);
  return out.empty() ? "nothing" : out;
}

int levelOf(const PassInfo& pass) {
  int lowest = kOnRequest;
  for (const TableRow& row : kTable)
    if (&passInfo(row.pass) == &pass) lowest = std::min(lowest, row.level);
  return lowest;
}

// A pass that runs once is its own `pass@1`.
bool isNamed(const Step& step, std::span<const std::string> names) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    if (findPass(passPart(name)) != step.pass) return false;
    return name.find('@') == std::string::npos ||
           numberPart(name) == std::max<std::size_t>(1, numberPart(step.name));
  });
}

std::vector<Step> makePipeline(const PipelineChoice& choice, std::span<const std::string> alsoNames,
                               std::string& error) {
  std::vector<Step> steps;
  const auto check = [&](std::span<const std::string> names) {
    for (const std::string& name : names)
      if (std::string wrong = checkName(name, steps); !wrong.empty() && error.empty()) error = std::move(wrong);
  };
  if (choice.passes != nullptr) check(*choice.passes);
  if (!error.empty()) return {};
  steps = choice.passes != nullptr ? chosenPipeline(*choice.passes) : standardPipeline(choice.level);
  check(choice.skip);
  check(alsoNames);
  std::erase_if(steps, [&](const Step& step) { return isNamed(step, choice.skip); });
  return steps;
}

}  // namespace ptxopt
