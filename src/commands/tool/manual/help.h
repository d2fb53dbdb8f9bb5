// What --help prints: a command's description in the width of the terminal, 80 columns where there is none.
#pragma once

#include <string>
#include <string_view>

#include "tool/manual/describe.h"

namespace ptxopt::tool {

// `all`: also the large group of knobs.
std::string helpText(const CommandDescription& command, bool all);

// Words in lines of at most `width` columns. The first line begins at column `at`, the others are indented by
// `indent`; no line feed ends it.
std::string filled(std::string_view text, std::size_t width, std::size_t indent, std::size_t at);

// "-o, --output FILE", "--profile[=FILE]", "--format text|json".
std::string optionLabel(const OptionDescription& option);
// What stands for the value in it.
std::string valueLabel(const ValueDescription& value);

constexpr std::string_view kKnobGroup = "Knobs";
// For options that are not listed; errors name them.
constexpr std::string_view kTestGroup = "For tests";

}  // namespace ptxopt::tool
