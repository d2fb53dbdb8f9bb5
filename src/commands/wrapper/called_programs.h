// The programs that called one another on the way to this process, in a variable of the environment that they inherit, one
// after the other with colons between. A script that calls ptxopt may be the program that ptxopt finds: what called it is
// not called again.
#pragma once

#include <string>

namespace ptxopt::wrapper {

class CalledPrograms {
 public:
  explicit constexpr CalledPrograms(const char* variable) : variable_(variable) {}
  std::string value() const;
  // Empty: the variable goes.
  void set(const std::string& value) const;
  void note(const std::string& program) const;
  // Compared by device and inode, so that a link to a program is that program.
  bool has(const std::string& program) const;

 private:
  const char* variable_;
};

}  // namespace ptxopt::wrapper
