// For fish 3.4 and later.
#include <fmt/format.h>

#include "tool/manual/completion.h"

namespace ptxopt::tool {
namespace {

using Kind = ValueDescription::Kind;

// Fish takes backslashes in single quotes for escapes.
std::string fishQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string files(const std::string& suffix) {
  return suffix.empty() ? " -F" : " -k -x -a " + fishQuoted(fmt::format("(__fish_complete_suffix {})", suffix));
}

std::string argument(const ValueDescription& value) {
  if (value.kind == Kind::None || value.isOptional) return "";  // --profile=FILE: fish has no word for it
  switch (value.kind) {
    case Kind::Words:
      return " -x -a " + fishQuoted(value.isList ? fmt::format("(__fish_append , {})", fmt::join(value.words, " "))
                                                 : fmt::format("{}", fmt::join(value.words, " ")));
    case Kind::File: return " -r" + files(value.suffix);
    case Kind::Folder: return " -x -a '(__fish_complete_directories)'";
    case Kind::Program: return " -x -a '(__fish_complete_command)'";
    case Kind::None:
    case Kind::Any: break;
  }
  return " -x";
}

}  // namespace

std::string completionForFish(const std::vector<CommandDescription>& commands) {
  std::string names, rows;
  for (const CommandDescription& command : commands) {
    const std::string name(subcommandOf(command));
    if (!name.empty()) {
      names += (names.empty() ? "" : " ") + name;
      rows += fmt::format("complete -c ptxopt -n __ptxopt_is_first -f -a {} -d {}\n", name,
                          fishQuoted(briefly(command.summary)));
    }
    const std::string is = fishQuoted(name.empty() ? "__ptxopt_is file" : "__ptxopt_is " + name);
    rows += fmt::format("complete -c ptxopt -n {}{}\n", is, files(positionalsOf(command).suffix));
    for (const OptionDescription& option : command.options) {
      std::string spelled;
      for (const std::string& s : option.names)
        spelled += s.starts_with("--") ? " -l " + s.substr(2) : " -s " + s.substr(1);
      rows += fmt::format("complete -c ptxopt -n {}{}{} -d {}\n", is, spelled, argument(option.value),
                          fishQuoted(briefly(option.summary)));
    }
  }
  return "# Completion of ptxopt for fish, made by ptxopt --completion fish.\n\n"
         "# Whether the command line is of this command, or, of file, of none.\n"
         "function __ptxopt_is\n"
         "    set -l before (commandline -opc)\n"
         "    set -l command file\n"
         "    contains -- \"$before[2]\" " +
         names +
         "\n"
         "    and set command $before[2]\n"
         "    test $command = $argv[1]\n"
         "end\n\n"
         "function __ptxopt_is_first\n"
         "    test (count (commandline -opc)) = 1\n"
         "end\n\n" +
         rows;
}

}  // namespace ptxopt::tool
