// For zsh: a file _ptxopt in a folder of $fpath, by _arguments, or sourced.
#include <fmt/format.h>

#include "tool/manual/completion.h"

namespace ptxopt::tool {
namespace {

using Kind = ValueDescription::Kind;

// In a specification of _arguments colons and brackets have a meaning.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zshAction(const ValueDescription& value) {
  switch (value.kind) {
    case Kind::Words:
      return value.isList ? fmt::format("_values -s , {} {}", escaped(value.metavar), fmt::join(value.words, " "))
                          : fmt::format("({})", fmt::join(value.words, " "));
    case Kind::File: return value.suffix.empty() ? "_files" : fmt::format("_files -g \"*{}(-.)\"", value.suffix);
    case Kind::Folder: return "_files -/";
    case Kind::Program: return "_command_names -e";
    case Kind::None:
    case Kind::Any: break;
  }
  return " ";  // whatever the user types
}

std::string specification(const OptionDescription& option) {
  const ValueDescription& value = option.value;
  const std::string summary = fmt::format("[{}]", escaped(briefly(option.summary)));
  const std::string argument = option.isFlag() ? ""
                                               : fmt::format("{}:{}:{}", value.isOptional ? ":" : "",
                                                             escaped(value.metavar), zshAction(value));
  std::string out;
  for (const std::string& name : option.names) {
    // -O2 or -O 2; --jobs=2 or --jobs 2; --profile or --profile=FILE
    const std::string_view join = option.isFlag() ? "" : name.size() == 2 ? "+" : value.isOptional ? "=-" : "=";
    const std::string head = option.isRepeatable       ? "*"
                             : option.names.size() > 1 ? fmt::format("({})", fmt::join(option.names, " "))
                                                       : "";
    out += "        " + shellQuoted(head + name + std::string(join) + summary + argument) + " \\\n";
  }
  return out;
}

}  // namespace

std::string completionForZsh(const std::vector<CommandDescription>& commands) {
  std::string out = "#compdef ptxopt\n# Completion of ptxopt for zsh, made by ptxopt --completion zsh.\n\n";
  std::string table, cases;
  for (const CommandDescription& command : commands) {
    const std::string name(subcommandOf(command));
    if (!name.empty()) {
      table += "        " + shellQuoted(name + ":" + escaped(briefly(command.summary))) + "\n";
      cases += fmt::format("        {0}) _ptxopt_{0} ;;\n", name);
    }
    out += fmt::format("_ptxopt_{}() {{\n    _arguments -S \\\n", name.empty() ? "file" : name);
    for (const OptionDescription& option : command.options) out += specification(option);
    out += "        " + shellQuoted("*:file:" + zshAction(positionalsOf(command))) + "\n}\n\n";
  }
  out +=
      "_ptxopt() {\n"
      "    local -a commands=(\n" +
      table +
      "    )\n"
      "    local last=0\n"
      "    if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
      "        _describe -t commands 'command of ptxopt' commands && last=1\n"
      "    fi\n"
      "    # After -- comes another program's command line.\n"
      "    local -i dashes=${words[(i)--]}\n"
      "    if ((dashes < CURRENT)); then\n"
      "        shift $dashes words\n"
      "        ((CURRENT -= dashes))\n"
      "        _normal\n"
      "        return\n"
      "    fi\n"
      "    if ((CURRENT > 2)) && (($+functions[_ptxopt_$words[2]])) && [[ $words[2] != file ]]; then\n"
      "        local command=$words[2]\n"
      "        shift words\n"
      "        ((CURRENT -= 1))\n"
      "        case $command in\n" +
      cases +
      "        esac\n"
      "    else\n"
      "        _ptxopt_file || ((last))\n"
      "    fi\n"
      "}\n\n"
      "# As a file of $fpath this is the body of the function; sourced it says what it completes.\n"
      "if [[ $funcstack[1] == _ptxopt ]]; then\n"
      "    _ptxopt \"$@\"\n"
      "else\n"
      "    compdef _ptxopt ptxopt\n"
      "fi\n";
  return out;
}

}  // namespace ptxopt::tool
