#include "guard/without_faults.h"

#include <memory>
#include <variant>

#include "ptxas/abilities.h"
#include "ptxas/avoid_bad.h"
#include "ptxas/choose.h"
#include "text/parse.h"

namespace ptxopt::guard {

std::optional<WithoutFaults> withoutFaults(std::string_view text, const Options& options,
                                           const GuardOptions& guard) {
  const bool asksNothing = options.level == 0 && !options.passes;
  if (guard.mode == GuardMode::Off || asksNothing || !ptxas::mayBeAvoided(text)) return std::nullopt;
  std::string architecture = guard.architecture.empty() ? options.architecture : guard.architecture;
  if (architecture.empty()) {
    const auto parsed = text::parse(text);
    if (const auto* module = std::get_if<std::unique_ptr<Module>>(&parsed))
      architecture = ptxas::architectureToAssemble((*module)->architecture());
  }
  std::string program = guard.ptxas.program;
  if (!guard.candidates.all.empty())
    program =
        ptxas::choosePtxas(guard.candidates, {ptxas::versionNeededBy(text), architecture, text}, guard.ptxas.cache)
            .path;
  if (program.empty()) return std::nullopt;
  const ptxas::Release release = ptxas::abilitiesOf(program, guard.ptxas.cache).release;
  auto avoided = ptxas::avoidKnownBad(text, release, architecture);
  if (!avoided) return std::nullopt;
  WithoutFaults result{std::move(avoided->text), {}};
  for (const ptxas::KnownBadHit& hit : avoided->hits) result.lines.push_back(ptxas::warningOf(hit, release));
  return result;
}

}  // namespace ptxopt::guard
