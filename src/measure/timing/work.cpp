// Work is summed from the operations of a region. Two works are compared by the ratios of their figures, and the ratio
// that most witnesses share wins; steps of counters vote with the ratio that most pairs have.
#include "timing/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace ptxopt::timing {
namespace {

// The least by which unrolling changes an iteration: a loop is unrolled at least twice, and a little of its body may be
// saved.
constexpr double kFactor = 1.9;
// ... and its instructions; what is saved may be a good part of a short loop.
constexpr double kInstructions = 1.25;
// ... and the work of code in which one loop of several is unrolled.
constexpr double kPart = 1.25;
// Where the size of an access is not known.
constexpr double kUsualBytes = 4;

bool isComputing(Kind kind) {
  switch (kind) {
    case Kind::Fp32:
    case Kind::Fp32Packed:
    case Kind::SpecialExponential:
    case Kind::Fp64: return true;
    default: return kind >= Kind::MatrixHalf884 && kind < Kind::Unknown;
  }
}

bool isExchanging(Kind kind) {
  switch (kind) {
    case Kind::Shuffle:
    case Kind::Match:
    case Kind::Reduce:
    case Kind::GlobalAtomic:
    case Kind::GlobalReduction:
    case Kind::SharedAtomic:
    case Kind::Barrier: return true;
    default: return false;
  }
}

constexpr std::array kFigures{&Work::computed, &Work::exchanged, &Work::read, &Work::written};
constexpr std::array<std::string_view, 1 + kFigures.size()> kNames{"steps", "computed", "exchanged", "read",
                                                                   "written"};
constexpr auto kFirstFigure = static_cast<std::size_t>(Witness::Computed);
// How far equally good ratios may differ: what is executed once for several iterations counts in part.
constexpr double kAgree = 0.1;

// What is not executed in each iteration counts in part: a whole number only nearly.
bool isWhole(double factor) { return std::abs(factor - std::round(factor)) < 0.1 * factor; }

// By what factors most of the steps differ: of {1, 4} and {4, 16} by 4 alone.
std::vector<double> stepRatios(const std::vector<uint32_t>& after, const std::vector<uint32_t>& before) {
  std::map<double, unsigned> pairs;
  for (const uint32_t a : before)
    for (const uint32_t b : after) ++pairs[static_cast<double>(b) / a];
  unsigned most = 0;
  for (const auto& [ratio, count] : pairs) most = std::max(most, count);
  std::vector<double> ratios;
  for (const auto& [ratio, count] : pairs)
    if (count == most) ratios.push_back(ratio);
  return ratios;
}

// Whether an iteration of the one is more than an iteration of the other.
bool differs(double a, double b, double factor) { return a > b * factor || b > a * factor; }

}  // namespace

void Work::add(const Operation& o, double frequency) {
  instructions += frequency;
  if (o.step != 0 && frequency == 1) {
    const auto step = static_cast<uint32_t>(std::abs(int64_t{o.step}));
    const auto at = std::ranges::lower_bound(steps, step);
    if (at == steps.end() || *at != step) steps.insert(at, step);
  }
  if (isExchanging(o.kind)) exchanged += frequency;
  if (isComputing(o.kind)) computed += frequency * o.repeats * (o.kind == Kind::Fp32Packed ? 2 : 1);
  if (o.space == Space::None || o.space == Space::Local || o.space == Space::Constant) return;
  const double bytes = frequency * (o.bytes == 0 ? kUsualBytes : o.bytes);
  if (o.writes) written += bytes;
  if (o.reads) read += bytes;
}

void Work::add(const Work& other, double times) {
  written += times * other.written;
  read += times * other.read;
  computed += times * other.computed;
  exchanged += times * other.exchanged;
  instructions += times * other.instructions;
}

std::string_view nameOf(Witness witness) { return kNames[static_cast<std::size_t>(witness)]; }

double of(const Work& work, Witness witness) {
  return work.*kFigures[static_cast<std::size_t>(witness) - kFirstFigure];
}

std::optional<Ratio> agreedRatio(const Work& after, const Work& before, double tolerance, bool isSameIfInDoubt) {
  std::array<double, kFigures.size()> ratios{};  // 0: not on both sides
  const std::vector<double> steps = stepRatios(after.steps, before.steps);
  unsigned all = steps.empty() ? 0 : 1;
  for (std::size_t w = 0; w < kFigures.size(); ++w) {
    const double a = before.*kFigures[w], b = after.*kFigures[w];
    if (a > 0 && b > 0) ratios[w] = b / a;
    all += a > 0 || b > 0;
  }
  std::optional<Ratio> best;
  const auto suggest = [&](double ratio, Witness by) {
    const auto agrees = [&](double r) { return r > 0 && !differs(r, ratio, 1 + tolerance); };
    const auto agree =
        static_cast<unsigned>(std::ranges::count_if(ratios, agrees)) + (std::ranges::any_of(steps, agrees) ? 1 : 0);
    const bool isSame = isSameIfInDoubt && !differs(1, ratio, 1 + tolerance);
    const bool wasSame = best && !differs(1, best->value, 1 + tolerance);
    if (!best || agree > best->agree || (agree == best->agree && isSame && !wasSame))
      best = Ratio{ratio, by, agree, all};
  };
  for (const double ratio : steps) suggest(ratio, Witness::Steps);
  for (std::size_t w = 0; w < kFigures.size(); ++w)
    if (ratios[w] != 0) suggest(ratios[w], static_cast<Witness>(kFirstFigure + w));
  return best;
}

std::optional<Ratio> iterationsIn(const Work& after, const Work& before) {
  auto ratio = agreedRatio(after, before, kAgree, /*isSameIfInDoubt=*/true);
  const double a = before.instructions, b = after.instructions;
  if (!ratio) return differs(a, b, kFactor) ? std::nullopt : std::optional(Ratio());
  const bool haveChanged = differs(a, b, kInstructions) || (ratio->agree > 1 && a != b);
  const bool isUnrolled = haveChanged && differs(1, ratio->value, kFactor) &&
                          isWhole(std::max(ratio->value, 1 / ratio->value)) && (ratio->value > 1) == (b > a);
  if (!isUnrolled) ratio->value = 1;
  return ratio;
}

Ratio workRatio(const Work& after, const Work& before) {
  Ratio ratio = agreedRatio(after, before, kPart - 1).value_or(Ratio());
  if (!differs(1, ratio.value, kPart)) ratio.value = 1;
  return ratio;
}

}  // namespace ptxopt::timing
