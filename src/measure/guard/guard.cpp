#include "guard/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "guard/closure.h"
#include "guard/cut.h"
#include "guard/kernel_answers.h"
#include "guard/report.h"
#include "ptxas/choose.h"

namespace ptxopt::guard {
namespace {

constexpr uint64_t kLeastCut = 5;  // a fifth of the text: less is not worth a text of its own

constexpr double kKeptShare = 1.0 / 12;  // of the changed functions of the corpus, 51 of 604

bool changedAny(const Result& result) {
  return std::ranges::any_of(result.outcomes, [](const FunctionOutcome& f) { return f.changed; });
}

class Guard {
 public:
  Guard(std::string_view text, const Options& options, const GuardOptions& guard)
      : text_(text), options_(options), guard_(guard), ptxas_(guard.ptxas) {
    options_.outcomes |= guard.mode != GuardMode::Off;
  }

  GuardedResult run() {
    done_.guard.mode = guard_.mode;
    done_.result = optimize(text_, options_);
    if (guard_.mode == GuardMode::Off || done_.result.status != Status::Ok || !changedAny(done_.result))
      return std::move(done_);
    done_.guard.asked = true;
    done_.guard.architecture = !guard_.architecture.empty() ? guard_.architecture
                               : !options_.architecture.empty()
                                   ? options_.architecture
                                   : ptxas::architectureToAssemble(done_.result.architecture);
    choosePtxasFor();
    if (measureBoth()) keepWorse();
    if (done_.result.output == text_)
      done_.guard.output = std::move(outputBefore_);
    else if (done_.result.output == measuredText_)
      done_.guard.output = std::move(outputAfter_);
    return std::move(done_);
  }

 private:
  void choosePtxasFor() {
    if (guard_.candidates.all.empty()) return;
    const ptxas::PtxasChoice choice = ptxas::choosePtxas(
        guard_.candidates, {ptxas::versionNeededBy(text_), done_.guard.architecture}, ptxas_.cache);
    ptxas_.program = choice.path;
    done_.guard.ptxas = choice.path;
    done_.guard.why = choice.why();
  }

  ptxas::Assembly measure(std::string_view text) const {
    ptxas::Assembly assembly = ptxas::assemble(text, done_.guard.architecture, ptxas_);
    if (assembly && asksRelocatable_) addRelocatable(text, assembly.measures);
    return assembly;
  }

  // The figures of functions that have code only where other files may call them.
  void addRelocatable(std::string_view text, ptxas::Measures& measures) const {
    ptxas::PtxasSettings settings = ptxas_;
    settings.arguments.emplace_back("-c");
    ptxas::Assembly more = ptxas::assemble(text, done_.guard.architecture, settings);
    if (!more) return;
    std::vector<ptxas::FunctionMeasures> added;
    for (ptxas::FunctionMeasures& f : more.measures.functions)
      if (!f.isKernel && measures.find(f.name) == nullptr) added.push_back(std::move(f));
    std::ranges::move(added, std::back_inserter(measures.functions));
    std::ranges::sort(measures.functions, {}, &ptxas::FunctionMeasures::name);
  }

  // Whether a function was changed that no kernel reaches.
  bool changedApart() const {
    const auto& outcomes = done_.result.outcomes;
    const BitVector kernels = functionsThat(outcomes, &FunctionOutcome::isKernel);
    return !functionsThat(outcomes, &FunctionOutcome::changed).isSubsetOf(CallGraph(outcomes).reachedFrom(kernels));
  }

  // Kernels that are not affected are left out where they are a part of the text that counts. Where the machine code of
  // the output is wanted, it is made of the whole text: at once, or, if some kernel is likely to be kept and the text to
  // be another one, when it is known which.
  void chooseCut() {
    if (asksRelocatable_) return;
    compared_ = done_.result.outcomes;
    cutsOutput_ = !guard_.ptxas.keepsOutput;
    BitVector which = unaffectedKernels(compared_);
    const uint64_t bytes = bytesOf(compared_, which);
    if (bytes * kLeastCut < text_.size()) return;
    isLeftOut_ = std::move(which);
    const auto changed = std::ranges::count_if(compared_, &FunctionOutcome::changed);
    const double isAnyKept = 1 - std::pow(1 - kKeptShare, static_cast<double>(changed));
    const double share = 1 - static_cast<double>(bytes) / static_cast<double>(text_.size());
    cutsOutput_ = !guard_.ptxas.keepsOutput || share < isAnyKept;
  }

  // Whether kernels are looked at for themselves: the answers to them are kept so. Where an address of a function is taken,
  // what ptxas makes of a kernel depends on the others too (cut.h).
  bool isByKernel() const {
    return !asksRelocatable_ && ptxas_.cache != nullptr &&
           std::ranges::none_of(compared_, &FunctionOutcome::takesAddress) &&
           std::ranges::count_if(compared_, &FunctionOutcome::isKernel) > 1;
  }

  // The figures of a text with these functions, but for the kernels that are left out. Answers that are known are not asked
  // for again; what is not asked for is cut out of the text, if that is no small part of it and its code is not wanted.
  ptxas::Assembly measureKernels(std::string_view text, const std::vector<FunctionOutcome>& functions,
                                 bool mayCut) const {
    const BitVector isLeftOut = leftOutOf(functions);
    std::optional<KernelAnswers> answers;
    if (isByKernel()) answers.emplace(text, functions, isLeftOut, done_.guard.architecture, ptxas_);
    if (answers && answers->haveAll()) {
      ptxas::Assembly assembly;
      assembly.status = ptxas::Assembly::Status::Ok;
      assembly.fromCache = true;
      assembly.measures.architecture = done_.guard.architecture;
      answers->addTo(assembly.measures);
      return assembly;
    }
    BitVector isCut = isLeftOut;
    if (answers) isCut |= cuttableKernels(functions) &= answers->known();
    mayCut = mayCut && bytesOf(functions, isCut) * kLeastCut >= text.size();
    ptxas::PtxasSettings settings = ptxas_;
    if (answers) settings.cache = nullptr;
    ptxas::Assembly assembly;
    if (mayCut) {
      settings.keepsOutput = false;
      assembly = ptxas::assemble(cutText(text, functions, isCut), done_.guard.architecture, settings);
      settings.keepsOutput = ptxas_.keepsOutput;
    }
    // Of the whole, also where ptxas does not take a part of it.
    if (!assembly) assembly = answers ? ptxas::assemble(text, done_.guard.architecture, settings) : measure(text);
    if (!assembly) return assembly;
    if (answers) answers->keep(assembly.measures);
    dropKernels(assembly.measures, functions, isCut);
    if (answers) answers->addTo(assembly.measures);
    return assembly;
  }

  // By function of a text: the kernels of the input that are left out.
  BitVector leftOutOf(const std::vector<FunctionOutcome>& functions) const {
    if (isLeftOut_.none()) return BitVector(functions.size());
    const CallGraph graph(compared_);
    return functionsThat(functions, [&](const FunctionOutcome& f) {
      const uint32_t of = graph.indexOf(f.name);
      return of != CallGraph::kNone && isLeftOut_.test(of);
    });
  }

  static void dropKernels(ptxas::Measures& measures, const std::vector<FunctionOutcome>& functions,
                          const BitVector& which) {
    const CallGraph graph(functions);
    std::erase_if(measures.functions, [&](const ptxas::FunctionMeasures& m) {
      const uint32_t f = graph.indexOf(m.name);
      return f != CallGraph::kNone && which.test(f);
    });
  }

  ptxas::Assembly measureInput() const {
    if (isLeftOut_.none() && !isByKernel()) return measure(text_);
    return measureKernels(text_, compared_, true);
  }

  // Both texts at a time. False when there is nothing to compare.
  bool measureBoth() {
    asksRelocatable_ = !guard_.isWholeCall && changedApart();
    chooseCut();
    auto other = std::async(std::launch::async, [&] { return measureInput(); });
    ptxas::Assembly after = measureOutput();
    ptxas::Assembly before = other.get();
    outputBefore_ = std::move(before.output);
    if (!before) {
      done_.guard.trouble = before.error;
      done_.guard.noVerdict = true;
      done_.guard.noFolder = before.status == ptxas::Assembly::Status::NoFolder;
      keepAll(kNotJudged);
      return false;
    }
    done_.guard.before = std::move(before.measures);
    return take(std::move(after));
  }

  ptxas::Assembly measureOutput() {
    ptxas::Assembly assembly;
    if (isLeftOut_.none() && !isByKernel()) {
      assembly = measure(done_.result.output);
    } else {
      Options places;
      places.level = 0;
      places.outcomes = true;
      const Result read = optimize(done_.result.output, places);
      assembly = measureKernels(done_.result.output, read.outcomes, cutsOutput_);
    }
    outputAfter_ = std::move(assembly.output);
    if (outputAfter_) measuredText_ = done_.result.output;
    return assembly;
  }

  // The figures of the output. Where there are none although there are some of the input, that is given back.
  bool take(ptxas::Assembly after) {
    if (after) {
      done_.guard.after = std::move(after.measures);
      return true;
    }
    done_.guard.trouble = after.error;
    done_.guard.refused = after.status == ptxas::Assembly::Status::Refused;
    done_.guard.noFolder = after.status == ptxas::Assembly::Status::NoFolder;
    keepAll(done_.guard.refused ? std::string_view("refused") : kNotJudged);
    return false;
  }

  void keepAll(std::string_view reason) {
    for (const FunctionOutcome& f : done_.result.outcomes) {
      if (!f.changed) continue;
      options_.leave.push_back(f.name);
      done_.guard.kept.push_back({f.name, std::string(reason), {}});
    }
    done_.result = optimize(text_, options_);
    done_.guard.after = done_.guard.before;
  }

  void keepWorse() {
    for (;;) {
      const CallGraph graph(done_.result.outcomes);
      std::vector<WorseFunction> worse = worseFunctions(done_.guard.before, done_.guard.after, guard_.rule);
      std::erase_if(worse, [&](const WorseFunction& w) { return isUnchangedCopy(w, graph); });
      BitVector isKept(done_.result.outcomes.size());
      const bool anyUnjudged = keepUnjudged(graph, isKept);
      if (worse.empty() && !anyUnjudged) return;
      const bool anyWorse = keep(worse, graph, isKept);
      if (!anyWorse && !anyUnjudged) return keepAll("together");
      const bool isShared = (!anyWorse && !worse.empty()) || othersReach(worse, graph, isKept);
      const std::vector<FunctionOutcome> outcomes = done_.result.outcomes;
      done_.result = optimize(text_, options_);
      if (!isShared) return takeOver(worse, isKept, outcomes);
      if (!changedAny(done_.result)) {
        done_.guard.after = done_.guard.before;
        return;
      }
      if (!take(measureOutput())) return;
    }
  }

  // Whether this is a function whose code is part of several kernels', and that was not changed, nor what it reaches. Its
  // figures are those of one copy: of which one depends on what was assembled. These kernels are compared themselves.
  bool isUnchangedCopy(const WorseFunction& w, const CallGraph& graph) const {
    const auto& outcomes = done_.result.outcomes;
    const ptxas::FunctionMeasures* const after = done_.guard.after.find(w.name);
    const uint32_t root = graph.indexOf(w.name);
    if (after == nullptr || root == CallGraph::kNone || after->isKernel || after->instructions != 0) return false;
    if (std::ranges::any_of(graph.closure(root), [&](uint32_t f) { return outcomes[f].changed; })) return false;
    return graph.kernelsThatReach(root) > 1;
  }

  enum class Verdict : uint8_t {
    Known,
    NoCode,    // of a function that is no kernel: it may be part of other code
    Doubtful,  // of a kernel whose figures are not there, or not those that are compared first
  };
  Verdict verdictOn(const FunctionOutcome& f) const {
    const ptxas::FunctionMeasures* const before = done_.guard.before.find(f.name);
    const ptxas::FunctionMeasures* const after = done_.guard.after.find(f.name);
    if (before != nullptr && after == nullptr) return Verdict::Known;  // code that is gone has a reason of its own
    if (before == nullptr || after == nullptr) return f.isKernel ? Verdict::Doubtful : Verdict::NoCode;
    if (!f.isKernel || (!before->code.empty() && before->code == after->code)) return Verdict::Known;
    const bool haveSpills = value(*before, ptxas::Measure::Spills) && value(*after, ptxas::Measure::Spills);
    return haveSpills ? Verdict::Known : Verdict::Doubtful;
  }

  // Marks what was changed and is part of a kernel without a verdict, or of no code at all. False when there is nothing.
  bool keepUnjudged(const CallGraph& graph, BitVector& isKept) {
    const auto& outcomes = done_.result.outcomes;
    BitVector known(outcomes.size()), doubtful(outcomes.size());
    for (std::size_t f = 0; f < outcomes.size(); ++f) {
      const Verdict verdict = verdictOn(outcomes[f]);
      if (verdict == Verdict::Known || (verdict == Verdict::NoCode && guard_.isWholeCall)) known.set(f);
      if (verdict == Verdict::Doubtful) doubtful.set(f);
    }
    BitVector unjudged = functionsThat(outcomes, &FunctionOutcome::changed);
    unjudged.andNot(graph.reachedFrom(known).andNot(graph.reachedFrom(doubtful)));
    unjudged.forEach([&](std::size_t f) {
      options_.leave.push_back(outcomes[f].name);
      done_.guard.kept.push_back({outcomes[f].name, std::string(kNotJudged), {}});
    });
    isKept |= unjudged;
    return !unjudged.none();
  }

  // Marks what these reach and was changed. False when there is nothing: they got worse without having changed.
  bool keep(const std::vector<WorseFunction>& worse, const CallGraph& graph, BitVector& isKept) {
    bool any = false;
    for (const WorseFunction& w : worse) {
      const uint32_t root = graph.indexOf(w.name);
      if (root == CallGraph::kNone) continue;
      for (const uint32_t f : graph.closure(root)) {
        const FunctionOutcome& outcome = done_.result.outcomes[f];
        if (!outcome.changed || isKept.test(f)) continue;
        isKept.set(f);
        any = true;
        options_.leave.push_back(outcome.name);
        if (f != root)
          done_.guard.kept.push_back({outcome.name, "called-by", w.name});
        else if (w.missing)
          done_.guard.kept.push_back({outcome.name, "missing", {}});
        else
          done_.guard.kept.push_back({outcome.name, std::string(name(w.by.by)), w.by.text()});
      }
    }
    return any;
  }

  // Whether the machine code of a function that is not worse may change again by what is kept now.
  bool othersReach(const std::vector<WorseFunction>& worse, const CallGraph& graph, const BitVector& isKept) const {
    BitVector known = isKept;  // worse or kept
    for (const WorseFunction& w : worse)
      if (const uint32_t f = graph.indexOf(w.name); f != CallGraph::kNone) known.set(f);
    return !graph.whoReach(isKept).isSubsetOf(known);
  }

  // What is worse or kept has the figures of the input now, and nothing else has changed.
  void takeOver(const std::vector<WorseFunction>& worse, const BitVector& isKept,
                const std::vector<FunctionOutcome>& outcomes) {
    for (const WorseFunction& w : worse) takeOver(w.name);
    isKept.forEach([&](std::size_t f) { takeOver(outcomes[f].name); });
  }

  void takeOver(const std::string& name) {
    const ptxas::FunctionMeasures* const before = done_.guard.before.find(name);
    auto& functions = done_.guard.after.functions;
    const auto at =
        std::lower_bound(functions.begin(), functions.end(), name,
                         [](const ptxas::FunctionMeasures& f, const std::string& n) { return f.name < n; });
    if (before == nullptr) {
      if (at != functions.end() && at->name == name) functions.erase(at);
      return;
    }
    if (at != functions.end() && at->name == name)
      *at = *before;
    else
      functions.insert(at, *before);
  }

  const std::string_view text_;
  Options options_;
  const GuardOptions& guard_;
  ptxas::PtxasSettings ptxas_;
  std::optional<ptxas::PtxasOutput> outputBefore_, outputAfter_;
  std::string measuredText_;  // of outputAfter_
  bool asksRelocatable_ = false;
  std::vector<FunctionOutcome> compared_;  // of the first round
  BitVector isLeftOut_;                    // kernels that are not assembled, by function; empty: none
  bool cutsOutput_ = false;
  GuardedResult done_;
};

}  // namespace

std::string_view name(GuardMode mode) { return mode == GuardMode::Ptxas ? "ptxas" : "off"; }

GuardedResult optimizeGuarded(std::string_view text, const Options& options, const GuardOptions& guard) {
  GuardedResult done = Guard(text, options, guard).run();
  if (!done.result.reportJson.empty() && guard.mode != GuardMode::Off)
    addGuardReport(done.result.reportJson, done.guard);
  return done;
}

}  // namespace ptxopt::guard
