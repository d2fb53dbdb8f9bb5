// Text of a user or of a file in GitHub's and GitLab's markdown: whatever it holds, it means itself and stays where it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::tool {

// In a sentence or in a cell of a table.
std::string markdownText(std::string_view text);
// As a code span.
enum class MarkdownPlace { Sentence, Cell };
std::string markdownCode(std::string_view text, MarkdownPlace place);
// Lines in a block of code; of many and of long ones the first `mostLines` and `mostBytes`.
std::string markdownBlock(const std::vector<std::string>& lines, std::size_t mostLines, std::size_t mostBytes);

}  // namespace ptxopt::tool
