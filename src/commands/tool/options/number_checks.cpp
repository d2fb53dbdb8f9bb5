#include "tool/options/number_checks.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

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

std::string checkWhole(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  std::strtoull(text.c_str(), &end, 0);
  const bool isWhole = !text.empty() && *end == '\0' && errno == 0 && text.find('-') == std::string::npos;
  return isWhole ? std::string() : "'" + text + "' is not a whole number from 0 to 2^64 - 1";
}

}  // namespace ptxopt::tool
