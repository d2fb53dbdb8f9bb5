#include "record/record.h"

#define XXH_INLINE_ALL  // no library is needed
#include <fmt/format.h>
#include <xxhash.h>

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>

namespace ptxopt::record {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "ptxopt launch record";

// JSON's own conversion wraps what is negative, broken or too large.
template <std::unsigned_integral T>
T numberOf(const json& j) {
  if (!j.is_number_unsigned() || j.get<uint64_t>() > std::numeric_limits<T>::max())
    throw RecordError(fmt::format("{} is no number of {} bits", j.is_primitive() ? j.dump() : j.type_name(),
                                  std::numeric_limits<T>::digits));
  return j.get<T>();
}

json shapeJson(const exec::Dim3& d) { return {d.x, d.y, d.z}; }
exec::Dim3 shapeOfJson(const json& j) {
  return {numberOf<uint32_t>(j.at(0)), numberOf<uint32_t>(j.at(1)), numberOf<uint32_t>(j.at(2))};
}

std::string hex(const std::vector<std::byte>& bytes) {
  std::string out;
  for (const std::byte b : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return out;
}

std::vector<std::byte> bytesOfHex(const std::string& text) {
  const auto digit = [](char c) -> unsigned {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    throw RecordError(fmt::format("parameters: '{}' is no hexadecimal digit", c));
  };
  if (text.size() % 2 != 0) throw RecordError("parameters: an odd number of hexadecimal digits");
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit(text[i]) + digit(text[i + 1])));
  return bytes;
}

json textureJson(const RecordedTexture& t) {
  return {{"handle", t.handle},   {"kind", t.kind},
          {"size", t.size},       {"channels", t.channels},
          {"format", t.format},   {"pitch", t.pitch},
          {"linear", t.isLinear}, {"address", t.addressModes},
          {"filter", t.filter},   {"normalized", t.isNormalized},
          {"border", t.border},   {"texels", t.texels}};
}

template <class T, std::size_t N>
void numbersOf(const json& j, std::array<T, N>& to) {
  for (std::size_t i = 0; i < N; ++i) to[i] = numberOf<T>(j.at(i));
}

RecordedTexture textureOf(const json& j) {
  RecordedTexture t;
  t.handle = numberOf<uint64_t>(j.at("handle"));
  t.kind = numberOf<unsigned>(j.at("kind"));
  numbersOf(j.at("size"), t.size);
  t.channels = numberOf<unsigned>(j.at("channels"));
  t.format = numberOf<unsigned>(j.at("format"));
  numbersOf(j.at("pitch"), t.pitch);
  j.at("linear").get_to(t.isLinear);
  numbersOf(j.at("address"), t.addressModes);
  t.filter = numberOf<unsigned>(j.at("filter"));
  j.at("normalized").get_to(t.isNormalized);
  j.at("border").get_to(t.border);
  t.texels = numberOf<uint64_t>(j.at("texels"));
  return t;
}

// Ascending parts of the heap, none in another one or outside.
std::vector<std::pair<uint64_t, uint64_t>> usedOfJson(const json& j, uint64_t heapSize) {
  std::vector<std::pair<uint64_t, uint64_t>> used;
  uint64_t at = 0;
  for (const json& part : j) {
    const auto offset = numberOf<uint64_t>(part.at(0)), size = numberOf<uint64_t>(part.at(1));
    if (offset < at || offset > heapSize || size > heapSize - offset)
      throw RecordError(fmt::format("the heap of {} bytes has no part of {} bytes at {}", heapSize, size, offset));
    used.emplace_back(offset, size);
    at = offset + size;
  }
  return used;
}

json launchJson(const RecordedLaunch& l) {
  json textures = json::array();
  for (const RecordedTexture& t : l.textures) textures.push_back(textureJson(t));
  json environment = json::object();
  for (const auto& [number, value] : l.environment) environment[std::to_string(number)] = value;
  json memory = json::array();
  for (const RecordedMemory& m : l.memory)
    memory.push_back({{"name", m.name},
                      {"address", m.address},
                      {"size", m.size},
                      {"readOnly", m.isReadOnly},
                      {"variable", m.isVariable},
                      {"alias", m.aliasOf},
                      {"before", m.before},
                      {"after", m.after}});
  return {{"kernel", l.kernel},
          {"module", l.module},
          {"grid", shapeJson(l.grid)},
          {"block", shapeJson(l.block)},
          {"cluster", shapeJson(l.cluster)},
          {"shared", l.shared},
          {"parameters", hex(l.parameters)},
          {"environment", environment},
          {"heap", {{"size", l.heapSize}, {"used", l.heapUsed}}},
          {"textures", l.hasTextures},
          {"bindings", textures},
          {"memory", memory}};
}

RecordedLaunch launchOf(const json& j) {
  RecordedLaunch l;
  l.kernel = j.at("kernel").get<std::string>();
  l.module = numberOf<uint64_t>(j.at("module"));
  l.grid = shapeOfJson(j.at("grid"));
  l.block = shapeOfJson(j.at("block"));
  l.cluster = shapeOfJson(j.at("cluster"));
  l.shared = numberOf<uint32_t>(j.at("shared"));
  l.parameters = bytesOfHex(j.at("parameters").get<std::string>());
  for (const auto& [number, value] : j.at("environment").items())
    l.environment[static_cast<unsigned>(std::stoul(number))] = numberOf<uint32_t>(value);
  l.heapSize = numberOf<uint64_t>(j.at("heap").at("size"));
  l.heapUsed = usedOfJson(j.at("heap").at("used"), l.heapSize);
  l.hasTextures = j.value("textures", false);
  if (j.contains("bindings"))
    for (const json& t : j.at("bindings")) l.textures.push_back(textureOf(t));
  for (const json& m : j.at("memory"))
    l.memory.push_back({m.at("name").get<std::string>(), numberOf<uint64_t>(m.at("address")),
                        numberOf<uint64_t>(m.at("size")), m.at("readOnly").get<bool>(),
                        m.at("variable").get<bool>(), numberOf<uint64_t>(m.at("alias")),
                        m.at("before").get<std::string>(), m.at("after").get<std::string>()});
  return l;
}

// What is wrong with JSON, as a RecordError.
template <typename F>
auto reading(F&& f) {
  try {
    return f();
  } catch (const json::exception& e) {
    throw RecordError(e.what());
  } catch (const std::logic_error& e) {  // of std::stoul
    throw RecordError(e.what());
  }
}

}  // namespace

uint64_t workspaceOf(const RecordedLaunch& launch) {
  const auto word = [&](unsigned number) -> uint64_t {
    const auto found = launch.environment.find(number);
    return found != launch.environment.end() ? found->second : 0;
  };
  return word(1) << 32 | word(2);
}

std::string digestOf(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

std::string toJson(const Record& record) {
  json modules = json::array(), launches = json::array();
  for (const RecordedModule& m : record.modules) modules.push_back({{"name", m.name}, {"text", m.text}});
  for (const RecordedLaunch& l : record.launches) launches.push_back(launchJson(l));
  return json{{"format", kFormat}, {"version", kFormatVersion}, {"modules", modules}, {"launches", launches}}.dump(
             1, ' ', false, json::error_handler_t::replace) +
         '\n';
}

std::string toJson(const RecordedLaunch& launch) {
  return launchJson(launch).dump(-1, ' ', false, json::error_handler_t::replace);
}

RecordedLaunch launchOfJson(std::string_view text) {
  return reading([&] { return launchOf(json::parse(text)); });
}

Record recordOfJson(std::string_view text) {
  return reading([&] {
    const json j = json::parse(text);
    if (j.value("format", "") != kFormat) throw RecordError("it is no launch record");
    const auto version = numberOf<uint32_t>(j.at("version"));
    if (version != kFormatVersion)
      throw RecordError(fmt::format("it has format version {}; this ptxopt reads {}", version, kFormatVersion));
    Record record;
    for (const json& m : j.at("modules"))
      record.modules.push_back({m.at("name").get<std::string>(), m.at("text").get<std::string>()});
    for (const json& l : j.at("launches")) record.launches.push_back(launchOf(l));
    for (const RecordedLaunch& l : record.launches)
      if (l.module >= record.modules.size()) throw RecordError(fmt::format("there is no module {}", l.module));
    return record;
  });
}

}  // namespace ptxopt::record
