#include "ptxas/ptxas.h"

#include <unistd.h>

#include <cstdlib>

#include "support/process.h"

namespace ptxopt {
namespace {

constexpr std::size_t kOutputCap = std::size_t{64} << 20;  // the messages of some 100,000 kernels

bool isProgram(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// The lines with an error in them, or the first line, without blanks at the end.
std::string complaint(std::string_view text) {
  std::string out;
  std::string_view first;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (first.empty()) first = line;
    if (line.find("error") == std::string_view::npos && line.find("fatal") == std::string_view::npos) continue;
    if (!out.empty()) out += '\n';
    out += line;
    if (out.size() > 1000) break;
  }
  return out.empty() ? std::string(first) : out;
}

}  // namespace

std::string findPtxas(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* path = std::getenv("PATH")) {
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
      if (const std::string file = std::string(folder.empty() ? "." : folder) + "/ptxas"; isProgram(file))
        return file;
    }
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* home = std::getenv(variable))
      if (const std::string file = std::string(home) + "/bin/ptxas"; isProgram(file)) return file;
  if (const std::string file = "/usr/local/cuda/bin/ptxas"; isProgram(file)) return file;
  return {};
}

PtxasRun askPtxas(const std::string& program, const std::string& file, std::string_view architecture,
                  double timeoutSeconds) {
  PtxasRun run;
  std::vector<std::string> arguments{program, "-v"};
  if (!architecture.empty()) arguments.push_back("-arch=" + std::string(architecture));
  arguments.insert(arguments.end(), {file, "-o", "/dev/null"});
  ProcessOptions options;
  options.timeoutSeconds = timeoutSeconds;
  options.outputCap = kOutputCap;
  const ProcessResult result = runProcess(arguments, options);
  if (!result.succeeded()) {
    run.error = program + ": " + result.describe();
    if (const std::string why = complaint(result.err.empty() ? result.out : result.err); !why.empty())
      run.error += ": " + why;
    return run;
  }
  run.counts = readPtxasVerbose(result.err + result.out);
  const ProcessResult version = runProcess({program, "--version"}, options);
  if (const std::size_t at = version.out.rfind(", V"); version.succeeded() && at != std::string::npos) {
    run.version = version.out.substr(at + 2, version.out.find_first_of("\r\n", at) - at - 2);
  }
  return run;
}

}  // namespace ptxopt
