// The JSON is written by hand, one kernel, loop or class a line, so that two profiles can be compared by lines.
#include <fmt/format.h>

#include <array>

#include "profile/profile.h"
#include "support/json.h"

namespace ptxopt::profile {
namespace {

std::string quoted(const std::string& text) { return dumpJson(Json(text)); }

// What is known of a number, as members of an object.
std::string membersOf(const NumberFact& n) {
  if (const auto exact = n.exact()) return fmt::format("\"value\": {}", *exact);
  std::string out;
  const auto add = [&](const char* word, auto value) {
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", word, value);
  };
  if (n.least != INT64_MIN) add("least", n.least);
  if (n.most != INT64_MAX) add("most", n.most);
  if (n.multiple > 1) add("multiple", n.multiple);
  return out;
}

std::string partText(const ParameterPart& p) {
  std::string out =
      fmt::format("{{\"parameter\": {}, \"offset\": {}, \"bytes\": {}", p.parameter, p.offset, p.bytes);
  const std::string members = p.isAddress ? fmt::format("\"align\": {}", p.number.multiple) : membersOf(p.number);
  return out + (members.empty() ? "" : ", ") + members + "}";
}

// Elements one a line.
template <typename Range, typename Text>
std::string lines(const Range& range, const char* indent, Text text) {
  std::string out = "[";
  for (const auto& element : range) out += fmt::format("{}\n{}{}", out == "[" ? "" : ",", indent, text(element));
  return out + "]";
}

std::string classText(const LaunchClass& c) {
  std::array<std::string, 3> grid;
  for (std::size_t i = 0; i < 3; ++i) grid[i] = fmt::format("{{{}}}", membersOf(c.grid[i]));
  std::string out = fmt::format("{{\"launches\": {}, \"time\": {}, \"block\": [{}],\n     \"grid\": [{}]",
                                c.launches, c.time, fmt::join(c.block, ", "), fmt::join(grid, ", "));
  if (c.isMemoryKnown) {
    std::vector<std::string> pairs;
    for (const auto& [a, b] : c.overlapping) pairs.push_back(fmt::format("[{}, {}]", a, b));
    out += fmt::format(",\n     \"written\": [{}], \"overlapping\": [{}]", fmt::join(c.written, ", "),
                       fmt::join(pairs, ", "));
  }
  return out + ",\n     \"parts\": " + lines(c.parts, "      ", partText) + "}";
}

std::string loopText(const SeenLoop& l) {
  return fmt::format("{{\"label\": {}, \"index\": {}, {}\"entries\": {}, \"iterations\": {}}}", quoted(l.label),
                     l.index, l.place.empty() ? "" : fmt::format("\"place\": {}, ", quoted(l.place)), l.entries,
                     l.iterations);
}

std::string kernelText(const SeenKernel& k) {
  return fmt::format(
      "{{\"kernel\": {}, \"digest\": {}, \"parameters\": [{}],\n   \"launches\": {}, \"time\": {},\n   "
      "\"loops\": {},\n   \"classes\": {}}}",
      quoted(k.name), quoted(k.digest), fmt::join(k.parameterBytes, ", "), k.launches, k.time,
      lines(k.loops, "    ", loopText), lines(k.classes, "    ", classText));
}

}  // namespace

std::string_view spelling(Unit unit) { return unit == Unit::Instructions ? "instructions" : "microseconds"; }

std::string write(const File& file) {
  return fmt::format("{{\"format\": \"ptxopt-profile\", \"version\": 1, \"unit\": \"{}\",\n \"kernels\": {}}}\n",
                     spelling(file.unit), lines(file.kernels, "  ", kernelText));
}

}  // namespace ptxopt::profile
