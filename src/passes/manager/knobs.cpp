#include "passes/manager/knobs.h"

#include <fmt/format.h>

namespace ptxopt {
namespace {

constexpr KnobInfo kKnobs[] = {
#define PTXOPT_KNOB(id, name, defaultValue, least, most, summary) {name, defaultValue, least, most, summary, {}},
#define PTXOPT_NAMED_KNOB(id, name, defaultValue, most, values, summary) \
  {name, defaultValue, 0, most, summary, values},
#include "passes/manager/knobs.def"
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

std::string Knobs::set(std::string_view name, int64_t value) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kKnobs[i].name != name) continue;
    if (value < kKnobs[i].least || value > kKnobs[i].most)
      return fmt::format("{} is {} to {}, not {}", name, kKnobs[i].least, kKnobs[i].most, value);
    values_[i] = value;
    return {};
  }
  return fmt::format("there is no knob '{}'", name);
}

}  // namespace ptxopt
