// Writing builds JSON values; reading is a SAX parser within limits that hands over each module and launch as it ends,
// so that large records are never held as JSON. Numbers that do not fit their type are errors.
#include "record/record.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <concepts>
#include <functional>
#include <limits>

#include "record/limits.h"
#include "support/json.h"

namespace ptxopt::record {
namespace {

constexpr const char* kFormat = "ptxopt launch record";

// JSON's own conversion wraps what is negative, broken or too large.
template <std::unsigned_integral T>
T numberOf(const SortedJson& j) {
  if (!j.is_number_unsigned() || j.get<uint64_t>() > std::numeric_limits<T>::max())
    throw RecordError(fmt::format("{} is not a number of {} bits", j.is_primitive() ? dumpJson(j) : j.type_name(),
                                  std::numeric_limits<T>::digits));
  return j.get<T>();
}

SortedJson shapeJson(const exec::Dim3& d) { return {d.x, d.y, d.z}; }
exec::Dim3 shapeOfJson(const SortedJson& j) {
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
    throw RecordError(fmt::format("parameters: '{}' is not a hexadecimal digit", c));
  };
  if (text.size() % 2 != 0) throw RecordError("parameters: an odd number of hexadecimal digits");
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit(text[i]) + digit(text[i + 1])));
  return bytes;
}

SortedJson textureJson(const RecordedTexture& t) {
  return {{"handle", t.handle},   {"kind", t.kind},
          {"size", t.size},       {"channels", t.channels},
          {"format", t.format},   {"pitch", t.pitch},
          {"linear", t.isLinear}, {"address", t.addressModes},
          {"filter", t.filter},   {"normalized", t.isNormalized},
          {"border", t.border},   {"texels", t.texels}};
}

template <class T, std::size_t N>
void numbersOf(const SortedJson& j, std::array<T, N>& to) {
  for (std::size_t i = 0; i < N; ++i) to[i] = numberOf<T>(j.at(i));
}

RecordedTexture textureOf(const SortedJson& j) {
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
std::vector<std::pair<uint64_t, uint64_t>> usedOfJson(const SortedJson& j, uint64_t heapSize) {
  std::vector<std::pair<uint64_t, uint64_t>> used;
  uint64_t at = 0;
  for (const SortedJson& part : j) {
    const auto offset = numberOf<uint64_t>(part.at(0)), size = numberOf<uint64_t>(part.at(1));
    if (offset < at || offset > heapSize || size > heapSize - offset)
      throw RecordError(fmt::format("the heap of {} bytes has no part of {} bytes at {}", heapSize, size, offset));
    used.emplace_back(offset, size);
    at = offset + size;
  }
  return used;
}

SortedJson modulesJson(const std::vector<RecordedModule>& modules) {
  SortedJson list = SortedJson::array();
  for (const RecordedModule& m : modules) list.push_back({{"name", m.name}, {"text", m.text}});
  return list;
}

SortedJson launchJson(const RecordedLaunch& l) {
  SortedJson textures = SortedJson::array();
  for (const RecordedTexture& t : l.textures) textures.push_back(textureJson(t));
  SortedJson environment = SortedJson::object();
  for (const auto& [number, value] : l.environment) environment[std::to_string(number)] = value;
  SortedJson memory = SortedJson::array();
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

RecordedLaunch launchOf(const SortedJson& j) {
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
    for (const SortedJson& t : j.at("bindings")) l.textures.push_back(textureOf(t));
  for (const SortedJson& m : j.at("memory")) {
    l.memory.push_back({m.at("name").get<std::string>(), numberOf<uint64_t>(m.at("address")),
                        numberOf<uint64_t>(m.at("size")), m.at("readOnly").get<bool>(),
                        m.at("variable").get<bool>(), numberOf<uint64_t>(m.at("alias")),
                        m.at("before").get<std::string>(), m.at("after").get<std::string>()});
    const RecordedMemory& made = l.memory.back();
    if (!isDigest(made.before) || (!made.after.empty() && !isDigest(made.after)))
      throw RecordError(fmt::format("the bytes of '{}' are not called by a digest", made.name));
  }
  return l;
}

RecordedModule moduleOf(const SortedJson& j) {
  RecordedModule m{j.at("name").get<std::string>(), j.at("text").get<std::string>()};
  if (!isDigest(m.text)) throw RecordError("the text of a module is not called by a digest");
  return m;
}

// What is wrong with JSON, as a RecordError.
template <typename F>
auto reading(F&& f) {
  try {
    return f();
  } catch (const SortedJson::exception& e) {
    throw RecordError(e.what());
  } catch (const std::logic_error& e) {  // of std::stoul
    throw RecordError(e.what());
  }
}

// What `take` gets of a text: the elements of the lists that keys of the outermost object hold, as soon as they end. Where it
// returns true they are gone then.
using Take = std::function<bool(const std::string& key, const SortedJson& element)>;

// Makes JSON values, within the limits.
class Reader final : public nlohmann::json_sax<SortedJson> {
 public:
  explicit Reader(Take take) : take_(std::move(take)) {}
  SortedJson& root() { return root_; }

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in text
  bool start_object(std::size_t) override { return open(SortedJson::object()); }
  bool start_array(std::size_t) override { return open(SortedJson::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    count();
    keys_[open_.size() - 1] = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const SortedJson::exception& e) override {
    throw RecordError(e.what());
  }

 private:
  void count() {
    if (++values_ > kMostValues)
      throw RecordError(fmt::format("its JSON has more than {} values in one part", kMostValues));
  }
  SortedJson& place(SortedJson value) {
    count();
    if (open_.empty()) return root_ = std::move(value);
    SortedJson& holder = *open_.back();
    if (holder.is_array()) return holder.emplace_back(std::move(value));
    return holder[keys_[open_.size() - 1]] = std::move(value);
  }
  bool add(SortedJson value) {
    place(std::move(value));
    end();
    return true;
  }
  bool open(SortedJson value) {
    if (open_.size() == kMostDepth) throw RecordError(fmt::format("its JSON is nested deeper than {}", kMostDepth));
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    end();
    return true;
  }
  // A value has ended.
  void end() {
    if (!take_ || open_.size() != 2 || !open_[0]->is_object() || !open_[1]->is_array()) return;
    if (!take_(keys_[0], open_[1]->back())) return;
    open_[1]->erase(open_[1]->size() - 1);
    values_ = 0;
  }

  Take take_;
  SortedJson root_;
  std::vector<SortedJson*> open_;  // what has not ended, the outermost first
  std::array<std::string, kMostDepth> keys_;
  std::size_t values_ = 0;
};

SortedJson parsed(std::string_view text, Take take = {}) {
  Reader reader(std::move(take));
  SortedJson::sax_parse(text, &reader);
  return std::move(reader.root());
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

// Only such a name is ever looked for in a zip file or a folder.
bool isDigest(std::string_view name) {
  return name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string toJson(const Record& record) {
  SortedJson launches = SortedJson::array();
  for (const RecordedLaunch& l : record.launches) launches.push_back(launchJson(l));
  const SortedJson all = {{"format", kFormat},
                          {"version", kFormatVersion},
                          {"modules", modulesJson(record.modules)},
                          {"launches", launches}};
  return dumpJson(all, 1) + '\n';
}

std::string toJson(const RecordedLaunch& launch) { return dumpJson(launchJson(launch)); }

std::string toJson(const std::vector<RecordedModule>& modules) { return dumpJson(modulesJson(modules)); }

RecordedLaunch launchOfJson(std::string_view text) {
  return reading([&] { return launchOf(parsed(text)); });
}

std::vector<RecordedModule> modulesOfJson(std::string_view text) {
  return reading([&] {
    std::vector<RecordedModule> modules;
    for (const SortedJson& m : parsed(text)) modules.push_back(moduleOf(m));
    return modules;
  });
}

Record recordOfJson(std::string_view text) {
  return reading([&] {
    Record record;
    const auto add = []<typename T>(std::vector<T>& list, std::size_t most, const char* what, T element) {
      if (list.size() == most) throw RecordError(fmt::format("it has more than {} {}", most, what));
      list.push_back(std::move(element));
    };
    const SortedJson j = parsed(text, [&](const std::string& key, const SortedJson& element) {
      if (key == "modules") add(record.modules, kMostModules, "modules", moduleOf(element));
      if (key == "launches") add(record.launches, kMostLaunches, "launches", launchOf(element));
      return key == "modules" || key == "launches";
    });
    if (j.value("format", "") != kFormat) throw RecordError("it is not a launch record");
    const auto version = numberOf<uint32_t>(j.at("version"));
    if (version != kFormatVersion)
      throw RecordError(fmt::format("it has format version {}; this ptxopt reads {}", version, kFormatVersion));
    if (!j.at("modules").is_array() || !j.at("launches").is_array())
      throw RecordError("it has no list of modules and launches");
    for (const RecordedLaunch& l : record.launches)
      if (l.module >= record.modules.size()) throw RecordError(fmt::format("there is no module {}", l.module));
    return record;
  });
}

}  // namespace ptxopt::record
