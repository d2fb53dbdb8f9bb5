// The variable is split as a shell splits words and read by a CLI::App that shares its tables with ptxopt itself. The
// app is not made where no variable is set, and a mistake is kept as text for the caller to report.
#include "tool/options/wrapper_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "support/environment.h"
#include "support/log.h"
#include "support/shell_words.h"
#include "tool/options/facts_option.h"
#include "tool/options/guard_options.h"
#include "tool/options/log_options.h"
#include "tool/options/mistakes.h"
#include "tool/options/optimizer_options.h"
#include "tool/options/profile_option.h"

namespace ptxopt::tool {
namespace {

// Options of `ptxopt IN -o OUT` that a drop-in does not have, and what does the same there.
struct OptionOfTool {
  std::string_view name, instead;
};
constexpr OptionOfTool kOfTool[] = {
    {"--stats", "-v, or --report=FOLDER/"},
    {"--time-report", "-vv, which has the time of each ptxas"},
    {"--verify", "ptxopt --in-place --verify with the files of nvcc -keep"},
    {"--verify-analyses", {}},
    {"--arch", "the -arch of the call"},
    {"--dump", {}},
    {"--in-place", {}},
    {"--output", {}},
    {"--print-after", {}},
    {"--print-after-all", {}},
    {"--print-before", {}},
    {"--reprint", {}},
    {"--specialize", {}},
    {"--facts-check", {}},
    {"--warn-unknown", "-v"},
};

// What is said of a word that is such an option; empty: it is none.
std::string whyNotHere(const std::vector<std::string>& words) {
  for (const std::string& word : words)
    for (const auto& [name, instead] : kOfTool)
      if (word.substr(0, word.find('=')) == name)
        return fmt::format("{} is for ptxopt IN -o OUT, and does not apply here{}{}", name,
                           instead.empty() ? "" : "; instead: ", instead);
  return {};
}

// Nobody reads the text on its way to ptxas, unless it is kept; who wants no more than tidy text gets that.
void leaveUntidy(wrapper::WrapperOptions& options) {
  if (!options.keepsPtx && options.optimizer.level >= 2) options.optimizer.knobs.try_emplace("tidy", 0);
}

}  // namespace

const char* const kWrapperOptionsHelp =
    "Options of ptxopt stand in $PTXOPT_OPTIONS, split as by a shell: -O, --passes, --skip-pass, -j, "
    "--verify-each, the "
    "knobs (tidy is 0 here), those of the guard, --facts and --profile-use as of ptxopt itself, and:\n"
    "  --report=FILE    write a JSON report; into a folder, which ends in /, one for each input\n"
    "  --strip-debug, --externals=optix|none   as of ptxopt itself\n"
    "  --keep-ptx       write the optimized PTX beside its input, as NAME.ptxopt.ptx\n"
    "  -v               say what is done, and why something is not; -vv and -vvv more\n"
    "  --log-level, --log-file, --log-format   as of ptxopt itself\n"
    "A mistake there is a warning, and the PTX is left as it is.";

wrapper::WrapperOptions readWrapperOptions() {
  constexpr const char* kVariable = "PTXOPT_OPTIONS";
  const auto isSet = [](const char* name) { return !environmentValue(name).empty(); };
  wrapper::WrapperOptions options;
  const char* const text = std::getenv(kVariable);
  GuardLine guard;
  // Most have none, and to make the tables below takes a tenth of the time for a short file.
  const bool hasWords = text != nullptr && *text != '\0';
  if (!hasWords && !isSet("PTXOPT_GUARD") && !isSet("PTXOPT_GUARD_RULE") && !isSet("PTXOPT_GUARD_TRIES")) {
    resolveGuard(guard, options.optimizer, options.guard, options.mistake);
    leaveUntidy(options);
    return options;
  }
  std::optional<std::vector<std::string>> words = splitShellWords(hasWords ? text : "");
  if (!words) {
    options.mistake = fmt::format("{}: a quote without its end", kVariable);
    return options;
  }
  CLI::App app("", kVariable);
  app.set_help_flag();
  OptimizerOptions optimizer(options.optimizer);
  optimizer.addPasses(app, "");
  if (hasWords) optimizer.addKnobs(app);
  addGuardOptions(app, guard);
  FactsLine facts;
  facts.addTo(app, "");
  ProfileLine profile;
  profile.addTo(app, "");
  // ptxopt jit adds its own after those of the user.
  for (const char* const file : {"--facts", "--profile-use"}) app.get_option(file)->take_last();
  app.add_option("-j,--jobs", options.optimizer.jobs)->check(CLI::Range(0, 1024));
  app.add_flag("--verify-each", options.optimizer.verifyEach);
  app.add_option("--report", options.report);
  app.add_flag("--keep-ptx", options.keepsPtx);
  app.add_flag("--strip-debug", options.stripsDebug);
  std::string externals;
  app.add_option("--externals", externals)->check(CLI::IsMember({"optix", "none"}));
  app.add_flag("-v,--verbose", options.verbose);
  LogLine log;
  addLogOptions(app, log);
  std::reverse(words->begin(), words->end());  // the order that CLI11 takes
  try {
    app.parse(*words);
    optimizer.finish();
    applyLogOptions(log, verbosityOf(app));
    options.verbose = log::isEnabled(log::Level::Info);
    options.ptxas = guard.ptxas;
    if (std::string error; !resolveGuard(guard, options.optimizer, options.guard, error))
      throw CLI::ValidationError(error);
    if (std::string error; !facts.read(error)) throw CLI::ValidationError("--facts: " + error);
    options.optimizer.facts = std::move(facts.text);
    options.optimizer.factsName = std::move(facts.path);
    options.optimizer.factsOfSeveral = true;
    if (std::string error; !profile.read(error)) throw CLI::ValidationError("--profile-use: " + error);
    profile.giveTo(options.optimizer);
    options.optimizer.optixExternals =
        externals == "optix" || (externals.empty() && options.guard.mode == guard::GuardMode::Off);
    leaveUntidy(options);
    if (options.optimizer.level > 2) options.remarks.push_back(fmt::format("{}: -O3 is taken as -O2", kVariable));
  } catch (const CLI::ParseError& e) {
    options = {};
    const std::string variable = variableMeant(e.what());
    options.mistake = fmt::format("{}: {}", variable.empty() ? kVariable : variable, messageOf(app, e));
    const bool isUnknown = dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr;
    if (const std::string why = whyNotHere(app.remaining(true)); isUnknown && !why.empty())
      options.mistake = fmt::format("{}: {}", kVariable, why);
    else if (isUnknown)
      options.mistake += " (ptxopt as --help lists those it may have)";
  }
  return options;
}

}  // namespace ptxopt::tool
