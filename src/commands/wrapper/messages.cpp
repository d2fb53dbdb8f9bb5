// The output is read line by line. The first line that has a place in an optimized file starts the run on the
// originals, whose lines with places are used for all of them; names of files are replaced at the end.
#include "wrapper/messages.h"

#include <algorithm>

namespace ptxopt::wrapper {
namespace {

using Name = std::string RenamedInput::*;

// Whether the line is of the form `ptxas FILE, line N; ...` for one of the files.
bool hasPlace(std::string_view line, const std::vector<RenamedInput>& inputs, Name name) {
  constexpr std::string_view kProgram = "ptxas ", kLine = ", line ";
  if (!line.starts_with(kProgram)) return false;
  line.remove_prefix(kProgram.size());
  return std::any_of(inputs.begin(), inputs.end(), [&](const RenamedInput& input) {
    const std::string& file = input.*name;
    return line.starts_with(file) && line.substr(file.size()).starts_with(kLine);
  });
}

std::string_view takeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? end : end + 1);
  text.remove_prefix(line.size());
  return line;
}

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
  if (from == to || from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

}  // namespace

std::string asOfOriginal(std::string_view text, const std::vector<RenamedInput>& inputs,
                         const std::function<std::string()>& readOriginal) {
  std::string out, places;
  bool isFirst = true;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = takeLine(rest);
    if (!hasPlace(line, inputs, &RenamedInput::optimized)) {
      out += line;
      continue;
    }
    if (isFirst) {
      const std::string said = readOriginal();
      for (std::string_view left = said; !left.empty();)
        if (const std::string_view of = takeLine(left); hasPlace(of, inputs, &RenamedInput::copied)) places += of;
      out += places;
    }
    isFirst = false;
    if (places.empty()) out += line;
  }
  return withNames(std::move(out), inputs);
}

std::string withNames(std::string text, const std::vector<RenamedInput>& inputs) {
  for (const RenamedInput& input : inputs) {
    replaceAll(text, input.optimized, input.original);
    replaceAll(text, input.copied, input.original);
  }
  return text;
}

}  // namespace ptxopt::wrapper
