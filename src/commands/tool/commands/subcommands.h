// `ptxopt NAME ...`: the first argument decides. Anything else is the flat form `ptxopt INPUT -o OUTPUT`; a file
// that is called like a subcommand is given as ./NAME.
//
// To add one: write src/commands/tool/NAME.cpp with its `int NAMECommand(int argc, char** argv)`, declare that below, and
// add a row to the table in subcommands.cpp. --help, the manual and completion come from its CLI::App; for these it
// is run as `NAME --help` and has to come to parseArguments with that (describe.h). A command that hands its
// arguments on to another program gives its app to DescribeInstead::takes and does nothing if that is true.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ptxopt::tool {

struct Subcommand {
  std::string_view name, summary;
  // argv[0] is the subcommand's name, so that argv reads as a program's own. Returns the exit code, one of Status.
  // Exceptions are main's to report.
  int (*run)(int argc, char** argv);
  // Whether it runs with a mistake in the configuration file too, and says so itself.
  bool toleratesConfig = false;
};

std::span<const Subcommand> subcommands();
// The one of this name, or nullptr.
const Subcommand* findSubcommand(std::string_view name);
// A line for each, for --help.
std::string subcommandHelp();

// One file each.
int verifyCommand(int argc, char** argv);
int reduceCommand(int argc, char** argv);
int runCommand(int argc, char** argv);
int emulateCommand(int argc, char** argv);
int recordCommand(int argc, char** argv);
int profileCommand(int argc, char** argv);
int checkCommand(int argc, char** argv);
int linkCommand(int argc, char** argv);
int replayCommand(int argc, char** argv);
int reportCommand(int argc, char** argv);
int diffCommand(int argc, char** argv);
int baselineCommand(int argc, char** argv);
int extractCommand(int argc, char** argv);
int tuneCommand(int argc, char** argv);
int timeCommand(int argc, char** argv);
int jitCommand(int argc, char** argv);
int asCommand(int argc, char** argv);
int nvccCommand(int argc, char** argv);
int doctorCommand(int argc, char** argv);

}  // namespace ptxopt::tool
