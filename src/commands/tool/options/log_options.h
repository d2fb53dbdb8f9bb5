// --log-level, --log-file, --log-format and -v: what the logger (support/log.h) writes, and where.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct LogLine {
  std::string level, file, format;  // empty: not given
};

void addLogOptions(CLI::App& app, LogLine& line);
// The sinks for the program, from then on. `verbosity`: how often -v was given. Without --log-file the level is that of
// standard error: --log-level, or that of -v, or $PTXOPT_LOG_LEVEL. With a file, --log-level is the file's, and info without
// it. Throws CLI::ValidationError where the file cannot be opened.
void applyLogOptions(const LogLine& line, unsigned verbosity);
// How often the app's -v was given; 0 where it has none.
unsigned verbosityOf(const CLI::App& app);

}  // namespace ptxopt::tool
