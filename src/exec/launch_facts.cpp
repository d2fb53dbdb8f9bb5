#include "exec/launch_facts.h"

#include <fmt/format.h>

#include <cstring>

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

// Empty where it holds, else the value.
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
    uint64_t bits = 0;
    std::memcpy(&bits, config.parameters.data() + p.place.offset, p.place.bytes);
    if (const std::string value = brokenBy(fact, bits, info(p.type), isSignedType(p.type)); !value.empty())
      return fmt::format("parameter {} ({}) is {}, and by the facts {}", i, p.name, value, inWords(fact));
  }
  return {};
}

}  // namespace ptxopt::exec
