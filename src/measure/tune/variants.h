// The variants that `ptxopt tune` tries, from variants.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/recipe.h"

namespace ptxopt::tune {

struct Variant {
  std::string name;
  std::string_view summary;
  Recipe recipe;
};
// In the order of the table; the first is the text as it is.
const std::vector<Variant>& variants();

struct LimitVariant {
  std::string_view name;
  uint32_t step;  // of the occupancy, upwards
  std::string_view summary;
};
const std::vector<LimitVariant>& limitVariants();

}  // namespace ptxopt::tune
