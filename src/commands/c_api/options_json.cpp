// One table maps each member's name to the function that takes its value; an unknown name gets the nearest known one as
// a hint. The members are read first, then the guard is made from them and the environment, then ptxas's own options
// are checked as the drop-in checks them.
#include "c_api/options_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ptxas/find_python.h"
#include "support/json.h"
#include "support/nearest.h"
#include "wrapper/ptxas_command.h"

namespace ptxopt::c_api {
namespace {

struct Given {
  Options& options;
  std::string guard = "auto", rule, ptxas, externals;
  std::optional<unsigned> tries;
  std::vector<std::string> packages, ptxasOptions;
  bool wantsCubin = false, stripsDebug = false;
  double timeoutSeconds = 600;
};

constexpr unsigned kMostJobs = 1024;  // as --jobs

struct Unfit {};

// Json would cut off fractions and wrap what is too large.
template <std::integral T>
T integerOf(const SortedJson& value, T least = std::numeric_limits<T>::min(),
            T most = std::numeric_limits<T>::max()) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<int64_t>());
  if (!fits || value.get<T>() < least || value.get<T>() > most) throw Unfit();
  return value.get<T>();
}

double secondsOf(const SortedJson& value) {
  const auto seconds = value.get<double>();
  if (!(seconds > 0)) throw Unfit();
  return seconds;
}

void takeKnobs(const SortedJson& value, std::map<std::string, int64_t>& to) {
  if (!value.is_object()) throw Unfit();
  for (const auto& [name, number] : value.items())
    to[name] = number.is_boolean() ? number.get<bool>() : integerOf<int64_t>(number);
}

// A member by its name: where its value goes. Values of another kind throw Unfit, or as SortedJson does.
struct Member {
  const char* name;
  void (*take)(const SortedJson& value, Given& to);
};
constexpr Member kMembers[] = {
    {"arch", [](const SortedJson& v, Given& to) { v.get_to(to.options.architecture); }},
    {"level", [](const SortedJson& v, Given& to) { to.options.level = integerOf<int>(v); }},
    {"passes", [](const SortedJson& v, Given& to) { to.options.passes = v.get<std::vector<std::string>>(); }},
    {"skip", [](const SortedJson& v, Given& to) { v.get_to(to.options.skip); }},
    {"decline", [](const SortedJson& v, Given& to) { v.get_to(to.options.decline); }},
    {"knobs", [](const SortedJson& v, Given& to) { takeKnobs(v, to.options.knobs); }},
    {"strip_debug", [](const SortedJson& v, Given& to) { v.get_to(to.stripsDebug); }},
    {"externals", [](const SortedJson& v, Given& to) { v.get_to(to.externals); }},
    {"facts", [](const SortedJson& v, Given& to) { to.options.facts = dumpJson(v); }},
    {"facts_of_several", [](const SortedJson& v, Given& to) { v.get_to(to.options.factsOfSeveral); }},
    {"profile", [](const SortedJson& v, Given& to) { to.options.profile = dumpJson(v); }},
    {"guard", [](const SortedJson& v, Given& to) { v.get_to(to.guard); }},
    {"guard_rule", [](const SortedJson& v, Given& to) { v.get_to(to.rule); }},
    {"guard_tries",
     [](const SortedJson& v, Given& to) { to.tries = integerOf<unsigned>(v, 0, guard::kMostTries); }},
    {"ptxas", [](const SortedJson& v, Given& to) { v.get_to(to.ptxas); }},
    {"ptxas_options", [](const SortedJson& v, Given& to) { v.get_to(to.ptxasOptions); }},
    {"cubin", [](const SortedJson& v, Given& to) { v.get_to(to.wantsCubin); }},
    {"packages", [](const SortedJson& v, Given& to) { v.get_to(to.packages); }},
    {"timeout", [](const SortedJson& v, Given& to) { to.timeoutSeconds = secondsOf(v); }},
    {"jobs", [](const SortedJson& v, Given& to) { to.options.jobs = integerOf<unsigned>(v, 0, kMostJobs); }},
    {"file", [](const SortedJson& v, Given& to) { v.get_to(to.options.fileName); }},
    {"report", [](const SortedJson& v, Given& to) { v.get_to(to.options.report); }},
};

std::string take(const SortedJson& json, Given& given) {
  if (!json.is_object()) return "options are an object";
  for (const auto& [name, value] : json.items()) {
    const Member* found = nullptr;
    for (const Member& m : kMembers)
      if (name == m.name) found = &m;
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const Member& m : kMembers) names.push_back(m.name);
      return fmt::format("there is no option '{}'{}", name, orNearest(name, names));
    }
    const auto unfit = [&] { return fmt::format("option '{}' cannot be {}", name, dumpJson(value)); };
    try {
      found->take(value, given);
    } catch (const SortedJson::exception&) {
      return unfit();
    } catch (const Unfit&) {
      return unfit();
    }
  }
  return {};
}

std::string takeTries(const Given& given, guard::GuardOptions& guard) {
  guard.tries = given.tries.value_or(guard::kTriesOfJit);
  const char* const usual = std::getenv("PTXOPT_GUARD_TRIES");
  if (given.tries || usual == nullptr || *usual == '\0') return {};
  const char* const end = usual + std::strlen(usual);
  const auto [stop, wrong] = std::from_chars(usual, end, guard.tries);
  if (wrong == std::errc() && stop == end && guard.tries <= guard::kMostTries) return {};
  return fmt::format("PTXOPT_GUARD_TRIES: '{}' is not a number from 0 to {}", usual, guard::kMostTries);
}

// What --guard and its companions do (docs/guard.md), with the packages of the Python that calls as the last to ask.
std::string makeGuard(const Given& given, const Options& options, guard::GuardOptions& guard) {
  const bool wants = given.guard == "ptxas", isUsual = given.guard.empty() || given.guard == "auto";
  if (given.guard == "estimate") return fmt::format("guard: {}", guard::kNoEstimate);
  if (!wants && !isUsual && given.guard != "off")
    return fmt::format("there is no guard '{}'; it is auto, ptxas or off", given.guard);
  const char* const usualRule = std::getenv("PTXOPT_GUARD_RULE");
  if (!given.rule.empty() && !ptxas::guardRuleNamed(given.rule))
    return fmt::format("there is no guard rule '{}'", given.rule);
  const bool isByVariable = given.rule.empty() && usualRule != nullptr && *usualRule != '\0';
  if (isByVariable && !ptxas::guardRuleNamed(usualRule))
    return fmt::format("PTXOPT_GUARD_RULE: there is no guard rule '{}'", usualRule);
  guard.rule = ptxas::guardRuleNamed(isByVariable ? usualRule : given.rule).value_or(ptxas::GuardRule::Time);
  if (std::string error = takeTries(given, guard); !error.empty()) return error;
  guard.ptxas.timeoutSeconds = given.timeoutSeconds;
  guard.ptxas.cache = &ptxas::Cache::user();
  if (!wants && !(isUsual && options.level >= 2 && !options.passes)) return {};

  ptxas::PtxasSearch search;
  search.given = given.ptxas;
  guard.candidates = ptxas::ptxasCandidates(search);
  if (!guard.candidates.isExplicit)
    for (const std::string& folder : given.packages)
      for (ptxas::PtxasCandidate& wheel : ptxas::ptxasOfPackages(folder))
        guard.candidates.all.push_back(std::move(wheel));
  if (guard.candidates.all.empty()) return wants ? "guard ptxas: there is no ptxas" : "";
  guard.ptxas.program = guard.candidates.all.front().path;
  guard.mode = guard::GuardMode::Ptxas;
  guard.isInsistent = wants;
  return {};
}

// The options of the run of ptxas that the output is for. As in the drop-in, some of them say that the text is not to be
// touched, and functions that a linker may replace are not inlined.
std::string takePtxasOptions(const Given& given, CallOptions& to) {
  constexpr const char* kInput = "in.ptx";
  std::vector<std::string> words = given.ptxasOptions;
  words.emplace_back(kInput);
  const wrapper::PtxasCommand command = wrapper::readPtxasCommand(words);
  if (command.inputs.empty()) return "option 'ptxas_options': the last one is without its value";
  const wrapper::PtxasCommand::Input& first = command.inputs.front();
  if (command.inputs.size() > 1 || first.isString || command.words[first.word] != kInput)
    return fmt::format(
        "option 'ptxas_options': '{}' is an input, or a value that is to be joined to its option by '='",
        command.words[first.word]);
  if (!command.architectureWords.empty() || !command.outputs.empty())
    return "option 'ptxas_options' can name no architecture, which is 'arch', and no output";
  if (command.isLinked) to.options.knobs.try_emplace("inline-weak", 0);
  to.guard.ptxas.arguments = command.settings;
  to.notOptimized = command.notOptimized;
  to.isVerbose = command.isVerbose;
  if (to.notOptimized.empty()) return {};
  to.options.level = 0;
  to.options.passes.reset();
  to.guard.mode = guard::GuardMode::Off;
  return {};
}

}  // namespace

std::string readOptions(std::string_view text, CallOptions& to) {
  Given given{.options = to.options};
  if (!text.empty()) {
    const SortedJson json = parseSortedJsonOrDiscard(text);
    if (json.is_discarded()) return "options are not JSON, or nest too deeply";
    if (std::string error = take(json, given); !error.empty()) return error;
  }
  to.guard.ptxas.keepsOutput = given.wantsCubin;
  if (std::string error = makeGuard(given, to.options, to.guard); !error.empty()) return error;
  if (std::string error = takePtxasOptions(given, to); !error.empty()) return error;
  if (!given.externals.empty() && given.externals != "optix" && given.externals != "none")
    return fmt::format("there are no externals '{}'; they are optix or none", given.externals);
  to.options.optixExternals =
      given.externals == "optix" || (given.externals.empty() && to.guard.mode == guard::GuardMode::Off);
  to.stripsDebug = given.stripsDebug && to.notOptimized.empty();
  return {};
}

}  // namespace ptxopt::c_api
