#include "tool/options/pass_pattern.h"

#include <regex.h>

#include <array>

namespace ptxopt::tool {

struct PassPattern::Compiled {
  regex_t regex{};
  bool isValid = false;

  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (isValid) ::regfree(&regex);
  }
};

std::string PassPattern::compile(const std::string& expression) {
  auto compiled = std::make_shared<Compiled>();
  const int error = ::regcomp(&compiled->regex, ("^(" + expression + ")$").c_str(), REG_EXTENDED | REG_NOSUB);
  if (error != 0) {
    std::array<char, 256> message{};
    ::regerror(error, &compiled->regex, message.data(), message.size());
    return message.data();
  }
  compiled->isValid = true;
  compiled_ = std::move(compiled);
  return {};
}

bool PassPattern::matches(const std::string& pass) const {
  return compiled_ != nullptr && ::regexec(&compiled_->regex, pass.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace ptxopt::tool
