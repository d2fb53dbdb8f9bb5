// Shapes and parameters are compared with the facts before a launch. Read-only memory is watched while the launch runs:
// the ranges are marked at its start and the marks are undone in reverse order.
#include "exec/launch_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "facts/facts.h"

namespace ptxopt::exec {
namespace {

std::string inWords(const NumberFact& fact) {
  if (const auto exact = fact.exact()) return std::to_string(*exact);
  std::string out;
  const auto add = [&](const char* word, auto n) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", word, n);
  };
  if (fact.least != INT64_MIN) add("at least", fact.least);
  if (fact.most != INT64_MAX) add("at most", fact.most);
  if (fact.multiple != 1) add("a multiple of", fact.multiple);
  return out;
}

// Empty where it holds, otherwise the value.
std::string brokenBy(const NumberFact& fact, uint64_t bits, const ScalarTypeInfo& type, bool isSigned) {
  if (isSigned || fact.least < 0) {
    const uint64_t sign = uint64_t{1} << (type.bits - 1);
    const auto value = static_cast<int64_t>((bits ^ sign) - sign);
    return fact.holds(value) ? "" : std::to_string(value);
  }
  // What is above all that a fact can say is below no limit that was said.
  const bool holds = bits > INT64_MAX ? fact.most == INT64_MAX && bits % fact.multiple == 0
                                      : fact.holds(static_cast<int64_t>(bits));
  return holds ? "" : std::to_string(bits);
}

uint64_t valueOf(const KernelParameter& p, const LaunchConfig& config) {
  uint64_t bits = 0;
  std::memcpy(&bits, config.parameters.data() + p.place.offset, std::min<std::size_t>(p.place.bytes, sizeof bits));
  return bits;
}

// For memory: that of parameters without an alias overlaps no other's.
std::string brokenApart(const Program& program, const LaunchConfig& config) {
  const std::vector<PointerFact>& pointers = program.module().facts[program.kernel().index].pointers;
  for (const auto& [i, k] : facts::pairsApart(program.module(), program.kernel())) {
    const KernelParameter &p = program.parameters()[i], &q = program.parameters()[k];
    const uint64_t a = valueOf(p, config), b = valueOf(q, config);
    if (a == 0 || (b - a >= std::max<uint64_t>(pointers[i].bytes, 1) && a - b >= pointers[k].bytes)) continue;
    return fmt::format("parameter {} ({}) leads to memory of parameter {} ({}), and by the facts it has no alias",
                       i, p.name, k, q.name);
  }
  return {};
}

}  // namespace

std::string brokenFact(const Program& program, const LaunchConfig& config) {
  const Module& module = program.module();
  if (module.facts.empty()) return {};
  const KernelFacts& facts = module.facts[program.kernel().index];
  const auto shape = [](const char* what, const std::array<NumberFact, 3>& known, const Dim3& is) -> std::string {
    const uint32_t sizes[] = {is.x, is.y, is.z};
    for (std::size_t i = 0; i < 3; ++i)
      if (!known[i].holds(sizes[i]))
        return fmt::format("{}.{} is {}, and by the facts {}", what, "xyz"[i], sizes[i], inWords(known[i]));
    return {};
  };
  if (std::string broken = shape("block", facts.block, config.block); !broken.empty()) return broken;
  if (std::string broken = shape("grid", facts.grid, config.grid); !broken.empty()) return broken;
  for (std::size_t i = 0; i < program.parameters().size(); ++i) {
    const KernelParameter& p = program.parameters()[i];
    const NumberFact& fact = facts.parameters[i];
    if (!fact.isSaid() || !isInteger(p.type) || p.isArray || p.elements != 1) continue;
    if (const std::string value = brokenBy(fact, valueOf(p, config), info(p.type), isSignedType(p.type));
        !value.empty())
      return fmt::format("parameter {} ({}) is {}, and by the facts {}", i, p.name, value, inWords(fact));
  }
  return brokenApart(program, config);
}

ReadonlyWatch::ReadonlyWatch(Machine& machine, const Program& program, const LaunchConfig& config) {
  const Module& module = program.module();
  if (module.facts.empty()) return;
  const std::vector<PointerFact>& pointers = module.facts[program.kernel().index].pointers;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (!pointers[i].isReadonly || pointers[i].bytes == 0) continue;
    const KernelParameter& p = program.parameters()[i];
    const uint64_t address = valueOf(p, config);
    Allocation* const a = machine.memory().find(address);
    if (a == nullptr) continue;
    watched_.push_back({a, a->watched, a->watch});
    a->watched = true;
    a->quiet = {};
    a->watch = [a, begin = address - a->base, size = pointers[i].bytes, name = p.name, before = watched_.back()](
                   const Warp& w, unsigned lane, uint64_t offset, unsigned bytes, Access access) {
      if (access != Access::Read && offset - begin + bytes - 1 < size + bytes - 1)
        throw LaneFault{
            FaultKind::BadLaunch, lane,
            fmt::format("memory of the parameter {} is written, and by the facts nothing writes it", name)};
      std::byte* const at = before.wasWatched ? before.watch(w, lane, offset, bytes, access) : a->data + offset;
      a->quiet.writes = false;
      return at;
    };
  }
}

ReadonlyWatch::~ReadonlyWatch() {
  for (auto w = watched_.rbegin(); w != watched_.rend(); ++w) {
    w->allocation->watched = w->wasWatched;
    w->allocation->watch = std::move(w->watch);
    w->allocation->quiet = {};
  }
}

}  // namespace ptxopt::exec
