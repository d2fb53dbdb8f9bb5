// The tunables of the passes. The table is knobs.def.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ptxopt {

enum class Knob : uint8_t {
#define PTXOPT_KNOB(id, name, defaultValue, least, most, summary) id,
#define PTXOPT_NAMED_KNOB(id, name, defaultValue, most, values, summary) id,
#define PTXOPT_TEST_KNOB(id, name, defaultValue, least, most, summary) id,
#define PTXOPT_KNOB_ALIAS(alias, id, isInverted)
#include "passes/manager/knobs.def"
#undef PTXOPT_KNOB_ALIAS
#undef PTXOPT_TEST_KNOB
#undef PTXOPT_NAMED_KNOB
#undef PTXOPT_KNOB
};

struct KnobInfo {
  std::string_view name;
  int64_t defaultValue, least, most;
  std::string_view summary;
  std::string_view values;  // names of the numbers from 0 on, "a|b|c"; empty: it is a number
  bool isForTests = false;
};
// By Knob.
std::span<const KnobInfo> knobTable();
// The name that cicc has for a knob. For an on/off knob it may mean the opposite.
struct KnobAlias {
  std::string_view name;
  Knob knob;
  bool isInverted;
};
std::span<const KnobAlias> knobAliases();
// By name or alias; `knob` is null where there is none.
struct KnobName {
  const KnobInfo* knob = nullptr;
  bool isInverted = false;
};
KnobName findKnob(std::string_view name);
// The name of a value of a knob whose values have names.
std::string_view knobValueName(const KnobInfo& knob, int64_t value);

// The values of all knobs.
class Knobs {
 public:
  Knobs();
  int64_t operator[](Knob knob) const { return values_[static_cast<std::size_t>(knob)]; }
  // As the user names it, by name or alias. An error in words, or an empty string.
  std::string set(std::string_view name, int64_t value);

 private:
#define PTXOPT_KNOB(id, name, defaultValue, least, most, summary) +1
#define PTXOPT_NAMED_KNOB(id, name, defaultValue, most, values, summary) +1
#define PTXOPT_TEST_KNOB(id, name, defaultValue, least, most, summary) +1
#define PTXOPT_KNOB_ALIAS(alias, id, isInverted)
  static constexpr std::size_t kCount = 0
#include "passes/manager/knobs.def"
      ;
#undef PTXOPT_KNOB_ALIAS
#undef PTXOPT_TEST_KNOB
#undef PTXOPT_NAMED_KNOB
#undef PTXOPT_KNOB
  std::array<int64_t, kCount> values_;  // by Knob
};

}  // namespace ptxopt
