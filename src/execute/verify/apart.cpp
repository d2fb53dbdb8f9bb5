// Ways to keep threads apart are one cluster, one thread, and small values for up to four integers. Each gives a trial,
// and with one thread further ones whose arrays begin at the elements of the thread that wrote the difference.
#include "verify/apart.h"

#include <set>

namespace ptxopt::verify {
namespace {

constexpr std::size_t kMostScalars = 4;

uint64_t linear(const exec::Dim3& at, const exec::Dim3& extent) {
  return at.x + uint64_t{extent.x} * (at.y + uint64_t{extent.y} * at.z);
}

}  // namespace

std::vector<Apart> waysApart(const KernelUse& use, const VerifyOptions& options) {
  std::vector<Apart> ways{{.oneThread = false}, {.oneThread = true}};
  std::size_t scalars = 0;
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    const Field& f = use.fields[k];
    if (f.use != Field::Use::Scalar || f.isFloat || options.scalars.contains(f.parameter)) continue;
    if (scalars++ == kMostScalars) break;
    for (const uint64_t bits : {0u, 1u}) ways.push_back({.field = k, .bits = bits});
  }
  return ways;
}

bool setApart(Trial& trial, const Apart& apart, const ShapeLimits& limits, const VerifyOptions& options) {
  Trial t = trial;
  if (!options.grid) t.grid = t.cluster, t.firstCluster = 0;
  if (apart.oneThread && !options.block && limits.required.x == 0) t.block = {1, 1, 1};
  if (apart.field != SIZE_MAX) t.fields[apart.field].bits = apart.bits;
  const bool isSame = t.grid == trial.grid && t.block == trial.block &&
                      (apart.field == SIZE_MAX || apart.bits == trial.fields[apart.field].bits);
  if (isSame) return false;
  trial = std::move(t);
  return true;
}

std::vector<Trial> apartTrials(const Trial& trial, const std::vector<Apart>& ways,
                               const std::optional<TrialMemory::Writer>& writer, const ShapeLimits& limits,
                               const VerifyOptions& options) {
  std::vector<Trial> trials;
  for (const Apart& apart : ways) {
    Trial t = trial;
    if (!setApart(t, apart, limits, options)) continue;
    trials.push_back(t);
    if (!apart.oneThread || !writer || t.grid.count() != 1 || t.block.count() != 1) continue;
    // The writer's number in the block and in the grid: kernels index by either.
    const uint64_t thread = linear(writer->thread, trial.block);
    const uint64_t block = linear(writer->block, trial.grid);
    for (const uint64_t skip : std::set<uint64_t>{thread, block * trial.block.count() + thread}) {
      if (skip == 0) continue;
      Trial& shifted = trials.emplace_back(t);
      for (FieldValue& v : shifted.fields) v.contents.skip += skip;
    }
  }
  return trials;
}

}  // namespace ptxopt::verify
