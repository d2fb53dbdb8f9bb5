// Each object is checked for unknown and missing members and each number for its bounds, so that a profile from
// anywhere can be read. The first mistake ends the reading with the place and what was expected.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "profile/profile.h"
#include "support/json.h"

namespace ptxopt::profile {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostKernels = 1u << 16, kMostParameters = 4096, kMostList = 4096;
constexpr uint32_t kMostThreads = 1024;

struct Wrong {
  std::string message;
};

[[noreturn]] void wrong(std::string message) { throw Wrong{std::move(message)}; }

void needWords(const Json& object, const std::string& what, std::initializer_list<std::string_view> needed,
               std::initializer_list<std::string_view> allowed = {}) {
  if (!object.is_object()) wrong(what + " is not an object");
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(needed, key) == needed.end() && std::ranges::find(allowed, key) == allowed.end())
      wrong(fmt::format("{} has '{}', which is not known", what, key));
  for (const std::string_view word : needed)
    if (!object.contains(word)) wrong(fmt::format("{} has no '{}'", what, word));
}

const Json& list(const Json& object, const char* word, const std::string& what, std::size_t most) {
  const Json& found = object[word];
  if (!found.is_array() || found.size() > most)
    wrong(fmt::format("{}: {} is not a list of up to {} entries", what, word, most));
  return found;
}

std::string text(const Json& object, const char* word, const std::string& what) {
  if (!object[word].is_string()) wrong(fmt::format("{}: {} is not a string", what, word));
  return object[word].get<std::string>();
}

uint64_t count(const Json& json, const std::string& what, uint64_t least, uint64_t most) {
  if (!json.is_number_unsigned())
    wrong(fmt::format("{} is {}, not a whole number from 0 on", what, dumpJson(json)));
  const auto n = json.get<uint64_t>();
  if (n < least || n > most) wrong(fmt::format("{} is {}: {} to {}", what, n, least, most));
  return n;
}

double timeOf(const Json& object, const std::string& what) {
  const Json& json = object["time"];
  if (!json.is_number() || !std::isfinite(json.get<double>()) || json.get<double>() < 0)
    wrong(fmt::format("{}: time is {}, not a number from 0 on", what, dumpJson(json)));
  return json.get<double>();
}

int64_t integer(const Json& json, const std::string& what) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX))
    wrong(fmt::format("{} is {}, not a whole number of 64 bits with a sign", what, dumpJson(json)));
  return json.get<int64_t>();
}

NumberFact number(const Json& json, const std::string& what) {
  NumberFact n;
  if (json.contains("value")) {
    if (json.contains("least") || json.contains("most") || json.contains("multiple"))
      wrong(what + " has a value and a range");
    n.least = n.most = integer(json["value"], what);
    return n;
  }
  if (json.contains("least")) n.least = integer(json["least"], what + ": least");
  if (json.contains("most")) n.most = integer(json["most"], what + ": most");
  if (json.contains("multiple")) n.multiple = count(json["multiple"], what + ": multiple", 1, INT64_MAX);
  if (n.least > n.most) wrong(fmt::format("{} is from {} to {}", what, n.least, n.most));
  return n;
}

ParameterPart part(const Json& json, const SeenKernel& kernel, const std::string& what) {
  needWords(json, what, {"parameter", "offset", "bytes"}, {"value", "least", "most", "multiple", "align"});
  ParameterPart p;
  const std::size_t parameters = kernel.parameterBytes.size();
  if (parameters == 0) wrong(what + ": the kernel has no parameters");
  p.parameter = static_cast<uint32_t>(count(json["parameter"], what + ": parameter", 0, parameters - 1));
  p.bytes = static_cast<uint32_t>(count(json["bytes"], what + ": bytes", 1, 8));
  if (!std::has_single_bit(p.bytes)) wrong(fmt::format("{}: bytes is {}: 1, 2, 4 or 8", what, p.bytes));
  const uint32_t size = kernel.parameterBytes[p.parameter];
  p.offset = static_cast<uint32_t>(count(json["offset"], what + ": offset", 0, size));
  if (p.offset + p.bytes > size) wrong(fmt::format("{} ends after the parameter, which has {} bytes", what, size));
  p.isAddress = json.contains("align");
  if (!p.isAddress) {
    p.number = number(json, what);
    return p;
  }
  if (json.size() != 4 || p.bytes < 4) wrong(what + " is an address: it has an alignment and 4 or 8 bytes only");
  p.number.multiple = count(json["align"], what + ": align", 1, uint64_t{1} << 62);
  if (!std::has_single_bit(p.number.multiple))
    wrong(fmt::format("{} is aligned by {}, which is not a power of two", what, p.number.multiple));
  return p;
}

LaunchClass launchClass(const Json& json, const SeenKernel& kernel, const std::string& what) {
  needWords(json, what, {"launches", "time", "block", "grid", "parts"}, {"written", "overlapping"});
  LaunchClass c;
  c.launches = count(json["launches"], what + ": launches", 1, UINT64_MAX);
  c.time = timeOf(json, what);
  const Json &block = list(json, "block", what, 3), &grid = list(json, "grid", what, 3);
  if (block.size() != 3 || grid.size() != 3) wrong(what + ": block and grid have three entries each");
  for (std::size_t i = 0; i < 3; ++i) {
    c.block[i] = static_cast<uint32_t>(count(block[i], what + ": block", 1, kMostThreads));
    const std::string where = what + ": grid";
    needWords(grid[i], where, {}, {"value", "least", "most", "multiple"});
    c.grid[i] = number(grid[i], where);
  }
  for (const Json& entry : list(json, "parts", what, kMostList))
    c.parts.push_back(part(entry, kernel, what + ": a part"));
  const auto place = [](const ParameterPart& p) { return std::pair(p.parameter, p.offset); };
  if (std::ranges::adjacent_find(c.parts, std::ranges::greater_equal(), place) != c.parts.end())
    wrong(what + ": parts are not in the order of the parameters");
  if (json.contains("written") != json.contains("overlapping"))
    wrong(what + " has one of 'written' and 'overlapping', not both");
  c.isMemoryKnown = json.contains("written");
  if (!c.isMemoryKnown) return c;
  const uint64_t parameters = kernel.parameterBytes.size();
  const auto parameter = [&](const Json& entry) {
    if (parameters == 0) wrong(what + ": the kernel has no parameters");
    return static_cast<uint32_t>(count(entry, what + ": a parameter", 0, parameters - 1));
  };
  for (const Json& entry : list(json, "written", what, kMostParameters)) c.written.push_back(parameter(entry));
  for (const Json& entry : list(json, "overlapping", what, kMostList)) {
    if (!entry.is_array() || entry.size() != 2) wrong(what + ": an entry of overlapping is not a pair");
    c.overlapping.emplace_back(parameter(entry[0]), parameter(entry[1]));
    if (c.overlapping.back().first >= c.overlapping.back().second)
      wrong(what + ": the lesser parameter of an overlapping pair comes first");
  }
  const auto isAscending = [](const auto& l) {
    return std::ranges::adjacent_find(l, std::ranges::greater_equal()) == l.end();
  };
  if (!isAscending(c.written) || !isAscending(c.overlapping))
    wrong(what + ": written and overlapping are not in ascending order");
  return c;
}

SeenLoop loop(const Json& json, const std::string& what) {
  needWords(json, what, {"label", "index", "entries", "iterations"}, {"place"});
  SeenLoop l;
  l.label = text(json, "label", what);
  l.index = static_cast<uint32_t>(count(json["index"], what + ": index", 0, UINT32_MAX));
  if (json.contains("place")) l.place = text(json, "place", what);
  l.entries = count(json["entries"], what + ": entries", 0, UINT64_MAX);
  l.iterations = count(json["iterations"], what + ": iterations", 0, UINT64_MAX);
  return l;
}

SeenKernel kernel(const Json& json, const std::string& file) {
  const std::string entry = file + ": an entry of kernels";
  needWords(json, entry, {"kernel", "digest", "parameters", "launches", "time", "loops", "classes"});
  SeenKernel k;
  k.name = text(json, "kernel", entry);
  const std::string what = fmt::format("{}: {}", file, k.name);
  k.digest = text(json, "digest", what);
  for (const Json& bytes : list(json, "parameters", what, kMostParameters))
    k.parameterBytes.push_back(static_cast<uint32_t>(count(bytes, what + ": parameters", 0, 1u << 20)));
  k.launches = count(json["launches"], what + ": launches", 1, UINT64_MAX);
  k.time = timeOf(json, what);
  for (const Json& l : list(json, "loops", what, 1u << 20)) k.loops.push_back(loop(l, what + ": a loop"));
  for (const Json& c : list(json, "classes", what, kMostList))
    k.classes.push_back(launchClass(c, k, what + ": a class"));
  return k;
}

}  // namespace

double File::time() const {
  double all = 0;
  for (const SeenKernel& k : kernels) all += k.time;
  return all;
}

bool isProfile(std::string_view json) { return json.find("\"ptxopt-profile\"") != std::string_view::npos; }

std::variant<File, std::string> parse(std::string_view json, std::string_view name) {
  const std::string file(name);
  try {
    const Json document = parseBounded(json, kMostDepth);
    if (!document.is_object() || !document.contains("format") || document["format"] != "ptxopt-profile")
      wrong(file + " is not a profile: it has no \"format\": \"ptxopt-profile\"");
    needWords(document, file, {"format", "version", "unit", "kernels"}, {"$schema"});
    if (document["version"] != 1)
      wrong(fmt::format("{}: the version is {}, not 1", file, dumpJson(document["version"])));
    File read;
    const std::string unit = text(document, "unit", file);
    if (unit != spelling(Unit::Instructions) && unit != spelling(Unit::Microseconds))
      wrong(fmt::format("{}: the unit is '{}': instructions or microseconds", file, unit));
    read.unit = unit == spelling(Unit::Instructions) ? Unit::Instructions : Unit::Microseconds;
    for (const Json& k : list(document, "kernels", file, kMostKernels)) read.kernels.push_back(kernel(k, file));
    return read;
  } catch (const Wrong& e) {
    return e.message;
  } catch (const std::exception& e) {  // of the JSON itself
    return fmt::format("{} is not a profile: {}", file, e.what());
  }
}

}  // namespace ptxopt::profile
