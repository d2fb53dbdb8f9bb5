// Trials: how launch shapes, scalars and contents are chosen.
//
// What a trial tries is a list of named strategies, each with the trials that it is for: of the shapes all that
// apply, one after the other, the last that sets something wins; of the values of a scalar the first that applies.
#include <algorithm>
#include <bit>
#include <optional>

#include "exec/value/half.h"
#include "verify/values.h"

namespace ptxopt::verify {

namespace {

// A trial that is being made.
struct Draft {
  const KernelUse& use;
  const ShapeLimits& limits;
  uint64_t seed;
  unsigned number;
  const std::vector<exec::Dim3>& blocks;
  uint64_t state;
  Trial t;

  uint64_t random(uint64_t below) {
    state = mix(state);
    return state % below;
  }
  template <typename List>
  auto oneOf(const List& list) {
    return list[random(std::size(list))];
  }
  bool isFree() const { return limits.required.x == 0; }
  bool isFlat() const { return !use.shape.y && !use.shape.z; }
  uint32_t blockThreads() const { return static_cast<uint32_t>(t.block.count()); }
  uint32_t allThreads() const { return static_cast<uint32_t>(t.grid.count() * t.block.count()); }
};

// ---- shapes ----

// What needs whole warps gets them mostly.
void warps(Draft& d) {
  static constexpr uint32_t kWhole[] = {64, 32, 128, 256, 96, 512, 1024};
  static constexpr uint32_t kOdd[] = {33, 1, 31, 48, 100, 65};
  const ShapeUse& s = d.use.shape;
  const bool whole = d.number < 2 || ((s.warp || s.barrier) && d.random(4) != 0) || d.random(2) == 0;
  const uint32_t threads = d.number == 0 ? kWhole[0] : whole ? d.oneOf(kWhole) : d.oneOf(kOdd);
  d.t.block = {static_cast<uint32_t>(std::min<uint64_t>(d.limits.most, threads)), 1, 1};
}

// What uses y and z gets some.
void planesAndCubes(Draft& d) {
  if (d.isFlat()) return;
  const auto common = commonBlocks(d.use, d.limits);
  d.t.block = {static_cast<uint32_t>(d.limits.most), 1, 1};
  if (!common.empty()) d.t.block = d.number == 0 ? common[0] : d.oneOf(common);
}

void fewThreads(Draft& d) {
  if (!d.use.shape.barrier) d.t.block = {d.number < 16 ? 1u : 7u, 1, 1};
}

// The last thread, whose store to a common place stays, is one that the kernel compares its number with.
void constantThreads(Draft& d) {
  if (d.use.shape.barrier || d.use.constants.empty()) return;
  const uint64_t c = d.use.constants[d.number / 32 % d.use.constants.size()] + d.number / 16 % 2;
  if (c <= d.limits.most) d.t.block = {static_cast<uint32_t>(c), 1, 1};
}

void requiredThreads(Draft& d) {
  if (!d.isFree()) d.t.block = d.limits.required;
}

void mostThreads(Draft& d) {
  if (d.isFree() && d.limits.most < 1024 && d.isFlat()) d.t.block = {static_cast<uint32_t>(d.limits.most), 1, 1};
}

// Where threads share memory few sizes do: small ones fit into most arrays.
void smallTiles(Draft& d) {
  const ShapeUse& s = d.use.shape;
  if (d.isFree() && s.barrier && d.isFlat() && !s.warpGroup && d.limits.most >= 64)
    d.t.block = {d.number % 8 == 2 ? 64u : 32u, 1, 1};
}

void warpGroups(Draft& d) {
  if (d.isFree() && d.use.shape.warpGroup && d.limits.most >= 128 && d.random(8) != 0)
    d.t.block = {d.limits.most >= 256 && d.number % 2 == 1 ? 256u : 128u, 1, 1};
}

void knownBlocks(Draft& d) {
  if (!d.blocks.empty()) d.t.block = d.number == 0 ? d.blocks[0] : d.oneOf(d.blocks);
}

void fewBlocks(Draft& d) {
  const ShapeUse& s = d.use.shape;
  Trial& t = d.t;
  t.cluster = d.limits.cluster;
  t.grid.x = static_cast<uint32_t>(1 + d.random(3));
  t.grid.y = s.y || s.gridY ? static_cast<uint32_t>(1 + d.random(2)) : 1;
  t.grid.z = s.z || s.gridZ ? static_cast<uint32_t>(1 + d.random(2)) : 1;
  if (d.number == 0) t.grid = {2, 1, 1};
  t.grid = {t.grid.x * t.cluster.x, t.grid.y * t.cluster.y, t.grid.z * t.cluster.z};
}

// The far end of a large grid, where the number of a thread, or of its byte, passes a width. Not among the first;
// at least one of those has to run.
void farEnd(Draft& d) {
  static constexpr unsigned kPassed[] = {31, 16, 32, 31, 30, 15, 29, 31};
  if (!d.use.shape.gridX || d.limits.cluster.count() != 1 || d.number < 8) return;
  const uint64_t blocks = (uint64_t{1} << kPassed[(d.number / 8 - 1) % std::size(kPassed)]) / d.t.block.x;
  d.t.grid = {static_cast<uint32_t>(std::min<uint64_t>(blocks + 1, INT32_MAX)), 1, 1};
  d.t.firstCluster = d.t.grid.x < 2 ? 0 : d.t.grid.x - 2;
}

void launchMemory(Draft& d) {
  if (d.use.shape.dynamicShared || d.use.shape.bareShared) d.t.dynamicShared = 48u << 10;
}

void dirtyMemory(Draft& d) { d.t.dirty = true; }

struct ShapeStrategy {
  const char* name;
  unsigned period, phase;  // it is for the trials whose number is `phase` modulo `period`
  void (*apply)(Draft&);
};

constexpr ShapeStrategy kShapes[] = {
    {"whole warps and odd ones", 1, 0, warps},
    {"planes and cubes", 1, 0, planesAndCubes},
    {"one thread, or seven", 16, 5, fewThreads},
    {"as many threads as a constant", 16, 13, constantThreads},
    {"the threads that are required", 1, 0, requiredThreads},
    {"the most threads", 2, 0, mostThreads},
    {"small tiles", 4, 2, smallTiles},
    {"groups of four warps", 1, 0, warpGroups},
    {"blocks with which the result is determined", 1, 0, knownBlocks},
    {"few blocks", 1, 0, fewBlocks},
    {"the far end of a large grid", 8, 6, farEnd},
    {"memory of the launch", 1, 0, launchMemory},
    {"memory that is not zero at first", 2, 1, dirtyMemory},
};

// ---- scalars ----

// An integer scalar for which a value is wanted.
struct Scalar {
  const Field& field;
  bool inOrder;                         // it is the one that takes the sizes in their order
  unsigned turn;                        // how often it was its turn
  const std::vector<uint64_t>& sizes;   // around the block, the grid and small numbers
  const std::vector<uint64_t>& around;  // around constants that the kernel compares with
};

using Value = std::optional<uint64_t>;

Value threadCount(Draft& d, const Scalar&) { return d.number == 0 ? Value(d.allThreads()) : std::nullopt; }

Value anyMagnitude(Draft& d, const Scalar& s) {
  return integerValue(Contents::Kind::Mixed, s.field.bytes * 8, d.random(UINT64_MAX));
}

// At the far end of a grid all threads are to be below it.
Value noBound(Draft& d, const Scalar& s) {
  if (d.t.firstCluster == 0 || d.random(4) == 0) return std::nullopt;
  return d.random(2) == 0 ? UINT64_MAX : (uint64_t{1} << (s.field.bytes * 8 - 1)) - 1;
}

Value logarithm(Draft& d, const Scalar& s) {
  if (!s.inOrder || d.number < 8) return std::nullopt;
  return static_cast<uint64_t>(std::bit_width(d.blockThreads())) - d.number % 2;
}

Value nearConstant(Draft& d, const Scalar& s) {
  if (s.around.empty() || s.turn % 2 == 0 || (!s.inOrder && d.random(4) != 0)) return std::nullopt;
  return d.oneOf(s.around);
}

// A matrix descriptor without swizzling: address and both strides in units of 16 bytes.
Value descriptor(Draft& d, const Scalar& s) {
  if (!d.use.shape.warpGroup || s.field.bytes != 8) return std::nullopt;
  const uint64_t address = d.random(512), leading = 8 + d.random(16);
  return address | leading << 16 | (8 + d.random(16)) << 32;
}

Value sharedAddress(Draft& d, const Scalar&) {
  if (!d.use.shape.bareShared || d.random(2) != 0) return std::nullopt;
  return 16 * d.random(128);
}

Value nextSize(Draft&, const Scalar& s) {
  if (!s.inOrder) return std::nullopt;
  return s.sizes[(s.around.empty() ? s.turn : s.turn / 2) % s.sizes.size()];
}

// Two sizes, at kWild, are not for several scalars at once, which few kernels would survive.
constexpr std::size_t kWild = 6;

Value anySize(Draft& d, const Scalar& s) {
  const uint64_t at = d.random(d.number < 4 ? 5 : s.sizes.size() - 2);
  return s.sizes[at < kWild ? at : at + 2];
}

struct ScalarStrategy {
  const char* name;
  unsigned period, phase;
  Value (*value)(Draft&, const Scalar&);
};

constexpr ScalarStrategy kScalars[] = {
    {"the number of threads, at first", 1, 0, threadCount},
    {"any magnitude", 8, 7, anyMagnitude},
    {"no bound at the far end", 1, 0, noBound},
    {"the logarithm of the block, rounded down", 8, 3, logarithm},
    {"the logarithm of the block, rounded up", 8, 4, logarithm},
    {"around a constant", 1, 0, nearConstant},
    {"a matrix descriptor", 1, 0, descriptor},
    {"an address in shared memory", 1, 0, sharedAddress},
    {"the sizes in their order", 1, 0, nextSize},
    {"any size", 1, 0, anySize},
};

template <typename Strategy>
bool isFor(const Strategy& s, unsigned number) {
  return number % s.period == s.phase;
}

// For the bounds that kernels test.
std::vector<uint64_t> sizesAround(const Draft& d) {
  const uint64_t all = d.allThreads(), block = d.blockThreads();
  const auto narrow = [](uint64_t x) { return uint64_t{static_cast<uint32_t>(x)}; };
  return {all,
          block,
          narrow(block + 1),
          narrow(block - 1),
          1,
          0,
          all * 5 + 3,
          ~uint64_t{0},
          2,
          7,
          narrow(all - 1),
          narrow(all + 1),
          100,
          3,
          4,
          5,
          8,
          10,
          16,
          33,
          64};
}

// As early as the order of the sizes allows.
std::vector<uint64_t> aroundConstants(Draft& d) {
  constexpr std::size_t kMostConstants = 6;  // drawn for one trial
  const auto& constants = d.use.constants;
  std::vector<uint64_t> around;
  for (std::size_t k = 0; k < std::min(constants.size(), kMostConstants); ++k) {
    const uint64_t c = constants[constants.size() <= kMostConstants ? k : d.random(constants.size())];
    const unsigned turn = d.number / 2 % 3;
    around.push_back(turn == 0 ? c : turn == 1 ? c + 1 : c - 1);
  }
  return around;
}

// One that only may be a pointer is none in every third trial.
bool isPointer(const Field& f, unsigned number) {
  const bool may = f.use == Field::Use::MaybePointer && number % 3 != 2;
  return f.bytes == 8 ? f.use == Field::Use::Pointer || may
                      : f.place == Field::Place::Variable && f.use == Field::Use::Pointer;
}

uint64_t floatScalar(Draft& d, const Field& f) {
  if (d.number != 0) {
    const Contents::Kind kind = contentsKind(true, d.number, d.random(UINT64_MAX));
    return floatBits(f, kind, d.random(UINT64_MAX));
  }
  return f.bytes == 8   ? std::bit_cast<uint64_t>(1.5)
         : f.bytes == 4 ? std::bit_cast<uint32_t>(1.5f)
                        : exec::roundToNearest<exec::F16>(1.5f);
}

bool isSize(const Field& f) { return f.use == Field::Use::Scalar && !f.isFloat; }

uint64_t integerScalar(Draft& d, const Scalar& wanted) {
  Value value;
  for (const ScalarStrategy& s : kScalars)
    if (!value && isFor(s, d.number)) value = s.value(d, wanted);
  return *value;
}

FieldValue pointer(Draft& d, const Field& f, std::size_t k) {
  FieldValue v;
  v.isPointer = true;
  v.contents.element = f.element == ScalarType::None ? ScalarType::b32 : f.element;
  v.contents.kind = contentsKind(holdsFloats(v.contents.element), d.number, d.random(UINT64_MAX));
  v.contents.seed = mix(d.seed, mix(d.number, k));
  v.contents.literals = &d.use.literals;
  return v;
}

// One scalar of each trial takes the sizes in their order, so that it meets all of them soon.
void fillFields(Draft& d) {
  const std::vector<Field>& fields = d.use.fields;
  const std::vector<uint64_t> sizes = sizesAround(d), around = aroundConstants(d);
  const auto scalars = static_cast<unsigned>(std::count_if(fields.begin(), fields.end(), isSize));
  unsigned scalar = 0;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const Field& f = fields[k];
    const bool inOrder = isSize(f) && scalar++ == d.number % scalars;
    FieldValue v;
    if (isPointer(f, d.number))
      v = pointer(d, f, k);
    else if (f.use == Field::Use::Handle)
      v.bits = 0;  // TrialMemory knows the images
    else if (f.isFloat)
      v.bits = floatScalar(d, f);
    else
      v.bits = integerScalar(d, {f, inOrder, d.number / std::max(1u, scalars), sizes, around});
    v.bits = cutTo(f, v.bits);
    d.t.fields.push_back(v);
  }
}

constexpr unsigned kFirstAlike = 8;

}  // namespace

Trial makeTrial(const KernelUse& use, const ShapeLimits& limits, uint64_t seed, unsigned number,
                const std::vector<exec::Dim3>& blocks) {
  Draft d{use, limits, seed, number, blocks, mix(seed, number), {}};
  for (const ShapeStrategy& s : kShapes)
    if (isFor(s, number)) s.apply(d);
  fillFields(d);
  d.t.imageSeed = mix(seed, ~uint64_t{number});
  if (number >= kFirstAlike && d.random(8) == 0) makeAlike(d.t);
  if (number >= kFirstAlike && d.random(16) == 0) makeConstant(d.t, d.random(UINT64_MAX));
  return std::move(d.t);
}

}  // namespace ptxopt::verify
