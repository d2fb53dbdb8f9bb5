// A buffer is filled from a file, a number, a sequence or the seed. An argument is matched with the parameter's type
// and size, and one that names a buffer becomes its address.
#include "tool/commands/run_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tool/files.h"

namespace ptxopt::tool {
namespace {

bool isName(std::string_view text) {
  const auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%';
  };
  return !text.empty() && (text[0] < '0' || text[0] > '9') && std::all_of(text.begin(), text.end(), isLetter);
}

// The parts of `buf:TYPE:COUNT:INIT`; COUNT is missing before a file. INIT may hold colons.
struct BufferSpec {
  ScalarType type = ScalarType::b8;
  bool hasCount = false;
  uint64_t count = 0;
  std::string init;
};

BufferSpec readSpec(const std::string& spec) {
  BufferSpec b;
  const std::size_t type = spec.find(':'), count = spec.find(':', type + 1);
  if (spec.substr(0, type) != "buf" || type == std::string::npos || count == std::string::npos)
    refuse("'{}' is not buf:TYPE:COUNT:INIT", spec);
  b.type = valueType(std::string_view(spec).substr(type + 1, count - type - 1));
  if (spec[count + 1] == '@') {
    b.init = spec.substr(count + 1);
    return b;
  }
  const std::size_t init = spec.find(':', count + 1);
  if (init == std::string::npos) refuse("'{}' is not buf:TYPE:COUNT:INIT", spec);
  const char *const begin = spec.data() + count + 1, *const end = spec.data() + init;
  const auto [stop, error] = std::from_chars(begin, end, b.count);
  if (error != std::errc() || stop != end) refuse("'{}': '{}' is not a count", spec, std::string_view(begin, end));
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (b.count > kMost / bytesOf(b.type)) refuse("'{}' is larger than 1 TiB", spec);
  b.hasCount = true;
  b.init = spec.substr(init + 1);
  return b;
}

}  // namespace

std::vector<std::byte> RunMemory::fileBytes(const std::string& path) {
  FileText text;
  std::string error;
  if (!readFile(path, text, error)) throw RunError(error);
  files_.push_back(path);
  const auto* const begin = reinterpret_cast<const std::byte*>(text.data.get());
  return {begin, begin + text.size};
}

uint64_t RunMemory::makeBuffer(const std::string& name, const std::string& spec) {
  if (buffers_.contains(name)) refuse("there are two buffers called '{}'", name);
  BufferSpec b = readSpec(spec);
  const unsigned element = bytesOf(b.type);
  std::vector<std::byte> file;
  if (b.init.starts_with('@')) {
    file = fileBytes(b.init.substr(1));
    if (!b.hasCount) b.count = file.size() / element;
    if (file.size() != b.count * element)
      refuse("'{}' has {} bytes, {} has {}", b.init.substr(1), file.size(),
             b.hasCount ? fmt::format("the buffer '{}'", name)
                        : fmt::format("a whole number of {}", info(b.type).name),
             b.count * element);
  }
  exec::Allocation& a = machine_.memory().allocate(name, b.count * element);
  const std::span<std::byte> data(a.data, a.size);
  bool isWritten = true;
  if (!file.empty()) {
    std::copy(file.begin(), file.end(), data.begin());
  } else if (b.init == "iota") {
    fillIota(b.type, data);
  } else if (b.init == "random") {
    fillRandom(b.type, seed_, name, data);
  } else if (b.init.starts_with("fill=")) {
    fillValue(b.type, parseValue(b.type, std::string_view(b.init).substr(5)), data);
  } else if (b.init == "uninit") {
    isWritten = false;
  } else if (b.init != "zero" && !b.init.starts_with('@')) {
    refuse("'{}' is none of zero, iota, random, fill=VALUE, uninit and @FILE", b.init);
  }
  if (a.written != nullptr && isWritten) std::memset(a.written, 1, a.size);
  buffers_[name] = {b.type, &a, b.init == "random"};
  return a.base;
}

void RunMemory::declare(const std::string& text) {
  const std::size_t at = text.find('=');
  const std::string name = text.substr(0, at);
  if (at == std::string::npos || !isName(name)) refuse("--buffer {}: it is not NAME=buf:TYPE:COUNT:INIT", text);
  makeBuffer(name, text.substr(at + 1));
}

RunMemory::View RunMemory::find(const std::string& name) const {
  if (const auto found = buffers_.find(name); found != buffers_.end()) return found->second;
  const Module& m = machine_.module();
  if (exec::Allocation* a = machine_.variable(name))
    for (const ptxopt::Variable& v : m.variables) {
      if (m.text(v.name) != name) continue;
      const ScalarType type = m.declarationForms[v.form].type;
      return {isValueType(type) ? type : ScalarType::b8, a};
    }
  return {};
}

RunMemory::Argument RunMemory::argument(const std::string& text, std::size_t number) {
  Argument result;
  const auto put = [&](uint64_t bits, std::size_t bytes) {
    result.bytes.resize(bytes);
    std::memcpy(result.bytes.data(), &bits, bytes);
  };
  const std::size_t colon = text.find(':'), equals = text.find('=');
  if (colon == std::string::npos) {
    // x, x+64
    const std::size_t plus = text.find('+');
    const std::string name = text.substr(0, plus);
    const View view = find(name);
    if (view.allocation == nullptr) refuse("there is no buffer or variable '{}'", name);
    uint64_t offset = 0;
    if (plus != std::string::npos) {
      const char *const begin = text.data() + plus + 1, *const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(begin, end, offset);
      if (error != std::errc() || stop != end) refuse("'{}': '{}' is not a number of bytes", text, begin);
    }
    result.kind = Argument::Kind::Address;
    result.base = view.allocation->base;
    put(result.base + offset, 8);
    return result;
  }
  const bool isNamed = equals < colon;
  const std::string spec = isNamed ? text.substr(equals + 1) : text;
  if (isNamed && !isName(text.substr(0, equals))) refuse("'{}' is not a name for a buffer", text.substr(0, equals));
  const std::string kind = spec.substr(0, spec.find(':')), rest = spec.substr(spec.find(':') + 1);
  if (kind == "buf") {
    result.kind = Argument::Kind::Address;
    result.base = makeBuffer(isNamed ? text.substr(0, equals) : fmt::format("arg{}", number), spec);
    put(result.base, 8);
    return result;
  }
  if (isNamed) refuse("'{}': only buffers have names", text);
  if (kind == "bytes") {
    result.kind = Argument::Kind::Bytes;
    result.bytes = rest.starts_with('@') ? fileBytes(rest.substr(1)) : parseBytes(rest);
    return result;
  }
  result.type = valueType(kind);
  put(parseValue(result.type, rest), bytesOf(result.type));
  return result;
}

void RunMemory::check(const exec::KernelParameter& p, const Argument& a, const std::string& where) {
  const std::string_view type = info(p.type).name;
  const std::string declared =
      p.isArray ? fmt::format(".{} {}[{}]", type, p.name, p.elements) : fmt::format(".{} {}", type, p.name);
  if (a.bytes.size() != p.place.bytes)
    refuse("{} has {} bytes, the parameter {} has {}", where, a.bytes.size(), declared, p.place.bytes);
  if (a.kind == Argument::Kind::Bytes) return;
  if (p.isArray) refuse("{}: the parameter {} is an array and takes bytes:", where, declared);
  if (a.kind == Argument::Kind::Address) {
    if (isFloatType(p.type))
      refuse("{} is an address, the parameter {} is a floating-point number", where, declared);
    return;
  }
  const bool isFloat = isFloatType(p.type),
             isBits = info(p.type).name.starts_with('b') && p.type != ScalarType::bf16;
  if (isBits || isBitType(a.type)) return;
  if (isFloat != isFloatType(a.type))
    refuse("{} is {}, the parameter {} is {}", where, isFloat ? "an integer" : "a floating-point number", declared,
           isFloat ? "a floating-point number" : "an integer");
  if (isFloat && p.type != a.type) refuse("{} is of another type than the parameter {}", where, declared);
}

std::vector<std::byte> RunMemory::parameters(const std::string& kernel,
                                             const std::vector<exec::KernelParameter>& wanted,
                                             const std::vector<std::string>& arguments) {
  if (arguments.size() != wanted.size())
    refuse("'{}' has {} parameter{}, {} argument{} given", kernel, wanted.size(), wanted.size() == 1 ? "" : "s",
           arguments.size(), arguments.size() == 1 ? " was" : "s were");
  std::vector<std::byte> bytes(wanted.empty() ? 0 : wanted.back().place.offset + wanted.back().place.bytes);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string where = fmt::format("argument {} of '{}', {},", i, kernel, arguments[i]);
    Argument a;
    try {
      a = argument(arguments[i], i);
    } catch (const RunError& e) {
      refuse("argument {} of '{}': {}", i, kernel, e.what());
    }
    check(wanted[i], a, where);
    if (a.kind == Argument::Kind::Address) pointers_.push_back({wanted[i].place.offset, a.base});
    std::copy(a.bytes.begin(), a.bytes.end(), bytes.begin() + wanted[i].place.offset);
  }
  return bytes;
}

}  // namespace ptxopt::tool
