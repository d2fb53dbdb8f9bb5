#include "verify/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/block.h"
#include "exec/launch.h"
#include "exec/value/half.h"

namespace ptxopt::verify {

namespace {

// Counter-based randomness: a well mixed function of its arguments (the finalizer of splitmix64).
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
uint64_t mix(uint64_t a, uint64_t b) { return mix(mix(a) ^ b); }

// A value of an element of `bytes` bytes.
uint64_t integerValue(Contents::Kind kind, unsigned bits, uint64_t r) {
  static constexpr uint64_t kSpecial[] = {0,  1,  2,  ~uint64_t{0}, ~uint64_t{1}, 31,  32,
                                          33, 63, 64, 127,          128,          255, 256};
  const uint64_t top = uint64_t{1} << (bits - 1);
  switch (kind) {
    case Contents::Kind::Small: return r % 16;
    case Contents::Kind::Mixed: return r % 8 == 0 ? mix(r) : r % 8 == 1 ? 0 - mix(r) % 9 : mix(r) % 100;
    case Contents::Kind::Any: return mix(r);
    case Contents::Kind::Special:
      if (r % 4 == 0) return top - (r / 4 & 1);
      return kSpecial[r / 4 % std::size(kSpecial)];
    case Contents::Kind::Wide: {
      const uint64_t v = mix(r) >> (64 - bits + r % bits);
      return r / bits % 4 == 0 ? 0 - v : v;
    }
    case Contents::Kind::Rising:
    case Contents::Kind::Tiny:
    case Contents::Kind::Few: return r % 16;
  }
  return 0;
}

// In order, by steps that differ from array to array.
uint64_t risingValue(const Contents& c, uint64_t index) {
  static constexpr uint64_t kSteps[] = {1, 3, 5, 40};
  const uint64_t step = kSteps[mix(c.seed) % std::size(kSteps)];
  return index * step + mix(c.seed, index) % step;
}

float floatValue(Contents::Kind kind, uint64_t r) {
  static constexpr uint32_t kSpecial[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                          0x7fc00000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x4b000001};
  const double unit = static_cast<double>(mix(r) >> 11) * 0x1p-53;
  switch (kind) {
    case Contents::Kind::Small: return static_cast<float>(unit * 2 - 1);
    case Contents::Kind::Mixed: return static_cast<float>(static_cast<int64_t>(mix(r) % 2001) - 1000) / 8;
    case Contents::Kind::Any: return std::bit_cast<float>(static_cast<uint32_t>(mix(r)));
    case Contents::Kind::Special: return std::bit_cast<float>(kSpecial[r % std::size(kSpecial)]);
    case Contents::Kind::Rising: return static_cast<float>(unit);
    case Contents::Kind::Tiny: return static_cast<float>(std::ldexp(unit * 2 - 1, -125 - static_cast<int>(r % 4)));
    case Contents::Kind::Wide:
      return static_cast<float>(std::ldexp(r / 128 % 2 == 0 ? 1 + unit : -1 - unit, static_cast<int>(r % 81) - 40));
    case Contents::Kind::Few: return static_cast<float>(unit);
  }
  return 0;
}

// Likewise with all bits of a double, and its own limits.
double doubleValue(Contents::Kind kind, uint64_t r) {
  static constexpr uint64_t kSpecial[] = {0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
                                          0x7fefffffffffffff};
  switch (kind) {
    case Contents::Kind::Any: return std::bit_cast<double>(mix(r));
    case Contents::Kind::Special:
      if (r / 16 % 4 == 0) return std::bit_cast<double>(kSpecial[r % std::size(kSpecial)]);
      return static_cast<double>(floatValue(kind, r));
    case Contents::Kind::Tiny:
      return std::ldexp(static_cast<double>(mix(r) >> 11) * 0x1p-52 - 1, -1021 - static_cast<int>(r % 4));
    case Contents::Kind::Mixed:
    case Contents::Kind::Rising: return static_cast<double>(floatValue(kind, r));
    default: {
      const auto v = static_cast<double>(floatValue(kind, r));
      return v == 0 ? v : std::bit_cast<double>(std::bit_cast<uint64_t>(v) | (mix(~r) & ((1u << 29) - 1)));
    }
  }
}

uint16_t halfBits(float f, bool brain) {
  return brain ? exec::roundToNearest<exec::Bf16>(f) : exec::roundToNearest<exec::F16>(f);
}

uint64_t elementValue(const Contents& c, uint64_t index) {
  const uint64_t r = mix(c.seed, index);
  if (c.kind == Contents::Kind::Few) {
    using Kind = Contents::Kind;
    static constexpr Kind kKinds[] = {Kind::Special, Kind::Mixed, Kind::Small, Kind::Special, Kind::Wide};
    Contents one = c;
    one.seed = mix(c.seed, r % (1 + c.seed % 3));
    one.kind = kKinds[one.seed % std::size(kKinds)];
    return elementValue(one, 0);
  }
  const unsigned bits = std::max(8u, info(c.element).bits);
  const bool isFloat = c.element == ScalarType::f32 || c.element == ScalarType::f64;
  if (c.kind == Contents::Kind::Rising) {
    const uint64_t v = risingValue(c, index);
    if (!isFloat && info(c.element).bits >= 16) return v;
    if (c.element == ScalarType::f32)
      return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(v)) / 4);
    if (c.element == ScalarType::f64)
      return std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(v)) / 4);
  }
  switch (c.element) {
    case ScalarType::f32: return std::bit_cast<uint32_t>(floatValue(c.kind, r));
    case ScalarType::f64: return std::bit_cast<uint64_t>(doubleValue(c.kind, r));
    case ScalarType::f16: return halfBits(floatValue(c.kind, r), false);
    case ScalarType::bf16: return halfBits(floatValue(c.kind, r), true);
    case ScalarType::f16x2:
    case ScalarType::bf16x2: {
      const bool brain = c.element == ScalarType::bf16x2;
      return halfBits(floatValue(c.kind, r), brain) |
             static_cast<uint32_t>(halfBits(floatValue(c.kind, mix(r)), brain)) << 16;
    }
    default: return integerValue(c.kind, std::min(bits, 64u), r);
  }
}

bool holdsFloats(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::f16x2:
    case ScalarType::bf16:
    case ScalarType::bf16x2:
    case ScalarType::f32:
    case ScalarType::f64: return true;
    default: return false;
  }
}

// What an array holds. Integers may be indices, with which wild values leave the memory there is, or counts of
// loops: most arrays of them are tame. Floats are not, and `a + b` says little when both are NaN, so that the kinds
// of different arrays are mixed.
Contents::Kind contentsKind(bool floats, unsigned number, uint64_t r) {
  using Kind = Contents::Kind;
  static constexpr Kind kFirstFloats[] = {Kind::Small, Kind::Mixed, Kind::Any,
                                          Kind::Small, Kind::Tiny,  Kind::Special};
  static constexpr Kind kFirstIntegers[] = {Kind::Small, Kind::Rising, Kind::Mixed,
                                            Kind::Any,   Kind::Small,  Kind::Special};
  static constexpr Kind kFloats[] = {Kind::Small, Kind::Mixed,  Kind::Small,   Kind::Any,  Kind::Tiny, Kind::Mixed,
                                     Kind::Wide,  Kind::Rising, Kind::Special, Kind::Wide, Kind::Few};
  static constexpr Kind kIntegers[] = {Kind::Small, Kind::Rising,  Kind::Mixed, Kind::Any,
                                       Kind::Small, Kind::Special, Kind::Few,   Kind::Wide};
  if (number < std::size(kFirstFloats)) return floats ? kFirstFloats[number] : kFirstIntegers[number];
  return floats ? kFloats[r % std::size(kFloats)] : kIntegers[r % std::size(kIntegers)];
}

// A scalar that is a floating-point number.
uint64_t floatBits(const Field& f, Contents::Kind kind, uint64_t r) {
  Contents c;
  c.kind = kind;
  c.element = f.bytes == 8 ? ScalarType::f64 : f.bytes == 4 ? ScalarType::f32 : ScalarType::f16;
  c.seed = r;
  return elementValue(c, r % 64);
}

constexpr std::size_t kMostConstants = 6;  // drawn for one trial

}  // namespace

void Contents::fillPage(int64_t offset, std::byte* page) const {
  const unsigned bytes = std::clamp(info(element).bits / 8, 1u, 8u);
  for (unsigned at = 0; at < TrialMemory::kPage; at += bytes) {
    const uint64_t v = elementValue(*this, static_cast<uint64_t>((offset + at) / bytes));
    std::memcpy(page + at, &v, bytes);
  }
}

ShapeLimits shapeLimits(const Module& module, const Function& kernel) {
  ShapeLimits limits;
  for (const FunctionDirective& d : kernel.directives) {
    const std::string_view name = module.text(d.name);
    exec::Dim3 v{d.values[0], d.valueCount > 1 ? d.values[1] : 1, d.valueCount > 2 ? d.values[2] : 1};
    if (name == ".reqntid") limits.required = v;
    if (name == ".maxntid") limits.most = std::clamp<uint64_t>(v.count(), 1, 1024);
    if (name == ".reqnctapercluster" && v.count() <= 16) limits.cluster = v;
  }
  return limits;
}

std::vector<exec::Dim3> commonBlocks(const KernelUse& use, const ShapeLimits& limits) {
  if (limits.required.x != 0) return {limits.required};
  std::vector<exec::Dim3> blocks;
  if (use.shape.z)
    blocks = {{8, 8, 4}, {4, 4, 4}, {8, 4, 2}, {16, 4, 2}, {16, 8, 8}, {32, 4, 4}};
  else if (use.shape.y)
    blocks = {{16, 16, 1}, {8, 8, 1},  {32, 8, 1}, {32, 32, 1}, {16, 4, 1},
              {32, 4, 1},  {32, 2, 1}, {16, 8, 1}, {32, 16, 1}, {5, 7, 1}};
  else
    blocks = {{128, 1, 1}, {256, 1, 1}, {1024, 1, 1}, {64, 1, 1}, {512, 1, 1},
              {96, 1, 1},  {32, 1, 1},  {33, 1, 1},   {100, 1, 1}};
  if (limits.most < 1024 && !use.shape.y && !use.shape.z)
    blocks.push_back({static_cast<uint32_t>(limits.most), 1, 1});
  std::erase_if(blocks, [&](const exec::Dim3& b) { return b.count() > limits.most; });
  return blocks;
}

Trial makeTrial(const KernelUse& use, const ShapeLimits& limits, uint64_t seed, unsigned number,
                const std::vector<exec::Dim3>& blocks) {
  Trial t;
  uint64_t state = mix(seed, number);
  const auto random = [&](uint64_t below) {
    state = mix(state);
    return state % below;
  };

  // Shapes: what needs whole warps gets them mostly; what uses y and z gets some.
  static constexpr uint32_t kWhole[] = {64, 32, 128, 256, 96, 512, 1024};
  static constexpr uint32_t kOdd[] = {33, 1, 31, 48, 100, 65};
  const bool whole = number < 2 || ((use.shape.warp || use.shape.barrier) && random(4) != 0) || random(2) == 0;
  const uint32_t threads = static_cast<uint32_t>(std::min<uint64_t>(
      limits.most, whole ? kWhole[number == 0 ? 0 : random(std::size(kWhole))] : kOdd[random(std::size(kOdd))]));
  t.block = {threads, 1, 1};
  if (use.shape.y || use.shape.z) {
    const auto common = commonBlocks(use, limits);
    t.block = {static_cast<uint32_t>(limits.most), 1, 1};
    if (!common.empty()) t.block = common[number == 0 ? 0 : random(common.size())];
  }
  if (number % 16 == 5 && !use.shape.barrier) t.block = {number < 16 ? 1u : 7u, 1, 1};
  // The last thread, whose store to a common place stays, is one that the kernel compares its number with.
  if (number % 16 == 13 && !use.shape.barrier && !use.constants.empty()) {
    const uint64_t c = use.constants[number / 32 % use.constants.size()] + number / 16 % 2;
    if (c <= limits.most) t.block = {static_cast<uint32_t>(c), 1, 1};
  }
  if (limits.required.x != 0) t.block = limits.required;
  if (limits.required.x == 0 && limits.most < 1024 && number % 2 == 0 && !use.shape.y && !use.shape.z)
    t.block = {static_cast<uint32_t>(limits.most), 1, 1};
  if (limits.required.x == 0 && use.shape.warpGroup && limits.most >= 128 && random(8) != 0)
    t.block = {limits.most >= 256 && number % 2 == 1 ? 256u : 128u, 1, 1};
  // Where threads share memory few sizes do: small ones fit into most arrays.
  else if (limits.required.x == 0 && use.shape.barrier && !use.shape.y && !use.shape.z && !use.shape.warpGroup &&
           limits.most >= 64 && number % 4 == 2)
    t.block = {number % 8 == 2 ? 64u : 32u, 1, 1};
  if (!blocks.empty()) t.block = blocks[number == 0 ? 0 : random(blocks.size())];
  t.cluster = limits.cluster;
  t.grid = {static_cast<uint32_t>(1 + random(3)),
            use.shape.y || use.shape.gridY ? static_cast<uint32_t>(1 + random(2)) : 1,
            use.shape.z || use.shape.gridZ ? static_cast<uint32_t>(1 + random(2)) : 1};
  if (number == 0) t.grid = {2, 1, 1};
  t.grid = {t.grid.x * t.cluster.x, t.grid.y * t.cluster.y, t.grid.z * t.cluster.z};
  // The far end of a large grid, where the number of a thread, or of its byte, passes a width. Not among the first,
  // of which one at least has to run.
  if (use.shape.gridX && limits.cluster.count() == 1 && number >= 8 && number % 8 == 6) {
    static constexpr unsigned kPassed[] = {31, 16, 32, 31, 30, 15, 29, 31};
    const uint64_t blocks = (uint64_t{1} << kPassed[(number / 8 - 1) % std::size(kPassed)]) / t.block.x;
    t.grid = {static_cast<uint32_t>(std::min<uint64_t>(blocks + 1, INT32_MAX)), 1, 1};
    t.firstCluster = t.grid.x < 2 ? 0 : t.grid.x - 2;
  }
  if (use.shape.dynamicShared || use.shape.bareShared) t.dynamicShared = 48u << 10;
  t.dirty = number % 2 == 1;

  const auto blockThreads = static_cast<uint32_t>(t.block.count());
  const auto allThreads = static_cast<uint32_t>(t.grid.count() * t.block.count());
  // Sizes: around those of the block and the grid, for the bounds that kernels test.
  // The two at kWild are not for several scalars at once, which few kernels would survive.
  constexpr std::size_t kWild = 6;
  std::vector<uint64_t> sizes = {allThreads,
                                 blockThreads,
                                 blockThreads + 1,
                                 blockThreads - 1,
                                 1,
                                 0,
                                 uint64_t{allThreads} * 5 + 3,
                                 ~uint64_t{0},
                                 2,
                                 7,
                                 allThreads - 1,
                                 allThreads + 1,
                                 100,
                                 3,
                                 4,
                                 5,
                                 8,
                                 10,
                                 16,
                                 33,
                                 64};
  // Around the constants that the kernel compares with, as early as the order of the sizes allows.
  std::vector<uint64_t> around;
  for (std::size_t k = 0; k < std::min<std::size_t>(use.constants.size(), kMostConstants); ++k) {
    const uint64_t c = use.constants[use.constants.size() <= kMostConstants ? k : random(use.constants.size())];
    around.push_back(number / 2 % 3 == 0 ? c : number / 2 % 3 == 1 ? c + 1 : c - 1);
  }
  // One scalar of each trial takes the sizes in their order, so that it meets all of them soon.
  const auto isSize = [](const Field& f) { return f.use == Field::Use::Scalar && !f.isFloat; };
  const auto scalars = static_cast<unsigned>(std::count_if(use.fields.begin(), use.fields.end(), isSize));
  const unsigned turn = number / std::max(1u, scalars);
  unsigned scalar = 0;
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    const Field& f = use.fields[k];
    const bool inOrder = isSize(f) && scalar++ == number % scalars;
    FieldValue v;
    v.isPointer =
        f.use == Field::Use::Pointer || (f.use == Field::Use::MaybePointer && f.bytes == 8 && number % 3 != 2);
    if (v.isPointer && f.bytes != 8) v.isPointer = false;
    if (v.isPointer) {
      v.contents.element = f.element == ScalarType::None ? ScalarType::b32 : f.element;
      v.contents.kind = contentsKind(holdsFloats(v.contents.element), number, random(UINT64_MAX));
      v.contents.seed = mix(seed, mix(number, k));
    } else if (f.isFloat) {
      if (number == 0)
        v.bits = f.bytes == 8   ? std::bit_cast<uint64_t>(1.5)
                 : f.bytes == 4 ? std::bit_cast<uint32_t>(1.5f)
                                : halfBits(1.5f, false);
      else
        v.bits = floatBits(f, contentsKind(true, number, random(UINT64_MAX)), random(UINT64_MAX));
    } else if (number == 0) {
      v.bits = allThreads;
    } else if (number % 8 == 7) {
      v.bits = integerValue(Contents::Kind::Mixed, f.bytes * 8, random(UINT64_MAX));
    } else if (t.firstCluster != 0 && random(4) != 0) {
      v.bits = random(2) == 0 ? UINT64_MAX : (uint64_t{1} << (f.bytes * 8 - 1)) - 1;  // all threads are below it
    } else if (inOrder && number >= 8 && (number % 8 == 3 || number % 8 == 4)) {
      v.bits = static_cast<uint64_t>(std::bit_width(blockThreads)) - number % 2;  // a logarithm of the size
    } else if (!around.empty() && turn % 2 == 1 && (inOrder || random(4) == 0)) {
      v.bits = around[random(around.size())];
    } else if (use.shape.warpGroup && f.bytes == 8) {
      // A matrix descriptor without swizzling: address and both strides in units of 16 bytes.
      v.bits = random(512) | (8 + random(16)) << 16 | (8 + random(16)) << 32;
    } else if (use.shape.bareShared && random(2) == 0) {
      v.bits = 16 * random(128);  // may be an address there
    } else if (inOrder) {
      v.bits = sizes[(around.empty() ? turn : turn / 2) % sizes.size()];
    } else {
      const uint64_t at = random(number < 4 ? 5 : sizes.size() - 2);
      v.bits = sizes[at < kWild ? at : at + 2];
    }
    if (f.bytes < 8) v.bits &= (uint64_t{1} << (f.bytes * 8)) - 1;
    t.fields.push_back(v);
  }
  return t;
}

Trial nearTrial(const Trial& other, const KernelUse& use, uint64_t seed, unsigned number) {
  Trial t = other;
  uint64_t state = mix(~seed, number);
  const auto random = [&](uint64_t below) {
    state = mix(state);
    return state % below;
  };
  t.dirty = number % 2 == 1;
  if (t.firstCluster == 0 && random(4) == 0) t.grid.x = t.cluster.x * static_cast<uint32_t>(1 + random(4));
  const bool sameContents = random(4) == 0;
  for (std::size_t k = 0; k < t.fields.size(); ++k) {
    FieldValue& v = t.fields[k];
    const Field& f = use.fields[k];
    if (v.isPointer) {
      if (!sameContents) v.contents.seed = mix(seed, mix(number, k));
      if (random(3) == 0)
        v.contents.kind = contentsKind(holdsFloats(v.contents.element), number, random(UINT64_MAX));
      continue;
    }
    if (random(2 + t.fields.size() / 4) != 0) continue;
    if (f.isFloat) {
      v.bits = floatBits(f, contentsKind(true, number, random(UINT64_MAX)), random(UINT64_MAX));
      continue;
    }
    const auto threads = static_cast<uint64_t>(t.block.count());
    const uint64_t c = use.constants.empty() ? 2 : use.constants[random(use.constants.size())];
    const uint64_t another = t.fields[random(t.fields.size())].bits;
    const uint64_t choices[] = {v.bits + 1, v.bits - 1, v.bits * 2,          v.bits / 2, v.bits + threads, c,
                                c + 1,      c - 1,      v.bits ^ random(16), another,    random(64),       v.bits};
    v.bits = choices[random(std::size(choices))];
    if (f.bytes < 8) v.bits &= (uint64_t{1} << (f.bytes * 8)) - 1;
  }
  return t;
}

TrialMemory::TrialMemory(exec::Machine& machine, const KernelUse& use, const Trial& trial) : machine_(machine) {
  uint32_t bytes = 0;
  for (const Field& f : use.fields) bytes = std::max(bytes, f.offset + f.bytes);
  parameters_.resize(bytes);
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    uint64_t bits = trial.fields[k].bits;
    if (trial.fields[k].isPointer) {
      auto region = std::make_unique<Region>();
      region->field = k;
      exec::Allocation& a = machine.memory().allocate(use.fields[k].parameter, kBelow + kAbove);
      region->allocation = &a;
      bits += a.base + kBelow;
      a.watched = true;
      Region* const r = region.get();
      const Contents contents = trial.fields[k].contents;
      a.watch = [this, r, contents](const exec::Warp& w, unsigned lane, uint64_t offset, unsigned size,
                                    exec::Access access) { touch(*r, contents, w, lane, offset, size, access); };
      regions_.push_back(std::move(region));
    }
    std::memcpy(parameters_.data() + use.fields[k].offset, &bits, std::min<std::size_t>(8, use.fields[k].bytes));
  }
}

TrialMemory::~TrialMemory() {
  for (const auto& r : regions_) machine_.memory().release(*r->allocation);
}

void TrialMemory::touch(Region& region, const Contents& contents, const exec::Warp& warp, unsigned lane,
                        uint64_t offset, unsigned bytes, exec::Access access) {
  const auto first = static_cast<int64_t>(offset - kBelow);
  const int64_t last = first + static_cast<int64_t>(bytes) - 1;
  constexpr auto kSize = static_cast<int64_t>(kPage);
  const auto pageOf = [](int64_t at) { return at & ~(kSize - 1); };
  for (int64_t page = pageOf(first); page <= last; page += kSize) {
    const auto [at, isNew] = region.pages.try_emplace(page, false);
    if (isNew) {
      if (++pages_ > kMostPages)
        throw exec::LaneFault{exec::FaultKind::OutOfBounds, lane, "the kernel touches more than 64 MB"};
      contents.fillPage(page, region.allocation->data + kBelow + page);
    }
    if (access != exec::Access::Read) at->second = true;
  }
  if (access != exec::Access::Read && region.field == watchedField_ && first <= watchedOffset_ &&
      watchedOffset_ <= last) {
    auto& w = const_cast<exec::Warp&>(warp);
    lastWriter_ = fmt::format("thread {} of block {}",
                              toString(positionIn(w.block().launch().config().block, warp.threadIndex(lane))),
                              toString(w.block().id()));
  }
}

}  // namespace ptxopt::verify
