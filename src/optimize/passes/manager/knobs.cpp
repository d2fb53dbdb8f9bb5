// The table of the .def file is included twice: for the knobs, and for the names that cicc has for them. A name is looked
// up among the latter first.
#include "passes/manager/knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "support/nearest.h"

namespace ptxopt {
namespace {

constexpr KnobInfo kKnobs[] = {
#define PTXOPT_KNOB(id, name, defaultValue, least, most, summary) {name, defaultValue, least, most, summary, {}},
#define PTXOPT_NAMED_KNOB(id, name, defaultValue, most, values, summary) \
  {name, defaultValue, 0, most, summary, values},
#define PTXOPT_TEST_KNOB(id, name, defaultValue, least, most, summary) \
  {name, defaultValue, least, most, summary, {}, true},
#define PTXOPT_KNOB_ALIAS(alias, id, isInverted)
#include "passes/manager/knobs.def"
#undef PTXOPT_KNOB_ALIAS
#undef PTXOPT_TEST_KNOB
#undef PTXOPT_NAMED_KNOB
#undef PTXOPT_KNOB
};

constexpr KnobAlias kKnobAliases[] = {
#define PTXOPT_KNOB(id, name, defaultValue, least, most, summary)
#define PTXOPT_NAMED_KNOB(id, name, defaultValue, most, values, summary)
#define PTXOPT_TEST_KNOB(id, name, defaultValue, least, most, summary)
#define PTXOPT_KNOB_ALIAS(alias, id, isInverted) {alias, Knob::id, isInverted},
#include "passes/manager/knobs.def"
#undef PTXOPT_KNOB_ALIAS
#undef PTXOPT_TEST_KNOB
#undef PTXOPT_NAMED_KNOB
#undef PTXOPT_KNOB
};

}  // namespace

std::span<const KnobInfo> knobTable() { return kKnobs; }

std::string_view knobValueName(const KnobInfo& knob, int64_t value) {
  std::string_view names = knob.values;
  for (; value > 0; --value) names.remove_prefix(names.find('|') + 1);
  return names.substr(0, names.find('|'));
}

Knobs::Knobs() : values_() {
  for (std::size_t i = 0; i < kCount; ++i) values_[i] = kKnobs[i].defaultValue;
}

std::span<const KnobAlias> knobAliases() { return kKnobAliases; }

KnobName findKnob(std::string_view name) {
  for (const KnobAlias& alias : kKnobAliases)
    if (alias.name == name) return {&kKnobs[static_cast<std::size_t>(alias.knob)], alias.isInverted};
  const auto knob = std::ranges::find(kKnobs, name, &KnobInfo::name);
  return {knob == std::end(kKnobs) ? nullptr : knob, false};
}

std::string Knobs::set(std::string_view name, int64_t value) {
  const auto [knob, isInverted] = findKnob(name);
  if (knob == nullptr) {
    std::vector<std::string_view> names;
    for (const KnobInfo& known : kKnobs) names.push_back(known.name);
    return fmt::format("there is no knob '{}'{}", name, orNearest(name, names));
  }
  if (value < knob->least || value > knob->most)
    return fmt::format("{} is {} to {}, not {}", name, knob->least, knob->most, value);
  values_[static_cast<std::size_t>(knob - kKnobs)] = isInverted ? 1 - value : value;
  return {};
}

}  // namespace ptxopt
