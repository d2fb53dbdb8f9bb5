#include "ptxas/known_bad.h"

#include <algorithm>

#include "check/check.h"
#include "check/checkers.h"

namespace ptxopt::check {
namespace {

// The place of a line's first character that is not blank, counted from 1; 0 for no line.
std::size_t offsetOfLine(std::string_view text, std::size_t line) {
  std::size_t at = 0;
  for (; line > 1 && at < text.size(); --line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  return line == 0 ? 0 : std::min(text.find_first_not_of(" \t", at), text.size());
}

}  // namespace

void checkKnownBad(const Module& module, Findings& findings) {
  const ptxas::KnownBad* last = nullptr;
  for (const ptxas::KnownBadHit& hit : ptxas::triggersOfAnyRelease(module)) {
    if (hit.row == last) continue;
    last = hit.row;
    findings.push_back({CheckId::KnownBad, offsetOfLine(module.source, hit.line), warningOf(hit)});
  }
}

}  // namespace ptxopt::check
