#include "analysis/machine/prices.h"

#include "analysis/machine/target_number.h"

namespace ptxopt {
namespace {

constexpr MachinePrices kPrices[] = {
#define PTX_PRICE(name, summary)
#define PTX_PRICES(number, ...) {number, __VA_ARGS__},
#include "analysis/machine/prices.def"
#undef PTX_PRICES
#undef PTX_PRICE
};

}  // namespace

std::span<const MachinePrices> machinePrices() { return kPrices; }

const MachinePrices& machinePrices(std::string_view target) {
  const MachinePrices* found = &kPrices[0];
  const uint32_t number = targetNumber(target).value_or(0);
  for (const MachinePrices& p : kPrices)
    if (p.architecture <= number) found = &p;
  return *found;
}

}  // namespace ptxopt
