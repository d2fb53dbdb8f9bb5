#include "tool/options/log_options.h"

#include <CLI/CLI.hpp>

#include "support/log.h"
#include "tool/terminal/terminal.h"

namespace ptxopt::tool {
namespace {

const CLI::Validator kLevel(
    [](std::string& text) {
      return log::levelNamed(text) ? std::string() : "'" + text + "' is not one of " + log::levelNames();
    },
    "", "level");

}  // namespace

void addLogOptions(CLI::App& app, LogLine& line) {
  app.add_option("--log-level", line.level, "write messages of this level and those above it: " + log::levelNames())
      ->type_name("LEVEL")
      ->check(kLevel);
  app.add_option("--log-file", line.file,
                 "also append messages of --log-level, or of info, to FILE; lines of several processes do not mix")
      ->type_name("FILE");
  app.add_option("--log-format", line.format, "format of messages: text, or json, one object per line")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}));
}

void applyLogOptions(const LogLine& line, unsigned verbosity) {
  const log::Format format = log::formatNamed(line.format).value_or(log::Format::Text);
  const std::optional<log::Level> named = log::levelNamed(line.level);
  log::Level level = verbosity == 0 ? log::levelOfEnvironment() : log::levelOf(verbosity);
  if (!line.file.empty()) {
    std::string problem;
    if (!log::addFile(line.file, named.value_or(log::Level::Info), format, problem))
      throw CLI::ValidationError("--log-file: " + problem);
  } else if (named) {
    level = *named;
  }
  log::setStandardError(level, format, hasColours(stderr));
}

unsigned verbosityOf(const CLI::App& app) {
  const CLI::Option* const verbose = app.get_option_no_throw("--verbose");
  return verbose == nullptr ? 0 : static_cast<unsigned>(verbose->count());
}

}  // namespace ptxopt::tool
