// Facts start from what PTX itself allows and declares, and each entry is intersected with what is known so far; an
// empty intersection is an error. The file is read before the comments, and what depends on several facts is checked at
// the end.
#include "facts/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "facts/comments.h"
#include "support/json.h"

namespace ptxopt::facts {
namespace {

constexpr const char* kComponents = "xyz";
constexpr int64_t kMostThreads = 1024;
constexpr std::array<int64_t, 3> kMostBlock{1024, 1024, 64}, kMostGrid{INT32_MAX, UINT16_MAX, UINT16_MAX};

constexpr std::array kMemoryWords{"align", "noalias", "readonly", "bytes"};

struct Wrong {
  std::string message;
};

[[noreturn]] void wrong(std::string message) { throw Wrong{std::move(message)}; }

// * is any text, ? any character.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

void needWords(const SortedJson& object, std::string_view what, std::initializer_list<std::string_view> words) {
  if (!object.is_object()) wrong(fmt::format("{} is not an object", what));
  for (const auto& [key, value] : object.items())
    if (std::find(words.begin(), words.end(), key) == words.end())
      wrong(fmt::format("{} has '{}', which nothing is known of; it takes {}", what, key, fmt::join(words, ", ")));
}

int64_t integer(const SortedJson& value, std::string_view what) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)
    wrong(fmt::format("{} is {}, more than {}", what, dumpJson(value), INT64_MAX));
  if (!value.is_number_integer()) wrong(fmt::format("{} is {}, no whole number", what, dumpJson(value)));
  return value.get<int64_t>();
}

// A number, or an object that `words` allows beside the number's own.
NumberFact number(const SortedJson& json, const std::string& what) {
  NumberFact fact;
  if (!json.is_object()) {
    fact.least = fact.most = integer(json, what);
    return fact;
  }
  if (json.contains("value")) {
    if (json.contains("least") || json.contains("most") || json.contains("multiple"))
      wrong(what + " has a value, and a range");
    fact.least = fact.most = integer(json["value"], what);
    return fact;
  }
  if (json.contains("least")) fact.least = integer(json["least"], what + ", least,");
  if (json.contains("most")) fact.most = integer(json["most"], what + ", most,");
  if (json.contains("multiple")) {
    const int64_t multiple = integer(json["multiple"], what + ", multiple,");
    if (multiple < 1) wrong(fmt::format("{} is a multiple of {}", what, multiple));
    fact.multiple = static_cast<uint64_t>(multiple);
  }
  return fact;
}

// The ends of what both allow, moved to multiples.
void meet(NumberFact& known, const NumberFact& also, const std::string& what) {
  NumberFact both{std::max(known.least, also.least), std::min(known.most, also.most)};
  const auto none = [&] { wrong(what + " has no value that all facts allow"); };
  const uint64_t divisor = std::gcd(known.multiple, also.multiple);
  if (also.multiple / divisor > INT64_MAX / known.multiple)
    wrong(what + " is a multiple of more than 64 bits hold");
  both.multiple = known.multiple / divisor * also.multiple;
  const auto step = static_cast<int64_t>(both.multiple);
  // How far a number is above the multiple before it.
  const auto above = [&](int64_t n) { return n % step < 0 ? n % step + step : n % step; };
  if (const int64_t over = above(both.least); both.least != INT64_MIN && over != 0) {
    if (both.least > INT64_MAX - (step - over)) none();
    both.least += step - over;
  }
  if (const int64_t over = above(both.most); both.most != INT64_MAX && over != 0) {
    if (both.most < INT64_MIN + over) none();
    both.most -= over;
  }
  if (both.least > both.most) none();
  known = both;
}

bool isNumber(const Module& module, const Variable& parameter) {
  const DeclarationForm& form = module.declarationForms[parameter.form];
  return parameter.declarator.dimensions.empty() && form.lanes == 1 && isInteger(form.type);
}

bool holdsAddress(const Module& module, const Variable& parameter) {
  return isNumber(module, parameter) && info(module.declarationForms[parameter.form].type).bits == 64;
}

bool flag(const SortedJson& json, const std::string& what) {
  if (!json.is_boolean()) wrong(fmt::format("{} is {}, neither true nor false", what, dumpJson(json)));
  return json.get<bool>();
}

// Takes what is said of the memory from `said`; the alignment becomes a multiple.
PointerFact memoryOf(SortedJson& said, NumberFact& address, const std::string& what) {
  PointerFact fact;
  if (said.contains("align")) {
    const int64_t align = integer(said["align"], what + ", align,");
    if (align < 1 || !std::has_single_bit(static_cast<uint64_t>(align)))
      wrong(fmt::format("{} is aligned by {}, no power of two", what, align));
    address.multiple = static_cast<uint64_t>(align);
  }
  if (said.contains("noalias")) fact.isNoalias = flag(said["noalias"], what + ", noalias,");
  if (said.contains("readonly")) fact.isReadonly = flag(said["readonly"], what + ", readonly,");
  if (said.contains("bytes")) {
    const int64_t bytes = integer(said["bytes"], what + ", bytes,");
    if (bytes < 1) wrong(fmt::format("{} leads to {} bytes", what, bytes));
    fact.bytes = static_cast<uint64_t>(bytes);
  }
  for (const char* const word : kMemoryWords) said.erase(word);
  return fact;
}

// All numbers of that many bits. Unsigned 64-bit numbers above INT64_MAX count as INT64_MAX.
NumberFact all(unsigned bits, bool isSigned) {
  if (bits == 64) return {isSigned ? INT64_MIN : 0, INT64_MAX};
  if (isSigned) return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  return {0, (int64_t{1} << bits) - 1};
}

class Reader {
 public:
  explicit Reader(Module& module) : module_(module) {
    facts_.resize(module.functions.size());
    for (const Function& f : module.functions) facts_[f.index] = factsOfAll(module, f);
  }

  // One kernel's facts.
  void add(const Function& f, const SortedJson& entry, const std::string& where) {
    KernelFacts& facts = facts_[f.index];
    isSaid_ = true;
    shape(facts.block, entry, "block", where);
    shape(facts.grid, entry, "grid", where);
    uint64_t least = 1;
    for (const NumberFact& n : facts.block) least *= static_cast<uint64_t>(n.least);
    if (least > kMostThreads)
      wrong(fmt::format("{}: a block has at least {} threads, {} is most", where, least, kMostThreads));
    if (entry.contains("iterations")) iterations(facts.iterations, entry["iterations"], where + ": iterations");
    if (entry.contains("loops")) loops(f, facts, entry["loops"], where + ": loops");
    if (!entry.contains("parameters")) return;
    if (!entry["parameters"].is_array()) wrong(where + ": parameters is not a list");
    for (const SortedJson& p : entry["parameters"]) parameter(f, facts, p, where);
  }

  void addFile(const SortedJson& file, const std::string& name, std::vector<std::string>* ofOthers) {
    needWords(file, name, {"version", "kernels"});
    if (!file.contains("version") || file["version"] != 1) wrong(name + ": the version is not 1");
    if (!file.contains("kernels") || !file["kernels"].is_array()) wrong(name + ": kernels is not a list");
    for (const SortedJson& entry : file["kernels"]) {
      needWords(entry, name + ": an entry of kernels",
                {"kernel", "block", "grid", "iterations", "loops", "parameters"});
      if (!entry.contains("kernel") || !entry["kernel"].is_string()) wrong(name + ": a kernel without a name");
      const auto pattern = entry["kernel"].get<std::string>();
      bool isFound = false;
      for (const Function& f : module_.functions) {
        if (!f.isEntry || !f.hasBody || !matches(pattern, module_.text(f.name))) continue;
        isFound = true;
        add(f, entry, fmt::format("{}: {}", name, module_.text(f.name)));
      }
      if (isFound) continue;
      if (ofOthers == nullptr) wrong(fmt::format("{}: no kernel matches '{}'", name, pattern));
      ofOthers->push_back(pattern);
    }
  }

  void addComments() {
    isInText_ = true;
    for (const Function& f : module_.functions) {
      if (!f.isEntry || !f.hasBody) continue;
      const std::string_view text = module_.text(f.source);
      for (const std::size_t at : factsComments(text)) {
        const SourcePosition place = locate(module_.source, f.source.begin + at);
        const std::string where =
            fmt::format("{}:{}:{}: {}", module_.fileName, place.line, place.column, module_.text(f.name));
        std::string_view json = text.substr(at + kFactsComment.size());
        json = json.substr(0, json.find('\n'));
        const SortedJson entry = parsed(json, where);
        needWords(entry, where, {"block", "grid", "iterations", "loops", "parameters"});
        add(f, entry, where);
      }
    }
  }

  // JSON that nests no deeper than facts do, and has no word twice in an object.
  static SortedJson parsed(std::string_view text, const std::string& where) {
    constexpr int kMostDepth = 8;
    std::vector<std::set<std::string>> words;  // of the objects that are open
    const auto check = [&](int depth, SortedJson::parse_event_t event, const SortedJson& value) {
      if (depth > kMostDepth) wrong(fmt::format("{}: nested deeper than {} levels", where, kMostDepth));
      if (event == SortedJson::parse_event_t::object_start) words.emplace_back();
      if (event == SortedJson::parse_event_t::object_end) words.pop_back();
      if (event == SortedJson::parse_event_t::key && !words.back().insert(value.get<std::string>()).second)
        wrong(fmt::format("{}: an object has '{}' twice", where, value.get<std::string>()));
      return true;
    };
    try {
      return SortedJson::parse(text, check);
    } catch (const SortedJson::exception& e) {
      wrong(fmt::format("{}: {}", where, e.what()));
    }
  }

  void finish() {
    if (isSaid_) module_.facts = std::move(facts_);
  }

 private:
  static void shape(std::array<NumberFact, 3>& known, const SortedJson& entry, const char* word,
                    const std::string& where) {
    if (!entry.contains(word)) return;
    const SortedJson& list = entry[word];
    if (!list.is_array() || list.size() > 3)
      wrong(fmt::format("{}: {} is not a list of up to three numbers", where, word));
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string what = fmt::format("{}: {}.{}", where, word, kComponents[i]);
      if (list[i].is_object()) needWords(list[i], what, {"value", "least", "most", "multiple"});
      meet(known[i], number(list[i], what), what);
    }
  }

  static void iterations(uint32_t& known, const SortedJson& said, const std::string& what) {
    const int64_t n = integer(said, what);
    if (n < 1 || n > UINT32_MAX) wrong(fmt::format("{} is {}: 1 to {}", what, n, UINT32_MAX));
    if (known != 0 && known != n) wrong(fmt::format("{} is {} by one fact, and {} by another", what, known, n));
    known = static_cast<uint32_t>(n);
  }

  void loops(const Function& f, KernelFacts& facts, const SortedJson& list, const std::string& what) {
    if (!list.is_array()) wrong(what + " is not a list");
    for (const SortedJson& entry : list) {
      needWords(entry, what, {"label", "iterations"});
      if (!entry.contains("label") || !entry["label"].is_string() || !entry.contains("iterations"))
        wrong(what + ": an entry has a label and iterations");
      const auto name = entry["label"].get<std::string>();
      const auto label = std::ranges::find_if(f.labels, [&](const Label& l) {
        return l.place.valid() && l.name.valid() && module_.text(l.name) == name;
      });
      if (label == f.labels.end() && isInText_) continue;  // a pass took the loop out; the comment stays
      if (label == f.labels.end()) wrong(fmt::format("{}: there is no label '{}'", what, name));
      const LabelId header(static_cast<uint32_t>(label - f.labels.begin()));
      const auto said = std::ranges::find(facts.loops, header, &LoopFact::header);
      uint32_t known = said == facts.loops.end() ? 0 : said->iterations;
      iterations(known, entry["iterations"], fmt::format("{}: {}: iterations", what, name));
      if (said == facts.loops.end()) facts.loops.push_back({header, known});
    }
  }

  void parameter(const Function& f, KernelFacts& facts, const SortedJson& p, const std::string& where) {
    needWords(p, where + ": an entry of parameters",
              {"index", "name", "value", "least", "most", "multiple", "align", "noalias", "readonly", "bytes"});
    if (p.contains("index") == p.contains("name")) wrong(where + ": a parameter has an index or a name");
    const std::size_t index = p.contains("index") ? byIndex(f, p["index"], where) : byName(f, p["name"], where);
    const std::string what = fmt::format("{}: parameter {} ({})", where, index,
                                         module_.text(f.variables[f.parameters[index].value].name));
    const Variable& v = f.variables[f.parameters[index].value];
    const ScalarType type = module_.declarationForms[v.form].type;
    if (!isNumber(module_, v)) wrong(what + " is not an integer");
    SortedJson value = p;
    value.erase("index");
    value.erase("name");
    if (value.empty()) wrong(what + ": nothing is said of it");
    NumberFact& known = facts.parameters[index];
    if (std::ranges::any_of(kMemoryWords, [&](const char* word) { return value.contains(word); })) {
      if (!holdsAddress(module_, v)) wrong(what + " is not an address: these have 64 bits");
      NumberFact address;
      also(facts.pointers[index], memoryOf(value, address, what), what);
      meet(known, address, what);
      if (value.empty()) return;
    }
    const NumberFact fact = number(value, what);
    // Compilers declare signed parameters .u32, too.
    if (!isSignedType(type)) {
      const NumberFact asSigned = all(info(type).bits, true), asUnsigned = all(info(type).bits, false);
      if (fact.least == INT64_MIN && fact.most != INT64_MAX)
        wrong(what + " needs the least value, too: its type does not say whether it has a sign");
      if (fact.least < 0 && fact.least != INT64_MIN) {
        if (known == asUnsigned) known = asSigned;
        if (known.most > asSigned.most) wrong(what + " has a sign by one fact, and none by another");
      }
    }
    meet(known, fact, what);
    // Above it, numbers without a sign count as one.
    if (known.least == INT64_MAX && !isSignedType(type))
      wrong(fmt::format("{} is {} or more, and facts know less of numbers without a sign", what, INT64_MAX));
  }

  static void also(PointerFact& known, const PointerFact& fact, const std::string& what) {
    if (known.bytes != 0 && fact.bytes != 0 && known.bytes != fact.bytes)
      wrong(fmt::format("{} leads to {} bytes by one fact, and to {} by another", what, known.bytes, fact.bytes));
    known.isNoalias |= fact.isNoalias;
    known.isReadonly |= fact.isReadonly;
    known.bytes = std::max(known.bytes, fact.bytes);
  }

  static std::size_t byIndex(const Function& f, const SortedJson& index, const std::string& where) {
    const int64_t i = integer(index, where + ": the index of a parameter");
    if (i < 0 || static_cast<std::size_t>(i) >= f.parameters.size())
      wrong(fmt::format("{}: there is no parameter {}; they have the numbers 0 to {}", where, i,
                        static_cast<int64_t>(f.parameters.size()) - 1));
    return static_cast<std::size_t>(i);
  }

  std::size_t byName(const Function& f, const SortedJson& name, const std::string& where) const {
    if (!name.is_string()) wrong(where + ": the name of a parameter is not text");
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
      if (module_.text(f.variables[f.parameters[i].value].name) == name.get<std::string>()) return i;
    wrong(fmt::format("{}: there is no parameter '{}'", where, name.get<std::string>()));
  }

  Module& module_;
  std::vector<KernelFacts> facts_;
  bool isSaid_ = false;
  bool isInText_ = false;  // what is read are comments, which outlive labels
};

}  // namespace

KernelFacts factsOfAll(const Module& module, const Function& f) {
  KernelFacts facts;
  if (!f.isEntry) return facts;
  for (std::size_t i = 0; i < 3; ++i) {
    facts.block[i] = {1, kMostBlock[i]};
    facts.grid[i] = {1, kMostGrid[i]};
  }
  for (const FunctionDirective& d : f.directives)
    if (module.text(d.name) == ".reqntid")
      for (std::size_t i = 0; i < 3; ++i) {
        const int64_t size = i < d.valueCount ? d.values[i] : 1;
        if (size >= 1 && size <= kMostBlock[i]) facts.block[i] = {size, size};
      }
  facts.parameters.resize(f.parameters.size());
  facts.pointers.resize(f.parameters.size());
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const Variable& v = f.variables[f.parameters[i].value];
    const DeclarationForm& form = module.declarationForms[v.form];
    if (!isNumber(module, v)) continue;
    facts.parameters[i] = all(info(form.type).bits, isSignedType(form.type));
    // `.param .u64 .ptr .global .align 16`
    if (std::has_single_bit(form.pointeeAlignment)) facts.parameters[i].multiple = form.pointeeAlignment;
  }
  return facts;
}

std::vector<std::pair<std::size_t, std::size_t>> pairsApart(const Module& module, const Function& kernel) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const std::vector<PointerFact>& pointers = module.facts[kernel.index].pointers;
  for (std::size_t i = 0; i < pointers.size(); ++i)
    for (std::size_t k = 0; pointers[i].isNoalias && k < pointers.size(); ++k) {
      const bool isOther = k != i && (!pointers[k].isNoalias || k > i);
      if (!isOther || !holdsAddress(module, kernel.variables[kernel.parameters[k].value])) continue;
      if (!pointers[i].isReadonly || !pointers[k].isReadonly) pairs.emplace_back(i, k);
    }
  return pairs;
}

bool hasFacts(const Module& module, const Function& kernel) {
  if (module.facts.empty() || !kernel.isEntry) return false;
  const KernelFacts all = factsOfAll(module, kernel), &said = module.facts[kernel.index];
  return said.block != all.block || said.grid != all.grid || said.parameters != all.parameters ||
         said.pointers != all.pointers || said.hasIterations();
}

std::string readFacts(std::string_view json, std::string_view fileName, Module& module,
                      std::vector<std::string>* ofOthers) {
  const bool hasComments = module.source.find(kFactsComment) != std::string_view::npos;
  if (json.empty() && !hasComments) return {};
  try {
    Reader reader(module);
    if (!json.empty()) reader.addFile(Reader::parsed(json, std::string(fileName)), std::string(fileName), ofOthers);
    if (hasComments) reader.addComments();
    reader.finish();
    return {};
  } catch (const Wrong& e) {
    return e.message;
  }
}

}  // namespace ptxopt::facts
