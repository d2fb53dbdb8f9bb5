// Each handler loops over the active lanes and takes its arguments from the call's places. vprintf() hands each
// conversion on to snprintf() of the host, with the type that its letter and length say.
#include "exec/builtins.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "exec/block.h"
#include "exec/heap.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

uint64_t argument(Warp& w, const Op& op, std::size_t k, unsigned lane) {
  const CallSite& site = *static_cast<const CallSite*>(op.data);
  if (k >= site.arguments.size())
    throw LaneFault{FaultKind::Unsupported, lane, "a built-in with too few arguments"};
  return w.parameterValue(site.arguments[k], lane);
}

void result(Warp& w, const Op& op, unsigned lane, uint64_t value) {
  const CallSite& site = *static_cast<const CallSite*>(op.data);
  if (!site.results.empty()) w.setParameterValue(site.results.front(), lane, value);
}

template <typename T>
T load(Warp& w, unsigned lane, uint64_t address) {
  T v;
  std::memcpy(&v, w.memory(Space::Generic, lane, address, sizeof v, alignof(T), Access::Read), sizeof v);
  return v;
}

std::string loadString(Warp& w, unsigned lane, uint64_t address) {
  std::string s;
  for (constexpr std::size_t kMost = 1u << 20; s.size() < kMost; ++address) {
    const char c = load<char>(w, lane, address);
    if (c == '\0') break;
    s += c;
  }
  return s;
}

// ---- vprintf ----

// The arguments lie in memory one after the other, each at a multiple of its size.
class PrintfArguments {
 public:
  PrintfArguments(Warp& w, unsigned lane, uint64_t address) : warp_(w), lane_(lane), address_(address) {}
  template <typename T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) & ~uint64_t{sizeof(T) - 1};
    const T v = load<T>(warp_, lane_, address_);
    address_ += sizeof(T);
    return v;
  }

 private:
  Warp& warp_;
  unsigned lane_;
  uint64_t address_;
};

template <typename T>
std::string printed(const std::string& format, T value) {
  std::array<char, 512> small;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int n = std::snprintf(small.data(), small.size(), format.c_str(), value);
  if (n < 0) return format;
  if (static_cast<std::size_t>(n) < small.size()) return {small.data(), static_cast<std::size_t>(n)};
  std::string large(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(large.data(), large.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  large.pop_back();
  return large;
}

// The count of converted arguments, or -1 for a malformed format, as CUDA's printf returns it.
int formatInto(std::string& out, const std::string& format, Warp& w, unsigned lane, uint64_t arguments) {
  PrintfArguments args(w, lane, arguments);
  int count = 0;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    std::string spec = "%";
    ++i;
    const auto number = [&] {
      if (i < format.size() && format[i] == '*') {
        spec += std::to_string(args.next<int32_t>());
        ++i;
      }
      while (i < format.size() && format[i] >= '0' && format[i] <= '9' && spec.size() < 32) spec += format[i++];
    };
    while (i < format.size() && std::strchr("-+ #0", format[i]) != nullptr && spec.size() < 8) spec += format[i++];
    number();
    if (i < format.size() && format[i] == '.') {
      spec += format[i++];
      number();
    }
    unsigned longs = 0;
    for (; i < format.size() && std::strchr("hlLqjzt", format[i]) != nullptr; ++i)
      longs += format[i] == 'l' || format[i] == 'j' || format[i] == 'z' || format[i] == 't' || format[i] == 'q';
    if (i == format.size()) return -1;
    const char c = format[i];
    switch (c) {
      case '%': out += '%'; continue;
      case 'd':
      case 'i':
        out += printed(spec + "lld", longs != 0 ? static_cast<long long>(args.next<int64_t>())
                                                : static_cast<long long>(args.next<int32_t>()));
        break;
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        out += printed(spec + "ll" + c, longs != 0 ? static_cast<unsigned long long>(args.next<uint64_t>())
                                                   : static_cast<unsigned long long>(args.next<uint32_t>()));
        break;
      case 'c': out += printed(spec + "c", args.next<int32_t>()); break;
      case 'p': out += fmt::format("{:#x}", args.next<uint64_t>()); break;
      case 's': out += printed(spec + "s", loadString(w, lane, args.next<uint64_t>()).c_str()); break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': out += printed(spec + c, args.next<double>()); break;
      default: return -1;
    }
    ++count;
  }
  return count;
}

Step vprintf(Warp& w, const Op& op, Mask active) {
  forEachLane(active, [&](unsigned i) {
    std::string text;
    const int n = formatInto(text, loadString(w, i, argument(w, op, 0, i)), w, i, argument(w, op, 1, i));
    w.block().launch().print(text);
    result(w, op, i, static_cast<uint32_t>(n));
  });
  return Step::Next;
}

// __assertfail(message, file, line, function, character size)
Step assertFail(Warp& w, const Op& op, Mask active) {
  const auto i = static_cast<unsigned>(std::countr_zero(active));
  throw LaneFault{FaultKind::Assertion, i,
                  fmt::format("{}:{}: {}: assertion `{}` failed", loadString(w, i, argument(w, op, 1, i)),
                              static_cast<uint32_t>(argument(w, op, 2, i)), loadString(w, i, argument(w, op, 3, i)),
                              loadString(w, i, argument(w, op, 0, i)))};
}

// ---- the device heap ----

Step allocate(Warp& w, const Op& op, Mask active) {
  forEachLane(active, [&](unsigned i) {
    result(w, op, i, w.block().launch().machine().heap().allocate(argument(w, op, 0, i)));
  });
  return Step::Next;
}

Step release(Warp& w, const Op& op, Mask active) {
  forEachLane(active, [&](unsigned i) {
    const uint64_t address = argument(w, op, 0, i);
    if (address != 0 && !w.block().launch().machine().heap().release(address))
      throw LaneFault{FaultKind::OutOfBounds, i, fmt::format("free of {:#x}, which malloc did not give", address)};
  });
  return Step::Next;
}

}  // namespace

Handler findBuiltin(std::string_view name) {
  if (name == "vprintf") return vprintf;
  if (name == "__assertfail") return assertFail;
  if (name == "malloc") return allocate;
  if (name == "free") return release;
  return nullptr;
}

}  // namespace ptxopt::exec
