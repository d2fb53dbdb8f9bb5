// The input is measured, then the variants, and the best of each unit is chosen; limits of registers are tried on that.
// The whole is assembled at the end, and units that are worse in it are put back.
#include "tune/tune.h"

#include <fmt/format.h>

#include <algorithm>

#include "guard/guard.h"
#include "support/parallel.h"
#include "target/occupancy.h"
#include "tune/select.h"
#include "tune/variants.h"

namespace ptxopt::tune {
namespace {

constexpr uint32_t kLeastLimit = 24;  // ptxas takes smaller ones for this

TuneResult failed(Status status, std::string error) {
  TuneResult result;
  result.status = status;
  result.error = std::move(error);
  return result;
}

class Tuner {
 public:
  // What a unit may become, in the order of preference.
  struct Candidate {
    std::string variant;
    Recipe recipe;
    Way way;
    Trial::State state = Trial::State::Measured;  // or why there is nothing to measure
    std::string detail;
  };

  Tuner(const Pieces& input, const std::vector<FunctionOutcome>& functions, const TuneOptions& options,
        std::optional<Bench::Clock::time_point> deadline, TuneResult& result)
      : input_(input),
        options_(options),
        units_(functions),
        bench_(input, units_, {options.ptxas, result.architecture, options.jobs, deadline}),
        candidates_(units_.members.size()),
        result_(result) {}

  void run() {
    const ptxas::Assembly whole = bench_.assembleWhole(fullText());
    if (!whole) {
      result_.trouble = whole.error;
      result_.hasFigures = false;
      result_.output = fullText();
      return;
    }
    before_ = whole.measures;
    bench_.note(before_);
    tryVariants();
    tryLimits();
    if (options_.device)
      chooseOnDevice();
    else
      chosen_ = chooseAll();
    checkWhole();
    if (const std::string& why = !bench_.noFolder().empty() ? bench_.noFolder() : noFolder_; !why.empty())
      result_ = failed(Status::Usage, why);
    else
      report();
  }

 private:
  std::string fullText() const { return std::string(input_.mark) + std::string(input_.text); }

  void tryVariants() {
    const std::vector<Variant>& all = variants();
    std::vector<std::string> wrong(all.size());
    std::vector<std::optional<std::string>> texts(all.size());
    inParallel(options_.jobs, all.size(), [&](std::size_t v) {
      if (v == 0 || bench_.isTimeUp()) return;
      Options options;
      options.fileName = options_.fileName;
      options.architecture = options_.architecture;
      options.profile = options_.profile;
      options.profileName = options_.profileName;
      all[v].recipe.applyTo(options);
      Result made = optimize(fullText(), options);
      if (made.status == Status::Ok)
        texts[v] = std::move(made.output);
      else
        wrong[v] = made.error;
    });
    std::vector<Bench::Run> runs;
    for (std::size_t v = 0; v < all.size(); ++v) {
      const std::optional<Pieces> pieces = texts[v] ? cut(*texts[v]) : std::nullopt;
      if (texts[v] && (!pieces || pieces->functions.size() != input_.functions.size()))
        wrong[v] = "what came out has other functions";
      Bench::Run& run = runs.emplace_back();
      for (uint32_t u = 0; u < units_.members.size(); ++u) {
        Candidate candidate{all[v].name, all[v].recipe, bench_.inputWay(u), Trial::State::Measured, {}};
        if (!wrong[v].empty()) {
          candidate.state = Trial::State::Failed;
          candidate.detail = wrong[v];
        } else if (v != 0 && !texts[v]) {
          candidate.state = Trial::State::NotTried;
        } else if (v != 0) {
          for (std::size_t m = 0; m < candidate.way.texts.size(); ++m) {
            const uint32_t f = units_.members[u][m];
            candidate.way.texts[m] = bench_.add(f, pieces->textOf(pieces->functions[f]));
          }
        }
        if (candidate.state == Trial::State::Measured) run.emplace_back(u, candidate.way);
        candidates_[u].push_back(std::move(candidate));
      }
      texts[v].reset();
    }
    bench_.measure(runs, options_.progress);
  }

  // What the unit would become if it were chosen now.
  std::size_t best(uint32_t unit, std::vector<VariantVerdict>* verdicts = nullptr) const {
    static const Outcome kUnknown;
    std::vector<const Outcome*> ways;
    for (const Candidate& c : candidates_[unit])
      ways.push_back(c.state == Trial::State::Measured ? &bench_.outcome(unit, c.way) : &kUnknown);
    std::vector<VariantVerdict> all = choose(ways, options_.objective);
    const auto at = std::ranges::find(all, VariantVerdict::Why::Chosen, &VariantVerdict::why) - all.begin();
    if (verdicts != nullptr) *verdicts = std::move(all);
    return static_cast<std::size_t>(at);
  }

  void tryLimits() {
    std::vector<Bench::Run> runs(limitVariants().size());
    for (uint32_t u = 0; u < units_.members.size(); ++u) {
      const std::vector<uint32_t>& members = units_.members[u];
      if (std::ranges::none_of(members, [&](uint32_t f) { return input_.functions[f].isKernel; })) continue;
      const Candidate from = candidates_[u][best(u)];
      std::string_view why = members.size() > 1 ? "calls" : input_.functions[members[0]].whyNoLimit;
      uint32_t limit = 0;
      for (std::size_t k = 0; k < limitVariants().size(); ++k) {
        Candidate candidate{std::string(limitVariants()[k].name), from.recipe, from.way, Trial::State::NoLimit, {}};
        const uint32_t next = why.empty() ? nextLimit(u, from.way, limit) : 0;
        if (next != 0) {
          candidate.recipe.limit = candidate.way.limit = limit = next;
          candidate.state = Trial::State::Measured;
          runs[k].emplace_back(u, candidate.way);
        } else {
          if (why.empty()) why = "no-step";
          candidate.detail = why;
        }
        candidates_[u].push_back(std::move(candidate));
      }
    }
    bench_.measure(runs, options_.progress);
  }

  // The most registers with which more blocks are resident than with `limit`, or with what the way takes; 0: none.
  uint32_t nextLimit(uint32_t unit, const Way& way, uint32_t limit) const {
    const Outcome& outcome = bench_.outcome(unit, way);
    const target::Limits* const machine = target::Target(result_.architecture).limits();
    if (machine == nullptr || outcome.members.empty() || !outcome.members[0]) return 0;
    const ptxas::FunctionMeasures& m = *outcome.members[0];
    const target::BlockNeeds block{limit == 0 ? m.registers : limit,
                                   m.threads == 0 ? ptxas::kThreadsWhenUnknown : m.threads, m.shared, m.barriers};
    const uint32_t next = nextStepUp(*machine, block).value_or(0);
    return next < kLeastLimit ? 0 : next;
  }

  std::vector<std::size_t> chooseAll() const {
    std::vector<std::size_t> all;
    for (uint32_t u = 0; u < units_.members.size(); ++u) all.push_back(best(u));
    return all;
  }

  // The fastest of all that ptxas made of the kernel's unit; others stay as they are.
  void chooseOnDevice() {
    chosen_.assign(units_.members.size(), 0);
    for (uint32_t f = 0; f < input_.functions.size(); ++f)
      if (input_.functions[f].name == options_.device->kernel) timed_ = units_.unitOf[f];
    if (!timed_) return;
    const std::vector<Candidate>& candidates = candidates_[*timed_];
    deviceTimes_.resize(candidates.size());
    std::vector<std::string> codes{codeOf(*timed_, candidates[0].way)};
    std::vector<Way> ways;
    for (uint32_t u = 0; u < units_.members.size(); ++u) ways.push_back(bench_.inputWay(u));
    for (std::size_t c = 1; c < candidates.size() && !bench_.isTimeUp(); ++c) {
      const Outcome& outcome = bench_.outcome(*timed_, candidates[c].way);
      if (candidates[c].state != Trial::State::Measured || outcome.state != Outcome::State::Measured) continue;
      std::string code = codeOf(*timed_, candidates[c].way);
      if (std::ranges::find(codes, code) != codes.end()) continue;
      codes.push_back(std::move(code));
      ways[*timed_] = candidates[c].way;
      deviceTimes_[c] = options_.device->time(bench_.compose(ways));
      const std::size_t best = chosen_[*timed_];
      if (deviceTimes_[c]->isFaster() && (best == 0 || deviceTimes_[c]->ratio < deviceTimes_[best]->ratio))
        chosen_[*timed_] = c;
    }
  }

  // For all members.
  std::string codeOf(uint32_t unit, const Way& way) const {
    std::string codes;
    for (const auto& member : bench_.outcome(unit, way).members) codes += member ? member->code + ' ' : "- ";
    return codes;
  }

  // Assembles what was chosen, and gives units that are worse there than in the input their text back.
  void checkWhole() {
    reverted_.assign(chosen_.size(), false);
    after_ = before_;
    for (;;) {
      std::vector<Way> ways;
      for (uint32_t u = 0; u < chosen_.size(); ++u) ways.push_back(candidates_[u][chosen_[u]].way);
      result_.output = bench_.compose(ways);
      if (std::ranges::all_of(chosen_, [](std::size_t c) { return c == 0; })) {
        after_ = before_;
        return;
      }
      const ptxas::Assembly whole = bench_.assembleWhole(result_.output);
      if (!whole) {
        result_.trouble = whole.error;
        if (whole.status == ptxas::Assembly::Status::NoFolder) noFolder_ = whole.error;
        revertIf([](uint32_t) { return true; });
        continue;
      }
      after_ = whole.measures;
      if (options_.device) return;
      const std::vector<guard::WorseFunction> worse =
          guard::worseFunctions(before_, after_, ptxas::ruleFor(options_.objective));
      if (worse.empty()) return;
      std::vector<bool> isWorse(chosen_.size());
      for (const guard::WorseFunction& w : worse)
        for (uint32_t f = 0; f < input_.functions.size(); ++f)
          if (input_.functions[f].name == w.name) isWorse[units_.unitOf[f]] = true;
      // A copy of a function, or something that did not change, is worse: no one can say by whose fault.
      if (!revertIf([&](uint32_t u) { return isWorse[u]; })) revertIf([](uint32_t) { return true; });
    }
  }

  template <typename Predicate>
  bool revertIf(const Predicate& is) {
    bool any = false;
    for (uint32_t u = 0; u < chosen_.size(); ++u)
      if (chosen_[u] != 0 && is(u)) {
        chosen_[u] = 0;
        reverted_[u] = any = true;
      }
    return any;
  }

  void report() {
    result_.runs = bench_.runs();
    result_.notTried = bench_.runsNotTried();
    for (uint32_t f = 0; f < input_.functions.size(); ++f) {
      const uint32_t u = units_.unitOf[f];
      const Candidate& chosen = candidates_[u][chosen_[u]];
      TunedFunction& out = result_.functions.emplace_back();
      out.name = input_.functions[f].name;
      out.isKernel = input_.functions[f].isKernel;
      out.unit = u;
      const ptxas::FunctionMeasures* const before = before_.find(out.name);
      const ptxas::FunctionMeasures* const after = after_.find(out.name);
      out.inCode = before != nullptr && after != nullptr;
      if (before != nullptr) out.before = *before;
      if (after != nullptr) out.after = *after;
      out.variant = chosen.variant;
      out.recipe = chosen.recipe;
      if (reverted_[u]) out.note = "worse-together";
    }
    for (uint32_t u = 0; u < units_.members.size(); ++u) reportTrials(u);
  }

  void reportTrials(uint32_t u) {
    std::vector<VariantVerdict> verdicts;
    best(u, &verdicts);
    const std::vector<uint32_t>& members = units_.members[u];
    std::map<Way, std::string> first;
    for (std::size_t c = 0; c < candidates_[u].size(); ++c) {
      const Candidate& candidate = candidates_[u][c];
      Trial trial;
      trial.variant = candidate.variant;
      trial.recipe = candidate.recipe;
      trial.state = candidate.state;
      trial.detail = candidate.detail;
      const Outcome& outcome = bench_.outcome(u, candidate.way);
      if (candidate.state == Trial::State::Measured) {
        const auto [it, isFirst] = first.emplace(candidate.way, candidate.variant);
        if (!isFirst) {
          trial.state = Trial::State::Same;
          trial.detail = it->second;
        } else if (outcome.state == Outcome::State::Failed) {
          trial.state = Trial::State::Failed;
          trial.detail = outcome.error;
        } else if (outcome.state == Outcome::State::NotTried) {
          trial.state = Trial::State::NotTried;
        }
      }
      for (std::size_t m = 0; m < members.size(); ++m) {
        Trial own = trial;
        if (timed_ == u && c < deviceTimes_.size()) own.device = deviceTimes_[c];
        if (own.state == Trial::State::Measured) judge(own, verdicts[c], outcome, m, c == chosen_[u]);
        result_.functions[members[m]].trials.push_back(std::move(own));
      }
    }
  }

  // Fills in the figures of a trial for one member, and why it was not chosen.
  void judge(Trial& trial, const VariantVerdict& verdict, const Outcome& outcome, std::size_t member,
             bool isChosen) const {
    if (outcome.members[member])
      trial.measures = *outcome.members[member];
    else
      trial.state = Trial::State::NotInCode;
    if (isChosen) return;
    if (options_.device) {
      trial.rejected = trial.recipe.isAsItIs()           ? "not-better"
                       : !trial.device                   ? "same-code"
                       : !trial.device->rejected.empty() ? trial.device->rejected
                       : trial.device->isFaster()        ? "not-better"
                                                         : "not-faster";
      return;
    }
    if (verdict.why == VariantVerdict::Why::Worse) {
      trial.rejected = verdict.member == member ? "worse" : "together";
      if (verdict.member == member)
        trial.by = verdict.missing
                       ? "missing"
                       : fmt::format("{} {} -> {}", name(verdict.by.by), verdict.by.before, verdict.by.after);
    } else {
      trial.rejected = verdict.why == VariantVerdict::Why::Chosen ? "worse-together" : "not-better";
    }
  }

  const Pieces& input_;
  const TuneOptions& options_;
  const Units units_;
  Bench bench_;
  std::vector<std::vector<Candidate>> candidates_;  // by unit
  std::vector<std::size_t> chosen_;                 // by unit
  std::vector<bool> reverted_;
  std::optional<uint32_t> timed_;  // the unit that the device chooses for
  std::vector<std::optional<DeviceTime>>
      deviceTimes_;  // by its candidates; none: the same code as another, or not timed
  ptxas::Measures before_, after_;
  std::string noFolder_;  // as of the bench, of the whole text
  TuneResult& result_;
};

}  // namespace

TuneResult tune(std::string_view text, const TuneOptions& options) {
  std::optional<Bench::Clock::time_point> deadline;
  if (options.budgetSeconds)
    deadline = Bench::Clock::now() + std::chrono::duration_cast<Bench::Clock::duration>(
                                         std::chrono::duration<double>(*options.budgetSeconds));
  Options asIs;
  asIs.level = 0;
  asIs.outcomes = true;
  asIs.fileName = options.fileName;
  asIs.architecture = options.architecture;
  const Result read = optimize(text, asIs);
  if (read.status != Status::Ok) return failed(read.status, read.error);
  const std::optional<Pieces> input = cut(text);
  if (!input || input->functions.size() != read.outcomes.size())
    return failed(Status::Internal, "the functions of the text cannot be distinguished\n");

  TuneResult result;
  result.architecture =
      options.architecture.empty() ? ptxas::architectureToAssemble(input->architecture) : options.architecture;
  if (input->isDebug) {
    result.output = text;
    result.isDebug = true;
    return result;
  }
  Tuner(*input, read.outcomes, options, deadline, result).run();
  return result;
}

}  // namespace ptxopt::tune
