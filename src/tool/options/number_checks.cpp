#include "tool/options/number_checks.h"

#include <cmath>

namespace ptxopt::tool {
namespace {

// Not a number where the text is none.
double numberOf(const std::string& text) {
  double value = 0;
  return CLI::detail::lexical_cast(text, value) && std::isfinite(value) ? value : NAN;
}

}  // namespace

std::string checkPositive(const std::string& text) {
  return numberOf(text) > 0 ? std::string() : "'" + text + "' is not a number above 0";
}

std::string checkNotNegative(const std::string& text) {
  return numberOf(text) >= 0 ? std::string() : "'" + text + "' is not a number of 0 or more";
}

}  // namespace ptxopt::tool
