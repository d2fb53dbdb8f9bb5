#include "timing/work.h"

#include <algorithm>
#include <cmath>

namespace ptxopt::timing {
namespace {

// The least by which unrolling changes a round: a loop is unrolled at least twice, and a little of its body may be saved.
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
    case Kind::Fp64: return true;
    default: return kind >= Kind::MatrixHalf884 && kind < Kind::Unknown;
  }
}

constexpr double Work::*kWitnesses[] = {&Work::written, &Work::computed, &Work::read};

// What is not executed in each round counts in part: a whole number only nearly.
bool isWhole(double factor) { return std::abs(factor - std::round(factor)) < 0.1 * factor; }

// Whether a round of the one is more than a round of the other.
bool differs(double a, double b, double factor) { return a > b * factor || b > a * factor; }

}  // namespace

void Work::add(const Operation& o, double frequency) {
  instructions += frequency;
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
  instructions += times * other.instructions;
}

std::optional<double> roundsIn(const Work& after, const Work& before) {
  if (!differs(before.instructions, after.instructions, kInstructions)) return 1;
  for (const double Work::*const witness : kWitnesses) {
    const double a = before.*witness, b = after.*witness;
    if (a <= 0 || b <= 0) continue;
    const bool isUnrolled = differs(a, b, kFactor) && isWhole(std::max(a, b) / std::min(a, b)) &&
                            (b > a) == (after.instructions > before.instructions);
    return isUnrolled ? b / a : 1;
  }
  if (differs(before.instructions, after.instructions, kFactor)) return std::nullopt;
  return 1;
}

double workRatio(const Work& after, const Work& before) {
  double most = 1;
  for (const double Work::*const witness : kWitnesses) {
    const double a = before.*witness, b = after.*witness;
    if (a <= 0 || b <= 0 || !differs(a, b, kPart)) continue;
    if (std::abs(std::log(b / a)) > std::abs(std::log(most))) most = b / a;
  }
  return most;
}

}  // namespace ptxopt::timing
