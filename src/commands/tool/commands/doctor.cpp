// `ptxopt doctor`: which ptxas and nvcc there are, which clients would call ptxopt, what to set.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "doctor/diagnosis.h"
#include "support/temporary_folder.h"
#include "tool/commands/subcommands.h"
#include "tool/options/cache_key.h"
#include "tool/options/config.h"
#include "tool/options/environment.h"
#include "tool/options/parse_arguments.h"
#include "tool/options/wrapper_options.h"
#include "tool/terminal/messages.h"

namespace ptxopt::tool {
namespace {

// Whether it has a key of ours in it, and not this one.
bool isOldKey(std::string_view value, std::string_view key) {
  return value.find("ptxopt-") != std::string_view::npos && value.find(key) == std::string_view::npos;
}

}  // namespace

int doctorCommand(int argc, char** argv) {
  CLI::App app(
      "ptxopt doctor [OPTIONS]\n"
      "Reports which ptxas and nvcc there are, what PTX and which architectures each takes, which clients would\n"
      "call ptxopt instead of ptxas and when they last did ($PTXOPT_LOG keeps the log), what to set, and what is\n"
      "wrong with the configuration file and the environment. Nothing is changed.\n"
      "\n"
      "Exit codes: 0 nothing is wrong, 1 something is, 2 usage, 4 internal error.",
      "ptxopt doctor");
  std::string client, format = "text";
  app.add_option("--client", client, "only this one, which has to be there and to call ptxopt")
      ->type_name("CLIENT")
      ->check(CLI::IsMember(doctor::clientNames()));
  app.add_option("--format", format, "for people, or for programs")
      ->type_name("text|json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  int exitCode = 0;
  if (!parseArguments(app, argc, argv, exitCode)) return exitCode;
  std::error_code error;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return fail(Status::Usage, "/proc/self/exe: " + error.message());
  const auto& [config, mistakes] = userConfig();
  doctor::Diagnosis diagnosis = doctor::diagnose(self, client);
  diagnosis.config = config;
  diagnosis.cacheKey = compilerCacheKey();
  for (const char* const variable : {"CCACHE_NAMESPACE", "SCCACHE_C_CUSTOM_CACHE_BUSTER"})
    if (const char* const value = std::getenv(variable); value != nullptr && isOldKey(value, diagnosis.cacheKey))
      diagnosis.problems.push_back(
          fmt::format("{} is '{}': the key is {} now", variable, value, diagnosis.cacheKey));
  diagnosis.variables = environmentSet();
  for (const auto& problems : {environmentWarnings(), environmentProblems()})
    diagnosis.problems.insert(diagnosis.problems.end(), problems.begin(), problems.end());
  if (std::string mistake = readWrapperOptions().mistake; !mistake.empty())
    diagnosis.problems.push_back(std::move(mistake));
  if (const TemporaryFolder folder; !folder.isValid()) diagnosis.problems.push_back(folder.error());
  diagnosis.problems.insert(diagnosis.problems.begin(), mistakes.begin(), mistakes.end());
  printResult(format == "json" ? toJson(diagnosis) : toText(diagnosis));
  return static_cast<int>(diagnosis.problems.empty() ? Status::Ok : Status::CheckFailed);
}

}  // namespace ptxopt::tool
