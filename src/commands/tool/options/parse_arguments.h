// Reading a command line by CLI11, and what --help, --version, --color and mistakes do: the same for all
// subcommands.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ptxopt::tool {

struct CommandDescription;

// Adds the options that all have and parses. False when the program is to end with `exitCode`. Mistakes begin with
// the app's name.
bool parseArguments(CLI::App& app, int argc, char** argv, int& exitCode);
// The same of words, without the program's name. Validation errors that `then` throws count as mistakes too.
bool parseArguments(CLI::App& app, std::vector<std::string> words, int& exitCode,
                    const std::function<void()>& then = {});
// The same of options before a program and its arguments, which begin at `--` or at the first word that is neither an option nor the
// value of one. Without a program it is a mistake. `each` gets every word before it, with the option that it is of, if there is one.
using EachWord = std::function<void(const CLI::Option*, const std::string& word)>;
bool parseBeforeProgram(CLI::App& app, int argc, char** argv, int& exitCode, std::vector<std::string>& program,
                        const EachWord& each = {});

// While one of these lives, parseArguments does not parse: it describes the app and returns false, to end with 0.
class DescribeInstead {
 public:
  explicit DescribeInstead(CommandDescription& to);
  ~DescribeInstead();
  // Describes an app that never comes to parseArguments. False when none of these lives.
  static bool takes(const CLI::App& app);
  static bool isWanted();
  DescribeInstead(const DescribeInstead&) = delete;
  DescribeInstead& operator=(const DescribeInstead&) = delete;
};

}  // namespace ptxopt::tool
