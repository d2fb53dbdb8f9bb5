#include "emulate/optimize_by_tool.h"

#include <fstream>
#include <sstream>
#include <vector>

#include "support/process.h"
#include "support/shell_words.h"
#include "support/temporary_folder.h"

namespace ptxopt::emulate {

std::string optimizedByTool(const std::string& tool, const std::string& options, const std::string& text,
                            std::string& error) {
  const TemporaryFolder folder;
  if (!folder.isValid()) {
    error = folder.error();
    return {};
  }
  const std::string input = folder.file("module.ptx"), output = folder.file("out.ptx");
  std::ofstream(input, std::ios::binary) << text;
  std::vector<std::string> arguments = {tool, input, "-o", output};
  const auto words = splitShellWords(options);
  if (!words) {
    error = "a quote of the options has no end";
    return {};
  }
  const bool hasGuard =
      std::any_of(words->begin(), words->end(), [](const std::string& w) { return w.starts_with("--guard"); });
  if (!hasGuard) arguments.emplace_back("--guard=off");
  arguments.insert(arguments.end(), words->begin(), words->end());
  const ProcessResult result = runProcess(arguments);
  if (!result.succeeded()) {
    error = result.err.empty() ? result.describe() : result.err;
    return {};
  }
  std::ostringstream made;
  made << std::ifstream(output, std::ios::binary).rdbuf();
  return std::move(made).str();
}

}  // namespace ptxopt::emulate
