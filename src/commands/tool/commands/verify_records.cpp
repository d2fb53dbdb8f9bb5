// Each recorded launch of a kernel is replayed in the interpreter with both texts, and what they leave in memory is
// compared. A launch that fails with the first text is dropped.
#include "tool/commands/verify_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "exec/error.h"
#include "record/replay.h"

namespace ptxopt::tool {
namespace {

using verify::KernelVerdict;
using verify::Verdict;

// What a file leaves; none where its kernel fails: `failure` says how.
std::optional<record::Replayed> resultOf(const record::Archive& archive, const record::RecordedLaunch& launch,
                                         const Module& file, const record::ReplayOptions& options,
                                         std::string& failure) {
  try {
    return record::replay(archive, launch, file, options);
  } catch (const exec::ExecError& e) {
    failure = fmt::format("{}: {}", exec::name(e.kind), e.message);
    return std::nullopt;
  }
}

}  // namespace

std::vector<KernelVerdict> verifyRecords(const Module& a, const Module& b, const RecordFile& file,
                                         const verify::VerifyOptions& options) {
  const record::Archive archive(file.path, file.mostBytes);
  // The limit on made-up inputs is not for those of a program, unless the user gave it.
  const bool isLimited = options.firstStepLimit == options.stepLimit;
  const record::ReplayOptions replayOptions{1, isLimited ? options.stepLimit : UINT64_MAX};
  std::vector<KernelVerdict> verdicts;
  for (const Function& f : a.functions) {
    if (!f.isEntry || !f.hasBody) continue;
    KernelVerdict v;
    v.kernel = a.text(f.name);
    if (!options.kernel.empty() && options.kernel != v.kernel) continue;
    uint64_t launches = 0, number = 0;
    v.verdict = Verdict::Equal;
    for (const record::RecordedLaunch& l : archive.record().launches) {
      ++number;
      if (l.kernel != v.kernel || v.verdict != Verdict::Equal) continue;
      ++launches;
      std::string failure;
      const auto first = resultOf(archive, l, a, replayOptions, failure);
      if (!first) {
        ++v.dropped;
        v.lastDropped = failure;
        continue;
      }
      const auto second = resultOf(archive, l, b, replayOptions, failure);
      const auto difference = second ? record::firstDifference(l, first->memory, second->memory) : std::nullopt;
      if (second && !difference && first->printed == second->printed) {
        ++v.trials;
        continue;
      }
      v.verdict = Verdict::Different;
      v.detail = fmt::format("launch {}: {}", number,
                             !second      ? failure
                             : difference ? *difference
                                          : std::string("it prints something else"));
    }
    if (launches == 0) continue;
    if (v.trials == 0 && v.verdict == Verdict::Equal) {
      v.verdict = Verdict::Inconclusive;
      v.reason = "fails on each launch";
      v.detail = v.lastDropped;
    }
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

}  // namespace ptxopt::tool
