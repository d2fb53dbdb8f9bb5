// CLI11's messages, with the nearest known name of a word that was not expected, and the variable that a wrong value came from.
#include "tool/options/mistakes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <vector>

#include "support/nearest.h"

namespace ptxopt::tool {
namespace {

// The option or the command that a word which was not expected may stand for.
std::string meantBy(const CLI::App& app, std::string_view word) {
  constexpr std::string_view kDashes = "--";
  std::vector<std::string> names;
  if (word.starts_with(kDashes)) {
    word.remove_prefix(kDashes.size());
    for (const CLI::Option* const option : app.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    const std::string found = nearest(word, names);
    return found.empty() ? found : std::string(kDashes) + found;
  }
  // nvcc and ptxas take long names after one dash, too.
  if (word.starts_with('-')) {
    const std::string longName = fmt::format("-{}", word);
    return word.size() > 2 && app.get_option_no_throw(longName) != nullptr ? longName : std::string();
  }
  for (const CLI::App* const command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return nearest(word, names);
}

// `-version` of `-ersion`, which is what CLI11 leaves of it where -v is a flag. Empty: it is not such a word.
std::string wholeOf(const CLI::App& app, std::string_view word) {
  if (word.size() < 3 || word[0] != '-' || word[1] == '-') return {};
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& letter : option->get_snames())
      if (const std::string whole = fmt::format("-{}{}", letter, word.substr(1));
          option->get_items_expected_max() == 0 && app.get_option_no_throw("-" + whole) != nullptr)
        return whole;
  return {};
}

struct OptionOfVariable {
  const char *option, *variable;
};
constexpr OptionOfVariable kVariablesOfOptions[] = {
    {"--guard", "PTXOPT_GUARD"}, {"--guard-rule", "PTXOPT_GUARD_RULE"}, {"--guard-tries", "PTXOPT_GUARD_TRIES"}};

}  // namespace

std::string variableMeant(std::string_view message) {
  for (const auto& [option, variable] : kVariablesOfOptions)
    if (const char* const value = std::getenv(variable); value != nullptr)
      for (const char* const kind : {"", "Value "})  // of a list of words, and of numbers
        if (message.starts_with(fmt::format("{}: {}{} not in", option, kind, value))) return variable;
  return {};
}

std::string messageOf(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  if (message.starts_with(": ")) message.erase(0, 2);  // of a hidden option, which has no name for CLI11
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return message;
  for (const std::string& word : app.remaining(true)) {
    if (const std::string whole = wholeOf(app, word); !whole.empty()) {
      if (const std::size_t at = message.rfind(word); at != std::string::npos)
        message.replace(at, word.size(), whole);
      return fmt::format("{}; is -{} meant?", message, whole);
    }
    const std::string meant = meantBy(app, word.substr(0, word.find('=')));
    if (!meant.empty()) return fmt::format("{}; is {} meant?", message, meant);
  }
  return message;
}

}  // namespace ptxopt::tool
