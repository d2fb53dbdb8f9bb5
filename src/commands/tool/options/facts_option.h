// --facts FILE: what the user says of the launches of kernels (docs/facts.md).
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace CLI {
class App;
}

namespace ptxopt::tool {

struct FactsLine {
  std::string path, text;  // the text after read(); empty without the option

  void addTo(CLI::App& app, const std::string& group);
  // False with the reason in `error`.
  bool read(std::string& error);
  // Gives a module these facts, and those of its own comments. What is wrong, ready to print; empty: nothing.
  std::string giveTo(Module& module) const;
};

}  // namespace ptxopt::tool
