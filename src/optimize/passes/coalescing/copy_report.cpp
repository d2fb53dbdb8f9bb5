#include "passes/coalescing/copy_report.h"

namespace ptxopt {

void CopyReport::startIteration(std::span<const Copy> copies) {
  if (isFirst_)
    for (const Copy& c : copies) ++before_[static_cast<std::size_t>(c.family)];
  isFirst_ = false;
  kept_.fill(0);
  removedInIteration_ = 0;
}

void CopyReport::removed(const Copy& copy) {
  ++removed_[static_cast<std::size_t>(copy.family)];
  ++removedInIteration_;
}

void CopyReport::kept(const Copy&, Verdict why) { ++kept_[static_cast<std::size_t>(why)]; }

void CopyReport::finish(PassContext& context) const {
  static constexpr std::array<std::string_view, kCopyFamilies> kBefore = {
      "copies-plain",  "copies-retyped", "copies-cross-class", "copies-convert", "copies-address",
      "copies-select", "copies-vector",  "copies-unpack",      "copies-pack"};
  static constexpr std::array<std::string_view, kCopyFamilies> kRemoved = {
      "removed-plain",  "removed-retyped", "removed-cross-class", "removed-convert", "removed-address",
      "removed-select", "removed-vector",  "removed-unpack",      "removed-pack"};
  static constexpr std::array<std::string_view, kVerdicts> kKept = {
      "kept-joined",     "kept-same",    "kept-interferes",     "kept-classes", "kept-tied",
      "kept-fixed",      "kept-partial", "kept-large-interval", "kept-budget",  "kept-tuple",
      "kept-convergent", "kept-phi",     "kept-critical-edge"};
  const auto count = [&](const auto& names, const auto& counts) {
    for (std::size_t k = 0; k < counts.size(); ++k)
      if (counts[k] != 0) context.count(names[k], counts[k]);
  };
  count(kBefore, before_);
  count(kRemoved, removed_);
  count(kKept, kept_);
}

}  // namespace ptxopt
