// The list is split at commas and each item at its colon. A percentage is compared with a margin of 1e-12, so that 2%
// of 50 is 1 exactly.
#include "diff/fail_on.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ptxopt::diff {
namespace {

constexpr double kUsualCompileTime = 50;   // percent that are tolerated where nothing is said
constexpr double kLeastCompileTime = 100;  // ms: less is noise, whatever is tolerated

// "2%", "0.5%", "4". A number of things is a whole one.
bool parseTolerance(std::string_view text, Limit& limit) {
  limit.isPercent = text.ends_with('%');
  if (limit.isPercent) text.remove_suffix(1);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), limit.tolerance, std::chars_format::fixed);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(limit.tolerance) &&
         limit.tolerance >= 0 && (limit.isPercent || limit.tolerance == std::floor(limit.tolerance));
}

}  // namespace

bool Limit::isExceeded(uint64_t before, uint64_t after) const {
  const bool moreIsBetter = ptxas::isMoreBetter(measure);
  if (moreIsBetter ? after >= before : after <= before) return false;
  const auto worse = static_cast<double>(moreIsBetter ? before - after : after - before);
  if (measure == ptxas::Measure::CompileTime && worse < kLeastCompileTime) return false;
  // 2% of 50 is 1 and not a bit less.
  return isPercent ? worse * 100 > tolerance * static_cast<double>(before) * (1 + 1e-12) : worse > tolerance;
}

std::string Limit::text() const {
  if (tolerance == 0) return std::string(name(measure));
  return fmt::format("{}:{}{}", name(measure), tolerance, isPercent ? "%" : "");
}

std::string FailOn::text() const {
  std::string out;
  for (const Limit& limit : limits) out += (out.empty() ? "" : ",") + limit.text();
  if (missing) out += out.empty() ? "missing" : ",missing";
  return out.empty() ? "none" : out;
}

const Limit* FailOn::find(ptxas::Measure m) const {
  const auto it = std::find_if(limits.begin(), limits.end(), [&](const Limit& l) { return l.measure == m; });
  return it == limits.end() ? nullptr : &*it;
}

FailOn usualFailOn() {
  FailOn result;
  result.limits = {{ptxas::Measure::Spills, 0, false}, {ptxas::Measure::Warps, 0, false}};
  result.isUsual = true;
  return result;
}

std::optional<FailOn> parseFailOn(std::string_view text, std::string& error) {
  FailOn result;
  if (text == "none") return result;
  const auto fail = [&](std::string_view item, std::string_view why) {
    error = fmt::format("--fail-on: '{}': {}", item, why);
    return std::nullopt;
  };
  for (;;) {
    const std::string_view item = text.substr(0, text.find(','));
    const std::string_view what = item.substr(0, item.find(':'));
    if (item == "missing") {
      result.missing = true;
    } else {
      // Two names are those of the JSON, which limits take, too.
      const auto measure = ptxas::measureNamed(what == "registers"      ? "regs"
                                               : what == "instructions" ? "sass"
                                                                        : what);
      if (!measure)
        return fail(item,
                    "not one of notes, spills, warps, sass, inner, cycles, regs, stack, block, compile-time, code, "
                    "missing, none");
      Limit limit{*measure, 0, false};
      if (*measure == ptxas::Measure::CompileTime) limit = {*measure, kUsualCompileTime, true};
      if (what.size() != item.size() && !parseTolerance(item.substr(what.size() + 1), limit))
        return fail(item, "a tolerance is a whole number or a percentage, such as 1 or 2%");
      if (*measure == ptxas::Measure::Code && what.size() != item.size())
        return fail(item, "machine code is the same or is not: there is no tolerance");
      if (*measure == ptxas::Measure::Notes && limit.isPercent)
        return fail(item, "a tolerance of notes is a whole number");
      if (result.find(*measure) != nullptr) return fail(item, "named twice");
      result.limits.push_back(limit);
    }
    if (item.size() == text.size()) break;
    text.remove_prefix(item.size() + 1);
  }
  std::sort(result.limits.begin(), result.limits.end(),
            [](const Limit& a, const Limit& b) { return a.measure < b.measure; });
  return result;
}

}  // namespace ptxopt::diff
