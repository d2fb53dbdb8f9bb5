// Each parse adds --color, the options of the log and --help to the app, then lets CLI11 read the words. A describing
// caller gets the app's description instead of a parse, and options before a program's name end at the first word
// without a dash.
#include "tool/options/parse_arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "ptxopt/ptxopt.h"
#include "support/log.h"
#include "tool/manual/describe.h"
#include "tool/manual/help.h"
#include "tool/options/environment.h"
#include "tool/options/log_options.h"
#include "tool/options/mistakes.h"
#include "tool/terminal/messages.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

CommandDescription* descriptionWanted = nullptr;

ColourChoice choiceOf(const std::string& when) {
  return when == "always" ? ColourChoice::Always : when == "never" ? ColourChoice::Never : ColourChoice::Auto;
}

// `words` is called when the app has all its options.
bool parse(CLI::App& app, const std::function<std::vector<std::string>()>& words, int& exitCode,
           const std::function<void()>& then) {
  exitCode = 0;
  std::string colour = "auto";
  app.add_option(
         "--color", colour,
         "when to use colours: always, never, or auto (the default): on a terminal, unless $NO_COLOR is set")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  LogLine log;
  addLogOptions(app, log);
  app.get_help_ptr()->description("print this help and exit");
  if (DescribeInstead::takes(app)) return false;
  try {
    std::vector<std::string> all = words();
    std::reverse(all.begin(), all.end());  // as CLI11 wants them
    app.parse(std::move(all));
    chooseColours(choiceOf(colour));
    applyLogOptions(log, verbosityOf(app));
    for (const std::string& warning : environmentWarnings()) log::warn(log::kTool, warning);
    if (then) then();
    return true;
  } catch (const CLI::CallForHelp&) {
    chooseColours(choiceOf(colour));
    printResult(helpText(describe(app), false));
  } catch (const CLI::CallForAllHelp&) {
    printResult(helpText(describe(app), true));
  } catch (const CLI::CallForVersion& e) {
    fmt::print("{}\n", e.what());
  } catch (const CLI::ParseError& e) {
    const std::string message = messageOf(app, e), variable = variableMeant(message);
    printError(fmt::format("{0}: {1}{2}{3}\n{0} --help lists the options.\n", app.get_name(), variable,
                           variable.empty() ? "" : ": ", message));
    exitCode = static_cast<int>(Status::Usage);
  }
  return false;
}

// For `--name`, `--name=value`, `-n` and `-nvalue`; whether the value is the next word.
const CLI::Option* optionOf(const CLI::App& app, const std::string& word, bool& takesNext) {
  const std::string name = word.substr(0, word.find('='));
  const CLI::Option* option = app.get_option_no_throw(name);
  takesNext = option != nullptr && name == word && option->get_expected_min() > 0;
  constexpr std::size_t kShort = 2;
  if (option == nullptr && word.size() > kShort && word[1] != '-')
    option = app.get_option_no_throw(word.substr(0, kShort));
  return option;
}

}  // namespace

DescribeInstead::DescribeInstead(CommandDescription& to) { descriptionWanted = &to; }
DescribeInstead::~DescribeInstead() { descriptionWanted = nullptr; }

bool DescribeInstead::isWanted() { return descriptionWanted != nullptr; }

bool DescribeInstead::takes(const CLI::App& app) {
  if (descriptionWanted == nullptr) return false;
  *descriptionWanted = describe(app);
  return true;
}

bool parseArguments(CLI::App& app, int argc, char** argv, int& exitCode) {
  return parseArguments(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc), exitCode);
}

bool parseArguments(CLI::App& app, std::vector<std::string> words, int& exitCode,
                    const std::function<void()>& then) {
  return parse(
      app, [&] { return std::move(words); }, exitCode, then);
}

bool parseBeforeProgram(CLI::App& app, int argc, char** argv, int& exitCode, std::vector<std::string>& program,
                        const EachWord& each) {
  int i = 1;
  const auto words = [&] {
    std::vector<std::string> before;
    const auto take = [&](const CLI::Option* option, const char* word) {
      before.emplace_back(word);
      if (each) each(option, before.back());
    };
    for (; i < argc && argv[i][0] == '-'; ++i) {
      if (std::string_view(argv[i]) == "--") {
        ++i;
        break;
      }
      bool takesNext = false;
      const CLI::Option* const option = optionOf(app, argv[i], takesNext);
      take(option, argv[i]);
      if (takesNext && i + 1 < argc) take(option, argv[++i]);
    }
    return before;
  };
  return parse(app, words, exitCode, [&] {
    program.assign(argv + i, argv + argc);
    if (program.empty()) throw CLI::ValidationError("PROGRAM is required");
  });
}

}  // namespace ptxopt::tool
