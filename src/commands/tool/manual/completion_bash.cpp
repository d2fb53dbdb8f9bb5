// For bash 4.2 and later, without the package bash-completion: its helpers are not everywhere.
//
// Bash cuts words at '=' too: `--color=al` arrives as three words, and the last is completed. A list with
// commas arrives as one word, whose last part is completed.
#include <fmt/format.h>

#include <algorithm>

#include "tool/manual/completion.h"

namespace ptxopt::tool {
namespace {

using Kind = ValueDescription::Kind;

constexpr std::string_view kHead = R"(# Completion of ptxopt for bash, made by ptxopt --completion bash.

_ptxopt_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_ptxopt_list() {
    local head=
    [[ $cur != *,* ]] || head=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$head" -W "$1" -- "${cur##*,}")
    compopt -o nospace
}

_ptxopt_files() {
    if [[ -n $1 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -X "!*$1" -- "$cur"; compgen -d -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
    compopt -o filenames
}

_ptxopt_folders() {
    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
    compopt -o filenames
}

_ptxopt_programs() {
    if [[ $cur == */* ]]; then _ptxopt_files ''; else mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi
}
)";

std::string words(const std::vector<std::string>& all) {
  return shellQuoted(fmt::format("{}", fmt::join(all, " ")));
}

std::string bashAction(const ValueDescription& value) {
  switch (value.kind) {
    case Kind::Words: return (value.isList ? "_ptxopt_list " : "_ptxopt_words ") + words(value.words);
    case Kind::File: return "_ptxopt_files " + shellQuoted(value.suffix);
    case Kind::Folder: return "_ptxopt_folders";
    case Kind::Program: return "_ptxopt_programs";
    case Kind::None:
    case Kind::Any: break;
  }
  return ":";  // whatever the user types
}

}  // namespace

std::string completionForBash(const std::vector<CommandDescription>& commands) {
  std::string out(kHead);
  std::string names, wordCases, fileCases;
  std::vector<std::pair<std::string, std::string>> cases;  // an action, and the options that have it
  for (const CommandDescription& command : commands) {
    const std::string_view name = subcommandOf(command);
    if (!name.empty()) names += (names.empty() ? "" : "|") + std::string(name);
    std::vector<std::string> options;
    for (const OptionDescription& option : command.options) {
      std::string pattern;
      for (const std::string& spelling : option.names) {
        const bool isJoined = spelling.size() == 2 && option.value.kind == Kind::Words && !option.value.isList;
        if (isJoined)  // -O2
          for (const std::string& word : option.value.words) options.push_back(spelling + word);
        else
          options.push_back(spelling);
        pattern += (pattern.empty() ? "" : "|") + shellQuoted(fmt::format("{} {}", name, spelling));
      }
      if (option.isFlag()) continue;
      const std::string act = bashAction(option.value);
      const auto same = std::ranges::find(cases, act, &std::pair<std::string, std::string>::first);
      if (same == cases.end())
        cases.emplace_back(act, pattern);
      else
        same->second += "|" + pattern;
    }
    wordCases += fmt::format("            {}) _ptxopt_words {} ;;\n", shellQuoted(name), words(options));
    fileCases += fmt::format("        {}) {} ;;\n", shellQuoted(name), bashAction(positionalsOf(command)));
  }

  std::string optionCases;
  for (const auto& [act, pattern] : cases) optionCases += fmt::format("        {}) {}; return ;;\n", pattern, act);
  std::string optional;  // options whose value is after = or not there
  for (const CommandDescription& command : commands)
    for (const OptionDescription& option : command.options)
      if (option.value.isOptional)
        for (const std::string& spelling : option.names)
          optional +=
              (optional.empty() ? "" : "|") + shellQuoted(fmt::format("{} {}", subcommandOf(command), spelling));

  out +=
      "\n_ptxopt() {\n"
      "    COMPREPLY=()\n"
      "    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= equals= i\n";
  out += fmt::format(
      "    case ${{COMP_WORDS[1]}} in {}) ((COMP_CWORD == 1)) || command=${{COMP_WORDS[1]}} ;; esac\n", names);
  out +=
      "    if [[ $cur == '=' ]]; then\n"
      "        cur= equals=yes\n"
      "    elif [[ $previous == '=' ]]; then\n"
      "        previous=${COMP_WORDS[COMP_CWORD-2]} equals=yes\n"
      "    fi\n"
      "    # After -- comes another program's command line.\n"
      "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "        [[ ${COMP_WORDS[i]} == -- ]] || continue\n"
      "        if ((i + 1 == COMP_CWORD)); then _ptxopt_programs; else _ptxopt_files ''; fi\n"
      "        return\n"
      "    done\n";
  if (!optional.empty())
    out += fmt::format("    [[ -n $equals ]] || case \"$command $previous\" in {}) previous= ;; esac\n", optional);
  out += "    case \"$command $previous\" in\n" + optionCases +
         "    esac\n"
         "    if [[ $cur == -* ]]; then\n"
         "        case $command in\n" +
         wordCases +
         "        esac\n"
         "        return\n"
         "    fi\n"
         "    case $command in\n" +
         fileCases + "    esac\n";
  std::string list = names;
  std::ranges::replace(list, '|', ' ');
  out += fmt::format(
      "    ((COMP_CWORD > 1)) || mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen -W {} -- \"$cur\")\n",
      shellQuoted(list));
  return out + "}\ncomplete -F _ptxopt ptxopt\n";
}

}  // namespace ptxopt::tool
