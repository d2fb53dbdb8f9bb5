// A kernel is found by its name, or by its name without hashes of source paths. A digest of its tokens, with labels
// numbered and .loc left out, says whether the text is the same: loops are then matched by index, otherwise by labels
// and the labels of copies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "facts/facts.h"
#include "profile/profile.h"
#include "support/demangle.h"
#include "text/instruction_printer.h"
#include "text/lexer.h"

namespace ptxopt::profile {
namespace {

bool isWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

// Words of these beginnings are followed by a hash of the path of the source.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kHashed{
    {{"_GLOBAL__N_", "(anonymous namespace)"}, {"_INTERNAL_", "(internal)"}}};

std::string withoutHashes(std::string text) {
  for (const auto& [word, meaning] : kHashed)
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + meaning.size())) {
      std::size_t end = at;
      while (end < text.size() && isWordCharacter(text[end])) ++end;
      text.replace(at, end - at, meaning);
    }
  return text;
}

bool hasHash(std::string_view word) {
  return std::ranges::any_of(kHashed, [&](const auto& h) { return word.find(h.first) != word.npos; });
}

// FNV-1a of 64 bits.
class Hash {
 public:
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(0);  // words do not run together
  }
  std::string text() const { return fmt::format("{:016x}", value_); }

 private:
  void add(unsigned char c) { value_ = (value_ ^ c) * 0x100000001b3; }
  uint64_t value_ = 0xcbf29ce484222325;
};

class Digest {
 public:
  Digest(const Module& module, const Function& f) : module_(module), f_(f), name_(module.text(f.name)) {
    for (const LabelId l : usedLabels(f)) labels_.emplace(module.text(f.labels[l.value].name), labels_.size());
  }

  std::string make() {
    add(f_.header);
    for (const InstrId id : f_) {
      const Instruction& i = f_[id];
      if (i.kind == InstrKind::Loc) continue;
      if (i.kind == InstrKind::Label && !labels_.contains(module_.text(f_.labels[i.payload].name))) continue;
      add({i.sourceBegin, i.sourceEnd});
    }
    return hash_.text();
  }

 private:
  void add(SourceRange range) {
    text::Lexer lexer(module_.text(range));
    text::Token token;
    for (lexer.next(token); token.type != text::Token::kEnd; lexer.next(token)) addWord(token.view());
  }

  void addWord(std::string_view word) {
    if (const auto label = labels_.find(word); label != labels_.end())
      hash_.add(fmt::format(":{}", label->second));
    else if (word.starts_with(name_))  // its parameters are named after it
      hash_.add(fmt::format("@{}", word.substr(name_.size())));
    else if (hasHash(word))
      hash_.add(matchName(word));
    else
      hash_.add(word);
  }

  const Module& module_;
  const Function& f_;
  std::string_view name_;
  std::map<std::string_view, std::size_t> labels_;
  Hash hash_;
};

// Finds a module's kernels in a profile.
class Matcher {
 public:
  Matcher(Module& module, const File& file) : module_(module), file_(file), isFound_(file.kernels.size()) {
    for (std::size_t i = 0; i < file.kernels.size(); ++i) {
      byName_[file.kernels[i].name].push_back(i);
      byMatchName_[matchName(file.kernels[i].name)].push_back(i);
    }
  }

  void run(Match* match, const std::function<bool(const Function&)>& isUsed) {
    const double all = file_.time();
    std::vector<LaunchProfile> profiles(module_.functions.size());
    uint64_t found = 0;
    for (const Function& f : module_.functions) {
      if (!f.isEntry || !f.hasBody) continue;
      LaunchProfile& profile = profiles[f.index];
      profile = profileOf(f);
      if (all > 0) profile.share = profile.time / all;
      found += profile.isSeen();
      if (isUsed && !isUsed(f)) profile = {};
    }
    if (match != nullptr) {
      match->kernels = found;
      for (std::size_t i = 0; i < isFound_.size(); ++i)
        if (!isFound_[i]) match->unmatched.push_back(matchName(file_.kernels[i].name));
    }
    if (found == 0) return;
    module_.profiles = std::move(profiles);
    giveLoops();
  }

 private:
  LaunchProfile profileOf(const Function& f) {
    const std::string name(module_.text(f.name));
    auto named = byName_.find(name);
    if (named == byName_.end() && (named = byMatchName_.find(matchName(name))) == byMatchName_.end()) return {};
    const std::vector<uint32_t> bytes = parameterBytes(module_, f);
    const std::string digest = digestOf(module_, f);
    const bool isSame = std::ranges::any_of(named->second, [&](std::size_t i) {
      return file_.kernels[i].digest == digest && file_.kernels[i].parameterBytes == bytes;
    });
    SeenKernel seen;
    LaunchProfile profile;
    const std::vector<LabelId> labels = usedLabels(f);
    for (const std::size_t i : named->second) {
      const SeenKernel& k = file_.kernels[i];
      isFound_[i] = true;
      if (k.parameterBytes != bytes || (isSame && k.digest != digest)) continue;
      seen.launches += k.launches;
      seen.time += k.time;
      seen.classes.insert(seen.classes.end(), k.classes.begin(), k.classes.end());
      for (const SeenLoop& l : k.loops)
        for (const LabelId header : headersOf(f, labels, l, isSame))
          addLoop(profile.loops, {header, l.entries, l.iterations});
    }
    boundClasses(seen);
    profile.launches = seen.launches;
    profile.time = seen.time;
    profile.classes = std::move(seen.classes);
    return profile;
  }

  // The loop, and its copies, which say so by their labels (text::MadeNames). A copy that the profile has and the text has not is the
  // loop itself.
  std::vector<LabelId> headersOf(const Function& f, const std::vector<LabelId>& labels, const SeenLoop& loop,
                                 bool isSame) const {
    std::vector<LabelId> headers;
    if (isSame) {
      if (loop.index < labels.size()) headers.push_back(labels[loop.index]);
      return headers;
    }
    const auto nameOf = [&](LabelId l) { return module_.text(f.labels[l.value].name); };
    const std::string_view of = text::MadeNames::copiedLabel(loop.label);
    if (of != loop.label)
      if (const auto same = std::ranges::find(labels, loop.label, nameOf); same != labels.end()) return {*same};
    std::ranges::copy_if(labels, std::back_inserter(headers),
                         [&](LabelId l) { return text::MadeNames::copiedLabel(nameOf(l)) == of; });
    return headers;
  }

  static void addLoop(std::vector<LoopCount>& loops, const LoopCount& loop) {
    const auto known = std::ranges::find(loops, loop.header, &LoopCount::header);
    if (known == loops.end()) {
      loops.push_back(loop);
      return;
    }
    known->entries += loop.entries;
    known->iterations += loop.iterations;
  }

  // What passes ask of loops, they ask of facts.
  void giveLoops() {
    const auto says = [&](const Function& f) { return !module_.profiles[f.index].loops.empty(); };
    if (std::ranges::none_of(module_.functions, says)) return;
    if (module_.facts.empty()) {
      module_.facts.resize(module_.functions.size());
      for (const Function& f : module_.functions) module_.facts[f.index] = facts::factsOfAll(module_, f);
    }
    for (const Function& f : module_.functions) {
      KernelFacts& said = module_.facts[f.index];
      if (said.iterations != 0) continue;
      for (const LoopCount& loop : module_.profiles[f.index].loops) {
        const bool isSaid = std::ranges::find(said.loops, loop.header, &LoopFact::header) != said.loops.end();
        if (isSaid || loop.entries == 0) continue;  // of a loop that was never entered nothing is known
        const double each = static_cast<double>(loop.iterations) / static_cast<double>(loop.entries);
        said.loops.push_back({loop.header, static_cast<uint32_t>(std::clamp(std::round(each), 1.0, 4e9))});
      }
    }
  }

  Module& module_;
  const File& file_;
  std::map<std::string, std::vector<std::size_t>> byName_, byMatchName_;
  std::vector<bool> isFound_;
};

}  // namespace

std::string matchName(std::string_view name) { return withoutHashes(readableName(name)); }

std::string digestOf(const Module& module, const Function& f) { return Digest(module, f).make(); }

std::vector<LabelId> usedLabels(const Function& f) {
  std::vector<bool> isUsed(f.labels.size());
  for (const InstrId id : f)
    for (const Operand& o : f.operandsOf(f[id]))
      if (o.kind == OperandKind::Label) isUsed[o.payload] = true;
  std::vector<LabelId> used;
  for (const InstrId id : f)
    if (f[id].kind == InstrKind::Label && isUsed[f[id].payload]) used.emplace_back(f[id].payload);
  return used;
}

std::vector<uint32_t> parameterBytes(const Module& module, const Function& f) {
  std::vector<uint32_t> bytes;
  for (const VariableId id : f.parameters) {
    const Variable& v = f.variables[id.value];
    const DeclarationForm& form = module.declarationForms[v.form];
    bytes.push_back(static_cast<uint32_t>(info(form.type).bits / 8 * form.lanes * v.declarator.elements));
  }
  return bytes;
}

std::string read(std::string_view json, std::string_view name, Module& module, Match* match,
                 const std::function<bool(const Function&)>& isUsed) {
  if (json.empty()) return {};
  auto parsed = parse(json, name);
  if (std::string* const error = std::get_if<std::string>(&parsed)) return std::move(*error);
  Matcher(module, std::get<File>(parsed)).run(match, isUsed);
  return {};
}

}  // namespace ptxopt::profile
