// Which passes run in which order, and what each run is called.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "passes/manager/pass.h"

namespace ptxopt {

// For a pass that is in no pipeline.
constexpr int kOnRequest = 100;

// The lowest -O level whose pipeline has the pass.
int levelOf(const PassInfo& pass);

// What a step of the pipeline is for (pipeline.def).
enum class StepKind : uint8_t { Optimize, Cleanup, ManyIterations };
std::string_view name(StepKind kind);

// Iterations from which on facts say that there are many: what is paid before a loop is then little.
constexpr uint32_t kManyIterations = 16;

// One run of a pass.
struct Step {
  const PassInfo* pass = nullptr;
  std::string name;                    // the pass, with `@n` when the pipeline has several runs of it
  StepKind kind = StepKind::Optimize;  // of a pass that the user names without a number: Optimize
  int level = kOnRequest;              // the lowest that runs it
};

// The analyses that a pass asks for, in words: of the function, then of the module. "nothing"
std::string asksOf(const PassInfo& pass);

// What the user chose: see Options of the same names.
struct PipelineChoice {
  int level = 2;
  const std::vector<std::string>* passes = nullptr;  // instead of the pipeline of `level`
  std::span<const std::string> skip;
};

// The steps that are to run. A name is that of a pass, which stands for all its runs, or `pass@n`. In `passes`,
// where each name is one run, `pass@n` is the n-th run of the whole pipeline put there, and keeps its name and kind.
// `alsoNames` are names of steps that the caller has other uses for: they are checked like the rest. An error in
// words comes back in `error`.
std::vector<Step> makePipeline(const PipelineChoice& choice, std::span<const std::string> alsoNames,
                               std::string& error);
// Whether `names` has the step or its pass.
bool isNamed(const Step& step, std::span<const std::string> names);

}  // namespace ptxopt
