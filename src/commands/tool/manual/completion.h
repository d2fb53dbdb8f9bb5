// Completion for shells, made of what describe.h says of the commands: subcommands, options, what options may be,
// and files by their suffix. The scripts hold all of it and need nothing but the shell; they do not run ptxopt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tool/manual/describe.h"

namespace ptxopt::tool {

// For "bash", "zsh" or "fish".
std::string completion(std::string_view shell, const std::vector<CommandDescription>& commands);

// One file each.
std::string completionForBash(const std::vector<CommandDescription>& commands);
std::string completionForZsh(const std::vector<CommandDescription>& commands);
std::string completionForFish(const std::vector<CommandDescription>& commands);

// What the shells' files share.
// "run" of "ptxopt run"; "" of the flat form.
std::string_view subcommandOf(const CommandDescription& command);
// A word in single quotes.
std::string shellQuoted(std::string_view text);
// A summary cut to what fits beside an option.
std::string briefly(std::string_view summary);
// What the positionals of a command are: files, of the suffix that all of them have.
ValueDescription positionalsOf(const CommandDescription& command);

}  // namespace ptxopt::tool
