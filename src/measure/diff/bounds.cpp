// A limit is split at its last < or >, its figure looked up under the names of --fail-on and of JSON, and its kernel
// matched by fnmatch() against three forms of the name.
#include "diff/bounds.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "diff/match.h"
#include "diff/names.h"
#include "support/json.h"

namespace ptxopt::diff {
namespace {

struct FigureName {
  std::string_view name;
  std::optional<ptxas::Measure> measure;  // none: shared memory
};
constexpr FigureName kFigures[] = {
    {"notes", ptxas::Measure::Notes},
    {"spills", ptxas::Measure::Spills},
    {"warps", ptxas::Measure::Warps},
    {"sass", ptxas::Measure::Instructions},
    {"inner", ptxas::Measure::Inner},
    {"cycles", ptxas::Measure::Cycles},
    {"regs", ptxas::Measure::Registers},
    {"stack", ptxas::Measure::Stack},
    {"compile-time", ptxas::Measure::CompileTime},
    {"shared", std::nullopt},
    // As JSON has them.
    {"registers", ptxas::Measure::Registers},
    {"instructions", ptxas::Measure::Instructions},
};

const FigureName* figureNamed(std::string_view name) {
  const auto it = std::ranges::find(kFigures, name, &FigureName::name);
  return it == std::end(kFigures) ? nullptr : it;
}

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

}  // namespace

std::string figureNames() {
  std::string out;
  for (const FigureName& f : kFigures) out += fmt::format("{}{}", out.empty() ? "" : ", ", f.name);
  return out;
}

bool asksForTime(const FailOn& failOn, const std::vector<Bound>& bounds) {
  return failOn.find(ptxas::Measure::CompileTime) != nullptr || std::ranges::any_of(bounds, [](const Bound& b) {
           return figureNamed(b.figure)->measure == ptxas::Measure::CompileTime;
         });
}

std::string Bound::text() const {
  return fmt::format("{}{}{}{}{}", kernel, kernel.empty() ? "" : ":", figure, isLeast ? ">=" : "<=", value);
}

bool Bound::isFor(const ptxas::FunctionMeasures& f) const {
  if (!f.isKernel) return false;
  if (kernel.empty() || matches(kernel, f.name)) return true;
  const std::string full = fullName(f.name, {});
  return matches(kernel, full) || matches(kernel, withoutParameters(full));
}

std::optional<uint64_t> Bound::figureOf(const ptxas::FunctionMeasures& f) const {
  const FigureName* const found = figureNamed(figure);
  if (found == nullptr) return std::nullopt;
  return found->measure ? ptxas::value(f, *found->measure) : f.shared;
}

std::optional<Bound> parseBound(std::string_view text, std::string& error) {
  const auto fail = [&](std::string_view why) {
    error = fmt::format("--limit: '{}': {}", text, why);
    return std::nullopt;
  };
  const std::size_t sign = text.find_last_of("<>");
  if (sign == std::string_view::npos || text.substr(sign + 1, 1) != "=")
    return fail("a limit is FIGURE<=N or FIGURE>=N, with KERNEL: before it if it is for some");
  Bound bound;
  bound.isLeast = text[sign] == '>';
  std::string_view figure = text.substr(0, sign), number = text.substr(sign + 2);
  if (const std::size_t colon = figure.rfind(':'); colon != std::string_view::npos) {
    bound.kernel = figure.substr(0, colon);
    figure.remove_prefix(colon + 1);
    if (bound.kernel.empty()) return fail("there is no kernel before the colon");
  }
  bound.figure = figure;
  if (figureNamed(figure) == nullptr) return fail(fmt::format("'{}' is not one of {}", figure, figureNames()));
  const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), bound.value);
  if (wrong != std::errc() || end != number.data() + number.size() || number.empty())
    return fail(fmt::format("'{}' is not a whole number", number));
  return bound;
}

bool readBounds(std::string_view text, std::vector<Bound>& bounds, std::string& error) {
  constexpr int kDepth = 8;
  constexpr std::string_view kFormat = "ptxopt-limits";
  const auto unknown = [&](const Json& object, const std::set<std::string_view>& known, std::string_view where) {
    for (const auto& [key, value] : object.items())
      if (!known.contains(key)) {
        error = fmt::format("{}: '{}' has no meaning", where, key);
        return true;
      }
    return false;
  };
  try {
    const Json json = parseBounded(text, kDepth);
    if (!json.is_object() || json.value("format", "") != kFormat) {
      error = fmt::format("it has no \"format\": \"{}\"", kFormat);
      return false;
    }
    if (const int version = json.at("version").get<int>(); version != 1) {
      error = fmt::format("its version is {}; this program reads 1", version);
      return false;
    }
    if (unknown(json, {"format", "version", "limits", "$schema"}, "the file")) return false;
    for (std::size_t n = 0; n < json.at("limits").size(); ++n) {
      const Json& limit = json.at("limits").at(n);
      const std::string where = fmt::format("limit {}", n + 1);
      if (unknown(limit, {"kernel", "figure", "most", "least"}, where)) return false;
      const bool hasMost = limit.contains("most"), hasLeast = limit.contains("least");
      if (hasMost == hasLeast) {
        error = where + ": it needs one of most and least";
        return false;
      }
      const Json& value = limit.at(hasMost ? "most" : "least");
      Bound bound{limit.value("kernel", ""), limit.at("figure").get<std::string>(), hasLeast, 0};
      if (figureNamed(bound.figure) == nullptr) {
        error = fmt::format("{}: '{}' is not one of {}", where, bound.figure, figureNames());
        return false;
      }
      if (!value.is_number_unsigned()) {
        error = fmt::format("{}: '{}' is not a whole number", where, dumpJson(value));
        return false;
      }
      value.get_to(bound.value);
      bounds.push_back(std::move(bound));
    }
  } catch (const std::exception& e) {
    error = e.what();
    return false;
  }
  return true;
}

}  // namespace ptxopt::diff
