// Texts of each function have numbers, 0 for the input, and a way is a list of these with a limit. Runs that ptxas
// refuses are halved until single ways are left; the deadline is checked before each.
#include "tune/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/parallel.h"

namespace ptxopt::tune {

Bench::Bench(const Pieces& input, const Units& units, Settings settings)
    : input_(input),
      units_(units),
      settings_(std::move(settings)),
      texts_(input.functions.size()),
      numbers_(input.functions.size()),
      outcomes_(units.members.size()) {
  for (std::size_t f = 0; f < input.functions.size(); ++f)
    numbers_[f].emplace(input.textOf(input.functions[f]), 0u);
}

uint32_t Bench::add(uint32_t function, std::string_view text) {
  auto& numbers = numbers_[function];
  if (const auto it = numbers.find(text); it != numbers.end()) return it->second;
  const auto number = static_cast<uint32_t>(numbers.size());
  numbers.emplace(texts_[function].emplace_back(text), number);
  return number;
}

std::string Bench::memberText(uint32_t unit, const Way& way, std::size_t member) const {
  const uint32_t f = units_.members[unit][member];
  const FunctionPiece& piece = input_.functions[f];
  const uint32_t number = way.texts[member];
  const std::string_view text = number == 0 ? input_.textOf(piece) : std::string_view(texts_[f][number - 1]);
  // Passes do not change headers: the brace is where it is in the input.
  return way.limit == 0 ? std::string(text) : withLimit(text, piece.brace - piece.source.begin, way.limit);
}

std::string Bench::compose(const std::vector<Way>& ways) const {
  std::vector<std::string> texts(input_.functions.size());
  for (uint32_t u = 0; u < units_.members.size(); ++u)
    for (std::size_t m = 0; m < units_.members[u].size(); ++m)
      texts[units_.members[u][m]] = memberText(u, ways[u], m);
  return tune::compose(input_, std::vector<std::string_view>(texts.begin(), texts.end()));
}

std::string Bench::composeRun(std::span<const std::pair<uint32_t, Way>> run) const {
  std::vector<std::string> texts(input_.functions.size());
  for (std::size_t f = 0; f < texts.size(); ++f)
    if (input_.kernelsNamed || !input_.functions[f].isKernel) texts[f] = input_.textOf(input_.functions[f]);
  for (const auto& [unit, way] : run)
    for (std::size_t m = 0; m < units_.members[unit].size(); ++m)
      texts[units_.members[unit][m]] = memberText(unit, way, m);
  return tune::compose(input_, std::vector<std::string_view>(texts.begin(), texts.end()));
}

Outcome Bench::outcomeFrom(uint32_t unit, const ptxas::Measures& measures) const {
  Outcome outcome;
  outcome.state = Outcome::State::Measured;
  for (const uint32_t f : units_.members[unit]) {
    const ptxas::FunctionMeasures* const found = measures.find(input_.functions[f].name);
    outcome.members.push_back(found == nullptr ? std::nullopt : std::optional(*found));
  }
  return outcome;
}

void Bench::note(const ptxas::Measures& input) {
  for (uint32_t u = 0; u < units_.members.size(); ++u)
    outcomes_[u].insert_or_assign(inputWay(u), outcomeFrom(u, input));
}

const Outcome& Bench::outcome(uint32_t unit, const Way& way) const {
  static const Outcome kNotTried;
  const auto it = outcomes_[unit].find(way);
  return it == outcomes_[unit].end() ? kNotTried : it->second;
}

void Bench::setOutcome(const std::pair<uint32_t, Way>& asked, Outcome outcome) {
  outcomes_[asked.first].find(asked.second)->second = std::move(outcome);
}

ptxas::Assembly Bench::assembleWhole(std::string_view text) const {
  return ptxas::assemble(text, settings_.architecture, settings_.ptxas);
}

void Bench::measureRun(std::span<const std::pair<uint32_t, Way>> run, bool isFirst) {
  if (isTimeUp()) {
    const std::lock_guard lock(mutex_);
    ++notTried_;
    return;
  }
  ptxas::PtxasSettings ptxas = settings_.ptxas;
  bool isCut = false;
  if (settings_.deadline) {
    const double left = std::chrono::duration<double>(*settings_.deadline - Clock::now()).count();
    isCut = left < ptxas.timeoutSeconds || ptxas.timeoutSeconds <= 0;
    if (isCut) ptxas.timeoutSeconds = std::max(left, 0.001);
  }
  const ptxas::Assembly assembly = ptxas::assemble(composeRun(run), settings_.architecture, ptxas);
  {
    const std::lock_guard lock(mutex_);
    if (isCut && !assembly && isTimeUp()) {
      ++notTried_;
      return;
    }
    runs_ += isFirst;
    if (assembly) {
      for (const auto& asked : run) setOutcome(asked, outcomeFrom(asked.first, assembly.measures));
      return;
    }
    if (assembly.status == ptxas::Assembly::Status::NoFolder) noFolder_ = assembly.error;
    if (assembly.status != ptxas::Assembly::Status::Refused || run.size() == 1) {
      for (const auto& asked : run) setOutcome(asked, {Outcome::State::Failed, assembly.error, {}});
      return;
    }
  }
  measureRun(run.first(run.size() / 2), false);
  measureRun(run.subspan(run.size() / 2), false);
}

void Bench::measure(const std::vector<Run>& runs, const std::function<void(std::size_t, std::size_t)>& progress) {
  std::vector<Run> wanted;
  for (const Run& run : runs) {
    Run rest;
    for (const auto& [unit, way] : run)
      if (outcomes_[unit].try_emplace(way).second) rest.emplace_back(unit, way);
    if (!rest.empty()) wanted.push_back(std::move(rest));
  }
  std::size_t done = 0;
  const auto tell = [&](std::size_t more) {
    if (!progress) return;
    const std::lock_guard lock(mutex_);
    progress(done += more, wanted.size());
  };
  tell(0);
  inParallel(settings_.jobs, wanted.size(), [&](std::size_t i) {
    measureRun(wanted[i], true);
    tell(1);
  });
}

}  // namespace ptxopt::tune
