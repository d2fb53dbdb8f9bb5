#include "body.h"

#include <array>

#include "constants.h"

namespace kernels {
namespace {

constexpr std::array<uint64_t, 24> kNumbers = {
    0,   1,   2,   3,    5,      7,      8,       15,        31,         32,          33,          100,
    127, 255, 256, 1000, 0x7FFF, 0xFFFF, 0x10000, 0xFFFFFFF, 0x7FFFFFFF, 0x80000000u, 0xFFFFFFFEu, 0xFFFFFFFFu};

}  // namespace

std::string Body::label() { return fmt::format("$L{}", ++file.labels); }

void Body::branch(const std::string& label, bool together) {
  line("bra{} {};", together && random.chance(50) ? ".uni" : "", label);
}

void Body::branchIf(const std::string& condition, const std::string& label, bool together) {
  line("@{} bra{} {};", condition, together && random.chance(30) ? ".uni" : "", label);
}

std::string Body::immediate(Class c) {
  if (has(Feature::Expressions) && random.chance(12)) {
    const std::string unusual = unusualConstant(random, c, ofFloats);
    if (!unusual.empty()) return unusual;
  }
  switch (c) {
    case Class::I16:
      return fmt::format("{}", random.chance(50) ? random.between(-9, 40) : random.between(-32768, 32767));
    case Class::Bits32:
    case Class::I32: {
      if (random.chance(20)) return fmt::format("{}", -random.between(1, 70));
      if (random.chance(20)) return fmt::format("0x{:x}", random.word());
      return fmt::format("{}", kNumbers[static_cast<std::size_t>(random.below(kNumbers.size()))]);
    }
    case Class::Bits64:
    case Class::I64: {
      if (random.chance(20)) return fmt::format("{}", -random.between(1, 70));
      if (random.chance(20)) {
        const uint64_t x = random.next();
        return fmt::format("0x{:x}", x >> random.below(60));
      }
      return fmt::format("{}", kNumbers[static_cast<std::size_t>(random.below(kNumbers.size()))]);
    }
    case Class::F32: {
      constexpr std::array<uint32_t, 12> kFloats = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000,
                                                    0x3F000000, 0x40490FDB, 0x7F800000, 0x00000001,
                                                    0x7F7FFFFF, 0x4B800000, 0xC2C80000, 0x00800000};
      return fmt::format("0f{:08X}", kFloats[static_cast<std::size_t>(random.below(kFloats.size()))]);
    }
    case Class::F64: {
      constexpr std::array<uint64_t, 10> kDoubles = {
          0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000,
          0x400921FB54442D18, 0x7FF0000000000000, 0x0000000000000001, 0x7FEFFFFFFFFFFFFF, 0x4330000000000000};
      return fmt::format("0d{:016X}", kDoubles[static_cast<std::size_t>(random.below(kDoubles.size()))]);
    }
    case Class::F16:
    case Class::Pred: break;
  }
  return {};
}

Reg Body::constant(Class c, uint64_t value) {
  const Reg r = temporary(c);
  if (c == Class::F16 || c == Class::I16)
    line("mov.b16 {}, {};", name(r), value & 0x7FFF);
  else if (c == Class::Pred)
    line("setp.eq.u32 {}, {}, 0;", name(r), name(checksum));
  else
    line("mov.{} {}, {};", bitType(c), name(r), bits(c) == 32 ? value & 0xFFFFFFFFu : value);
  return r;
}

Reg Body::source(Class c) {
  const std::vector<Reg> live = regs.live(c, onlyUniform);
  if (!live.empty() && !(isFloat(c) && random.chance(10))) {
    // Young values are taken more often, so that chains grow.
    const int n = static_cast<int>(live.size());
    const int first = random.below(n), second = random.below(n);
    return live[static_cast<std::size_t>(first > second ? first : second)];
  }
  Reg r = -1;
  if (c == Class::Pred) {
    const Reg x = source(Class::I32);
    const std::string y = immediate(Class::I32);
    r = temporary(c);
    line("setp.{}.s32 {}, {}, {};", random.pick({"lt", "gt", "ne", "le"}), name(r), name(x), y);
  } else if (c == Class::I32) {
    r = constant(c, random.word());
  } else {
    const Reg x = source(Class::I32);
    r = temporary(c);
    if (c == Class::I16) {
      line("cvt.u16.u32 {}, {};", name(r), name(x));
    } else if (c == Class::I64) {
      line("cvt.u64.u32 {}, {};", name(r), name(x));
    } else if (c == Class::Bits32) {
      line("mov.b32 {}, {};", name(r), name(x));
    } else if (c == Class::Bits64) {
      const Reg y = source(Class::I32);
      line("mov.b64 {}, {{{}, {}}};", name(r), name(x), name(y));
    } else {
      // A number of moderate size: others soon end as infinities.
      const Reg t = masked(x, 1 << random.between(4, 10));
      if (random.chance(50)) line("add.s32 {}, {}, -37;", name(t), name(t));
      line("cvt.rn.{}.s32 {}, {};", arithmeticType(c), name(r), name(t));
    }
  }
  regs.keep(r, onlyUniform);
  return r;
}

std::string Body::operand(Class c) {
  if (c != Class::F16 && c != Class::Pred && random.chance(25)) return immediate(c);
  const Reg r = source(c);
  return withAddend(r);
}

std::string Body::withAddend(Reg r) {
  const Class c = regs.classOf(r);
  const bool integer = c == Class::I16 || c == Class::I32 || c == Class::I64;
  if (!integer || !has(Feature::Expressions) || !random.chance(8)) return name(r);
  return fmt::format("{} + {}", name(r), addend(random, c));
}

Reg Body::destination(Class c) {
  const std::vector<Reg> old = regs.writable(c, onlyUniform);
  if (!old.empty() && random.chance(old.size() > 10 ? 80 : 35)) return random.pick(old);
  const Reg r = temporary(c);
  regs.keep(r, onlyUniform);
  return r;
}

std::string Body::maybeNot(Reg predicate) { return (random.chance(50) ? "!" : "") + name(predicate); }

Reg Body::masked(Reg x, int count) {
  const Reg t = temporary(Class::I32);
  if (words >= 0 && count == file.launch.words && random.chance(50))
    line("rem.u32 {}, {}, {};", name(t), name(x), name(words));
  else if (random.chance(80))
    line("and.b32 {}, {}, {};", name(t), name(x), count - 1);
  else
    line("rem.u32 {}, {}, {};", name(t), name(x), count);
  return t;
}

Reg Body::number(bool together) {
  const bool before = onlyUniform;
  onlyUniform = together;
  const Reg r = source(Class::I32);
  onlyUniform = before;
  return r;
}

Reg Body::condition(bool together) {
  if (!together && random.chance(30)) {
    const std::vector<Reg> live = regs.live(Class::Pred, false);
    if (!live.empty()) return random.pick(live);
  }
  const Reg x = number(together);
  const Reg p = temporary(Class::Pred);
  if (random.chance(60)) {
    // A few bits of the value: any answer is likely.
    const Reg t = masked(x, 1 << random.between(1, 5));
    const int with = random.below(8);
    const char* compare = random.pick({"eq", "ne", "lt", "ge", "gt", "le"});
    line("setp.{}.{} {}, {}, {};", compare, random.pick({"u32", "s32"}), name(p), name(t), with);
  } else {
    const Reg y = number(together);
    line("setp.{}.s32 {}, {}, {};", random.pick({"lt", "ne", "ge", "gt", "le"}), name(p), name(x), name(y));
  }
  if (random.chance(40)) regs.keep(p, together);
  return p;
}

Reg Body::canonical(Reg r) {
  const Class c = regs.classOf(r);
  if (!isFloat(c) || file.options.rawNan) return r;
  const Reg isNan = temporary(Class::Pred), t = temporary(c);
  line("setp.nan.{} {}, {}, {};", arithmeticType(c), name(isNan), name(r), name(r));
  if (c == Class::F32)
    line("selp.{} {}, 0f7FFFFFFF, {}, {};", random.pick({"f32", "b32"}), name(t), name(r), name(isNan));
  else if (c == Class::F64)
    line("selp.f64 {}, 0d7FF8000000000000, {}, {};", name(t), name(r), name(isNan));
  else
    line("selp.b16 {}, 0x7FFF, {}, {};", name(t), name(r), name(isNan));
  return t;
}

void Body::fold(Reg r) {
  if (r == checksum) return;
  const Class c = regs.classOf(r);
  const std::string& sum = name(checksum);
  if (c == Class::Pred) {
    const Reg t = temporary(Class::I32);
    line("selp.b32 {}, {}, 1, {};", name(t), random.between(2, 1000), name(r));
    r = t;
  } else if (bits(c) == 64) {
    const Reg wide = canonical(r), low = temporary(Class::I32), high = temporary(Class::I32);
    line("mov.b64 {{{}, {}}}, {};", name(low), name(high), name(wide));
    line("xor.b32 {}, {}, {};", sum, sum, name(high));
    r = low;
  } else if (bits(c) == 16) {
    const Reg half = canonical(r), t = temporary(Class::I32);
    line("mov.b32 {}, {{{}, {}}};", name(t), name(half), name(half));
    r = t;
  } else if (c == Class::Bits32) {
    const Reg t = temporary(Class::I32);
    line("mov.b32 {}, {};", name(t), name(r));
    r = t;
  } else if (isFloat(c)) {
    const Reg single = canonical(r), t = temporary(Class::I32);
    line("mov.b32 {}, {};", name(t), name(single));
    r = t;
  }
  if (random.chance(50)) {
    line("mad.lo.u32 {}, {}, 31, {};", sum, sum, name(r));
  } else {
    line("shf.l.wrap.b32 {}, {}, {}, 5;", sum, sum, sum);
    line("xor.b32 {}, {}, {};", sum, sum, name(r));
  }
}

void Body::foldSome(int percent) {
  for (const Reg r : regs.added())
    if (random.chance(percent)) fold(r);
}

}  // namespace kernels
