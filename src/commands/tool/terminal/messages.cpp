#include "tool/terminal/messages.h"

#include "support/log.h"

namespace ptxopt::tool {

void printResult(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void printError(std::string_view text) { log::writeLines(log::Level::Error, log::kTool, text); }

void printAsked(std::string_view text) { log::writeLines(log::Level::Asked, log::kTool, text); }

int fail(Status status, std::string_view message) {
  log::error(log::kTool, message);
  return static_cast<int>(status);
}

}  // namespace ptxopt::tool
