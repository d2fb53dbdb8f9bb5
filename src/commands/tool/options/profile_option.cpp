#include "tool/options/profile_option.h"

#include <CLI/CLI.hpp>

#include "profile/profile.h"
#include "tool/files.h"

namespace ptxopt::tool {

void ProfileLine::addTo(CLI::App& app, const std::string& group) {
  app.add_option("--profile-use", path, "use a profile of launches, which emulate --profile-facts writes, as hints")
      ->type_name("FILE.json")
      ->group(group);
}

bool ProfileLine::read(std::string& error) {
  if (path.empty()) return true;
  FileText file;
  if (!readFile(path, file, error)) return false;
  text = std::string_view(file);
  const auto parsed = profile::parse(text, path);
  const std::string* const wrong = std::get_if<std::string>(&parsed);
  if (wrong != nullptr) error = *wrong;
  return wrong == nullptr;
}

void ProfileLine::giveTo(Options& options) const {
  options.profile = text;
  options.profileName = path;
}

}  // namespace ptxopt::tool
