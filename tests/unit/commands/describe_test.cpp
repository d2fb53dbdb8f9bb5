// A command line as data, and what is made of it: the conventions of describe.h, help in columns, roff, the bar.
#include "tool/manual/describe.h"

#include <doctest/doctest.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "ptxopt/ptxopt.h"
#include "tool/commands/subcommands.h"
#include "tool/manual/completion.h"
#include "tool/manual/help.h"
#include "tool/manual/manual.h"
#include "tool/options/wrapper_options.h"
#include "tool/terminal/function_progress.h"
#include "tool/terminal/progress.h"
#include "tool/terminal/terminal.h"

using namespace ptxopt::tool;
using Kind = ValueDescription::Kind;

namespace {

struct Sample {
  Sample() {
    app.add_option("INPUT", input, "the file")->required();
    app.add_option("-o,--output", output, "where to")->type_name("FILE.json")->group("Where");
    app.add_option("--format", format, "how")->check(CLI::IsMember({"text", "json"}));
    app.add_option("--level", level, "how much")->type_name("N")->check(CLI::Range(1, 3));
    app.add_option("-j,--jobs", jobs, "how many")->type_name("N")->check(CLI::Range(0, 1024));
    app.add_option("--passes", passes, "which")->type_name("PASS,...")->delimiter(',')->allow_extra_args(false);
    app.add_option("--fail-on", limits, "at what")->type_name("MEASURE[:TOLERANCE],...")->delimiter(',');
    app.add_option("--arch", targets, "for what")->type_name("sm_XX[,...]");
    app.add_option("-W", warnings, "what of")->type_name("NAME")->allow_extra_args(false);
    app.add_flag("--profile{}", profile, "count")->type_name("FILE");
    app.add_flag("--quiet", quiet, "say nothing");
    app.add_flag("--secret", secret, "not shown")->group("");
  }
  CLI::App app{
      "ptxopt sample INPUT [--format ...] \\\n    [OPTIONS]\nSays something\nin one paragraph.\n  kept as it is\n"
      "Exit codes: 0 ok, 2 usage, I/O or worse,\n3 not\nvalid PTX.",
      "ptxopt sample"};
  std::string input, output, format, profile;
  int level = 0, jobs = 0;
  std::vector<std::string> passes, warnings, limits, targets;
  bool quiet = false, secret = false;
};

const OptionDescription& option(const CommandDescription& command, const std::string& name) {
  for (const OptionDescription& o : command.options)
    if (o.names.back() == name) return o;
  throw std::runtime_error("no option " + name);
}

}  // namespace

TEST_CASE("describe: synopsis, paragraphs and exit codes of a description") {
  Sample sample;
  sample.app.footer("Examples:\n  one\n    two\n\nAn end.");
  const CommandDescription d = describe(sample.app);
  CHECK(d.synopsis == std::vector<std::string>{"ptxopt sample INPUT [--format ...] [OPTIONS]"});
  REQUIRE(d.description.size() == 1);
  CHECK(d.description[0].paragraph == "Says something in one paragraph.");
  CHECK(d.description[0].lines == std::vector<std::string>{"  kept as it is"});
  REQUIRE(d.exitCodes.size() == 3);
  CHECK(d.exitCodes[1].code == "2");
  CHECK(d.exitCodes[1].meaning == "usage, I/O or worse");
  CHECK(d.exitCodes[2].meaning == "not valid PTX");
  REQUIRE(d.footer.size() == 2);
  CHECK(d.footer[0].heading == "Examples");
  CHECK(d.footer[0].lines.size() == 2);
  CHECK(d.footer[1].paragraph == "An end.");
}

TEST_CASE("describe: what options take") {
  Sample sample;
  const CommandDescription d = describe(sample.app);
  REQUIRE(d.positionals.size() == 1);
  CHECK(d.positionals[0].value.suffix == ".ptx");
  CHECK(d.positionals[0].isRequired);
  CHECK(option(d, "--output").value.kind == Kind::File);
  CHECK(option(d, "--output").value.suffix == ".json");
  CHECK(option(d, "--output").group == "Where");
  CHECK(option(d, "--format").value.words == std::vector<std::string>{"text", "json"});
  CHECK(option(d, "--level").value.words == std::vector<std::string>{"1", "2", "3"});
  CHECK(option(d, "--jobs").value.kind == Kind::Any);
  CHECK(option(d, "--jobs").range == "0 to 1024");
  CHECK(option(d, "--passes").value.isList);
  CHECK_FALSE(option(d, "--passes").isRepeatable);
  CHECK(option(d, "--passes").value.words.size() == ptxopt::describePasses().size());
  CHECK(option(d, "--fail-on").value.metavar == "MEASURE[:TOLERANCE],...");
  CHECK(option(d, "--fail-on").value.kind == Kind::Any);
  CHECK(option(d, "--arch").value.isList);
  CHECK(option(d, "--arch").value.kind == Kind::Words);
  CHECK(option(d, "-W").isRepeatable);
  CHECK(option(d, "--profile").value.isOptional);
  CHECK(option(d, "--quiet").isFlag());
  CHECK_THROWS(option(d, "--secret"));
  CHECK(optionLabel(option(d, "--output")) == "-o, --output FILE.json");
  CHECK(optionLabel(option(d, "--format")) == "    --format text|json");
  CHECK(optionLabel(option(d, "--profile")) == "    --profile[=FILE]");
  CHECK(optionLabel(option(d, "--level")) == "    --level N");
  CHECK(optionLabel(option(d, "-W")) == "-W NAME ...");
}

TEST_CASE("describe: every subcommand has an app, a synopsis, exit codes and a page") {
  const std::vector<CommandDescription> all = describeCommands();
  REQUIRE(all.size() == subcommands().size() + 1);
  std::set<std::string> files;
  for (const ManualPage& page : manualPages(all)) files.insert(page.fileName);
  CHECK(files.size() == all.size());
  for (const CommandDescription& command : all) {
    CAPTURE(command.name);
    CHECK_FALSE(command.summary.empty());
    REQUIRE_FALSE(command.synopsis.empty());
    CHECK(command.synopsis[0].starts_with(command.name));
    CHECK_FALSE(command.description.empty());
    CHECK_FALSE(command.exitCodes.empty());
    if (command.name == "ptxopt as" || command.name == "ptxopt nvcc") continue;  // options of others
    CHECK_FALSE(command.options.empty());
    // Those of these two are ptxas's and nvcc's.
    const bool standsForAnother = command.name == "ptxopt as" || command.name == "ptxopt nvcc";
    CHECK((standsForAnother ? command.exitCodes.empty() : command.exitCodes.size() >= 3));
    for (const OptionDescription& o : command.options) {
      CAPTURE(o.names.back());
      CHECK_FALSE(o.summary.empty());
      CHECK(o.names.back().starts_with("-"));
    }
  }
}

TEST_CASE("describe: $PTXOPT_OPTIONS takes every knob of the tool, by each of its names") {
  constexpr const char* kVariable = "PTXOPT_OPTIONS";
  const char* const before = std::getenv(kVariable);
  const std::string kept = before == nullptr ? "" : before;
  std::size_t knobs = 0;
  const std::vector<CommandDescription> all = describeCommands();
  for (const OptionDescription& o : all.front().options)
    for (const std::string& name : o.names) {
      if (o.group != kKnobGroup) continue;
      ++knobs;
      const std::string value =
          o.value.words.empty() ? o.range.substr(0, o.range.find(' ')) : o.value.words.front();
      ::setenv(kVariable, (name + "=" + (value.empty() ? "1" : value)).c_str(), 1);
      CHECK(readWrapperOptions().mistake == "");
    }
  const auto ours = ptxopt::describeKnobs();
  CHECK(knobs > static_cast<std::size_t>(std::ranges::count(ours, false, &ptxopt::KnobDescription::isForTests)));
  before == nullptr ? ::unsetenv(kVariable) : ::setenv(kVariable, kept.c_str(), 1);
}

TEST_CASE("help: lines end before the width, long words stand alone") {
  CHECK(filled("one two three four", 9, 2, 0) == "one two\n  three\n  four");
  CHECK(filled("a verylongwordindeed b", 8, 0, 0) == "a\nverylongwordindeed\nb");
  CHECK(filled("one  two ", 80, 0, 0) == "one two");
  CHECK(filled("", 80, 0, 0).empty());
}

TEST_CASE("manual: text means itself in roff") {
  CHECK(roff("-O2 a\\b 'c' `d` ~^\"") == "\\-O2 a\\eb \\(aqc\\(aq \\(gad\\(ga \\(ti\\(ha\\(dq");
}

TEST_CASE("completion: quotes, and summaries that fit") {
  CHECK(shellQuoted("it's") == "'it'\\''s'");
  CHECK(briefly("threads; 0: one a core") == "threads");
  const std::string cut = briefly(std::string(60, 'x') + " " + std::string(60, 'y'));
  CHECK(cut == std::string(60, 'x') + "...");
}

TEST_CASE("progress of one file: functions, then ptxas where it is asked") {
  CHECK(FunctionProgress::line(0, 0, true, 2) == "ptxopt: reading, 2 s");
  CHECK(FunctionProgress::line(12, 480, true, 3.4) == "ptxopt: 12/480 functions, 3 s");
  CHECK(FunctionProgress::line(480, 480, true, 60) == "ptxopt: 480/480 functions, ptxas runs, 60 s");
  CHECK(FunctionProgress::line(480, 480, false, 60) == "ptxopt: 480/480 functions, 60 s");
}

TEST_CASE("progress: the bar, the count, the time left, and a name where there is room") {
  CHECK(Progress::line(0, 4, 0, "", 80) == "[........................] 0/4");
  CHECK(Progress::line(1, 4, 2, "a.ptx", 80) == "[######..................] 1/4, 6 s left  a.ptx");
  CHECK(Progress::line(4, 4, 8, "", 80) == "[########################] 4/4");
  CHECK(Progress::line(1, 101, 60, "", 80) == "[........................] 1/101, 1:40:00 left");
  CHECK(Progress::line(1, 4, 2, "folder/some_long_name.ptx", 60) ==
        "[######..................] 1/4, 6 s left  folder/s...ame.ptx");
  for (std::size_t width = 10; width < 70; ++width)
    CHECK(displayWidth(Progress::line(1, 4, 2, "folder/some_long_name.ptx", width)) <= width);
}
