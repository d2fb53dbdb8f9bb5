// A checked run looks for races and for reads of what nothing has written. Where it finds such a read, the launch is
// repeated with five patterns in that memory, and an unchanged result clears it.
#include "verify/determinacy.h"

#include <set>
#include <vector>

namespace ptxopt::verify {
namespace {

using exec::FaultKind;

// What may lie where nothing was written.
constexpr std::byte kPatterns[] = {std::byte{0}, kUnwritten, std::byte{0x3F}, std::byte{0xFF}, std::byte{1}};

}  // namespace

Run Determinacy::run(const Trial& trial, uint64_t stepLimit, Checking checks,
                     std::optional<std::byte> unwritten) const {
  return runTrial(machine_, kernel_, use_, trial, stepLimit, {.checks = checks, .unwritten = unwritten});
}

std::string Determinacy::dividesByZero(const Trial& trial, uint64_t stepLimit) const {
  Checking checks;
  checks.divisions = true;
  const Run one = run(trial, stepLimit, checks);
  return one.fault && one.fault->kind == FaultKind::DivisionByZero ? describe(module_, *one.fault) : "";
}

Determinacy::Reason Determinacy::undetermined(const Trial& trial, const Difference& d, uint64_t stepLimit) const {
  Checking checks;
  checks.races = checks.globalRaces = checks.uninitialised = true;
  const Run one = run(trial, stepLimit, checks);
  // Where nothing can have written it, shared memory is what the launch gives: zeros.
  if (one.fault && use_.shape.bareShared && one.fault->kind == FaultKind::Uninitialised &&
      one.fault->message.find("of shared memory") != std::string::npos)
    return {};
  if (!one.fault) return {};
  if (one.fault->kind == FaultKind::Race) return {describe(module_, *one.fault), true};
  if (one.fault->kind != FaultKind::Uninitialised) return {};
  // A read of what nothing has written may come to nothing, as that of a structure's padding does.
  checks.uninitialised = false;
  const Run raced = run(trial, stepLimit, checks);
  if (raced.fault && raced.fault->kind == FaultKind::Race) return {describe(module_, *raced.fault), true};
  return isSteady(trial, d, stepLimit) ? Reason{} : Reason{describe(module_, *one.fault), false};
}

std::string Determinacy::ownUndetermined(const Trial& trial, uint64_t stepLimit) const {
  Checking checks;
  checks.races = checks.globalRaces = true;
  const Run raced = run(trial, kCheckedStepLimit * 4, checks);
  if (raced.fault && raced.fault->kind == FaultKind::Race) return describe(module_, *raced.fault);
  std::optional<std::vector<std::byte>> first;
  for (const std::byte pattern : kPatterns) {
    const Run one = run(trial, stepLimit, {}, pattern);
    if (one.fault) return describe(module_, *one.fault);
    std::vector<std::byte> left;
    for (const auto& region : one.memory->regions())
      for (const auto& [offset, page] : region->pages)
        if (page.isWritten) left.insert(left.end(), page.data, page.data + TrialMemory::kPage);
    if (!first) first = left;
    if (*first != left) return "it depends on what nothing has written";
  }
  return "";
}

bool Determinacy::isSteady(const Trial& trial, const Difference& d, uint64_t stepLimit) const {
  const bool failsOrReaches = d.field == SIZE_MAX ? d.fails : d.reach;
  if (!failsOrReaches && d.field == SIZE_MAX) return false;  // variables and what is printed
  std::optional<std::vector<std::byte>> first;
  std::optional<std::set<std::pair<std::size_t, int64_t>>> firstPages;
  for (const std::byte pattern : kPatterns) {
    const Run one = run(trial, stepLimit, {}, pattern);
    if (one.fault) return false;
    if (failsOrReaches) {
      // Addresses that depend on it may be any, also those that no pattern leads to.
      std::set<std::pair<std::size_t, int64_t>> pages;
      for (const auto& region : one.memory->regions())
        for (const auto& [offset, page] : region->pages) pages.emplace(region->field, offset);
      if (!firstPages) firstPages = pages;
      if (*firstPages != pages) return false;
    }
    if (d.fails) continue;
    for (const auto& region : one.memory->regions()) {
      if (region->field != d.field) continue;
      const int64_t offset = d.offset & ~static_cast<int64_t>(TrialMemory::kPage - 1);
      const auto page = region->pages.find(offset);
      if (d.reach && page != region->pages.end()) return false;
      if (d.reach || page == region->pages.end()) continue;
      const std::byte* at = page->second.data + (d.offset - offset);
      std::vector<std::byte> bytes(at, at + d.bytes);
      if (!first) first = bytes;
      if (*first != bytes) return false;
    }
  }
  return true;
}

}  // namespace ptxopt::verify
