// Lines of the plan are split into settings and commands, and these into words as by a shell. Plans are compared as
// sorted text, in which temporary names have lost their numbers and one toolkit's folder has become the other's.
#include "wrapper/nvcc_plan.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "support/shell_words.h"

namespace ptxopt::wrapper {
namespace {

// NAME=VALUE where NAME can be that of a variable; a command may hold a `=` too, after a blank.
std::size_t equalsOfSetting(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == 0 || equals == std::string_view::npos) return std::string_view::npos;
  const bool isName = std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(equals),
                                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return isName ? equals : std::string_view::npos;
}

std::string programOf(const std::string& command) {
  const auto words = splitShellWords(command);
  if (!words || words->empty()) return {};
  return words->front().substr(words->front().rfind('/') + 1);
}

// tmpxft_0000430b_00000000-7_a.ptx -> tmpxft-7_a.ptx; tmpxft_0000432c_00000000-13_321c3100_stdout ->
// tmpxft-13_stdout
std::string withoutNumbers(std::string_view command) {
  const auto hexDigits = [](std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && std::isxdigit(static_cast<unsigned char>(text[n])) != 0) ++n;
    return n;
  };
  std::string out;
  while (!command.empty()) {
    const std::size_t at = command.find(kNvccTemporary);
    out += command.substr(0, at);
    if (at == std::string_view::npos) break;
    command.remove_prefix(at + kNvccTemporary.size());
    out += "tmpxft";
    for (int part = 0; part < 2; ++part) {
      command.remove_prefix(hexDigits(command));
      if (command.starts_with('_')) command.remove_prefix(1);
    }
    // Streams of a thread: the number of the file, and an address.
    const std::size_t end = std::min(command.find_first_of("\" "), command.size());
    const std::string_view name = command.substr(0, end);
    if (name.ends_with("_stdout") || name.ends_with("_stderr")) {
      out += name.substr(name.rfind('_'));
      command.remove_prefix(end);
    }
  }
  return out;
}

// What cicc writes, where that is not one of nvcc's temporary files; empty: it is, or the command is another one.
std::string keptFileOfCicc(const std::string& command) {
  if (programOf(command) != "cicc") return {};
  const auto words = *splitShellWords(command);
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "-o" && words[i].find(kNvccTemporary) == std::string::npos) return words[i];
  return {};
}

}  // namespace

NvccPlan readNvccPlan(std::string_view text) {
  constexpr std::string_view kMark = "#$ ";
  NvccPlan plan;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (const std::size_t equals = equalsOfSetting(line); equals != std::string_view::npos)
      plan.variables[std::string(line.substr(0, equals))] = line.substr(equals + 1);
    else
      plan.commands.emplace_back(line);
  }
  return plan;
}

bool NvccPlan::runsPtxas() const {
  return std::any_of(commands.begin(), commands.end(), [](const auto& c) { return programOf(c) == "ptxas"; });
}

bool NvccPlan::optimizesWhenLinking() const {
  return std::any_of(commands.begin(), commands.end(), [](const std::string& command) {
    const std::string program = programOf(command);
    if (program == "fatbinary") return command.find("kind=nvvm") != std::string::npos;
    if (program != "nvlink") return false;
    const auto words = splitShellWords(command);
    return std::any_of(words->begin(), words->end(), [](const auto& w) { return w == "-dlto" || w == "-lto"; });
  });
}

std::string NvccPlan::ptxAskedFor() const {
  if (runsPtxas()) return {};
  for (const std::string& command : commands)
    if (std::string file = keptFileOfCicc(command); file.ends_with(".ptx")) return file;
  return {};
}

bool NvccPlan::keepsPtx() const {
  std::set<std::string> made, removed;
  for (const std::string& command : commands)
    if (command.starts_with("rm ")) removed.insert(command.substr(3));  // one name, without quotes
  for (const std::string& command : commands) {
    if (std::string file = keptFileOfCicc(command); !file.empty() && !removed.contains(file))
      made.insert(std::move(file));
    if (programOf(command) != "ptxas") continue;
    const auto words = *splitShellWords(command);
    if (std::ranges::any_of(words, [&](const std::string& word) { return made.contains(word); })) return true;
  }
  return false;
}

std::string NvccPlan::comparable(const std::vector<std::string>& without, const std::string& from,
                                 const std::string& to) const {
  std::string out;
  for (const auto& [name, value] : variables)
    if (std::find(without.begin(), without.end(), name) == without.end()) out += name + '=' + value + '\n';
  std::vector<std::string> lines;
  for (const std::string& command : commands) lines.push_back(withoutNumbers(command));
  std::sort(lines.begin(), lines.end());
  for (const std::string& line : lines) out += line + '\n';
  for (std::size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size())
    out.replace(at, from.size(), to);
  return out;
}

}  // namespace ptxopt::wrapper
