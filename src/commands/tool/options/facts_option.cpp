#include "tool/options/facts_option.h"

#include <CLI/CLI.hpp>

#include "facts/facts.h"
#include "tool/files.h"

namespace ptxopt::tool {

void FactsLine::addTo(CLI::App& app, const std::string& group) {
  app.add_option("--facts", path,
                 "facts that hold in every launch: sizes of blocks and grids, values of parameters, memory")
      ->type_name("FILE.json")
      ->group(group);
}

bool FactsLine::read(std::string& error) {
  if (path.empty()) return true;
  FileText file;
  if (!readFile(path, file, error)) return false;
  text = std::string_view(file);
  if (!text.empty()) return true;
  error = "'" + path + "' is empty";
  return false;
}

std::string FactsLine::giveTo(Module& module) const { return facts::readFacts(text, path, module); }

}  // namespace ptxopt::tool
