// Three filters decide what is measured: the kind asked for, what linked or newer machine code supersedes, and PTX
// beside machine code that both sides have. Units of one file and architecture are merged, equal functions once.
#include "diff/built.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "target/target.h"

namespace ptxopt::diff {

bool isBuiltFile(const std::string& path, std::string_view beginning) {
  if (!container::isBuilt(beginning)) return false;
  if (!beginning.starts_with(ELFMAG)) return true;
  uint16_t machine = 0;
  if (beginning.size() >= kBeginning)
    std::memcpy(&machine, beginning.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return machine != EM_CUDA && !path.ends_with(".cubin");
}

void addModules(const std::string& file, const std::string& path, const std::shared_ptr<const FileBytes>& bytes,
                bool ownName, std::vector<Source>& sources) {
  Source source{file, path, {}, {}, bytes, {}};
  auto read = container::modulesOf(bytes->view());
  if (const auto* wrong = std::get_if<container::Broken>(&read)) {
    source.error = wrong->message;
    sources.push_back(std::move(source));
    return;
  }
  for (container::Module& module : std::get<0>(read)) {
    source.file = module.member.empty() ? file : ownName ? module.member : file + "/" + module.member;
    source.module = std::move(module);
    sources.push_back(source);
  }
}

bool keepOnly(std::vector<Source>& sources, bool ptx) {
  std::erase_if(sources, [&](const Source& s) {
    if (!s.error.empty()) return false;
    if (s.module) return s.module->entry.isPtx() != ptx;
    const std::string beginning = s.text ? s.text->substr(0, kBeginning) : beginningOf(s.path, kBeginning);
    return beginning.starts_with(ELFMAG) == ptx;
  });
  return !sources.empty();
}

Superseded::Superseded(std::span<const Source> sources) {
  for (const Source& source : sources) {
    if (!source.module || source.module->entry.isPtx()) continue;
    const container::Module& m = *source.module;
    if (!m.isRelocatable && !m.isObject) linked_.emplace(source.path, m.entry.architecture);
    code_.emplace(source.path, m.number, m.entry.architecture);
  }
}

bool Superseded::has(const Source& source, unsigned architecture) const {
  if (!source.module) return false;
  const container::Module& m = *source.module;
  if (m.isRelocatable && linked_.contains({source.path, architecture})) return true;
  return m.entry.isPtx() && code_.contains({source.path, m.number, architecture});
}

bool Superseded::contains(const Source& source, std::string_view architecture) const {
  const auto number = target::numberOf(architecture);
  return number && has(source, static_cast<unsigned>(*number));
}

bool Superseded::contains(const Source& source) const {
  return source.module && has(source, source.module->entry.architecture);
}

BesideCode::BesideCode(const Collected& own, const Collected* other) : hasOther_(other != nullptr) {
  for (const Source& source : own.sources)
    if (source.module && !source.module->entry.isPtx())
      code_[{source.path, source.module->number}].insert(source.module->entry.architecture);
  if (other == nullptr) return;
  for (const Source& source : other->sources)
    if (source.module && !source.module->entry.isPtx()) others_.insert(source.module->entry.architecture);
  if (!other->isBaseline) return;
  for (const Unit& unit : other->side.units)
    if (const auto number = target::numberOf(unit.measures.architecture))
      baseline_.insert(static_cast<unsigned>(*number));
  others_ = baseline_;
}

bool BesideCode::hasOwnCode(const Source& source) const {
  return code_.at({source.path, source.module->number}).contains(source.module->entry.architecture);
}

bool BesideCode::contains(const Source& source) const {
  if (!source.module || !source.module->entry.isPtx()) return false;
  const auto it = code_.find({source.path, source.module->number});
  if (it == code_.end()) return false;
  if (!hasOwnCode(source) && baseline_.contains(source.module->entry.architecture)) return false;
  return !hasOther_ || std::ranges::any_of(it->second, [&](unsigned a) { return others_.contains(a); });
}

void BesideCode::remove(std::vector<Source>& sources) {
  const auto rest =
      std::stable_partition(sources.begin(), sources.end(), [&](const Source& s) { return !contains(s); });
  std::copy_if(rest, sources.end(), std::back_inserter(removed_), [&](const Source& s) { return !hasOwnCode(s); });
  sources.erase(rest, sources.end());
}

std::string BesideCode::note(const BesideCode& before, const BesideCode& after) {
  const std::vector<Source>& shown = after.removed_.empty() ? before.removed_ : after.removed_;
  if (shown.empty()) return {};
  std::set<unsigned> architectures;
  for (const Source& source : shown) architectures.insert(source.module->entry.architecture);
  std::string out = fmt::format(
      "the PTX of {} module{} for sm_{}, whose machine code is compared, was not assembled; --arch or --only ptx "
      "has it "
      "assembled",
      shown.size(), shown.size() == 1 ? "" : "s", fmt::join(architectures, ", sm_"));
  if (!after.hasOther_) return out;
  // As stored: packed otherwise, it is said to differ.
  std::multiset<std::string_view> old;
  for (const Source& source : before.removed_) old.insert(source.module->entry.stored);
  std::size_t others = 0;
  for (const Source& source : after.removed_)
    if (const auto it = old.find(source.module->entry.stored); it != old.end())
      old.erase(it);
    else
      ++others;
  if (others = std::max(others, old.size()); others != 0 && !before.removed_.empty() && !after.removed_.empty())
    out += fmt::format("; that of {} differs", others);
  return out;
}

namespace {

// But for a clock's figure.
bool isEqual(const ptxas::FunctionMeasures& a, ptxas::FunctionMeasures b) {
  b.compileTime = a.compileTime;
  return a == b;
}

}  // namespace

void mergeUnits(std::vector<Unit>& units) {
  const auto key = [](const Unit& u) { return std::tie(u.file, u.measures.architecture); };
  std::stable_sort(units.begin(), units.end(), [&](const Unit& a, const Unit& b) { return key(a) < key(b); });
  std::vector<Unit> merged;
  for (Unit& unit : units) {
    if (merged.empty() || key(merged.back()) != key(unit)) {
      merged.push_back(std::move(unit));
      continue;
    }
    Unit& to = merged.back();
    if (to.error.empty()) to.error = std::move(unit.error);
    std::ranges::move(unit.measures.functions, std::back_inserter(to.measures.functions));
  }
  for (Unit& unit : merged) {
    auto& functions = unit.measures.functions;
    if (!unit.error.empty()) functions.clear();
    std::ranges::stable_sort(functions, {}, &ptxas::FunctionMeasures::name);
    std::vector<ptxas::FunctionMeasures> kept;
    for (ptxas::FunctionMeasures& f : functions) {
      bool isThere = false;
      for (auto it = kept.rbegin(); it != kept.rend() && it->name == f.name && !isThere; ++it) {
        isThere = isEqual(*it, f);
        if (isThere) it->compileTime = std::max(it->compileTime, f.compileTime);
      }
      if (!isThere) kept.push_back(std::move(f));
    }
    functions = std::move(kept);
  }
  units = std::move(merged);
}

}  // namespace ptxopt::diff
