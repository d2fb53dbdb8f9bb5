#include "support/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

namespace ptxopt {

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return {};
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : "";
}

std::string readableName(std::string_view name) {
  std::string readable = demangled(name);
  return readable.empty() ? std::string(name) : readable;
}

std::array<std::string, 3> calledNames(std::string_view name) {
  const std::string readable = readableName(name);
  std::string bare = readable.substr(0, readable.find_first_of("(<"));
  bare.erase(0, bare.rfind(' ') + 1);  // templates come with what they return
  return {std::string(name), readable, bare.empty() ? readable : bare};
}

std::string nameMeant(const std::string& called, std::span<const std::string> names) {
  if (called.empty() || std::ranges::find(names, called) != names.end()) return called;
  const auto isCalledSo = [&](const std::string& name) {
    const auto all = calledNames(name);
    return std::ranges::find(all, called) != all.end();
  };
  const auto found = std::ranges::find_if(names, isCalledSo);
  if (found == names.end() || std::any_of(std::next(found), names.end(), isCalledSo)) return called;
  return *found;
}

}  // namespace ptxopt
