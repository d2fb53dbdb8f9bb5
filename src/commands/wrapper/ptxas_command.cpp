// A Reader goes over the words once and appends those of options files as it meets them, 16 files deep at most. Each
// word's option comes from ptxas_options.def, which says what follows it and what it means here.
#include "wrapper/ptxas_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "support/digits.h"

namespace ptxopt::wrapper {
namespace {

enum class Follows { Flag, Value, Level, Number };
enum class Meaning {
  Nothing,
  Verbose,
  Linked,
  Architecture,
  Output,
  OptimizationLevel,
  OptionsFile,
  InputString,
  Debug,
  Instrumented,
  Query,
};

struct OptionRow {
  std::string_view longName, shortName;
  Follows follows;
  Meaning meaning;
};

constexpr OptionRow kOptionRows[] = {
#define PTXAS_OPTION(longName, shortName, follows, meaning) \
  {longName, shortName, Follows::follows, Meaning::meaning},
#include "wrapper/ptxas_options.def"
#undef PTXAS_OPTION
};

constexpr int kDeepestOptionsFile = 16;

struct Found {
  const OptionRow* row = nullptr;
  std::optional<std::size_t> valueAt;  // where the value begins in the word, if it is there
  bool takesNext = false;              // ... or whether it is the next word
};

Found findOption(std::string_view word) {
  const bool isLong = word.substr(0, 2) == "--";
  const std::size_t begin = isLong ? 2 : 1;
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(begin, equals == std::string_view::npos ? equals : equals - begin);
  for (const OptionRow& row : kOptionRows) {
    if (name != (isLong ? row.longName : row.shortName)) continue;
    Found found{&row, {}, false};
    if (equals != std::string_view::npos)
      found.valueAt = equals + 1;
    else
      found.takesNext = row.follows != Follows::Flag && (isLong || row.follows != Follows::Level);
    return found;
  }
  for (const OptionRow& row : kOptionRows)
    if (!isLong && (row.follows == Follows::Level || row.follows == Follows::Number) &&
        name.starts_with(row.shortName) && isDigits(name.substr(row.shortName.size())))
      return {&row, begin + row.shortName.size(), false};
  return {};
}

class Reader {
 public:
  explicit Reader(PtxasCommand& command) : command_(command) {}

  void read(const std::vector<std::string>& words, int depth) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word == "-" || !word.starts_with('-')) {
        command_.inputs.push_back({command_.words.size()});
        command_.words.push_back(word);
        continue;
      }
      const Found found = findOption(word);
      const bool hasNext = found.takesNext && i + 1 < words.size();
      if (found.takesNext && !hasNext) return decline("an option without its value");
      const std::string value = hasNext         ? words[i + 1]
                                : found.valueAt ? word.substr(*found.valueAt)
                                                : std::string();
      if (found.row != nullptr && found.row->meaning == Meaning::OptionsFile) {
        include(value, depth);
      } else {
        const std::size_t first = command_.words.size();
        command_.words.push_back(word);
        if (hasNext) command_.words.push_back(words[i + 1]);
        const Meaning meaning = found.row != nullptr ? found.row->meaning : Meaning::Nothing;
        mean(meaning, value);
        if (meaning != Meaning::Architecture && meaning != Meaning::Output && meaning != Meaning::InputString)
          command_.settings.insert(command_.settings.end(), command_.words.begin() + static_cast<ptrdiff_t>(first),
                                   command_.words.end());
      }
      if (hasNext) ++i;
    }
  }

  void finish() {
    if (isDebug_) decline("debug code");
    if (level_ == "0") decline("-O0");
    const std::string& architecture = command_.architecture;
    if (!architecture.empty() && !architecture.starts_with("sm_")) decline("no code for " + architecture);
    if (command_.inputs.empty()) decline("no input");
  }

 private:
  void decline(std::string why) {
    if (command_.notOptimized.empty()) command_.notOptimized = std::move(why);
  }

  void mean(Meaning meaning, const std::string& value) {
    const std::size_t last = command_.words.size() - 1;
    switch (meaning) {
      case Meaning::Nothing:
      case Meaning::OptionsFile: break;
      case Meaning::Output: command_.outputs.push_back(value); break;
      case Meaning::Verbose: command_.isVerbose = true; break;
      case Meaning::Architecture:
        command_.architecture = value;
        command_.architectureWords.push_back(last);
        break;
      case Meaning::OptimizationLevel: level_ = value; break;
      case Meaning::InputString:
        command_.inputs.push_back({last, true, command_.words[last].size() - value.size()});
        break;
      case Meaning::Linked: command_.isLinked = true; break;
      case Meaning::Debug: isDebug_ = true; break;
      case Meaning::Instrumented: decline("code for a tool"); break;
      case Meaning::Query: decline("nothing to compile"); break;
    }
  }

  // A list of files with commas between.
  void include(std::string_view files, int depth) {
    if (depth == kDeepestOptionsFile) return decline("options files without end");
    for (;;) {
      const std::size_t comma = files.find(',');
      const std::string file(files.substr(0, comma));
      std::ifstream in(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      if (!in) return decline(fmt::format("options file '{}' cannot be read", file));
      read(splitOptionsFile(text), depth + 1);
      if (comma == std::string_view::npos) return;
      files.remove_prefix(comma + 1);
    }
  }

  PtxasCommand& command_;
  std::string level_;
  bool isDebug_ = false;
};

}  // namespace

std::vector<std::string> PtxasCommand::wordsToReadOnly() const {
  constexpr std::string_view kReal = "sm_", kVirtual = "compute_", kUsual = "-arch=compute_75";
  std::vector<std::string> out = words;
  for (const std::size_t word : architectureWords) {
    const std::size_t at = out[word].rfind(kReal);
    if (at == std::string::npos) return {};
    out[word].replace(at, kReal.size(), kVirtual);
  }
  if (architectureWords.empty()) out.emplace_back(kUsual);
  return out;
}

bool PtxasCommand::usesFile(const std::filesystem::path& path) const {
  const auto isIt = [&](const std::filesystem::path& file) {
    std::error_code none;
    return file == path || std::filesystem::equivalent(file, path, none);
  };
  return std::ranges::any_of(inputs, [&](const Input& i) { return !i.isString && isIt(words[i.word]); }) ||
         std::ranges::any_of(outputs, isIt) || (outputs.empty() && isIt(kUsualCubin));
}

std::vector<std::string> splitOptionsFile(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false, quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = !quoted;
      inWord = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inWord = true;
    } else if (!quoted && (c == ' ' || (c >= '\t' && c <= '\r'))) {
      if (inWord) words.push_back(std::exchange(word, {}));
      inWord = false;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (inWord) words.push_back(word);
  return words;
}

PtxasCommand readPtxasCommand(const std::vector<std::string>& arguments) {
  PtxasCommand command;
  Reader reader(command);
  reader.read(arguments, 0);
  reader.finish();
  return command;
}

}  // namespace ptxopt::wrapper
