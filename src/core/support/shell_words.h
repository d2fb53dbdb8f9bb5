// Splitting text into words as a shell does.
//
// Blanks separate; single quotes take everything, double quotes keep blanks and let a backslash escape `"`, `\`,
// `$` and `` ` ``; elsewhere a backslash takes the next character as it is. Nothing is expanded: no variables, no
// patterns, no commands. Error: a quote without its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt {

std::optional<std::vector<std::string>> splitShellWords(std::string_view text);

}  // namespace ptxopt
