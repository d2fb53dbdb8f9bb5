// ptxopt jit PROGRAM ARGUMENTS...: a program whose PTX is optimized before the driver compiles it. The program runs as it is, with a
// library before the driver (src/execute/jit), which has this tool optimize (src/commands/jit_process).
#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>

#include "emulate/program_file.h"
#include "jit/protocol.h"
#include "jit/settings.h"
#include "jit_process/answer_module.h"
#include "support/environment.h"
#include "support/temporary_folder.h"
#include "tool/commands/jit_table.h"
#include "tool/commands/subcommands.h"
#include "tool/options/cache_key.h"
#include "tool/options/config.h"
#include "tool/options/facts_option.h"
#include "tool/options/guard_options.h"
#include "tool/options/optimizer_options.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/profile_option.h"
#include "tool/options/wrapper_options.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"
#include "wrapper/child.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOptions = "PTXOPT_OPTIONS";
constexpr double kMostBudget = 86400;
constexpr unsigned long kMostLaunches = 1000000000, kMostMib = 1UL << 30;
constexpr const char* kNothing = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct JitLine {
  double budget = jit::kUsualBudget;
  FactsLine facts;
  ProfileLine profile;
  jit::Compare compare;
  std::string log;
  bool table = false, verbose = false;
  std::vector<std::string> optimizer;  // words as of $PTXOPT_OPTIONS
  std::vector<std::string> command;
};

// Everything from PROGRAM on is the program's.
bool readJitLine(int argc, char** argv, JitLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt jit [OPTIONS] PROGRAM ARGUMENTS...\n"
      "Runs a program and optimizes the PTX that it hands to the CUDA driver, before the driver compiles it: of\n"
      "NVRTC, of any JIT, and of fat binaries without machine code for the device. Nothing is built again. What\n"
      "cannot be optimized in time, or is refused by the driver, is loaded as it is. A result is kept for the "
      "next\n"
      "run. Programs that the program starts are treated alike.\n"
      "\n"
      "Exit codes: 0 the program ended with 0, 2 usage, or the program cannot be run, 4 internal error. Others are "
      "those of the program.",
      "ptxopt jit");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  ptxopt jit ./app --size 64\n"
      "  ptxopt jit --table --budget 10 python -m app\n"
      "  ptxopt jit --skip-pass lsr --guard=off ./app\n"
      "Options that say how to optimize are those of $PTXOPT_OPTIONS, which counts where there are none here: the "
      "passes, the knobs and the guard, as of ptxopt as.");
  app.add_option("--budget", line.budget,
                 "wait SECONDS for each module; what takes longer is loaded as it is, and kept for a later run; 0 "
                 "optimizes nothing")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, kMostBudget))
      ->capture_default_str();
  line.facts.addTo(app, "Options");
  line.profile.addTo(app, "Options");
  app.add_flag(
         "--compare{1}", line.compare.launches,
         "run launches of kernels that changed both ways, and go on with the original where results differ: the "
         "first, or with =N the first N, and each whose number is a power of two")
      ->check(CLI::Range(1UL, kMostLaunches));
  app.add_option(
         "--compare-mib", line.compare.mib,
         "compare no launch while the program has more memory than that many MiB from the driver; 512 where "
         "this is not said")
      ->type_name("MIB")
      ->check(CLI::Range(1UL, kMostMib))
      ->capture_default_str();
  app.add_option("--compare-seconds", line.compare.seconds,
                 "wait SECONDS for a launch that is compared; 10 where this is not said")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, kMostBudget))
      ->capture_default_str();
  app.add_flag("--table", line.table,
               "at the end, a line for each module on standard error, and for each kernel that was compared");
  app.add_option("--log", line.log, "append a line of JSON for each module")->type_name("FILE");
  app.add_flag("-v,--verbose", line.verbose, "a line for each module on standard error, when it is loaded");
  const std::vector<CLI::Option*> own = app.get_options();
  Options options;
  OptimizerOptions optimizer(options);
  optimizer.addPasses(app, "Optimizing");
  optimizer.addKnobs(app);
  GuardLine guard;
  addGuardOptions(app, guard);
  app.add_option("-j,--jobs", options.jobs, "threads that work on functions; 0: as many as there are cores")
      ->type_name("N")
      ->check(CLI::Range(0, 1024))
      ->group("Optimizing");
  app.add_flag("--verify-each", options.verifyEach, "check the representation after each pass")
      ->group("Optimizing");
  std::vector<const CLI::Option*> optimizing;
  for (const CLI::Option* const option : app.get_options())
    if (std::ranges::find(own, option) == own.end()) optimizing.push_back(option);
  app.add_option("PROGRAM", line.command, "the program and its arguments");
  return parseBeforeProgram(app, argc, argv, exitCode, line.command,
                            [&](const CLI::Option* option, const std::string& word) {
                              if (std::ranges::find(optimizing, option) != optimizing.end())
                                line.optimizer.push_back(word);
                            });
}

std::string asShellWords(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += out.empty() ? "'" : " '";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

// Beside the tool in a build, under lib where it is installed, above it in a Python package. Empty where it is not, with what to do.
std::string libraryToPreload(const fs::path& self, std::string& missing) {
  std::error_code error;
  const fs::path beside = self.parent_path();
  for (const fs::path& folder :
       {beside, beside / fs::path(PTXOPT_EMULATION_FOLDER).parent_path(), beside.parent_path()})
    if (fs::exists(folder / "libptxopt_jit.so", error))
      return fs::canonical(folder / "libptxopt_jit.so", error).string();
  missing = "libptxopt_jit.so, which is to be loaded into the program, is not there; ";
  missing += fs::exists(beside / "CMakeCache.txt", error)
                 ? fmt::format("build it: cmake --build '{}' --target ptxopt_jit", beside.string())
                 : std::string("it is installed beside libptxopt_capture.so");
  return {};
}

// What the results depend on besides the options: this program, and how it was asked to optimize.
std::string settingsOfAnswers(const wrapper::WrapperOptions& options) {
  struct stat self {};
  std::string out = fmt::format("{}\n{}\n", versionText(), settingsDigest(options));
  if (::stat("/proc/self/exe", &self) == 0)
    out += fmt::format("{} {}.{}\n", self.st_size, self.st_mtim.tv_sec, self.st_mtim.tv_nsec);
  return out;
}

// The process that the library asks (protocol.h).
int answerLibrary(int argc, char** argv) {
  const Config& config = userConfig();
  wrapper::WrapperOptions options = readWrapperOptions();
  if (!config.mistakes.empty() && options.mistake.empty()) options.mistake = config.mistakes.front();
  return jit_process::answerModule(std::span(argv + 2, static_cast<std::size_t>(argc - 2)), options,
                                   settingsOfAnswers(options));
}

// Says why the line makes no sense; empty: it does.
std::string prepareEnvironment(JitLine& line) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return "/proc/self/exe: " + error.message();
  std::string missing;
  const std::string library = libraryToPreload(self, missing);
  if (library.empty()) return missing;
  if (library.find_first_of(" :") != std::string::npos)
    return fmt::format("'{}': a library to preload cannot have a blank or a colon in its path", library);
  if (const Config& config = userConfig(); !config.mistakes.empty()) return config.mistakes.front();
  // The program may change its folder.
  for (std::string* const file : {&line.facts.path, &line.profile.path, &line.log}) {
    if (file->empty()) continue;
    *file = fs::absolute(*file, error).string();
    if (error) return fmt::format("'{}': {}", *file, error.message());
  }
  std::string words = line.optimizer.empty() ? environmentValue(kOptions) : asShellWords(line.optimizer);
  if (!line.facts.path.empty()) words += ' ' + asShellWords({"--facts", line.facts.path});
  if (!line.profile.path.empty()) words += ' ' + asShellWords({"--profile-use", line.profile.path});
  if (!words.empty()) setenv(kOptions, words.c_str(), 1);
  wrapper::WrapperOptions options = readWrapperOptions();
  if (!options.mistake.empty()) return options.mistake;
  // Names of passes, the facts and the profile; a loop that --decline names may be in any module.
  options.optimizer.decline.clear();
  if (const Result tried = optimize(kNothing, options.optimizer); tried.status == Status::Usage) return tried.error;
  if (line.verbose) setenv(jit::kVerboseVariable, "1", 1);
  setenv(jit::kToolVariable, self.c_str(), 1);
  if (const jit::Compare& c = line.compare; c.launches != 0)
    setenv(jit::kCompareVariable, fmt::format("{},{},{}", c.launches, c.mib, c.seconds).c_str(), 1);
  setenv(jit::kBudgetVariable, fmt::format("{}", line.budget).c_str(), 1);
  const std::string before = environmentValue("LD_PRELOAD");
  setenv("LD_PRELOAD", (before.empty() ? library : library + ':' + before).c_str(), 1);
  return {};
}

}  // namespace

int jitCommand(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == jit::kModuleWord) return answerLibrary(argc, argv);
  JitLine line;
  int exitCode = 0;
  if (!readJitLine(argc, argv, line, exitCode)) return exitCode;
  const std::string program = emulate::findProgram(line.command.front());
  if (program.empty()) return fail(Status::Usage, fmt::format("'{}' is not a program", line.command.front()));
  if (const std::string why = prepareEnvironment(line); !why.empty()) return fail(Status::Usage, why);
  line.command.front() = program;
  if (!line.log.empty()) {
    setenv(jit::kLogVariable, line.log.c_str(), 1);
    if (const std::string why = whyNotAppendable(line.log); !why.empty()) return fail(Status::Usage, why);
  }
  if (!line.table) return fail(Status::Usage, program + ": " + wrapper::become(line.command));

  wrapper::Child child;
  {
    const TemporaryFolder temporary;
    if (!temporary.isValid()) return fail(Status::Usage, temporary.error());
    const std::string log = line.log.empty() ? temporary.file("modules") : line.log;
    setenv(jit::kLogVariable, log.c_str(), 1);
    std::error_code none;
    const std::uintmax_t size = fs::exists(log, none) ? fs::file_size(log, none) : 0;
    child = wrapper::runChild(line.command);
    if (!child.error.empty()) return fail(Status::Usage, fmt::format("'{}': {}", program, child.error));
    printAsked(jitTable(log, size));
  }
  wrapper::endLike(child);
}

}  // namespace ptxopt::tool
