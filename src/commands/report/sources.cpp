#include "report/sources.h"

#include <charconv>

namespace ptxopt::report {
namespace {

// `.file 1 "a.cu", 1700000000, 512`; blanks and comments as they come.
std::optional<std::pair<uint32_t, std::string>> readFileDirective(std::string_view text) {
  if (!text.starts_with(".file")) return std::nullopt;
  const std::size_t digit = text.find_first_of("0123456789"), quote = text.find('"');
  if (digit == std::string_view::npos || quote == std::string_view::npos || digit > quote) return std::nullopt;
  uint32_t number = 0;
  if (std::from_chars(text.data() + digit, text.data() + quote, number).ec != std::errc()) return std::nullopt;
  const std::size_t end = text.find('"', quote + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::pair(number, std::string(text.substr(quote + 1, end - quote - 1)));
}

// Where each line of a text begins and how long it is.
std::vector<std::string_view> splitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

Sources::Sources(const Module& module) {
  for (const Item& item : module.items)
    if (const auto file = readFileDirective(module.text(item.source))) files_.insert(*file);
}

int Sources::number(const Loc& loc) {
  const auto [at, isNew] = numbers_.try_emplace({loc.file, loc.line}, static_cast<int>(places_.size()));
  if (isNew) places_.emplace_back(loc.file, loc.line);
  return at->second;
}

nlohmann::ordered_json Sources::files() const {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto& [number, name] : files_) all[std::to_string(number)] = name;
  return all;
}

nlohmann::ordered_json Sources::lines(SourceFiles* files) const {
  std::map<uint32_t, std::vector<std::string_view>> texts;
  if (files != nullptr)
    for (const auto& [file, line] : places_)
      if (const auto named = files_.find(file); named != files_.end())
        if (const auto [text, isNew] = texts.try_emplace(file); isNew)
          text->second = splitLines(files->read(named->second));
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& [file, line] : places_) {
    nlohmann::ordered_json& entry = all.emplace_back(nlohmann::ordered_json::array({file, line}));
    const auto text = texts.find(file);
    if (text != texts.end() && line >= 1 && line <= text->second.size()) entry.push_back(text->second[line - 1]);
  }
  return all;
}

}  // namespace ptxopt::report
