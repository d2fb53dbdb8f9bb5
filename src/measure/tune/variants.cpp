// Rows of variants.def become recipes once. A variant that adds passes spells the pipeline out as runs, `pass@n`, so
// that each runs where the pipeline runs it.
#include "tune/variants.h"

#include <charconv>

#include "passes/manager/pass.h"
#include "passes/manager/pipeline.h"

namespace ptxopt::tune {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    all.emplace_back(word);
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return all;
}

int64_t knobValue(std::string_view name, std::string_view text) {
  int64_t number = 0;
  for (const KnobInfo& knob : knobTable())
    if (knob.name == name && !knob.values.empty()) {
      while (number < knob.most && knobValueName(knob, number) != text) ++number;
      return number;
    }
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// For the pipeline: `pass@n`, also where the pass runs once.
std::string runName(const Step& step) {
  return step.name.find('@') == std::string::npos ? step.name + "@1" : step.name;
}

Variant make(std::string_view name, int level, std::string_view skip, std::string_view also, std::string_view knobs,
             std::string_view summary) {
  Variant variant{std::string(name), summary, {}};
  Recipe& recipe = variant.recipe;
  recipe.level = level;
  recipe.skip = split(skip);
  if (!also.empty()) {
    // The pipeline spelled out, with what comes after it. Steps are named as runs of it, so that they run where it runs them:
    // those for many iterations only where facts say that there are many.
    std::string error;
    recipe.passes.emplace();
    const PipelineChoice choice{.level = level, .passes = nullptr, .skip = recipe.skip};
    for (const Step& step : makePipeline(choice, {}, error)) recipe.passes->push_back(runName(step));
    for (std::string& pass : split(also)) recipe.passes->push_back(std::move(pass));
    recipe.skip.clear();
    recipe.level = 0;
  }
  for (const std::string& knob : split(knobs)) {
    const std::size_t equals = knob.find('=');
    const std::string key = knob.substr(0, equals);
    recipe.knobs[key] = knobValue(key, std::string_view(knob).substr(equals + 1));
  }
  return variant;
}

}  // namespace

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
#define PTXOPT_VARIANT(name, level, skip, also, knobs, summary) make(name, level, skip, also, knobs, summary),
#define PTXOPT_LIMIT(name, step, summary)
#include "tune/variants.def"
#undef PTXOPT_LIMIT
#undef PTXOPT_VARIANT
  };
  return all;
}

const std::vector<LimitVariant>& limitVariants() {
  static const std::vector<LimitVariant> all{
#define PTXOPT_VARIANT(name, level, skip, also, knobs, summary)
#define PTXOPT_LIMIT(name, step, summary) {name, step, summary},
#include "tune/variants.def"
#undef PTXOPT_LIMIT
#undef PTXOPT_VARIANT
  };
  return all;
}

}  // namespace ptxopt::tune
