// Reading the arguments of ptxas: which are PTX inputs, for which architecture, and whether they are not to be optimized.
//
// The options stand in ptxas_options.def. Options files (-optf) are read and take the place of the option, so that
// an input in one can be replaced. ptxas splits them at white space; double quotes keep blanks, a backslash takes
// the next character as it is.
// Declines (`notOptimized` says why): debug code, -O0, code for tools, architectures for which ptxas makes no code,
// no input, options files that cannot be read or name each other without end.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::wrapper {

constexpr const char* kUsualCubin = "elf.o";  // of ptxas without -o

struct PtxasCommand {
  struct Input {
    std::size_t word;        // its place in `words`
    bool isString = false;   // --input-as-string: the word is PTX, not a path
    std::size_t prefix = 0;  // characters of the word before it: --input-as-string=
  };

  std::vector<std::string> words;     // without the program; options files expanded
  std::vector<Input> inputs;          // as they stand
  std::string architecture;           // the last one asked for; empty: ptxas's own
  std::vector<std::string> settings;  // what else is asked of ptxas: without inputs, architecture and output
  std::vector<std::string> outputs;   // where the cubin goes, each time that is said
  bool isVerbose = false;             // -v
  bool isLinked = false;              // with other modules, later (-c)
  std::string notOptimized;           // not empty: the PTX is not to be touched, and why

  // The words for a run that only reads the PTX: for the virtual architecture of the same number. Empty where there
  // is none.
  std::vector<std::string> wordsToReadOnly() const;

  // Whether it is an input or the cubin, by whatever name.
  bool usesFile(const std::filesystem::path& path) const;

  std::vector<std::size_t> architectureWords;  // the words that end in an architecture
};

PtxasCommand readPtxasCommand(const std::vector<std::string>& arguments);

// The words of an options file.
std::vector<std::string> splitOptionsFile(std::string_view text);

}  // namespace ptxopt::wrapper
