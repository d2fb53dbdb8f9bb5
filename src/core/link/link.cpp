// The order of steps: all texts are read, own names that clash are renamed, shared names are resolved to one definition
// each, and the items are written by kinds.
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
  bool isDeclared = false;         // somewhere without a definition
};

using SharedNames = std::unordered_map<std::string_view, Shared>;

unsigned strength(const Declared& d) {
  if (!d.isDefinition && !d.isAlias) return 0;
  switch (d.linkage) {
    case Linkage::Common: return 1;
    case Linkage::Weak: return 2;
    default: return 3;
  }
}

std::string_view spaceOf(const Declared& d) {
  switch (d.space) {
    case DeclaredSpace::Const: return ".const";
    case DeclaredSpace::Shared: return ".shared";
    case DeclaredSpace::Tex: return ".tex";
    default: return ".global";
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
  if (!d.isFunction && spaceOf(d) != spaceOf(o))
    refuse(unit, offset,
           fmt::format("'{}' is {} here, and {} in {}", d.name, spaceOf(d), spaceOf(o), other.unit->fileName));
  if (d.linkage == Linkage::Common && o.linkage == Linkage::Common &&
      (d.bytes < o.bytes ? d.alignment > o.alignment : d.alignment < o.alignment && d.bytes != o.bytes))
    refuse(
        unit, offset,
        fmt::format("'{}' is larger in one of the files, and aligned to more in {}", d.name, other.unit->fileName));
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
      s.isDeclared |= !d.isDefinition;
      if (s.kept == nullptr) {
        s.unit = &unit;
        s.kept = &d;
        continue;
      }
      // A text may declare what it defines.
      if (s.unit != &unit) check(unit, d, s);
      const unsigned mine = strength(d), theirs = strength(*s.kept);
      if (mine > theirs || (mine == theirs && mine <= 1 && isLarger(d, *s.kept))) {
        s.unit = &unit;
        s.kept = &d;
      }
    }
  return names;
}

// Gives own names that another text has at module level another spelling, and labels: where a name is both, ptxas takes a
// branch ahead for one to a variable.
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
  const auto rename = [&](Unit& unit, std::string_view name) {
    std::string spelling;
    for (unsigned i = 1; spelling.empty() || taken.contains(spelling) || made.contains(spelling); ++i)
      spelling = fmt::format("{}__{}", name, i);
    made.insert(spelling);
    unit.renamed[name] = std::move(spelling);
  };
  for (Unit& unit : units)
    for (const Declared& d : unit.declared) {
      if (!d.isLocal() || unit.renamed.contains(d.name)) continue;
      const auto [found, isNew] = firstWith.try_emplace(d.name, &unit);
      if (!isNew && found->second != &unit) rename(unit, d.name);
    }
  for (Unit& unit : units)
    for (const Function& f : unit.module->functions)
      for (const Label& l : f.labels) {
        const std::string_view name = unit.module->text(l.name);
        if (firstWith.contains(name) && unit.find(name) == nullptr && !unit.renamed.contains(name))
          rename(unit, name);
      }
}

// ---- the head ----

// Its number, then what it has beyond it: sm_100 has less than sm_100f, and that less than sm_100a.
std::pair<unsigned, char> architectureOf(const Module& module) {
  const std::string_view name = module.architecture();
  unsigned number = 0;
  for (const char c : name)
    if (c >= '0' && c <= '9') number = number * 10 + static_cast<unsigned>(c - '0');
  constexpr std::string_view kLetters = "fa";
  const std::size_t letter = name.empty() ? kLetters.npos : kLetters.find(name.back());
  return {number, letter == kLetters.npos ? '\0' : static_cast<char>(letter + 1)};
}

// What .target says beyond the architecture, without `debug` and what holds anyway.
std::vector<std::string_view> modesOf(const Module& module) {
  std::vector<std::string_view> modes;
  for (std::size_t i = 1; i < module.target.size(); ++i)
    if (const std::string_view mode = module.text(module.target[i]); mode != "debug" && mode != "texmode_unified")
      modes.push_back(mode);
  return modes;
}

std::string headOf(const std::vector<Unit>& units) {
  const Module* newest = units.front().module.get();
  std::pair<uint32_t, uint32_t> version;
  uint32_t addressSize = 0;
  for (const Unit& unit : units) {
    const Module& m = *unit.module;
    version = std::max(version, {m.versionMajor, m.versionMinor});
    if (architectureOf(m) > architectureOf(*newest)) newest = &m;
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

  // Each function that is called, once: what the text says first of it. For kernels that something before them may
  // name.
  void prototypes(std::string& out, const Unit& unit) {
    for (const Declared& d : unit.declared) {
      if (!d.isFunction || !isKept(d) || (d.function->isEntry && !isNamedAhead(unit, d))) continue;
      if (d.isLocal() && !ownPrototypes_[&unit].insert(d.name).second) continue;
      const Declared& first = *unit.find(d.name);
      const Function& shown = *(first.linkage == d.linkage ? first : d).function;
      if (shown.isEntry)
        out += unit.prototypeOf(shown) + '\n';
      else
        out += shown.hasBody ? unit.written(shown.header) + "\n;\n" : unit.written(shown.source) + '\n';
    }
  }

  // A kernel's address may be an initial value; its own text, or another one, may declare it first.
  bool isNamedAhead(const Unit& unit, const Declared& kernel) {
    if (!kernel.isDefinition ||
        (kernel.isLocal() ? !unit.find(kernel.name)->isDefinition : shared_.at(kernel.name).isDeclared))
      return true;
    if (!isInitialValuesRead_)
      for (const Unit& u : units_)
        for (const Declared& d : u.declared)
          if (!d.isFunction && isKept(d))
            for (const std::string_view name : u.namesInInitialValues(u.module->items[d.item].source))
              initialValues_.insert(meant(u, name).kept);
    isInitialValuesRead_ = true;
    return initialValues_.contains(&kernel);
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
    if (const Declared* own = unit.find(name); own != nullptr && own->isLocal()) return {&unit, own};
    const auto found = shared_.find(name);
    return found != shared_.end() ? found->second : Shared();
  }

  void aliases(std::string& out, const Unit& unit) const {
    const auto isDropped = [&](const Declared& d) {
      return d.isAlias && !d.isLocal() && shared_.at(d.name).unit != &unit;
    };
    for (const Item& i : unit.module->items) {
      if (i.kind != ItemKind::Directive || !beginsWith(*unit.module, i, ".alias")) continue;
      const Declared* const d = unit.find(unit.aliasIn(i.source));
      if (d == nullptr || !isDropped(*d)) item(out, unit, i.source);
    }
  }

  void functions(std::string& out, const Unit& unit) const {
    for (const Declared& d : unit.declared)
      if (d.isFunction && d.isDefinition && isKept(d))
        out += unit.written(d.function->source, d.function->body.begin) + '\n';
  }

  const std::vector<Unit>& units_;
  const SharedNames& shared_;
  enum class State : uint8_t { Open, Written };
  std::map<std::pair<const Unit*, std::size_t>, State> variables_;  // by item
  std::unordered_map<const Unit*, std::set<std::string_view>> ownPrototypes_;
  std::set<const Declared*> initialValues_;  // what initial values name
  bool isInitialValuesRead_ = false;
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
