// Replacements are checked first, then grouped by fat binary. Each fat binary is written anew in the first of three
// ways that fits its place: as before, with the replaced modules compressed, with all modules compressed.
#include "extract/replace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "extract/extract.h"
#include "target/target.h"

namespace ptxopt::extract {
namespace {

using container::Broken;
using container::FatEntry;
using container::Module;

// What is wrong with a replacement for the module; empty: nothing.
std::string whyNot(const Module& module, const Replacement& with) {
  const auto fail = [&](std::string_view why) {
    return fmt::format("'{}' cannot replace {}: {}", with.file, container::nameOf(module), why);
  };
  if (module.fat.empty()) return fail("the file is a cubin itself");
  if (with.text.starts_with("\177ELF") == module.entry.isPtx())
    return fail(module.entry.isPtx() ? "it is not PTX" : "it is not a cubin");
  Module fresh = module;
  fresh.entry.stored = with.text;
  fresh.entry.flags = 0;
  const Contents now = readModule(fresh), before = readModule(module);
  if (now.text.empty() || (!now.error.empty() && before.error.empty())) return fail(now.error);
  const auto isFor = target::numberOf(now.architecture);
  const auto wasFor = target::numberOf(before.architecture);
  if (isFor != wasFor) return fail(fmt::format("it is for {}", now.architecture));
  for (const std::string& kernel : before.kernels)
    if (std::ranges::find(now.kernels, kernel) == now.kernels.end())
      return fail(fmt::format("it has no kernel '{}'", kernel));
  return {};
}

// The fat binary with some entries anew, in as few bytes as it needs to be.
std::string fatWith(std::string_view fat, const std::vector<FatEntry>& entries,
                    const std::map<std::size_t, const Replacement*>& with, uint64_t room) {
  const auto made = [&](bool packs, bool packsAll) {
    std::vector<std::string> parts;
    for (std::size_t n = 0; n < entries.size(); ++n) {
      const auto it = with.find(n);
      if (it != with.end()) {
        parts.push_back(container::repacked(entries[n], it->second->text, packs));
        continue;
      }
      parts.emplace_back(entries[n].whole);
      if (!packsAll || entries[n].isPacked() || entries[n].kind == FatEntry::Kind::Other) continue;
      if (auto text = container::contentsOf(entries[n]); std::holds_alternative<std::string>(text))
        parts.back() = container::repacked(entries[n], std::get<std::string>(text), true);
    }
    return container::fatOf(fat, parts);
  };
  std::string out = made(false, false);
  if (out.size() > room) out = made(true, false);
  if (out.size() > room) out = made(true, true);
  return out;
}

}  // namespace

container::OrBroken<std::string> replaced(std::string_view bytes, const std::vector<Module>& modules,
                                          const std::vector<Replacement>& replacements) {
  std::map<const char*, std::map<std::size_t, const Replacement*>> byFat;
  std::map<const char*, const Replacement*> firstOf;
  for (const Replacement& r : replacements) {
    const Module& module = modules[r.module];
    if (std::string why = whyNot(module, r); !why.empty()) return Broken{std::move(why), 0};
    byFat[module.fat.data()][module.place] = &r;
    firstOf.emplace(module.fat.data(), &r);
  }
  const bool grows = bytes.starts_with("\x50\xed\x55\xba");
  std::string out;
  std::size_t at = 0;
  for (const auto& [start, with] : byFat) {
    const Module& module = modules[firstOf[start]->module];
    const auto entries = std::get<std::vector<FatEntry>>(container::fatEntries(module.fat));
    std::string fat = fatWith(module.fat, entries, with, grows ? UINT64_MAX : module.fat.size());
    if (!grows && fat.size() > module.fat.size())
      return Broken{
          fmt::format("'{}' does not fit into the place of {}: with it the fat binary takes {} bytes, also "
                      "compressed, and has {}. What stands after it cannot move; compile and link the file "
                      "again, or replace it in a fat binary (nvcc -fatbin)",
                      firstOf[start]->file, container::nameOf(module), fat.size(), module.fat.size()),
          0};
    if (!grows) fat.resize(module.fat.size(), '\0');
    const auto offset = static_cast<std::size_t>(start - bytes.data());
    out += bytes.substr(at, offset - at);
    out += fat;
    at = offset + module.fat.size();
  }
  out += bytes.substr(at);
  return out;
}

}  // namespace ptxopt::extract
