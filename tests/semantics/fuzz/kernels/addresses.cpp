// The ways to compute an address. In all, an index is first brought below the number of elements; some then go
// through arithmetic that wraps around in 32 bits, or through a negative index, and come back.
#include "memory.h"

namespace kernels {
namespace {

int log2Floor(int x) {
  int result = 0;
  while (x >> (result + 1)) ++result;
  return result;
}

// The same number by a way that wraps around in 32 bits.
Reg throughWrap(Body& body, Reg index) {
  Random& random = body.random;
  const Reg t = body.temporary(Class::I32);
  const uint32_t far = random.pick({0x80000000u, 0xFFFFFFF0u, 0x7FFFFFFFu, 0xFFFFFFFFu, 0x40000000u});
  body.line("add.{} {}, {}, 0x{:x};", random.pick({"u32", "s32"}), body.name(t), body.name(index), far);
  if (random.chance(50))
    body.line("sub.u32 {}, {}, 0x{:x};", body.name(t), body.name(t), far);
  else
    body.line("add.s32 {}, {}, 0x{:x};", body.name(t), body.name(t), 0u - far);
  return t;
}

std::string offsetText(const std::string& base, int offset) {
  if (offset == 0) return base;
  return fmt::format("{}+{}", base, offset);
}

// A 64-bit register with index * width.
Reg scaled(Body& body, Reg index, int width) {
  Random& random = body.random;
  const Reg wide = body.temporary(Class::I64);
  const std::string w = body.name(wide), i = body.name(index);
  const int shift = log2Floor(width);
  const bool power = (1 << shift) == width;
  const char* sign = random.pick({"u", "s"});
  switch (random.below(power ? 5 : 2)) {
    case 0: body.line("mul.wide.{}32 {}, {}, {};", sign, w, i, width); break;
    case 1:
      body.line("cvt.{}64.{}32 {}, {};", sign, sign, w, i);
      body.line("mul.lo.s64 {}, {}, {};", w, w, width);
      break;
    case 2:
      body.line("cvt.{}64.{}32 {}, {};", sign, sign, w, i);
      body.line("shl.b64 {}, {}, {};", w, w, shift);
      break;
    case 3: {
      const Reg t = body.temporary(Class::I32);
      body.line("shl.b32 {}, {}, {};", body.name(t), i, shift);
      body.line("cvt.{}64.{}32 {}, {};", sign, sign, w, body.name(t));
      break;
    }
    default: {
      const Reg one = body.temporary(Class::I32);
      body.line("mov.b32 {}, {};", body.name(one), width);
      body.line("mul.wide.u32 {}, {}, {};", w, i, body.name(one));
      break;
    }
  }
  return wide;
}

}  // namespace

Base pickBase(Body& body, const Region& region, bool inRegister) {
  std::vector<Base> usable;
  for (const Base& base : region.bases) {
    if (inRegister && base.reg < 0) continue;
    if (base.space.empty() && base.wide && !body.has(Feature::Generic) && region.bases.size() > 1) continue;
    usable.push_back(base);
  }
  return usable.empty() ? region.bases.front() : body.random.pick(usable);
}

Address at(Body& body, const Base& base, int offset) {
  if (base.reg < 0) return {offsetText(base.symbol, offset - base.offset), base.space};
  if (body.random.chance(70)) return {offsetText(body.name(base.reg), offset - base.offset), base.space};
  const Class c = base.wide ? Class::I64 : Class::I32;
  const Reg t = body.temporary(c);
  const int part = body.random.pick({0, 4, 8, -16});
  body.line("add.s{} {}, {}, {};", base.wide ? 64 : 32, body.name(t), body.name(base.reg),
            offset - base.offset - part);
  return {offsetText(body.name(t), part), base.space};
}

Address indexed(Body& body, const Base& base, Reg index, int width, int offset) {
  Random& random = body.random;
  const int rest = offset - base.offset;
  if (body.has(Feature::Wide) && random.chance(25)) index = throughWrap(body, index);
  if (!base.wide) {
    const Reg t = body.temporary(Class::I32);
    const std::string from = body.name(base.reg);
    const int shift = log2Floor(width);
    if ((1 << shift) == width && random.chance(50)) {
      const Reg scaledIndex = body.temporary(Class::I32);
      body.line("shl.b32 {}, {}, {};", body.name(scaledIndex), body.name(index), shift);
      body.line("add.{} {}, {}, {};", random.pick({"u32", "s32"}), body.name(t), from, body.name(scaledIndex));
    } else {
      body.line("mad.lo.{} {}, {}, {}, {};", random.pick({"u32", "s32"}), body.name(t), body.name(index), width,
                from);
    }
    return {offsetText(body.name(t), rest), base.space};
  }
  const Reg t = body.temporary(Class::I64);
  const std::string from = body.name(base.reg);
  switch (random.below(6)) {
    case 0:
      body.line("mad.wide.{} {}, {}, {}, {};", random.pick({"u32", "s32"}), body.name(t), body.name(index), width,
                from);
      break;
    case 1: {
      const Reg wide = body.temporary(Class::I64);
      body.line("cvt.{} {}, {};", random.pick({"u64.u32", "s64.s32"}), body.name(wide), body.name(index));
      body.line("mad.lo.s64 {}, {}, {}, {};", body.name(t), body.name(wide), width, from);
      break;
    }
    case 2: {
      // A negative index from a point far behind.
      const Reg back = body.temporary(Class::I32), wide = body.temporary(Class::I64);
      const int far = random.pick({1, 64, 1 << 20});
      body.line("sub.s32 {}, {}, {};", body.name(back), body.name(index), far);
      body.line("mul.wide.s32 {}, {}, {};", body.name(wide), body.name(back), width);
      body.line("add.s64 {}, {}, {};", body.name(t), from, body.name(wide));
      body.line("add.s64 {}, {}, {};", body.name(t), body.name(t), static_cast<int64_t>(far) * width);
      break;
    }
    default: {
      const Reg wide = scaled(body, index, width);
      if (random.chance(50))
        body.line("add.s64 {}, {}, {};", body.name(t), from, body.name(wide));
      else
        body.line("add.u64 {}, {}, {};", body.name(t), body.name(wide), from);
      break;
    }
  }
  return {offsetText(body.name(t), rest), base.space};
}

Address addressIn(Body& body, const Region& region, int width) {
  Random& random = body.random;
  const int elements = region.size / width;
  if (elements < 2 || random.chance(30)) {
    const int element = random.below(elements);
    return at(body, pickBase(body, region), element * width);
  }
  int count = 1 << log2Floor(elements);
  if (count > 2 && random.chance(40)) count /= 2;
  const int offset = random.below(elements - count + 1) * width;
  const Reg x = body.number(body.onlyUniform);
  const Base base = pickBase(body, region, true);
  if (base.reg < 0) return at(body, base, random.below(elements) * width);
  // As a rule in 32 bits, sometimes masked only after it was widened.
  if (base.wide && random.chance(10)) {
    const Reg wide = body.temporary(Class::I64), t = body.temporary(Class::I64);
    body.line("cvt.{} {}, {};", random.pick({"u64.u32", "s64.s32"}), body.name(wide), body.name(x));
    body.line("and.b64 {}, {}, {};", body.name(wide), body.name(wide), count - 1);
    body.line("mad.lo.u64 {}, {}, {}, {};", body.name(t), body.name(wide), width, body.name(base.reg));
    return {offsetText(body.name(t), offset - base.offset), base.space};
  }
  const Reg index = body.masked(x, count);
  const Address address = indexed(body, base, index, width, offset);
  if (random.chance(15)) body.regs.keep(index);
  return address;
}

}  // namespace kernels
