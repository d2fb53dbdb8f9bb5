// Each request PASS@[FUNCTION:]LABEL is split and checked against the pass first, then resolved against the labels of
// the parsed module. A label that begins no loop, for passes that take loops, is an error.
#include "api/decline_requests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes/manager/pass.h"
#include "support/nearest.h"

namespace ptxopt {
namespace {

std::vector<std::string_view> passesThatDecline() {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : passTable())
    if (pass.declines != Declines::Whole) names.push_back(pass.name);
  return names;
}

// Where the function is too large for a control-flow graph, no pass takes its loops anyway.
bool mayBeginLoop(const Module& module, const Function& f, const Label& label) {
  Analyses analyses(module, f);
  if (!analyses.cfg().complete()) return true;
  const BlockId block = analyses.cfg().blockOf(label.place);
  const LoopId loop = analyses.loops().of(block);
  return loop.valid() && analyses.loops()[loop].header == block;
}

bool isWithBody(const Module& module, uint32_t function, std::string_view name) {
  return module.functions[function].hasBody && module.text(module.functions[function].name) == name;
}

}  // namespace

std::string DeclineRequests::read(const Options& options) {
  std::string wrong;
  const auto take = [&](const std::vector<std::string>& all, std::string_view function) {
    for (const std::string& spelled : all)
      if (std::string why = add(spelled, function); !why.empty() && wrong.empty()) wrong = std::move(why);
  };
  take(options.decline, {});
  for (const auto& [function, its] : options.inFunction) take(its.decline, function);
  return wrong;
}

std::string DeclineRequests::add(std::string_view spelled, std::string_view function) {
  const std::size_t at = spelled.find('@');
  const std::string_view place = at == std::string_view::npos ? std::string_view() : spelled.substr(at + 1);
  const std::size_t colon = place.find(':');
  Request request{.pass = findPass(spelled.substr(0, at)), .spelled = spelled, .label = place, .source = {}};
  request.function = function;
  if (colon != std::string_view::npos) {
    request.source = place.substr(0, colon);
    request.label = place.substr(colon + 1);
  }
  if (request.label.empty() || (colon != std::string_view::npos && request.source.empty()))
    return fmt::format("decline: '{}' is neither PASS@LABEL nor PASS@FUNCTION:LABEL", spelled);
  const auto able = passesThatDecline();
  if (request.pass == nullptr)
    return fmt::format("decline: there is no pass '{}'{}", spelled.substr(0, at),
                       orNearest(spelled.substr(0, at), able));
  if (request.pass->declines == Declines::Whole)
    return fmt::format("decline: {} cannot decline a part of a function; these passes can: {}", request.pass->name,
                       fmt::join(able, ", "));
  requests_.push_back(request);
  return {};
}

std::string DeclineRequests::resolve(const Module& module) {
  for (Request& r : requests_) {
    bool hasSource = false, hasFunction = false, mayBegin = r.pass->declines == Declines::Blocks;
    for (uint32_t k = 0; k < module.functions.size(); ++k) {
      const Function& f = module.functions[k];
      if (!r.function.empty() && isWithBody(module, k, r.function)) {
        hasFunction = true;
        r.in = k;
      }
      if (!f.hasBody || (!r.source.empty() && !isWithBody(module, k, r.source))) continue;
      hasSource = true;
      for (const Label& label : f.labels) {
        if (!label.name.valid() || module.text(label.name) != r.label) continue;
        r.found.name = label.name;
        mayBegin = mayBegin || mayBeginLoop(module, f, label);
        if (!r.source.empty()) r.found.function = k;
      }
    }
    if (!r.function.empty() && !hasFunction)
      return fmt::format("decline: '{}': there is no function '{}'", r.spelled, r.function);
    if (!r.source.empty() && !hasSource)
      return fmt::format("decline: '{}': there is no function '{}'", r.spelled, r.source);
    if (r.found.name.valid() && mayBegin) continue;
    return fmt::format("decline: '{}': {} '{}' in {}", r.spelled,
                       r.found.name.valid() ? "no loop begins at the label" : "there is no label", r.label,
                       r.source.empty() ? "the input" : fmt::format("the function '{}'", r.source));
  }
  return {};
}

std::vector<DeclinedLabel> DeclineRequests::of(const Function& f, const PassInfo& pass) const {
  std::vector<DeclinedLabel> labels;
  for (const Request& r : requests_) {
    if (r.pass != &pass || (r.in != UINT32_MAX && r.in != f.index)) continue;
    // One that several functions have concerns those that have it.
    const auto has = [&](const Label& label) { return isOf(f, label, r.found); };
    if (r.in == f.index || std::ranges::any_of(f.labels, has)) labels.push_back(r.found);
  }
  return labels;
}

}  // namespace ptxopt
