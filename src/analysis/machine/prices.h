// What 64-bit integer arithmetic costs in machine instructions, by architecture: prices.def as numbers.
//
// Up to sm_103, and on sm_110, an addition of 64 bits is two instructions, and a pointer that a loop moves on by a
// constant is several, because the halves of the sum are not an aligned pair; a product of 32-bit numbers is one, with
// the addition that reads it. sm_107, 120 and 121 add, compare and choose 64 bits in one instruction (IADD.64), so
// that rewriting a step as a product gains nothing there. An architecture that the table lacks has the prices of the
// newest one before it; a target without a number, or older than the table, has those of the first row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ptxopt {

struct MachinePrices {
  uint32_t architecture;
#define PTX_PRICE(name, summary) double name;
#define PTX_PRICES(number, ...)
#include "analysis/machine/prices.def"
#undef PTX_PRICES
#undef PTX_PRICE
};

std::span<const MachinePrices> machinePrices();  // in the order of the architectures
const MachinePrices& machinePrices(std::string_view target);

}  // namespace ptxopt
