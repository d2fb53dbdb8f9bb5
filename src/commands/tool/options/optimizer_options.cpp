// Each knob of knobs.def becomes an option by its name and by each name that cicc gives it, inverted where that one
// means the opposite. A knob from 0 to 1 is a flag that takes the words of LLVM's booleans.
#include "tool/options/optimizer_options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <initializer_list>

#include "tool/manual/help.h"

namespace ptxopt::tool {

namespace {

// What LLVM's cl::opt takes for a boolean; alone, the option means true.
std::string readSwitch(std::string& text) {
  const auto is = [&](std::initializer_list<const char*> words) {
    return std::ranges::find(words, text) != words.end();
  };
  if (!is({"1", "0", "true", "false", "TRUE", "FALSE", "True", "False"}))
    return fmt::format("'{}' is neither true nor false", text);
  text = is({"1", "true", "TRUE", "True"}) ? "true" : "false";
  return {};
}

bool isSwitch(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// What the knob takes: a number, or one of its names.
CLI::Validator validator(const KnobDescription& knob) {
  if (knob.values.empty()) return CLI::Range(knob.least, knob.most);
  std::map<std::string, int64_t> numbers;
  for (const std::string& value : CLI::detail::split(std::string(knob.values), '|'))
    numbers.emplace(value, static_cast<int64_t>(numbers.size()));
  return CLI::CheckedTransformer(numbers).description("");
}

// An option for the knob, by one of its names.
CLI::Option* addKnob(CLI::App& app, const KnobDescription& knob, std::string_view name,
                     const std::string& summary) {
  CLI::Option* option = nullptr;
  if (knob.values.empty() && knob.least == 0 && knob.most == 1)
    option = app.add_flag(fmt::format("--{}{{true}}", name))
                 ->type_name("0|1")
                 ->transform(CLI::Validator(readSwitch, ""));
  else
    option = app.add_option(fmt::format("--{}", name))
                 ->type_name(knob.values.empty() ? "N" : std::string(knob.values))
                 ->transform(validator(knob));
  return option->description(summary)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw)
      ->group(std::string(knob.isForTests ? kTestGroup : kKnobGroup));
}

}  // namespace

void OptimizerOptions::addPasses(CLI::App& app, const std::string& group) {
  levelOption_ =
      app.add_option("-O", level_, "0: parse and print; 1: clean up; 2 (the default): run all passes that pay")
          ->type_name("LEVEL")
          ->check(CLI::Range(0, 2))  // after the transform, which names the levels
          ->transform(CLI::Validator(
              [this](std::string& text) {
                isHigher_ = text == "3";
                if (isHigher_) text = "2";
                const bool isLevel = text == "0" || text == "1" || text == "2";
                return isLevel
                           ? std::string()
                           : fmt::format("there is no level '{}': -O0, -O1 and -O2 (the default), and -O3 for -O2",
                                         text);
              },
              ""))
          ->group(group);
  passesOption_ = app.add_option("--passes", passes_, "run exactly these passes, in this order")
                      ->type_name("PASS,...")
                      ->delimiter(',')
                      ->allow_extra_args(false)
                      ->group(group);
  app.add_option("--skip-pass", options_.skip, "skip these passes; dce@2 is the second run of dce")
      ->type_name("PASS,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--decline", options_.decline,
                 "do not apply the pass to the loop or block at this label of the input; PASS@FUNCTION:LABEL where "
                 "several functions have the label")
      ->type_name("PASS@LABEL,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
}

void OptimizerOptions::addKnobs(CLI::App& app) {
  for (const KnobDescription& knob : describeKnobs()) {
    const int64_t usual = knob.defaultValue;
    CLI::Option* const option =
        addKnob(app, knob, knob.name,
                fmt::format("{} [{}]", knob.summary,
                            knob.values.empty() ? std::to_string(usual) : std::string(knob.defaultName)));
    knobOptions_.push_back({std::string(knob.name), option, false});
    for (const KnobDescription::Alias& alias : knob.aliases) {
      const std::string what = alias.isInverted
                                   ? fmt::format("the opposite of --{}, as cicc has it [{}]", knob.name, 1 - usual)
                                   : fmt::format("cicc's name for --{}", knob.name);
      CLI::Option* const other = addKnob(app, knob, alias.name, what)->excludes(option);
      knobOptions_.push_back({std::string(knob.name), other, alias.isInverted});
    }
  }
  app.add_flag_callback(
         "--dump-before-cssa{true}", [this] { options_.printBefore.emplace_back("cssa-coalesce"); },
         "cicc's name for --print-before=cssa-coalesce")
      ->type_name("0|1")
      ->group(std::string(kKnobGroup));
}

void OptimizerOptions::finish(int usualLevel) {
  constexpr int kHigher = 3;  // as ptxas's usual one: optimize() takes it as 2, with a remark
  options_.level = levelOption_->count() == 0 ? usualLevel : isHigher_ ? kHigher : level_;
  if (passesOption_->count() != 0) options_.passes = passes_;
  for (const KnobOption& k : knobOptions_) {
    if (k.option->count() == 0) continue;
    const int64_t value = isSwitch(*k.option) ? k.option->as<bool>() : k.option->as<int64_t>();
    options_.knobs[k.knob] = k.isInverted ? 1 - value : value;
  }
}

}  // namespace ptxopt::tool
