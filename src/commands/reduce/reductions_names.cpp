// Mangled names and the like: shorter ones.
#include <cctype>
#include <map>
#include <string>

#include "reduce/reductions.h"

namespace ptxopt::reduce {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%'; }

// New names by old ones: `f0`, `f1`, ... as far as the module does not have them.
class ShortNames {
 public:
  explicit ShortNames(const Module& m) : module_(m) {}

  void offer(NameId name, char letter, Choices& choices) {
    const std::string_view old = module_.text(name);
    if (!isWord(old[0]) || names_.contains(old)) return;
    std::string now;
    uint32_t& next = next_[letter];
    do now = letter + std::to_string(next++);
    while (module_.names.find(now).valid());
    names_.emplace(old, now.size() < old.size() && choices.take() ? now : std::string());
  }

  void apply(Edit& edit) const {
    const std::string_view source = module_.source;
    for (std::size_t at = 0; at < source.size();) {
      if (source[at] == '"') {  // a string has no escaped quotes
        at = std::min(source.find('"', at + 1), source.size() - 1) + 1;
        continue;
      }
      const std::size_t begin = at++;
      if (!isWord(source[begin])) continue;
      while (at < source.size() && isWord(source[at])) ++at;
      // What follows a dot is not a name of the module.
      if (begin > 0 && source[begin - 1] == '.') continue;
      const auto found = names_.find(source.substr(begin, at - begin));
      if (found != names_.end() && !found->second.empty())
        edit.replace({static_cast<uint32_t>(begin), static_cast<uint32_t>(at)}, found->second);
    }
  }

 private:
  const Module& module_;
  std::map<std::string_view, std::string> names_;  // empty: not to be changed
  std::map<char, uint32_t> next_;
};

}  // namespace

// For everything but registers, builtins and kernels.
void shortenNames(Edit& edit, Choices& choices) {
  const Module& m = edit.module;
  ShortNames names(m);
  for (const Variable& v : m.variables) names.offer(v.name, 'v', choices);
  for (const Function& f : m.functions) {
    // The driver and ptxas know vprintf, malloc and their like by name: those have no body.
    if (!f.isEntry && f.hasBody) names.offer(f.name, 'f', choices);
    for (const Variable& v : f.variables) names.offer(v.name, v.isParameter ? 'p' : 'v', choices);
    for (const Label& label : f.labels) names.offer(label.name, 'L', choices);
  }
  names.apply(edit);
}

void shortenKernelNames(Edit& edit, Choices& choices) {
  ShortNames names(edit.module);
  for (const Function& f : edit.module.functions)
    if (f.isEntry) names.offer(f.name, 'k', choices);
  names.apply(edit);
}

}  // namespace ptxopt::reduce
