// Names of passes as a POSIX extended regular expression, as clang's -Rpass= has it. It matches whole names.
//
// <regex.h> instead of <regex>: the latter took ten seconds to compile in each file that included it.
#pragma once

#include <memory>
#include <string>

namespace ptxopt::tool {

// Matches nothing until it is compiled. Copies share the compiled expression, which is never changed: any thread may ask.
class PassPattern {
 public:
  // What is wrong with the expression, or empty.
  std::string compile(const std::string& expression);
  bool matches(const std::string& pass) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace ptxopt::tool
