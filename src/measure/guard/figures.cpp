// Figures known by kernel come first; kernels that are not asked about are cut out if they are a fifth of the text or
// more, and the rest is assembled. Tries of kernels that call nothing are put into one text, so that ptxas starts once.
#include "guard/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cut/closure.h"
#include "cut/cut.h"
#include "guard/kernel_answers.h"

namespace ptxopt::guard {
namespace {

constexpr uint64_t kLeastCut = 5;  // a fifth of the text: less is not worth a text of its own

constexpr double kKeptShare = 1.0 / 12;  // of the changed functions of the corpus, 51 of 604

void dropKernels(ptxas::Measures& measures, const std::vector<FunctionOutcome>& functions, const BitVector& which) {
  const cut::CallGraph graph(functions);
  std::erase_if(measures.functions, [&](const ptxas::FunctionMeasures& m) {
    const uint32_t f = graph.indexOf(m.name);
    return f != cut::CallGraph::kNone && which.test(f);
  });
}

}  // namespace

Figures::Figures(std::string_view input, const std::vector<FunctionOutcome>& outcomes, std::string architecture,
                 ptxas::PtxasSettings ptxas, bool isWholeCall)
    : input_(input),
      outcomes_(outcomes),
      architecture_(std::move(architecture)),
      ptxas_(std::move(ptxas)),
      asksRelocatable_(!isWholeCall && changedApart()),
      isLeftOut_(outcomes.size()) {
  chooseCut();
}

// Whether a function was changed that no kernel reaches.
bool Figures::changedApart() const {
  const BitVector kernels = cut::functionsThat(outcomes_, &FunctionOutcome::isKernel);
  return !cut::functionsThat(outcomes_, &FunctionOutcome::changed)
              .isSubsetOf(cut::CallGraph(outcomes_).reachedFrom(kernels));
}

// Where the machine code of the output is wanted, it is made of the whole text: at once, or, if some kernel is likely to be kept
// and the text to be another one, when it is known which.
void Figures::chooseCut() {
  if (asksRelocatable_) return;
  cutsOutput_ = !ptxas_.keepsOutput;
  BitVector which = cut::unaffectedKernels(outcomes_);
  const uint64_t bytes = cut::bytesOf(outcomes_, which);
  if (bytes * kLeastCut < input_.size()) return;
  isLeftOut_ = std::move(which);
  const auto changed = std::ranges::count_if(outcomes_, &FunctionOutcome::changed);
  const double isAnyKept = 1 - std::pow(1 - kKeptShare, static_cast<double>(changed));
  const double share = 1 - static_cast<double>(bytes) / static_cast<double>(input_.size());
  cutsOutput_ = !ptxas_.keepsOutput || share < isAnyKept;
}

// Whether kernels are looked at for themselves: the answers to them are kept so. Where an address of a function is taken,
// what ptxas makes of a kernel depends on the others too (cut.h).
bool Figures::isByKernel() const {
  return !asksRelocatable_ && ptxas_.cache != nullptr &&
         std::ranges::none_of(outcomes_, &FunctionOutcome::takesAddress) &&
         std::ranges::count_if(outcomes_, &FunctionOutcome::isKernel) > 1;
}

ptxas::Assembly Figures::measure(std::string_view text) const {
  ptxas::Assembly assembly = ptxas::assemble(text, architecture_, ptxas_);
  if (assembly && asksRelocatable_) addRelocatable(text, assembly.measures);
  return assembly;
}

// The figures of functions that have code only where other files may call them.
void Figures::addRelocatable(std::string_view text, ptxas::Measures& measures) const {
  ptxas::PtxasSettings settings = ptxas_;
  settings.arguments.emplace_back("-c");
  ptxas::Assembly more = ptxas::assemble(text, architecture_, settings);
  if (!more) return;
  std::vector<ptxas::FunctionMeasures> added;
  for (ptxas::FunctionMeasures& f : more.measures.functions)
    if (!f.isKernel && measures.find(f.name) == nullptr) added.push_back(std::move(f));
  std::ranges::move(added, std::back_inserter(measures.functions));
  std::ranges::sort(measures.functions, {}, &ptxas::FunctionMeasures::name);
}

// The figures of a text with these functions, but for the kernels that are left out. Answers that are known are not
// asked for again; what is not asked for is cut out of the text, if that is not a small part of it and its code is not
// wanted.
ptxas::Assembly Figures::measureKernels(std::string_view text, const std::vector<FunctionOutcome>& functions,
                                        const BitVector& isLeftOut, bool mayCut) const {
  std::optional<KernelAnswers> answers;
  if (isByKernel()) answers.emplace(text, functions, isLeftOut, architecture_, ptxas_);
  if (answers && answers->haveAll()) {
    ptxas::Assembly assembly;
    assembly.status = ptxas::Assembly::Status::Ok;
    assembly.fromCache = true;
    assembly.measures.architecture = architecture_;
    answers->addTo(assembly.measures);
    return assembly;
  }
  BitVector isCut = isLeftOut;
  if (answers) isCut |= cut::cuttableKernels(functions) &= answers->known();
  mayCut = mayCut && cut::bytesOf(functions, isCut) * kLeastCut >= text.size();
  ptxas::PtxasSettings settings = ptxas_;
  if (answers) settings.cache = nullptr;
  ptxas::Assembly assembly;
  if (mayCut) {
    settings.keepsOutput = false;
    assembly = ptxas::assemble(cut::cutText(text, functions, isCut), architecture_, settings);
    settings.keepsOutput = ptxas_.keepsOutput;
  }
  // For the whole, also where ptxas does not accept a part of it.
  if (!assembly) assembly = answers ? ptxas::assemble(text, architecture_, settings) : measure(text);
  if (!assembly) return assembly;
  if (answers) answers->keep(assembly.measures);
  dropKernels(assembly.measures, functions, isCut);
  if (answers) answers->addTo(assembly.measures);
  return assembly;
}

// By function of a text: the kernels of the input that are left out.
BitVector Figures::leftOutOf(const std::vector<FunctionOutcome>& functions) const {
  const cut::CallGraph graph(outcomes_);
  return cut::functionsThat(functions, [&](const FunctionOutcome& f) {
    const uint32_t of = graph.indexOf(f.name);
    return of != cut::CallGraph::kNone && isLeftOut_.test(of);
  });
}

ptxas::Assembly Figures::ofInput() const {
  if (isLeftOut_.none() && !isByKernel()) return measure(input_);
  return measureKernels(input_, outcomes_, isLeftOut_, true);
}

ptxas::Assembly Figures::ofOutput(const Result& result) {
  const std::vector<FunctionOutcome>& functions = result.outcomesAfter;
  ptxas::Assembly assembly = isLeftOut_.none() && !isByKernel()
                                 ? measure(result.output)
                                 : measureKernels(result.output, functions, leftOutOf(functions), cutsOutput_);
  keepOutput(result.output, assembly);
  return assembly;
}

// One text of all tries, in which each kernel of a later try has a name of its own: ptxas starts once. Nothing where that does not
// pay or may not be: where some try has more than kernels that call nothing, or its code may be the output, or ptxas does not
// take it.
std::vector<ptxas::Assembly> Figures::ofTriesTogether(const std::vector<Try>& tries) const {
  if (tries.size() < 2 || asksRelocatable_) return {};
  ptxas::PtxasSettings settings = ptxas_;
  settings.keepsOutput = false;
  std::vector<std::optional<KernelAnswers>> answers(tries.size());
  std::string text;
  using Asked = std::pair<const FunctionOutcome*, std::string>;  // and the name that it has there
  std::vector<std::vector<Asked>> asked(tries.size());
  for (std::size_t k = 0; k < tries.size(); ++k) {
    const auto& [result, isTried] = tries[k];
    const std::vector<FunctionOutcome>& functions = result.outcomesAfter;
    const BitVector cuttable = cut::cuttableKernels(functions);
    BitVector isCut = cuttable;
    isCut.andNot(isTried);
    if (!isTried.isSubsetOf(cuttable)) return {};
    if (ptxas_.keepsOutput && cut::bytesOf(functions, isCut) * kLeastCut < result.output.size()) return {};
    if (isByKernel()) {
      answers[k].emplace(result.output, functions, isCut, architecture_, ptxas_);
      settings.cache = nullptr;
      isCut |= answers[k]->known();
    }
    if (k == 0) text = cut::cutText(result.output, functions, isCut);
    for (std::size_t f = 0; f < functions.size(); ++f) {
      if (!isTried.test(f) || isCut.test(f)) continue;
      if (!functions[f].mentions.empty()) return {};
      asked[k].emplace_back(&functions[f],
                            k == 0 ? functions[f].name : fmt::format("{}$try{}", functions[f].name, k));
      if (k == 0) continue;
      const std::string kernel = cut::renamedKernel(result.output, functions[f], asked[k].back().second);
      if (kernel.empty()) return {};
      text += kernel;
    }
  }
  ptxas::Assembly all;
  if (std::ranges::any_of(asked, [](const auto& a) { return !a.empty(); })) {
    all = ptxas::assemble(text, architecture_, settings);
    if (!all) return {};
  }
  std::vector<ptxas::Assembly> made(tries.size());
  for (std::size_t k = 0; k < tries.size(); ++k) {
    made[k].status = ptxas::Assembly::Status::Ok;
    made[k].measures.architecture = architecture_;
    for (const auto& [kernel, name] : asked[k])
      if (const ptxas::FunctionMeasures* const m = all.measures.find(name)) {
        made[k].measures.functions.push_back(*m);
        made[k].measures.functions.back().name = kernel->name;
      }
    std::ranges::sort(made[k].measures.functions, {}, &ptxas::FunctionMeasures::name);
    if (!answers[k]) continue;
    answers[k]->keep(made[k].measures);
    answers[k]->addTo(made[k].measures);
  }
  return made;
}

std::vector<ptxas::Assembly> Figures::ofTries(const std::vector<Try>& tries) {
  std::vector<ptxas::Assembly> made = ofTriesTogether(tries);
  if (made.empty())
    for (const Try& its : tries) made.push_back(ofTry(its));
  return made;
}

ptxas::Assembly Figures::ofTry(const Try& its) {
  const auto& [result, isTried] = its;
  const std::vector<FunctionOutcome>& functions = result.outcomesAfter;
  ptxas::Assembly assembly =
      asksRelocatable_
          ? measure(result.output)
          : measureKernels(result.output, functions, cut::cuttableKernels(functions).andNot(isTried), true);
  keepOutput(result.output, assembly);
  return assembly;
}

void Figures::keepOutput(const std::string& text, ptxas::Assembly& assembly) {
  if (assembly.output) made_.emplace_back(text, std::move(*assembly.output));
}

std::optional<ptxas::PtxasOutput> Figures::takeOutputOf(std::string_view text) {
  for (auto& [of, output] : made_)
    if (of == text) return std::move(output);
  return std::nullopt;
}

}  // namespace ptxopt::guard
