// A command line as data, taken from the CLI::App that reads it: what --help, the manual and the completion of
// shells are made of. So an option is declared once, where it is read.
//
// What the app has no words for follows from conventions:
// - the first lines of the description that begin with `ptxopt` are the synopsis (`\` at the end goes on in the
// next);
//   `Exit codes: 0 ok, 1 ...` is a paragraph of its own and lists the codes; lines that begin with blanks stay as
//   they are, others are one paragraph up to an empty line;
// - the footer is blocks: a line that ends with ':' and indented lines below it, or a paragraph;
// - the type name of an option says what its values are (valueOf in describe.cpp): `a|b` these words, FILE a file,
//   FILE.json one with this suffix, FOLDER, PROGRAM, PASS, ANALYSIS, sm_XX; with `,...` after it a list of them.
//   IsMember, and Range with few numbers, list theirs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct ValueDescription {
  enum class Kind { None, Any, Words, File, Folder, Program };
  Kind kind = Kind::None;          // None: a flag
  std::string metavar;             // what --help calls it
  std::vector<std::string> words;  // all that it may be, if Words
  std::string suffix;              // ".ptx", of a File; empty: any
  bool isList = false;             // several, with commas between them
  bool isOptional = false;         // --profile or --profile=FILE
};

struct OptionDescription {
  std::vector<std::string> names;  // "-j", "--jobs"; of a positional only its own, "INPUT"
  ValueDescription value;
  std::string summary;
  std::string group;
  std::string range;  // "0 to 2", for numbers with few digits
  bool isRequired = false, isRepeatable = false;

  bool isFlag() const { return value.kind == ValueDescription::Kind::None; }
};

// Text as its author meant it: a paragraph to fill, or lines to keep, with a heading or without.
struct TextBlock {
  std::string heading;  // without the colon
  std::string paragraph;
  std::vector<std::string> lines;  // kept
};

struct ExitCode {
  std::string code, meaning;
};

struct CommandDescription {
  std::string name;     // "ptxopt reduce"
  std::string summary;  // of the table of subcommands
  std::vector<std::string> synopsis;
  std::vector<TextBlock> description, footer;
  std::string exitCodeText;  // as it was written
  std::vector<ExitCode> exitCodes;
  std::vector<OptionDescription> positionals, options;
  std::vector<std::string> groups;  // of the options, in their order
};

CommandDescription describe(const CLI::App& app);

// All of this program: the flat form first, then the subcommands.
std::vector<CommandDescription> describeCommands();

}  // namespace ptxopt::tool
