// What a stream shows to a person: colours, the width of the terminal, and how wide a text is.
//
// Colours follow --color=auto|always|never; auto is a terminal, unless NO_COLOR says something or TERM is dumb.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace ptxopt::tool {

enum class ColourChoice { Auto, Always, Never };
// For the whole program, from then on. Call it before other threads start.
void chooseColours(ColourChoice choice);
// Whether what goes to this stream may have colours.
bool hasColours(std::FILE* stream);
bool isTerminal(std::FILE* stream);
// What the last line of the terminal of standard error shows, which is not a message: empty takes it away.
void drawLine(std::string_view line);

// By what they mean, not by how they look.
enum class Style : unsigned char { Plain, Good, Bad, Doubtful, Strong, Faint };
// The text with the escape sequences of its style, or as it is where there are no colours.
std::string styled(std::string_view text, Style style, bool colours);

// Columns of the terminal of a stream; `otherwise` when it is none.
std::size_t terminalWidth(std::FILE* stream, std::size_t otherwise);
// Columns that a UTF-8 text takes, wide East Asian characters counted twice. It has no control characters.
std::size_t displayWidth(std::string_view text);
// At most `width` columns (3 or more): the middle gives way to "...".
std::string shortened(std::string_view text, std::size_t width);

}  // namespace ptxopt::tool
