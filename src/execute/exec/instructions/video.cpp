// Scalar video instructions: vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad.
//
//     vop.dtype.atype.btype{.sat}       d, a{.sel}, b{.sel};
//     vop.dtype.atype.btype{.sat}.op2   d, a{.sel}, b{.sel}, c;      then d = op2(result, c)
//     vop.dtype.atype.btype{.sat}       d.sel, a{.sel}, b{.sel}, c;  then the result replaces a part of c
// Meaning from the PTX ISA's chapter on video instructions: a byte, half or all of a and b is extended by its
// type's sign, the result is exact, .sat clamps it to dtype or to the part of d, and c has the sign of dtype. Rare,
// so the choices are made in a loop over lanes.
#include "exec/instructions/video.h"

#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

VideoFunction takeVideoComparison(Binder& b) {
  static constexpr struct {
    std::string_view name;
    VideoFunction function;
  } kComparisons[] = {
      {"eq", [](int64_t x, int64_t y) -> int64_t { return x == y; }},
      {"ne", [](int64_t x, int64_t y) -> int64_t { return x != y; }},
      {"lt", [](int64_t x, int64_t y) -> int64_t { return x < y; }},
      {"le", [](int64_t x, int64_t y) -> int64_t { return x <= y; }},
      {"gt", [](int64_t x, int64_t y) -> int64_t { return x > y; }},
      {"ge", [](int64_t x, int64_t y) -> int64_t { return x >= y; }},
  };
  for (const auto& c : kComparisons)
    if (b.take(c.name)) return c.function;
  b.unsupported("it has no comparison");
}

namespace {

using enum ScalarType;

struct Part {
  unsigned shift = 0, bits = 32;
};

// What `.b2` or `.h1` after a register selects; all of it when there is none.
Part takePart(Binder& b, std::size_t operand) {
  const std::string_view s = b.selector(operand);
  if (s.empty()) return {};
  const unsigned width = s.front() == 'b' ? 8 : s.front() == 'h' ? 16 : 0;
  const unsigned index = s.size() == 2 ? static_cast<unsigned>(s[1] - '0') : 99;
  if (width == 0 || index >= 32 / width) b.unsupported("selector ." + std::string(s));
  return {index * width, width};
}

struct Source {
  Part part;
  bool isSigned = false;

  int64_t operator()(uint32_t value) const { return extendPart(value, part.shift, part.bits, isSigned); }
};

struct Video {
  VideoFunction first = nullptr, second = nullptr;  // second: .add, .min, .max with c
  Source a, b;
  bool isSigned = false;  // d and c
  bool saturates = false;
  Part to;

  uint32_t operator()(uint32_t x, uint32_t y, uint32_t c) const {
    int64_t t = first(a(x), b(y));
    if (saturates) t = clampTo(t, to.bits, isSigned);
    if (second != nullptr) t = second(t, extendPart(c, 0, 32, isSigned));
    if (to.bits == 32) return static_cast<uint32_t>(t);
    const uint32_t mask = ((uint32_t{1} << to.bits) - 1) << to.shift;
    return (c & ~mask) | (static_cast<uint32_t>(t) << to.shift & mask);
  }
};

Step run(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const Video& video = *static_cast<const Video*>(op.data);
  forEachLane(active, [&](unsigned i) { d[i] = video(a[i], b[i], c[i]); });
  return Step::Next;
}

// Types of a and b and all that follows; `video` has the rest.
void bindRest(Binder& b, Video video, bool shiftAmount) {
  video.a.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  video.b.isSigned = (shiftAmount ? takeTypeOf(b, {u32}) : takeTypeOf(b, {u32, s32})) == s32;
  video.saturates = b.take("sat");
  const std::string_view second = b.takeOneOf({"add", "min", "max"});
  video.second = second == "add"   ? video::add
                 : second == "min" ? video::min
                 : second == "max" ? video::max
                                   : VideoFunction{nullptr};
  video.to = takePart(b, 0);
  video.a.part = takePart(b, 1);
  video.b.part = takePart(b, 2);
  const bool merges = video.to.bits != 32;
  if (merges && video.second != nullptr) b.unsupported("a second operation and a selected destination");
  b.dest(0, b32);
  b.source(1, b32);
  b.source(2, b32);
  if (merges || video.second != nullptr)
    b.source(3, b32);
  else
    b.append(b.constant(0, 4));
  b.data(video);
  b.handler(run);
}

void bindArithmetic(Binder& b, VideoFunction f) {
  Video video;
  video.first = f;
  video.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  bindRest(b, video, false);
}

// Amounts are unsigned: more than 32 is 32 with .clamp, and taken modulo 32 with .wrap.
template <bool kClamp>
int64_t amountOf(int64_t b) {
  return kClamp ? (b > 32 ? 32 : b) : b & 31;
}
template <bool kClamp>
int64_t shiftLeft(int64_t a, int64_t b) {
  // 32 places move everything above all that c or a range can hold, so how far above does not matter.
  constexpr int64_t kLargest = int64_t{1} << 30;
  const int64_t count = amountOf<kClamp>(b);
  if (count == 32 && a > kLargest) a = kLargest;
  return static_cast<int64_t>(static_cast<uint64_t>(a) << count);
}
template <bool kClamp>
int64_t shiftRight(int64_t a, int64_t b) {
  return a >> amountOf<kClamp>(b);
}

bool takeClamp(Binder& b) {
  const std::string_view mode = b.takeOneOf({"clamp", "wrap"});
  if (mode.empty()) b.unsupported("it needs .clamp or .wrap");
  return mode == "clamp";
}

void bindShift(Binder& b, VideoFunction clamped, VideoFunction wrapped) {
  Video video;
  video.first = takeClamp(b) ? clamped : wrapped;
  video.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  bindRest(b, video, true);
}

struct MultiplyAdd {
  Source a, b;
  bool plusOne = false, saturates = false;
  bool negatesProduct = false, negatesAddend = false;
  unsigned shift = 0;

  uint32_t operator()(uint32_t x, uint32_t y, uint32_t c) const {
    // Unsigned when both factors are and nothing is negated, and then all is; 66 bits at most. A negation is a
    // complement and the one that is added anyway; .po, which adds it as well, excludes negations.
    const bool isSigned = a.isSigned || b.isSigned || negatesProduct || negatesAddend;
    Int128 t = static_cast<Int128>(a(x)) * b(y);
    if (negatesProduct) t = ~t;
    if (negatesAddend && !negatesProduct) c = ~c;
    t += extendPart(c, 0, 32, isSigned);
    if (plusOne || negatesProduct || negatesAddend) t += 1;
    t >>= shift;
    if (!saturates) return static_cast<uint32_t>(t);
    return isSigned ? static_cast<uint32_t>(saturate<int32_t, Int128>(t)) : saturate<uint32_t, Int128>(t);
  }
};

Step multiplyAdd(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const MultiplyAdd& f = *static_cast<const MultiplyAdd*>(op.data);
  forEachLane(active, [&](unsigned i) { d[i] = f(a[i], b[i], c[i]); });
  return Step::Next;
}

}  // namespace

void bindVadd(Binder& b) { bindArithmetic(b, video::add); }
void bindVsub(Binder& b) { bindArithmetic(b, video::sub); }
void bindVabsdiff(Binder& b) { bindArithmetic(b, video::absdiff); }
void bindVmin(Binder& b) { bindArithmetic(b, video::min); }
void bindVmax(Binder& b) { bindArithmetic(b, video::max); }
void bindVshl(Binder& b) { bindShift(b, shiftLeft<true>, shiftLeft<false>); }
void bindVshr(Binder& b) { bindShift(b, shiftRight<true>, shiftRight<false>); }

void bindVset(Binder& b) {
  Video video;
  video.first = takeVideoComparison(b);
  bindRest(b, video, false);
}

void bindVmad(Binder& b) {
  MultiplyAdd f;
  takeTypeOf(b, {u32, s32});  // of d; the sign of the result follows from the factors
  f.a.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  f.b.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  f.plusOne = b.take("po");
  f.saturates = b.take("sat");
  f.shift = b.take("shr7") ? 7 : b.take("shr15") ? 15 : 0;
  f.a.part = takePart(b, 1);
  f.b.part = takePart(b, 2);
  const bool minusA = b.takeMinus(1), minusB = b.takeMinus(2);
  f.negatesProduct = minusA != minusB;
  f.negatesAddend = b.takeMinus(3);
  if (f.plusOne && (f.negatesProduct || f.negatesAddend)) b.unsupported(".po and a negation");
  if (f.negatesProduct && f.negatesAddend) b.unsupported("a negated product and a negated addend");
  bindUniform(b, b32, 3);
  b.data(f);
  b.handler(multiplyAdd);
}

}  // namespace ptxopt::exec
