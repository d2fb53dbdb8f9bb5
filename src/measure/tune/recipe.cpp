// A recipe is applied to the options, spelled as a command line, or written as JSON and read back; each form leaves out
// what is usual.
#include "tune/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "passes/manager/pass.h"

namespace ptxopt::tune {

Recipe Recipe::passesOnly() const {
  Recipe copy = *this;
  copy.limit = 0;
  return copy;
}

void Recipe::applyTo(Options& options) const {
  options.level = level;
  options.passes = passes;
  options.skip = skip;
  options.knobs = knobs;
}

std::string Recipe::spelled() const {
  std::string out;
  const auto add = [&](const std::string& word, std::string_view between = " ") {
    if (!out.empty()) out += between;
    out += word;
  };
  if (passes)
    add(fmt::format("--passes={}", fmt::join(*passes, ",")));
  else if (level != 0)
    add(fmt::format("-O{}", level));
  if (!skip.empty()) add(fmt::format("--skip-pass={}", fmt::join(skip, ",")));
  for (const auto& [name, value] : knobs) add(fmt::format("--{}={}", name, knobValueText(name, value)));
  if (limit != 0) add(fmt::format(".maxnreg {}", limit), ", ");
  return out.empty() ? "as it is" : out;
}

Json toJson(const Recipe& recipe) {
  Json json = Json::object();
  if (recipe.passes)
    json["passes"] = *recipe.passes;
  else
    json["level"] = recipe.level;
  if (!recipe.skip.empty()) json["skip"] = recipe.skip;
  if (!recipe.knobs.empty()) {
    Json& knobs = json["knobs"] = Json::object();
    for (const auto& [name, value] : recipe.knobs) {
      const KnobInfo* const knob = findKnob(name).knob;
      if (knob != nullptr && !knob->values.empty())
        knobs[name] = knobValueText(name, value);
      else
        knobs[name] = value;
    }
  }
  if (recipe.limit != 0) json["maxnreg"] = recipe.limit;
  return json;
}

Recipe recipeFrom(const Json& json) {
  Recipe recipe;
  for (const auto& [key, value] : json.items()) {
    if (key == "level") {
      recipe.level = value.get<int>();
    } else if (key == "passes") {
      recipe.passes = value.get<std::vector<std::string>>();
    } else if (key == "skip") {
      recipe.skip = value.get<std::vector<std::string>>();
    } else if (key == "maxnreg") {
      recipe.limit = value.get<uint32_t>();
      if (recipe.limit == 0 || recipe.limit > 255) throw std::invalid_argument("'maxnreg' is 1 to 255");
    } else if (key == "knobs") {
      for (const auto& [name, setting] : value.items()) {
        const auto [knob, isInverted] = findKnob(name);
        if (knob == nullptr) throw std::invalid_argument(Knobs().set(name, 0));  // which says so
        if (setting.is_string()) {
          int64_t number = 0;
          while (number <= knob->most && knobValueName(*knob, number) != setting.get<std::string>()) ++number;
          if (knob->values.empty() || number > knob->most)
            throw std::invalid_argument(fmt::format("{} cannot be '{}'", name, setting.get<std::string>()));
          recipe.knobs[std::string(knob->name)] = number;
        } else {
          const auto number = setting.get<int64_t>();
          recipe.knobs[std::string(knob->name)] = isInverted ? 1 - number : number;
        }
      }
    } else {
      throw std::invalid_argument(fmt::format("'{}' is not known", key));
    }
  }
  return recipe;
}

}  // namespace ptxopt::tune
