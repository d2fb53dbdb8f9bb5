#include "tool/options/architecture_option.h"

#include "target/target.h"

namespace ptxopt::tool {
namespace {

// CLI11's delimiter would leave out what is empty.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

std::string checkEach(const std::string& text) {
  for (const std::string& word : split(text))
    if (std::string why = target::whyNoTarget(word); !why.empty()) return why;
  return {};
}

}  // namespace

CLI::Option* addArchitecture(CLI::App& app, std::string& to, const std::string& what) {
  return app.add_option("--arch", to, what)
      ->type_name("sm_XX")
      ->check(CLI::Validator([](const std::string& text) { return target::whyNoTarget(text); }, ""));
}

CLI::Option* addArchitectures(CLI::App& app, std::vector<std::string>& to, const std::string& what) {
  return app
      .add_option_function<std::vector<std::string>>(
          "--arch",
          [&to](const std::vector<std::string>& given) {
            to.clear();
            for (const std::string& text : given)
              for (std::string& word : split(text)) to.push_back(std::move(word));
          },
          what)
      ->type_name("sm_XX[,...]")
      ->allow_extra_args(false)
      ->check(CLI::Validator(checkEach, ""));
}

}  // namespace ptxopt::tool
