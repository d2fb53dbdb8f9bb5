#include "tool/options/optimizer_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "tool/manual/help.h"

namespace ptxopt::tool {

namespace {

std::string typeName(const KnobDescription& knob) { return knob.values.empty() ? "N" : std::string(knob.values); }

// What the knob takes: a number, or one of its names.
CLI::Validator validator(const KnobDescription& knob) {
  if (knob.values.empty()) return CLI::Range(knob.least, knob.most);
  std::map<std::string, int64_t> numbers;
  for (const std::string& value : CLI::detail::split(std::string(knob.values), '|'))
    numbers.emplace(value, static_cast<int64_t>(numbers.size()));
  return CLI::CheckedTransformer(numbers).description("");
}

}  // namespace

void OptimizerOptions::addPasses(CLI::App& app, const std::string& group) {
  levelOption_ =
      app.add_option("-O", level_, "0: parse and print; 1: clean-up; 2 (the default): everything that pays")
          ->type_name("LEVEL")
          ->check(CLI::Range(0, 2))
          ->group(group);
  passesOption_ = app.add_option("--passes", passes_, "exactly these passes, in this order")
                      ->type_name("PASS,...")
                      ->delimiter(',')
                      ->allow_extra_args(false)
                      ->group(group);
  app.add_option("--skip-pass", options_.skip, "not these; dce@2 is the second run of dce")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
}

void OptimizerOptions::addKnobs(CLI::App& app) {
  for (const KnobDescription& knob : describeKnobs()) {
    const std::string name(knob.name);
    CLI::Option* const option = app.add_option(
        "--" + name, knobValues_[name],
        fmt::format("{} [{}]", knob.summary,
                    knob.values.empty() ? std::to_string(knob.defaultValue) : std::string(knob.defaultName)));
    option->type_name(typeName(knob))->transform(validator(knob))->group(std::string(kKnobGroup));
    knobOptions_.emplace_back(name, option);
    for (const KnobDescription::Alias& alias : knob.aliases) addAlias(app, name, knob, alias);
  }
}

// It takes the values of the knob, and is not shown.
void OptimizerOptions::addAlias(CLI::App& app, const std::string& name, const KnobDescription& knob,
                                const KnobDescription::Alias& alias) {
  const auto set = [this, name, isInverted = alias.isInverted](int64_t value) {
    options_.knobs[name] = isInverted ? 1 - value : value;
  };
  const std::string flag = "--" + std::string(alias.name);
  // CLI11 does not name hidden options in its messages.
  const auto check = [flag, base = validator(knob)](std::string& text) {
    const std::string error = base(text);
    return error.empty() ? error : fmt::format("{}: {}", flag, error);
  };
  app.add_option_function<int64_t>(flag, set)->transform(CLI::Validator(check, ""))->group("");
}

void OptimizerOptions::finish(int usualLevel) {
  options_.level = levelOption_->count() != 0 ? level_ : usualLevel;
  if (passesOption_->count() != 0) options_.passes = passes_;
  for (const auto& [name, option] : knobOptions_)
    if (option->count() != 0) options_.knobs[name] = knobValues_[name];
}

}  // namespace ptxopt::tool
