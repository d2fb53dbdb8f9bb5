#include "link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "link/unit.h"

namespace ptxopt::link {
namespace {

// What a name that all texts share stands for.
struct Shared {
  const Unit* unit = nullptr;
  const Declared* kept = nullptr;  // the definition, or a declaration where there is none
};

using SharedNames = std::unordered_map<std::string_view, Shared>;

unsigned strength(const Declared& d) {
  if (!d.isDefinition) return 0;
  switch (d.linkage) {
    case Linkage::Common: return 1;
    case Linkage::Weak: return 2;
    default: return 3;
  }
}

// Which of two is kept, by what one says of itself: `.extern .shared` ones and common ones by how large they are.
bool isLarger(const Declared& a, const Declared& b) {
  if (a.isOpenShared && a.alignment != b.alignment) return a.alignment > b.alignment;
  return a.bytes > b.bytes;
}

void check(const Unit& unit, const Declared& d, const Shared& other) {
  const auto offset = unit.module->items[d.item].source.begin;
  const Declared& o = *other.kept;
  if (d.isFunction != o.isFunction)
    refuse(unit, offset,
           fmt::format("'{}' is a {} here, and a {} in {}", d.name, d.isFunction ? "function" : "variable",
                       o.isFunction ? "function" : "variable", other.unit->fileName));
  if (strength(d) == 3 && strength(o) == 3)
    refuse(unit, offset, fmt::format("'{}' is defined in {}, too", d.name, other.unit->fileName));
  const bool isCommon = d.linkage == Linkage::Common || o.linkage == Linkage::Common;
  if (!isCommon && !d.isOpenShared && d.bytes != 0 && o.bytes != 0 && d.bytes != o.bytes)
    refuse(unit, offset,
           fmt::format("'{}' has {} bytes here, and {} in {}", d.name, d.bytes, o.bytes, other.unit->fileName));
}

SharedNames sharedNames(const std::vector<Unit>& units) {
  SharedNames names;
  for (const Unit& unit : units)
    for (const Declared& d : unit.declared) {
      if (d.isLocal()) continue;
      Shared& s = names[d.name];
      if (s.kept == nullptr) {
        s = {&unit, &d};
        continue;
      }
      // A text may declare what it defines.
      if (s.unit != &unit) check(unit, d, s);
      const unsigned mine = strength(d), theirs = strength(*s.kept);
      if (mine > theirs || (mine == theirs && mine <= 1 && isLarger(d, *s.kept))) s = {&unit, &d};
    }
  return names;
}

// Gives own names that another text has at module level another spelling.
void renameOwn(std::vector<Unit>& units) {
  std::unordered_map<std::string_view, const Unit*> firstWith;
  std::set<std::string_view> taken;  // all spellings: a new one meets none of them
  for (const Unit& unit : units)
    for (uint32_t n = 0; n < unit.module->names.size(); ++n) taken.insert(unit.module->names[NameId(n)]);
  // Names that are seen everywhere keep theirs.
  for (const Unit& unit : units)
    for (const Declared& d : unit.declared)
      if (!d.isLocal()) firstWith.try_emplace(d.name, nullptr);
  std::set<std::string> made;
  for (Unit& unit : units)
    for (const Declared& d : unit.declared) {
      if (!d.isLocal() || unit.renamed.contains(d.name)) continue;
      const auto [found, isNew] = firstWith.try_emplace(d.name, &unit);
      if (isNew || found->second == &unit) continue;
      std::string spelling;
      for (unsigned i = 1; spelling.empty() || taken.contains(spelling) || made.contains(spelling); ++i)
        spelling = fmt::format("{}__{}", d.name, i);
      made.insert(spelling);
      unit.renamed[d.name] = std::move(spelling);
    }
}

// ---- the head ----

unsigned architectureOf(const Module& module) {
  unsigned number = 0;
  for (const char c : module.architecture())
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

// What .target says beyond the architecture, without `debug`.
std::vector<std::string_view> modesOf(const Module& module) {
  std::vector<std::string_view> modes;
  for (std::size_t i = 1; i < module.target.size(); ++i)
    if (const std::string_view mode = module.text(module.target[i]); mode != "debug") modes.push_back(mode);
  return modes;
}

std::string headOf(const std::vector<Unit>& units) {
  const Module* newest = units.front().module.get();
  std::pair<uint32_t, uint32_t> version;
  uint32_t addressSize = 0;
  for (const Unit& unit : units) {
    const Module& m = *unit.module;
    version = std::max(version, {m.versionMajor, m.versionMinor});
    if (architectureOf(m) > architectureOf(*newest) ||
        (architectureOf(m) == architectureOf(*newest) && m.architecture().size() > newest->architecture().size()))
      newest = &m;
    if (addressSize != 0 && m.addressSize != 0 && m.addressSize != addressSize)
      throw Refused{fmt::format("{}: error: addresses of {} bits, and of {} in other files\n", unit.fileName,
                                m.addressSize, addressSize)};
    if (m.addressSize != 0) addressSize = m.addressSize;
    if (modesOf(m) != modesOf(*units.front().module))
      throw Refused{
          fmt::format("{}: error: .target has other modes than in {}\n", unit.fileName, units.front().fileName)};
  }
  std::string out =
      fmt::format(".version {}.{}\n.target {}", version.first, version.second, newest->architecture());
  for (const std::string_view mode : modesOf(*newest)) out += fmt::format(", {}", mode);
  out += '\n';
  if (addressSize != 0) out += fmt::format(".address_size {}\n", addressSize);
  return out;
}

// ---- the items ----

bool beginsWith(const Module& module, const Item& item, std::string_view directive) {
  return module.text(item.source).starts_with(directive);
}

class Writer {
 public:
  Writer(const std::vector<Unit>& units, const SharedNames& shared) : units_(units), shared_(shared) {}

  std::string write() {
    std::string out = headOf(units_) + '\n';
    for (const Unit& unit : units_) directives(out, unit);
    for (const Unit& unit : units_) prototypes(out, unit);
    for (const Unit& unit : units_) variables(out, unit);
    for (const Unit& unit : units_) aliases(out, unit);
    for (const Unit& unit : units_) functions(out, unit);
    return out;
  }

 private:
  bool isKept(const Declared& d) const { return d.isLocal() || shared_.at(d.name).kept == &d; }

  static void item(std::string& out, const Unit& unit, SourceRange range) { out += unit.written(range) + '\n'; }

  // .file and .pragma; the head is written already.
  static void directives(std::string& out, const Unit& unit) {
    for (const Item& i : unit.module->items)
      if (i.kind == ItemKind::Directive &&
          (beginsWith(*unit.module, i, ".file") || beginsWith(*unit.module, i, ".pragma")))
        item(out, unit, i.source);
  }

  // Of each function that is called, once: of its definition where there is one.
  void prototypes(std::string& out, const Unit& unit) {
    for (const Declared& d : unit.declared) {
      if (!d.isFunction || d.function->isEntry) continue;
      if (!d.isLocal() && shared_.at(d.name).kept != &d) continue;
      if (d.isLocal() && !ownPrototypes_[&unit].insert(d.name).second) continue;
      out += unit.written(d.isDefinition ? d.function->header : d.function->source);
      out += d.isDefinition ? "\n;\n" : "\n";
    }
  }

  void variables(std::string& out, const Unit& unit) {
    for (const Declared& d : unit.declared)
      if (!d.isFunction && isKept(d)) variable(out, unit, d);
  }

  void variable(std::string& out, const Unit& unit, const Declared& d) {
    const auto [state, isNew] = variables_.try_emplace({&unit, d.item}, State::Open);
    if (!isNew) {
      if (state->second == State::Open)
        refuse(unit, unit.module->items[d.item].source.begin,
               fmt::format("the initial value of '{}' is made of its own address, by those of others", d.name));
      return;
    }
    const SourceRange source = unit.module->items[d.item].source;
    for (const std::string_view name : unit.namesInInitialValues(source))
      if (const Shared other = meant(unit, name);
          other.kept != nullptr && !other.kept->isFunction && (other.unit != &unit || other.kept->item != d.item))
        variable(out, *other.unit, *other.kept);
    item(out, unit, source);
    variables_[{&unit, d.item}] = State::Written;
  }

  // What a text means by a name; nothing where it is none of the module's.
  Shared meant(const Unit& unit, std::string_view name) const {
    if (const auto own = unit.own.find(name); own != unit.own.end()) return {&unit, &unit.declared[own->second]};
    const auto found = shared_.find(name);
    return found != shared_.end() ? found->second : Shared();
  }

  void aliases(std::string& out, const Unit& unit) {
    for (const Item& i : unit.module->items) {
      if (i.kind != ItemKind::Directive || !beginsWith(*unit.module, i, ".alias")) continue;
      std::string text = unit.written(i.source);
      if (aliases_.insert(text).second) out += text + '\n';
    }
  }

  void functions(std::string& out, const Unit& unit) const {
    for (const Declared& d : unit.declared)
      if (d.isFunction && d.isDefinition && isKept(d)) item(out, unit, d.function->source);
  }

  const std::vector<Unit>& units_;
  const SharedNames& shared_;
  enum class State : uint8_t { Open, Written };
  std::map<std::pair<const Unit*, std::size_t>, State> variables_;  // by item
  std::unordered_map<const Unit*, std::set<std::string_view>> ownPrototypes_;
  std::set<std::string> aliases_;
};

}  // namespace

std::variant<std::string, LinkError> link(std::span<const Input> inputs) {
  try {
    std::vector<Unit> units;
    uint32_t files = 0;
    for (const Input& input : inputs) {
      units.push_back(readUnit(input));
      units.back().firstFile = files;
      files += units.back().files;
    }
    renameOwn(units);
    const SharedNames shared = sharedNames(units);
    return Writer(units, shared).write();
  } catch (const Refused& refused) {
    return LinkError{refused.message};
  }
}

}  // namespace ptxopt::link
