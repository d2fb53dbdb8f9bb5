// Comments and strings become blanks of the same length first, so that lines and offsets stay. One scan then follows
// braces from .entry or .func to the end of the body or declaration.
#include "ptxas/function_places.h"

#include <algorithm>

namespace ptxopt::ptxas {
namespace {

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%';
}

// What is in comments and strings becomes blanks; lines stay.
std::string withoutComments(std::string_view ptx) {
  std::string text(ptx);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    std::size_t length = 0;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      length = end == std::string_view::npos ? rest.size() : end + 2;
    } else if (rest.starts_with('"')) {
      const std::size_t end = rest.find_first_of("\"\n", 1);
      length = end == std::string_view::npos ? rest.size() : end + 1;
    }
    blank(at, at + length);
    at += std::max<std::size_t>(length, 1);
  }
  return text;
}

// The name that is declared after .entry or .func: after what is returned, if anything is.
std::string nameAt(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at != std::string_view::npos && text[at] == '(') at = text.find(')', at);
  at = text.find_first_not_of(" \t\r\n)", at);
  if (at == std::string_view::npos) return {};
  std::size_t end = at;
  while (end < text.size() && isWordCharacter(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

}  // namespace

std::vector<FunctionPlace> functionPlaces(std::string_view ptx) {
  const std::string text = withoutComments(ptx);
  std::vector<FunctionPlace> places;
  uint32_t line = 1;
  std::size_t depth = 0, begin = 0;
  bool isOpen = false;  // after .entry or .func, before its end
  FunctionPlace place;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (c == '{') ++depth;
    if (c == ';' && depth == 0) isOpen = false;
    if (c == '}' && depth != 0) {
      --depth;
      if (depth == 0 && isOpen) {
        place.lastLine = line;
        place.text = text.substr(begin, at + 1 - begin);
        places.push_back(place);
        isOpen = false;
      }
    }
    if (c != '.' || depth != 0) continue;
    for (const std::string_view directive : {".entry", ".func"}) {
      const std::string_view rest = std::string_view(text).substr(at);
      if (!rest.starts_with(directive) || rest.size() == directive.size() ||
          isWordCharacter(rest[directive.size()]))
        continue;
      place = {nameAt(rest.substr(directive.size())), directive == ".entry", line, line, {}};
      begin = at;
      isOpen = true;
    }
  }
  return places;
}

bool mentions(const FunctionPlace& function, std::string_view word) {
  const std::string_view text = function.text;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !isWordCharacter(text[at - 1])) && end < text.size() && text[end] == '.') return true;
  }
  return false;
}

}  // namespace ptxopt::ptxas
