// Values in several instructions: copies, packs, carry chains, wide arithmetic, pairs of halves, dead code.
#include <algorithm>
#include "statements.h"

namespace kernels {
namespace {

std::string names(Body& body, const std::vector<Reg>& regs) {
  std::string list;
  for (const Reg r : regs) list += (list.empty() ? "" : ", ") + body.name(r);
  return list;
}

std::vector<Reg> sources(Body& body, Class c, int count) {
  std::vector<Reg> result;
  for (int i = 0; i < count; ++i) result.push_back(body.source(c));
  return result;
}

std::vector<Reg> fresh(Body& body, Class c, int count) {
  std::vector<Reg> result;
  for (int i = 0; i < count; ++i) result.push_back(body.temporary(c));
  return result;
}

void keep(Body& body, const std::vector<Reg>& regs) {
  for (const Reg r : regs) body.regs.keep(r);
}

}  // namespace

// Copies of copies; swaps.
void emitCopies(Body& body) {
  Random& random = body.random;
  const Class c = random.pick({Class::I32, Class::I32, Class::I64, Class::F32, Class::F64, Class::I16, Class::F16});
  if (random.chance(40)) {
    const std::vector<Reg> old = body.regs.writable(c, false);
    if (old.size() >= 2) {
      const Reg t = body.temporary(c), x = random.pick(old), y = random.pick(old);
      body.line("mov.{} {}, {};", bitType(c), body.name(t), body.name(x));
      body.line("mov.{} {}, {};", bitType(c), body.name(x), body.name(y));
      body.line("mov.{} {}, {};", bitType(c), body.name(y), body.name(t));
      return;
    }
  }
  Reg from = body.source(c);
  for (int i = random.between(1, 4); i > 0; --i) {
    const Reg to = i == 1 ? body.destination(c) : body.temporary(c);
    body.line("mov.{} {}, {};", bitType(c), body.name(to), body.name(from));
    from = to;
  }
}

void emitPack(Body& body) {
  Random& random = body.random;
  struct Form {
    Class wide, narrow;
    int count;
  };
  const Form form = random.pick<Form>({{Class::I64, Class::I32, 2},
                                       {Class::I64, Class::I32, 2},
                                       {Class::I32, Class::I16, 2},
                                       {Class::I64, Class::I16, 4},
                                       {Class::F64, Class::I32, 2},
                                       {Class::I32, Class::I16, 2}});
  if (random.chance(50)) {
    const std::vector<Reg> parts = sources(body, form.narrow, form.count);
    const Reg to = body.destination(form.wide);
    body.line("mov.{} {}, {{{}}};", bitType(form.wide), body.name(to), names(body, parts));
    if (random.chance(60)) return;
    // And apart again.
    const std::vector<Reg> again = fresh(body, form.narrow, form.count);
    body.line("mov.{} {{{}}}, {};", bitType(form.wide), names(body, again), body.name(to));
    // What a number in the form of a float becomes is not for integers (see Body::canonical), but here it came from
    // them.
    keep(body, again);
    return;
  }
  if (isFloat(form.wide)) return emitPack(body);
  const Reg from = body.source(form.wide);
  const std::vector<Reg> parts = fresh(body, form.narrow, form.count);
  body.line("mov.{} {{{}}}, {};", bitType(form.wide), names(body, parts), body.name(from));
  keep(body, parts);
}

// Halves in registers of any type.
void emitBitPack(Body& body) {
  Random& random = body.random;
  const Class part = random.pick({Class::I32, Class::Bits32});
  if (random.chance(60)) {
    // A constant half: what is widened.
    const Reg low = body.source(part), to = body.destination(Class::Bits64);
    std::string high = body.name(low);
    if (random.chance(70)) {
      const Reg zero = body.regs.temporary(Class::I32, true);
      body.line("mov.b32 {}, 0;", body.name(zero));
      high = body.name(zero);
    }
    body.line("mov.b64 {}, {{{}, {}}};", body.name(to), body.name(low), high);
    return;
  }
  const Reg from = body.source(Class::Bits64);
  const std::vector<Reg> halves = fresh(body, Class::I32, 2);
  body.line("mov.b64 {{{}}}, {};", names(body, halves), body.name(from));
  keep(body, halves);
}

// Sums, differences and products of several words. The carry flag lives from the first instruction to the last.
void emitCarry(Body& body) {
  Random& random = body.random;
  const int count = random.between(2, 4);
  const bool wide = random.chance(20);
  const Class c = wide ? Class::I64 : Class::I32;
  const std::string type = fmt::format("{}{}", random.chance(50) ? "u" : "s", wide ? 64 : 32);
  const std::vector<Reg> x = sources(body, c, count), y = sources(body, c, count), z = sources(body, c, count);
  const std::vector<Reg> r = fresh(body, c, count);
  const auto n = [&](const std::vector<Reg>& list, int i) { return body.name(list[static_cast<std::size_t>(i)]); };
  const bool flagOut = random.chance(50);
  const int kind = random.below(4);
  for (int i = 0; i < count; ++i) {
    const char* cc = i + 1 < count || flagOut ? ".cc" : "";
    if (kind < 2) {
      const std::string operation = fmt::format("{}{}", kind == 0 ? "add" : "sub", i == 0 ? "" : "c");
      body.line("{}{}.{} {}, {}, {};", operation, i == 0 ? ".cc" : cc, type, n(r, i), n(x, i), n(y, i));
    } else {
      // mad.lo.cc, madc.hi.cc, madc.lo.cc, ...: the columns of a long product.
      const std::string operation =
          fmt::format("{}.{}", i == 0 ? "mad" : "madc", (i + kind) % 2 == 0 ? "lo" : "hi");
      body.line("{}{}.{} {}, {}, {}, {};", operation, i == 0 ? ".cc" : cc, type, n(r, i), n(x, i / 2), n(y, i / 2),
                n(z, i));
    }
  }
  if (flagOut) {
    const Reg carry = body.temporary(c);
    body.line("{}.{} {}, 0, 0;", kind == 1 ? "subc" : "addc", type, body.name(carry));
    body.regs.keep(carry);
  }
  keep(body, r);
}

// 32-bit arithmetic that wraps around, or does not, before it is widened.
void emitWide(Body& body) {
  Random& random = body.random;
  const Reg x = body.source(Class::I32), near = body.temporary(Class::I32), sum = body.temporary(Class::I32);
  const char* sign = random.pick({"u", "s"});
  const uint32_t edge = random.pick({0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x7FFFFFF8u, 0xFFFFFFF0u});
  const int few = random.pick({1, 7, 31, 255});
  const int more = random.between(1, 300);
  body.line("and.b32 {}, {}, {};", body.name(near), body.name(x), few);
  body.line("add.{}32 {}, {}, 0x{:x};", sign, body.name(near), body.name(near), edge);
  body.line("add.{}32 {}, {}, {};", sign, body.name(sum), body.name(near), more);
  const Reg z = body.source(Class::I64), to = body.destination(Class::I64);
  const std::string d = body.name(to), s = body.name(sum);
  switch (random.below(6)) {
    case 0: body.line("cvt.{0}64.{0}32 {1}, {2};", sign, d, s); break;
    case 1: body.line("mul.wide.{}32 {}, {}, {};", sign, d, s, more); break;
    case 2: body.line("mad.wide.{}32 {}, {}, {}, {};", sign, d, s, body.name(near), body.name(z)); break;
    case 3: {
      const Reg product = body.temporary(Class::I32);
      body.line("mul.lo.{}32 {}, {}, {};", sign, body.name(product), s, more);
      body.line("cvt.{0}64.{0}32 {1}, {2};", sign, d, body.name(product));
      break;
    }
    case 4: {
      // Both words of a product, from lo and hi.
      const Reg low = body.temporary(Class::I32), high = body.temporary(Class::I32);
      body.line("mul.lo.{}32 {}, {}, {};", sign, body.name(low), s, body.name(near));
      body.line("mul.hi.{}32 {}, {}, {};", sign, body.name(high), s, body.name(near));
      body.line("mov.b64 {}, {{{}, {}}};", d, body.name(low), body.name(high));
      break;
    }
    default: {
      const Reg one = body.temporary(Class::I64);
      body.line("cvt.{0}64.{0}32 {1}, {2};", sign, body.name(one), body.name(near));
      body.line("add.{}64 {}, {}, {};", sign, d, body.name(one), more);
      break;
    }
  }
}

// Packed arithmetic; its NaNs stay in registers of halves.
void emitHalfPair(Body& body) {
  Random& random = body.random;
  const std::vector<Reg> parts = sources(body, Class::F16, 6);
  std::vector<Reg> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(body.regs.temporary(Class::I32, true));
  const auto part = [&](int i) { return body.name(parts[static_cast<std::size_t>(i)]); };
  const auto pair = [&](int i) { return body.name(pairs[static_cast<std::size_t>(i)]); };
  for (int i = 0; i < 3; ++i) body.line("mov.b32 {}, {{{}, {}}};", pair(i), part(2 * i), part(2 * i + 1));
  const char* flush = random.pick({"", ".ftz", ".sat", ".ftz.sat"});
  switch (random.below(body.arch() >= 80 ? 4 : 3)) {
    case 0: {
      const char* operation = random.pick({"add", "sub", "mul"});
      body.line("{}.rn{}.f16x2 {}, {}, {};", operation, flush, pair(3), pair(0), pair(1));
      break;
    }
    case 1: body.line("fma.rn{}.f16x2 {}, {}, {}, {};", flush, pair(3), pair(0), pair(1), pair(2)); break;
    case 2: body.line("{}.f16x2 {}, {};", random.pick({"neg", "abs"}), pair(3), pair(0)); break;
    default: body.line("{}.f16x2 {}, {}, {};", random.pick({"min", "max"}), pair(3), pair(0), pair(1)); break;
  }
  const std::vector<Reg> results = fresh(body, Class::F16, 2);
  body.line("mov.b32 {{{}}}, {};", names(body, results), pair(3));
  keep(body, results);
}

// Values that nothing reads; with Options::undefinedReads some computed from registers that nothing wrote.
void emitDead(Body& body) {
  Random& random = body.random;
  const Class c = random.pick({Class::I32, Class::I64, Class::F32, Class::I16});
  const char* operation = c == Class::F32 ? "add.rn" : random.pick({"add", "mul.lo", "sub"});
  const Reg x = body.source(c);
  if (body.file.options.undefinedReads && random.chance(60)) {
    // A name of its own: others have been written on some path. The mask makes every value the same.
    const std::string name = fmt::format("%undefined{}", ++body.undefined);
    if (!isFloat(c)) {
      const Reg zero = body.temporary(c), to = body.destination(c);
      body.line("and.{} {}, {}, 0;", bitType(c), body.name(zero), fmt::format("{}{}", name, bits(c)));
      body.line("or.{} {}, {}, {};", bitType(c), body.name(to), body.name(zero), body.name(x));
    } else {
      const Reg t = body.temporary(c);
      body.line("add.rn.f32 {}, {}32, {};", body.name(t), name, body.name(x));
    }
    body.undefinedNames += fmt::format("  .reg .{} {}{};\n", bitType(c), name, bits(c));
    return;
  }
  Reg from = x;
  for (int i = random.between(1, 4); i > 0; --i) {
    const Reg t = body.temporary(c);
    body.line("{}.{} {}, {}, {};", operation, arithmeticType(c), body.name(t), body.name(from), body.name(x));
    from = t;
  }
}

}  // namespace kernels
