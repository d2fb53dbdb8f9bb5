#include "ir/module.h"

#include <algorithm>

namespace ptxopt {

SourcePosition locate(std::string_view source, std::size_t offset) {
  offset = std::min(offset, source.size());
  SourcePosition position;
  const std::string_view before = source.substr(0, offset);
  position.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t end = source.find('\n', offset);
  if (end == std::string_view::npos) end = source.size();
  position.column = offset - start + 1;
  position.lineText = source.substr(start, end - start);
  if (position.lineText.ends_with('\r')) position.lineText.remove_suffix(1);
  return position;
}

}  // namespace ptxopt
