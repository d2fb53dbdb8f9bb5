#include "report/sources.h"

namespace ptxopt::report {

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

Sources::Sources(const Module& module) {
  for (const auto& [number, name] : sourceFiles(module)) files_.emplace(number, name);
}

int Sources::number(const Loc& loc) {
  const auto [at, isNew] = numbers_.try_emplace({loc.file, loc.line}, static_cast<int>(places_.size()));
  if (isNew) places_.emplace_back(loc.file, loc.line);
  return at->second;
}

Json Sources::files() const {
  Json all = Json::object();
  for (const auto& [number, name] : files_) all[std::to_string(number)] = name;
  return all;
}

Json Sources::lines(SourceFiles* files) const {
  std::map<uint32_t, std::vector<std::string_view>> texts;
  if (files != nullptr)
    for (const auto& [file, line] : places_)
      if (const auto named = files_.find(file); named != files_.end())
        if (const auto [text, isNew] = texts.try_emplace(file); isNew)
          text->second = splitLines(files->read(named->second));
  Json all = Json::array();
  for (const auto& [file, line] : places_) {
    Json& entry = all.emplace_back(Json::array({file, line}));
    const auto text = texts.find(file);
    if (text != texts.end() && line >= 1 && line <= text->second.size()) entry.push_back(text->second[line - 1]);
  }
  return all;
}

}  // namespace ptxopt::report
