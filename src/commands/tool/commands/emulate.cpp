// ptxopt emulate PROGRAM ARGUMENTS...: a CUDA program without a GPU. The program runs as it is; instead of NVIDIA's
// libraries the dynamic linker finds ours (src/execute/emulate), which runs its kernels in the interpreter.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "emulate/program_file.h"
#include "emulate/settings.h"
#include "record/archive.h"
#include "record/recorder.h"
#include "support/environment.h"
#include "support/temporary_folder.h"
#include "target/target.h"
#include "tool/commands/profile_file.h"
#include "tool/commands/subcommands.h"
#include "tool/files.h"
#include "tool/options/architecture_option.h"
#include "tool/options/number_checks.h"
#include "tool/options/parse_arguments.h"
#include "tool/terminal/messages.h"
#include "wrapper/child.h"

namespace ptxopt::tool {
namespace {

namespace fs = std::filesystem;
using emulate::Settings;
using emulate::Totals;

constexpr uint64_t kMostMiB = 1u << 20;  // what can be mapped without having it

struct EmulateLine {
  Settings settings;
  std::string architecture, record, profile;
  uint64_t memoryMiB = 16384, heapMiB = 8;
  bool allowsFailures = false;
  std::vector<std::string> command;
};

// Everything from PROGRAM on is the program's.
bool readEmulateLine(int argc, char** argv, EmulateLine& line, int& exitCode) {
  CLI::App app(
      "ptxopt emulate [OPTIONS] PROGRAM ARGUMENTS...\n"
      "Runs a CUDA program without a GPU: its kernels run in the interpreter. The program has to use the CUDA "
      "runtime\n"
      "as a shared library (nvcc -cudart shared, in CMake CMAKE_CUDA_RUNTIME_LIBRARY Shared) and to have PTX in "
      "it, as\n"
      "nvcc puts there by default.\n"
      "With --optimize its kernels run as ptxopt makes them, with --compare both ways, and all memory is compared\n"
      "after each launch.\n"
      "\n"
      "Exit codes: 0 ok, 1 a comparison differs, or a launch fails or is refused, 2 usage, the program cannot be "
      "run,\n"
      "or --compare compared no launch.\n"
      "Others are those of the program.",
      "ptxopt emulate");
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  nvcc -cudart shared app.cu -o app && ptxopt emulate ./app\n"
      "  ptxopt emulate --compare ./app --size 64\n"
      "  ptxopt emulate --optimize=\"-O2 --skip-pass lsr\" ./app");
  Settings& s = line.settings;
  app.add_option("--optimize", s.optimize, "optimize the kernels, with these options [-O2 --guard=off]")
      ->type_name("[=OPTIONS]")
      ->expected(0, 1);
  app.add_flag("--compare", s.compare, "run each launch with and without --optimize, and compare what they wrote");
  addArchitecture(app, line.architecture, "what the device is [the newest that the program has PTX for]");
  app.add_option("-j,--jobs", s.jobs, "blocks in parallel [as many as there are cores; with --compare 1]")
      ->type_name("N");
  app.add_option("--max-steps", s.stepLimit,
                 "stop a launch after that many warp instructions [none, but some block has to end within 1e9 of "
                 "each core]")
      ->type_name("N")
      ->check(wholeNumber());
  app.add_flag("--check-races", s.checksRaces, "fail at data races in shared and global memory");
  app.add_flag("--lenient", s.isLenient,
               "zeros for what kernels read outside of all memory, instead of an error; such reads are counted");
  app.add_flag("--allow-failures", line.allowsFailures,
               "launches may fail or be refused: the program means them to");
  app.add_option("--memory", line.memoryMiB, "of the device")
      ->type_name("MIB")
      ->check(CLI::Range(uint64_t{0}, kMostMiB))
      ->capture_default_str();
  app.add_option("--heap", line.heapMiB, "for malloc in kernels")
      ->type_name("MIB")
      ->check(CLI::Range(uint64_t{0}, kMostMiB))
      ->capture_default_str();
  app.add_option("--keep", s.keep, "write the PTX of the program, and what became of it, into this folder")
      ->type_name("FOLDER");
  CLI::Option* const record =
      app.add_option("--record", line.record,
                     "write what the launches were given and what they left, for ptxopt record")
          ->type_name("FILE");
  app.add_option("--record-kernel", s.recordKernel, "only launches of this kernel")
      ->type_name("NAME")
      ->needs(record);
  app.add_option("--record-first", s.recordMost, "only that many launches")
      ->type_name("N")
      ->check(wholeNumber())
      ->needs(record);
  app.add_flag(
         "--profile", s.profiles,
         "at the end, a line for each kernel: the instructions of its threads, and how many a second of a core; "
         "each launch runs twice")
      ->excludes("--compare");
  app.add_option(
         "--profile-facts", line.profile,
         "write what the launches had, for --profile-use: sizes, values of parameters, memory that overlaps, "
         "iterations of loops")
      ->type_name("FILE")
      ->excludes("--optimize")
      ->excludes("--compare")
      ->excludes("--profile");
  app.add_flag("-v,--verbose", s.verbose, "a line for each launch, and for each call that fails");
  app.add_option("PROGRAM", line.command, "the program and its arguments");
  if (!parseBeforeProgram(app, argc, argv, exitCode, line.command)) return false;
  s.optimizes = app.count("--optimize") != 0 || s.compare;
  if (!line.architecture.empty()) s.architecture = *target::numberOf(line.architecture);
  s.memory = line.memoryMiB << 20;
  s.heap = line.heapMiB << 20;
  return true;
}

// Where the libraries lie: beside the tool in a build, under lib where it is installed. Empty where they are not, with what
// to do.
std::string emulationFolder(const std::string& self, std::string& missing) {
  std::error_code error;
  const fs::path beside = fs::path(self).parent_path();
  for (const fs::path& folder : {beside / "emulate", beside / PTXOPT_EMULATION_FOLDER})
    if (fs::exists(folder / "libcudart.so.13", error)) return fs::canonical(folder, error).string();
  missing = "the library that executes CUDA programs is not there; ";
  missing +=
      fs::exists(beside / "CMakeCache.txt", error)
          ? fmt::format("build it: cmake --build '{}' --target ptxopt_emulation", beside.string())
          : fmt::format("it is installed in '{}'", (beside / PTXOPT_EMULATION_FOLDER).lexically_normal().string());
  return {};
}

Totals readTotals(const std::string& file) {
  Totals totals;
  std::ifstream in(file, std::ios::binary);
  char bytes[sizeof totals];
  if (in.read(bytes, sizeof bytes)) std::memcpy(&totals, bytes, sizeof totals);
  return totals;
}

// Where the program finds the driver, the runtime and, if it is Triton, its ptxas: our own. What Triton keeps of that is
// useless on a GPU and gets a folder of its own.
void setEnvironment(const std::string& folder) {
  const std::string libraries = environmentValue("LD_LIBRARY_PATH");
  setenv("LD_LIBRARY_PATH", (libraries.empty() ? folder : folder + ':' + libraries).c_str(), 1);
  const std::string cache = environmentValue("TRITON_CACHE_DIR");
  const std::string home = environmentValue("HOME");
  if (!cache.empty() || !home.empty())
    setenv("TRITON_CACHE_DIR", ((cache.empty() ? home + "/.triton/cache" : cache) + "/ptxopt-emulate").c_str(), 1);
  setenv("TRITON_LIBCUDA_PATH", folder.c_str(), 1);
  for (const char* const variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    setenv(variable, (folder + "/ptxas").c_str(), 1);
}

std::string summary(const Totals& t, const Settings& s) {
  std::string out =
      fmt::format("ptxopt emulate: {} launch{} in {:.2f} s", t.launches, t.launches == 1 ? "" : "es", t.seconds);
  if (t.failed != 0) out += fmt::format(", {} failed", t.failed);
  if (t.refused != 0) out += fmt::format(", {} more refused{}", t.refused, s.verbose ? "" : ", which -v explains");
  if (s.optimizes) out += fmt::format("; {} of {} modules optimized", t.changedModules, t.modules);
  if (t.notOptimized != 0) out += fmt::format(", {} could not be", t.notOptimized);
  if (s.compare)
    out += t.launches == 0   ? "; no kernel was launched, so nothing was compared"
           : t.compared == 0 ? "; nothing was compared"
                             : fmt::format("; {} launches compared, {}", t.compared,
                                           t.different != 0 ? fmt::format("{} differ", t.different) : "equal");
  if (s.isLenient) out += fmt::format("; {} reads outside of all memory gave zeros", t.strayReads);
  if (t.missing != 0) out += fmt::format("; {} calls of what the emulated libraries do not have", t.missing);
  return out + '\n';
}

}  // namespace

int emulateCommand(int argc, char** argv) {
  EmulateLine line;
  int exitCode = 0;
  if (!readEmulateLine(argc, argv, line, exitCode)) return exitCode;
  Settings& settings = line.settings;
  std::error_code error;
  settings.tool = fs::read_symlink("/proc/self/exe", error).string();
  if (error) return fail(Status::Usage, "/proc/self/exe: " + error.message());
  std::string missing;
  const std::string folder = emulationFolder(settings.tool, missing);
  if (folder.empty()) return fail(Status::Usage, missing);
  const std::string program = emulate::findProgram(line.command.front());
  if (program.empty()) return fail(Status::Usage, fmt::format("'{}' is not a program", line.command.front()));
  if (emulate::readProgramFile(program).isStatic())
    return fail(Status::Usage,
                fmt::format("'{}' has the CUDA runtime in it, where nothing can be put in its place: build "
                            "it with nvcc -cudart shared, in CMake with "
                            "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared",
                            program));
  if (!settings.keep.empty()) {
    fs::create_directories(settings.keep, error);
    if (error) return fail(Status::Usage, fmt::format("'{}': {}", settings.keep, error.message()));
    settings.keep = fs::absolute(settings.keep, error).string();
  }
  const TemporaryFolder temporary;
  if (!temporary.isValid()) return fail(Status::Usage, temporary.error());
  settings.totals = temporary.file("totals");
  std::ofstream(settings.totals).close();

  if (!line.record.empty()) {
    if (const std::string why = whyOneFile({{"program", program}}, {{"record", line.record}}); !why.empty())
      return fail(Status::Usage, why);
    try {
      record::needWritable(line.record);
    } catch (const record::RecordError& e) {
      return fail(Status::Usage, e.what());
    }
    settings.recordFolder = temporary.file("record");
    fs::create_directory(settings.recordFolder, error);
    if (error) return fail(Status::Usage, fmt::format("'{}': {}", settings.recordFolder, error.message()));
  }
  if (!line.profile.empty()) {
    std::string why = whyOneFile({{"program", program}}, {{"profile", line.profile}});
    if (why.empty()) why = whyNotWritten(line.profile);
    if (!why.empty()) return fail(Status::Usage, why);
    settings.profileFolder = temporary.file("profile");
    fs::create_directory(settings.profileFolder, error);
    if (error) return fail(Status::Usage, fmt::format("'{}': {}", settings.profileFolder, error.message()));
  }
  settings.parent = getpid();
  setEnvironment(folder);
  setenv(emulate::kSettingsVariable, emulate::toJson(settings).c_str(), 1);
  line.command.front() = program;
  const wrapper::Child child = wrapper::runChild(line.command);
  if (!child.error.empty()) return fail(Status::Usage, fmt::format("'{}': {}", program, child.error));
  const Totals totals = readTotals(settings.totals);
  const uint64_t failures = line.allowsFailures ? 0 : totals.failed + totals.refused;
  // Those that failed, where they may, had nothing to compare.
  const bool isUncompared = settings.compare && totals.compared + totals.failed + totals.refused == 0;
  const bool isBad = failures + totals.different + totals.notOptimized + totals.notKept != 0;
  if (isBad || settings.optimizes || settings.verbose || settings.isLenient || totals.missing != 0)
    printAsked(summary(totals, settings));
  if (!line.record.empty()) {
    try {
      record::packFolder(settings.recordFolder, line.record);
    } catch (const record::RecordError& e) {
      return fail(Status::Usage, e.what());
    }
  }
  if (!line.profile.empty()) {
    profile::File profile;
    std::string why;
    if (!mergeFolder(settings.profileFolder, profile, why) || !writeProfile(line.profile, profile, why))
      return fail(Status::Usage, why);
    if (profile.kernels.empty())
      printAsked(fmt::format("ptxopt emulate: '{}' has no kernels: none was launched\n", line.profile));
  }
  if (WIFEXITED(child.status)) {
    const int code = WEXITSTATUS(child.status);
    if (code == 0 && isBad) return static_cast<int>(Status::CheckFailed);
    return code == 0 && isUncompared ? static_cast<int>(Status::Usage) : code;
  }
  printAsked(fmt::format("ptxopt emulate: the program ended by {}\n", child.describe()));
  return 128 + WTERMSIG(child.status);
}

}  // namespace ptxopt::tool
