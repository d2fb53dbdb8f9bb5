#include "api/declined_loops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ptxopt {
namespace {

bool isMeant(const DeclinedLoop& d, const Module& module, const Function& f) {
  return d.function.empty() || module.text(f.name) == d.function;
}

bool hasLabel(const Module& module, const Function& f, std::string_view name) {
  return std::ranges::any_of(f.labels,
                             [&](const Label& l) { return l.name.valid() && module.text(l.name) == name; });
}

// Where the function is too large for a control-flow graph, no pass takes its loops anyway.
bool mayBeginLoop(const Module& module, const Function& f, std::string_view label) {
  Analyses analyses(module, f);
  if (!analyses.cfg().complete()) return true;
  const Loops& loops = analyses.loops();
  for (uint32_t l = 0; l < loops.size(); ++l)
    if (beginsWith(module, f, analyses.cfg()[loops[LoopId(l)].header], {{label}})) return true;
  return false;
}

}  // namespace

std::vector<DeclinedLoop> declinedLoopsOf(const std::vector<std::string>& given, std::string& error) {
  std::vector<DeclinedLoop> declined;
  for (const std::string& text : given) {
    const std::size_t at = text.find('@');
    DeclinedLoop d;
    if (at != std::string::npos) {
      d.label = text.substr(at + 1);
      if (const std::size_t colon = d.label.find(':'); colon != std::string::npos) {
        d.function = d.label.substr(0, colon);
        d.label.erase(0, colon + 1);
        if (d.function.empty()) d.label.clear();
      }
    }
    if (d.label.empty()) {
      error = fmt::format("'{}' is not PASS@LABEL or PASS@FUNCTION:LABEL", text);
      return {};
    }
    d.pass = findPass(std::string_view(text).substr(0, at));
    if (d.pass == nullptr) {
      error = fmt::format("there is no pass '{}'", text.substr(0, at));
      return {};
    }
    if (!d.pass->takesLoops) {
      std::vector<std::string_view> names;
      for (const PassInfo& pass : passTable())
        if (pass.takesLoops) names.push_back(pass.name);
      error =
          fmt::format("'{}' does not take loops one by one; these do: {}", d.pass->name, fmt::join(names, ", "));
      return {};
    }
    declined.push_back(std::move(d));
  }
  return declined;
}

std::string whyNotIn(const Module& module, const std::vector<DeclinedLoop>& declined) {
  for (const DeclinedLoop& d : declined) {
    bool isThere = false, isLoop = false;
    for (const Function& f : module.functions) {
      if (!isMeant(d, module, f) || !hasLabel(module, f, d.label)) continue;
      isThere = true;
      isLoop = isLoop || mayBeginLoop(module, f, d.label);
    }
    const std::string in = d.function.empty() ? "any function" : fmt::format("a function '{}'", d.function);
    if (!isThere) return fmt::format("there is no label '{}' in {}", d.label, in);
    if (!isLoop) return fmt::format("no loop begins with the label '{}' in {}", d.label, in);
  }
  return {};
}

std::vector<std::string_view> declinedIn(const std::vector<DeclinedLoop>& declined, const PassInfo& pass,
                                         std::string_view function) {
  std::vector<std::string_view> labels;
  for (const DeclinedLoop& d : declined)
    if (d.pass == &pass && (d.function.empty() || d.function == function)) labels.push_back(d.label);
  return labels;
}

}  // namespace ptxopt
