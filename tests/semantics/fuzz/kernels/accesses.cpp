// Loads and stores. What is stored of floats is canonical (see Body::canonical).
#include "memory.h"

namespace kernels {
namespace {

// Cache operators and the like that change nothing.
std::string loadHint(Body& body, const Address& address, bool constant) {
  if (!body.random.chance(15)) return "";
  if (address.space == ".global" && constant && body.random.chance(60))
    return body.random.pick({".global.nc", ".global.ca"});
  if (address.space == ".global")
    return body.random.pick({".global.ca", ".global.cg", ".global.cs", ".volatile.global"});
  if (address.space == ".shared") return ".volatile.shared";
  return "";
}

struct Access {
  Class c;
  std::string_view type;
};

// In a register of any type, which may be wider.
Access inBits(Random& random, int width) {
  const Class c = width == 8 || random.chance(30) ? Class::Bits64 : Class::Bits32;
  switch (width) {
    case 1: return {c, "b8"};
    case 2: return {c, "b16"};
    case 4: return {c, "b32"};
    default: return {c, "b64"};
  }
}

// How `width` bytes may be loaded: the register may be wider.
Access loadAs(Body& body, int width) {
  Random& random = body.random;
  if (body.has(Feature::Bits) && random.chance(15)) return inBits(random, width);
  switch (width) {
    case 1:
      return random.pick<Access>({{Class::I32, "u8"},
                                  {Class::I32, "s8"},
                                  {Class::I16, "u8"},
                                  {Class::I16, "s8"},
                                  {Class::I16, "b8"},
                                  {Class::I64, "u8"},
                                  {Class::I32, "b8"}});
    case 2:
      return random.pick<Access>({{Class::I16, "b16"},
                                  {Class::I16, "u16"},
                                  {Class::I32, "u16"},
                                  {Class::I32, "s16"},
                                  {Class::F16, "b16"},
                                  {Class::I64, "s16"},
                                  {Class::I64, "u16"}});
    case 4:
      return random.pick<Access>({{Class::I32, "u32"},
                                  {Class::I32, "b32"},
                                  {Class::I32, "s32"},
                                  {Class::F32, "f32"},
                                  {Class::F32, "f32"},
                                  {Class::F32, "b32"},
                                  {Class::I64, "u32"},
                                  {Class::I64, "s32"}});
    default:
      return random.pick<Access>({{Class::I64, "u64"},
                                  {Class::I64, "b64"},
                                  {Class::I64, "s64"},
                                  {Class::F64, "f64"},
                                  {Class::F64, "b64"}});
  }
}

Access storeAs(Body& body, int width) {
  Random& random = body.random;
  // Not narrow: of a part of a float register ptxas stores what it converts the float to.
  if (body.has(Feature::Bits) && width >= 4 && random.chance(15))
    return width == 8 ? Access{Class::Bits64, "b64"} : Access{Class::Bits32, "b32"};
  switch (width) {
    case 1:
      return random.pick<Access>({{Class::I32, "u8"}, {Class::I16, "u8"}, {Class::I16, "b8"}, {Class::I32, "s8"}});
    case 2:
      return random.pick<Access>(
          {{Class::I16, "b16"}, {Class::I16, "u16"}, {Class::I32, "u16"}, {Class::F16, "b16"}});
    case 4:
      return random.pick<Access>({{Class::I32, "u32"},
                                  {Class::I32, "b32"},
                                  {Class::F32, "f32"},
                                  {Class::F32, "b32"},
                                  {Class::I64, "u32"}});
    default: return random.pick<Access>({{Class::I64, "u64"}, {Class::I64, "b64"}, {Class::F64, "f64"}});
  }
}

// What a store of so many bytes stores of `value`. No pass touches a function in which floating point may write a register that
// is stored narrowly (src/core/ir/stored_numbers.h), and names are taken again: so it is mostly a register of its own.
Reg stored(Body& body, Reg value, int width) {
  const Class c = body.regs.classOf(value);
  if (bits(c) <= 8 * width || ++body.narrowStores % 16 == 0) return value;
  const Reg own = body.regs.own(bits(c) == 16 ? Declared::U16 : bits(c) == 32 ? Declared::U32 : Declared::U64, c);
  body.line("mov.b{} {}, {};", bits(c), body.name(own), body.name(value));
  return own;
}

std::string guard(Body& body) {
  if (!body.has(Feature::Guards) || !body.random.chance(15)) return "";
  return "@" + body.maybeNot(body.source(Class::Pred)) + " ";
}

int pickWidth(Random& random) { return random.pick({1, 2, 4, 4, 4, 4, 8, 8}); }

}  // namespace

const Region* pickRegion(Body& body, bool write, int width) {
  std::vector<const Region*> usable;
  for (const Region& region : body.regions) {
    if (write && !region.writable) continue;
    if (region.size < width || region.align < width) continue;
    usable.push_back(&region);
  }
  return usable.empty() ? nullptr : body.random.pick(usable);
}

Reg loadFrom(Body& body, const Address& address, int width, bool constant) {
  const Access access = loadAs(body, width);
  const std::string hint = loadHint(body, address, constant);
  const Reg r = body.temporary(access.c);
  const std::string opcode = hint.starts_with(".volatile") ? hint : hint.empty() ? address.space : hint;
  body.line("ld{}.{} {}, [{}];", opcode, access.type, body.name(r), address.text);
  body.regs.keep(r);
  return r;
}

void storeTo(Body& body, const Address& address, int width) {
  const Access access = storeAs(body, width);
  const Reg value = stored(body, body.canonical(body.source(access.c)), width);
  const std::string when = guard(body);
  const char* hint = address.space == ".global" && body.random.chance(5) ? ".volatile" : "";
  const std::string text = body.withAddend(value);
  body.line("{}st{}{}.{} [{}], {};", when, hint, address.space, access.type, address.text, text);
}

void emitLoad(Body& body) {
  const int width = pickWidth(body.random);
  const Region* region = pickRegion(body, false, width);
  if (!region) return;
  const Address address = addressIn(body, *region, width);
  if (body.has(Feature::Guards) && body.random.chance(12)) {
    const Access access = loadAs(body, width);
    const std::vector<Reg> old = body.regs.writable(access.c, false);
    if (!old.empty()) {
      const Reg p = body.source(Class::Pred), r = body.random.pick(old);
      body.line("@{} ld{}.{} {}, [{}];", body.maybeNot(p), address.space, access.type, body.name(r), address.text);
      return;
    }
  }
  loadFrom(body, address, width, region->constant);
}

void emitStore(Body& body) {
  const int width = pickWidth(body.random);
  const Region* region = pickRegion(body, true, width);
  if (!region) return;
  const Address address = addressIn(body, *region, width);
  storeTo(body, address, width);
  // Read back, sometimes by another address of the same place.
  if (body.random.chance(20)) loadFrom(body, address, width, false);
}

void emitVector(Body& body) {
  Random& random = body.random;
  const int width = random.pick({1, 2, 4, 4, 8});
  int count = random.pick({2, 4});
  if (width == 8) count = 2;
  const bool store = random.chance(45);
  const Region* region = pickRegion(body, store, width * count);
  if (!region) return;
  const Address address = addressIn(body, *region, width * count);
  Access access = store ? storeAs(body, width) : loadAs(body, width);
  // Registers of one vector are of one type.
  while (access.c == Class::Bits32 || access.c == Class::Bits64)
    access = store ? storeAs(body, width) : loadAs(body, width);
  std::vector<Reg> values;
  for (int i = 0; i < count; ++i) {
    if (store) {
      const Reg value = body.source(access.c);
      values.push_back(stored(body, body.canonical(value), width));
    } else {
      values.push_back(body.temporary(access.c));
    }
  }
  std::string list;
  for (const Reg r : values) list += (list.empty() ? "" : ", ") + body.name(r);
  if (store) {
    body.line("{}st{}.v{}.{} [{}], {{{}}};", guard(body), address.space, count, access.type, address.text, list);
    return;
  }
  const bool nc = region->constant && address.space == ".global" && random.chance(30);
  body.line("ld{}{}.v{}.{} {{{}}}, [{}];", address.space, nc ? ".nc" : "", count, access.type, list, address.text);
  for (const Reg r : values) body.regs.keep(r);
}

void emitMixedWidths(Body& body) {
  Random& random = body.random;
  const Region* region = pickRegion(body, true, 8);
  if (!region) return;
  const Base base = pickBase(body, *region);
  const int at8 = random.below(region->size / 8) * 8;
  if (random.chance(50)) {
    storeTo(body, at(body, base, at8), 8);
    if (random.chance(50)) storeTo(body, at(body, base, at8 + random.below(8)), 1);
    const int width = random.pick({1, 2, 4, 4});
    for (int i = random.between(1, 3); i > 0; --i) {
      const int part = random.below(8 / width) * width;
      loadFrom(body, at(body, base, at8 + part), width, false);
    }
  } else {
    const int width = random.pick({1, 2, 4, 4});
    for (int part = 0; part < 8; part += width)
      if (random.chance(80)) storeTo(body, at(body, base, at8 + part), width);
    loadFrom(body, at(body, base, at8), 8, false);
  }
}

void emitPrivateAtomic(Body& body) {
  Random& random = body.random;
  const int width = random.pick({4, 4, 8});
  std::vector<const Region*> usable;
  for (const Region& region : body.regions)
    if (region.writable && region.size >= width && region.bases.front().space != ".local" &&
        region.name != "depot" && region.name != "pointer")
      usable.push_back(&region);
  if (usable.empty()) return;
  const Region& region = *random.pick(usable);
  const Address address = addressIn(body, region, width);
  const Class c = width == 4 ? Class::I32 : Class::I64;
  const std::string value = body.operand(c);
  const int n = 8 * width;
  std::string operation;
  switch (random.below(4)) {
    case 0: operation = fmt::format("add.u{}", n); break;
    case 1: operation = fmt::format("{}{}", random.pick({"min.u", "min.s", "max.u", "max.s"}), n); break;
    case 2: operation = fmt::format("{}.b{}", random.pick({"and", "or", "xor", "exch"}), n); break;
    default: operation = width == 4 ? random.pick({"inc.u32", "dec.u32", "cas.b32"}) : "cas.b64"; break;
  }
  std::string more;
  if (operation.starts_with("cas")) more = ", " + body.name(body.source(c));
  const std::string order = random.pick({"", "", ".relaxed.gpu", ".acq_rel.cta"});
  const Reg r = body.destination(c);
  body.line("atom{}{}.{} {}, [{}], {}{};", order, address.space, operation, body.name(r), address.text, value,
            more);
}

}  // namespace kernels
