// SIMD video instructions: vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2, vset2 on halves, the same with 4 on
// bytes.
//
//     vop2.dtype.atype.btype{.sat}  d{.mask}, a{.sel}, b{.sel}, c;   results in the masked parts, the others from c
//     vop2.dtype.atype.btype.add    d{.mask}, a{.sel}, b{.sel}, c;   c plus the masked results
// Meaning from the PTX ISA's chapter on video instructions. A selector's digits choose each part out of those of a
// (lower numbers) and b, highest part first; left out, all of a, or all of b. Results are exact until they are
// merged into d. An average rounds up when it is not negative, and down when it is.
#include "exec/instructions/integer_types.h"
#include "exec/instructions/video.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

struct Parts {
  uint8_t index[4] = {};  // part k of the operand is part index[k] of a and b together
  bool isSigned = false;
};

struct Simd {
  VideoFunction function = nullptr;
  unsigned count = 4;
  Parts a, b;
  bool isSigned = false, saturates = false, accumulates = false;
  bool mask[4] = {true, true, true, true};

  int64_t part(const Parts& parts, unsigned k, uint32_t a32, uint32_t b32) const {
    const unsigned bits = 32 / count, index = parts.index[k];
    return extendPart(index < count ? a32 : b32, index % count * bits, bits, parts.isSigned);
  }
  uint32_t operator()(uint32_t x, uint32_t y, uint32_t c) const {
    const unsigned bits = 32 / count;
    for (unsigned k = 0; k < count; ++k) {
      if (!mask[k]) continue;
      int64_t t = function(part(a, k, x, y), part(b, k, x, y));
      if (saturates) t = clampTo(t, bits, isSigned);
      if (accumulates) {
        c += static_cast<uint32_t>(t);
      } else {
        const uint32_t where = ((uint32_t{1} << bits) - 1) << (k * bits);
        c = (c & ~where) | (static_cast<uint32_t>(t) << (k * bits) & where);
      }
    }
    return c;
  }
};

Step runSimd(Warp& w, const Op& op, Mask active) {
  uint32_t* d = w.out<uint32_t>(op.args[0]);
  const uint32_t* a = w.in<uint32_t>(op.args[1]);
  const uint32_t* b = w.in<uint32_t>(op.args[2]);
  const uint32_t* c = w.in<uint32_t>(op.args[3]);
  const Simd& simd = *static_cast<const Simd*>(op.data);
  forEachLane(active, [&](unsigned i) { d[i] = simd(a[i], b[i], c[i]); });
  return Step::Next;
}

// The digits of `.h32`, `.b7654` and their like, after checking its letter.
std::string_view digitsOf(Binder& b, std::size_t operand, unsigned count) {
  const std::string_view s = b.selector(operand);
  if (s.empty()) return {};
  if (s.size() < 2 || s.front() != (count == 2 ? 'h' : 'b')) b.unsupported("selector ." + std::string(s));
  return s.substr(1);
}

void takeParts(Binder& b, std::size_t operand, unsigned count, Parts& parts) {
  const std::string_view digits = digitsOf(b, operand, count);
  for (unsigned k = 0; k < count; ++k) {
    unsigned index = (operand == 1 ? 0 : count) + k;
    if (!digits.empty()) {
      if (digits.size() != count) b.unsupported("a selector of another length");
      index = static_cast<unsigned>(digits[count - 1 - k] - '0');
      if (index >= 2 * count) b.unsupported("a selector out of range");
    }
    parts.index[k] = static_cast<uint8_t>(index);
  }
}

void takeMask(Binder& b, Simd& simd) {
  const std::string_view digits = digitsOf(b, 0, simd.count);
  if (digits.empty()) return;
  for (bool& m : simd.mask) m = false;
  for (const char digit : digits) {
    const auto k = static_cast<unsigned>(digit - '0');
    if (k >= simd.count) b.unsupported("a mask out of range");
    simd.mask[k] = true;
  }
}

void bindSimd(Binder& b, VideoFunction f, bool isCompare) {
  Simd simd;
  simd.count = b.base().back() == '2' ? 2 : 4;
  simd.function = f;
  if (!isCompare) simd.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  simd.a.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  simd.b.isSigned = takeTypeOf(b, {u32, s32}) == s32;
  simd.accumulates = b.take("add");
  if (!isCompare && !simd.accumulates) simd.saturates = b.take("sat");
  takeMask(b, simd);
  takeParts(b, 1, simd.count, simd.a);
  takeParts(b, 2, simd.count, simd.b);
  bindUniform(b, b32, 3);
  b.data(simd);
  b.handler(runSimd);
}

int64_t average(int64_t a, int64_t b) {
  const int64_t sum = a + b;
  return sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
}

}  // namespace

void bindVaddSimd(Binder& b) { bindSimd(b, video::add, false); }
void bindVsubSimd(Binder& b) { bindSimd(b, video::sub, false); }
void bindVabsdiffSimd(Binder& b) { bindSimd(b, video::absdiff, false); }
void bindVminSimd(Binder& b) { bindSimd(b, video::min, false); }
void bindVmaxSimd(Binder& b) { bindSimd(b, video::max, false); }
void bindVavrgSimd(Binder& b) { bindSimd(b, average, false); }
void bindVsetSimd(Binder& b) { bindSimd(b, takeVideoComparison(b), true); }

}  // namespace ptxopt::exec
