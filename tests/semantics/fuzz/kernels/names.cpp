#include "names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace kernels {
namespace {

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

constexpr std::string_view kSpecial[] = {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"};

// The letters before the number: of "%rd12" "%rd".
std::string_view stem(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  return name.substr(0, end);
}

class Names {
 public:
  explicit Names(Random& random) : random_(random) {
    label_ = random.pick({"$L", "L", "_L", "%L", "bra", "ret", "$"});
    function_ = random.pick({"%fn", "%fn", "$fn", "_fn", "%call", "%f$", "fma"});
  }

  std::string of(std::string_view name) {
    if (name.starts_with("$L")) return label_ + std::string(name.substr(2));
    if (name.starts_with("device_")) return function_ + std::string(name.substr(7));
    if (name[0] != '%' || std::ranges::find(kSpecial, name) != std::end(kSpecial)) return std::string(name);
    const std::string from(stem(name));
    auto found = stems_.find(from);
    if (found == stems_.end()) found = stems_.emplace(from, newStem(from)).first;
    return found->second + std::string(name.substr(from.size()));
  }

 private:
  std::string newStem(const std::string& old) {
    // Some are types, opcodes and the like with a number behind: u32, b64, v2, bar1. Predicates are %r, and so on.
    static const std::vector<std::string> kStems = {
        "%p", "%r",    "%rd", "%f",  "%fd",     "$r",   "_r", "u",  "b",  "f_",  "v",   "s",  "x",  "r$",
        "%q", "%tidx", "add", "mov", "%ctaid_", "%a$b", "A",  "_a", "ld", "reg", "sm_", "lo", "cc", "p"};
    for (int tries = 0; tries < 50; ++tries) {
      const std::string candidate = random_.chance(20) ? old : random_.pick(kStems);
      const bool taken = candidate == label_ || candidate == function_ || !used_.insert(candidate).second;
      if (!taken) return candidate;
    }
    std::string candidate = old + "_";
    while (!used_.insert(candidate).second) candidate += "_";
    return candidate;
  }

  Random& random_;
  std::string label_, function_;
  std::map<std::string, std::string> stems_;
  std::set<std::string> used_;
};

}  // namespace

std::string withOddNames(Random& random, const std::string& text) {
  Names names(random);
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (text.compare(i, 2, "//") == 0) {
      const std::size_t end = text.find('\n', i);
      result += text.substr(i, end - i);
      i = end;
    } else if ((c == '%' && i + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[i + 1])) != 0) ||
               (isWord(c) && std::isdigit(static_cast<unsigned char>(c)) == 0)) {
      std::size_t end = i + 1;
      while (end < text.size() && isWord(text[end])) ++end;
      result += names.of(std::string_view(text).substr(i, end - i));
      i = end;
    } else if (isWord(c) || c == '.') {
      // Numbers with their letters; what begins with a dot is no name.
      std::size_t end = i + 1;
      while (end < text.size() && isWord(text[end])) ++end;
      result += text.substr(i, end - i);
      i = end;
    } else {
      result += c;
      ++i;
    }
  }
  return result;
}

}  // namespace kernels
