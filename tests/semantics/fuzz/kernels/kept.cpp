// Addresses that lie in memory and are loaded again: whole or in halves, in registers of any type, in vectors, under
// guards and in loops; then stored through.
//
// Addresses differ between the texts before and after an optimization. They never reach the checksum, live values or
// memory that is compared: where they lay in a region, a number is stored over them.
#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

enum class Form : uint8_t { Whole, Double, Halves, FloatHalves, Pair, HalfPair };

struct Kept {
  Body& body;
  Random& random;
  bool generic = false;
  std::string target[2] = {};  // names
  Reg address[2] = {-1, -1};
  int offset[2] = {0, 0};

  std::string local() const { return generic ? "" : ".local"; }
  std::string name(Reg r) const { return body.name(r); }
};

constexpr int kTargetSize = 16;

Form drawForm(Random& random) {
  return random.pick({Form::Whole, Form::Whole, Form::Double, Form::Double, Form::Halves, Form::FloatHalves,
                      Form::Pair, Form::HalfPair});
}

// Half registers of the form.
Reg half(Body& body, Form form) { return body.temporary(form == Form::FloatHalves ? Class::Bits32 : Class::I32); }

// Stores the address in the first 8 bytes of a place of 16, and `second` in the others.
void keep(Kept& k, const Address& place, const Address& behind, Reg from, Reg second) {
  Body& body = k.body;
  const Form form = drawForm(k.random);
  switch (form) {
    case Form::Whole: {
      body.line("st{}.{} [{}], {};", place.space, k.random.pick({"u64", "b64", "s64"}), place.text, k.name(from));
      break;
    }
    case Form::Double: {
      const Reg d = body.temporary(Class::F64);
      body.line("mov.b64 {}, {};", k.name(d), k.name(from));
      body.line("st{}.f64 [{}], {};", place.space, place.text, k.name(d));
      break;
    }
    case Form::Pair: {
      body.line("st{}.v2.{} [{}], {{{}, {}}};", place.space, k.random.pick({"u64", "b64"}), place.text,
                k.name(from), k.name(second));
      return;
    }
    case Form::Halves:
    case Form::FloatHalves:
    case Form::HalfPair: {
      const Reg low = half(body, form == Form::HalfPair ? Form::Halves : form), high = half(body, Form::Halves);
      const Reg plain = body.temporary(Class::I32);
      body.line("mov.b64 {{{}, {}}}, {};", k.name(plain), k.name(high), k.name(from));
      body.line("mov.b32 {}, {};", k.name(low), k.name(plain));
      if (form == Form::HalfPair) {
        body.line("st{}.v2.b32 [{}], {{{}, {}}};", place.space, place.text, k.name(low), k.name(high));
      } else {
        body.line("st{}.b32 [{}], {};", place.space, place.text, k.name(low));
        body.line("st{}.b32 [{}+4], {};", place.space, place.text, k.name(high));
      }
      break;
    }
  }
  body.line("st{}.u64 [{}], {};", behind.space, behind.text, k.name(second));
}

// A register with the address from the place; where the guard is false, with `otherwise`.
Reg reload(Kept& k, const Address& place, const std::string& guard, Reg otherwise) {
  Body& body = k.body;
  const Reg q = body.temporary(Class::I64);
  const bool first = !guard.empty();
  switch (const Form form = drawForm(k.random)) {
    case Form::Whole:
      if (first) body.line("mov.b64 {}, {};", k.name(q), k.name(otherwise));
      body.line("{}ld{}.{} {}, [{}];", guard, place.space, k.random.pick({"u64", "b64", "s64"}), k.name(q),
                place.text);
      break;
    case Form::Double: {
      const Reg d = body.regs.declared(Declared::F64);
      if (first) body.line("mov.b64 {}, {};", k.name(d), k.name(otherwise));
      body.line("{}ld{}.{} {}, [{}];", guard, place.space, k.random.pick({"f64", "b64"}), k.name(d), place.text);
      body.line("mov.b64 {}, {};", k.name(q), k.name(d));
      break;
    }
    case Form::Pair: {
      const Reg other = body.temporary(Class::I64);
      if (first) {
        body.line("mov.b64 {}, {};", k.name(q), k.name(otherwise));
        body.line("mov.b64 {}, {};", k.name(other), k.name(otherwise));
      }
      body.line("{}ld{}.v2.b64 {{{}, {}}}, [{}];", guard, place.space, k.name(q), k.name(other), place.text);
      break;
    }
    case Form::Halves:
    case Form::FloatHalves:
    case Form::HalfPair: {
      Reg part[2];
      for (Reg& r : part)
        r = form == Form::FloatHalves ? body.regs.declared(Declared::F32) : body.regs.temporary(Class::I32, true);
      if (first) body.line("mov.b64 {{{}, {}}}, {};", k.name(part[0]), k.name(part[1]), k.name(otherwise));
      if (form == Form::HalfPair) {
        body.line("{}ld{}.v2.b32 {{{}, {}}}, [{}];", guard, place.space, k.name(part[0]), k.name(part[1]),
                  place.text);
      } else {
        const char* type = form == Form::FloatHalves ? k.random.pick({"f32", "b32"}) : "b32";
        body.line("{}ld{}.{} {}, [{}];", guard, place.space, type, k.name(part[0]), place.text);
        body.line("{}ld{}.{} {}, [{}+4];", guard, place.space, type, k.name(part[1]), place.text);
      }
      body.line("mov.b64 {}, {{{}, {}}};", k.name(q), k.name(part[0]), k.name(part[1]));
      break;
    }
  }
  // On through other registers.
  if (k.random.chance(25)) {
    const Reg d = body.temporary(Class::Bits64), again = body.temporary(Class::I64);
    body.line("mov.b64 {}, {};", k.name(d), k.name(q));
    body.line("mov.b64 {}, {};", k.name(again), k.name(d));
    return again;
  }
  return q;
}

void storeThrough(Kept& k, Reg q, int room) {
  Body& body = k.body;
  const int width = k.random.pick({1, 2, 4, 4, 4, 4});
  const int at = k.random.below(room / width) * width;
  storeTo(body, Address{at == 0 ? k.name(q) : fmt::format("{}+{}", k.name(q), at), k.local()}, width);
}

void storeDirectly(Kept& k) {
  const int which = k.random.below(2);
  const int at = k.random.below(4) * 4;
  const std::string& text = k.target[which];
  storeTo(k.body, Address{at == 0 ? text : fmt::format("{}+{}", text, at), ".local"}, 4);
}

}  // namespace

void emitKept(Body& body) {
  Random& random = body.random;
  if (body.work > 16) return;
  Kept k{.body = body, .random = random};
  const int number = body.file.kept++;
  k.generic = body.has(Feature::Generic) && random.chance(30);
  const auto variable = [&](const char* part, int size) {
    const std::string name = fmt::format("kept{}{}", number, part);
    body.variables += fmt::format("  .local .align 16 .b8 {}[{}];\n", name, size);
    return name;
  };
  for (int i = 0; i < 2; ++i) {
    k.target[i] = variable(i == 0 ? "_one" : "_other", kTargetSize);
    for (int at = 0; at < kTargetSize; at += 4) {
      const std::string value = body.operand(Class::I32);
      body.line("st.local.u32 [{}+{}], {};", k.target[i], at, value);
    }
    k.address[i] = body.temporary(Class::I64);
    k.offset[i] = random.pick({0, 0, 0, 4, 8});
    body.line("mov.u64 {}, {};", body.name(k.address[i]), k.target[i]);
    if (k.generic) body.line("cvta.local.u64 {}, {};", body.name(k.address[i]), body.name(k.address[i]));
    if (k.offset[i] != 0)
      body.line("add.s64 {}, {}, {};", body.name(k.address[i]), body.name(k.address[i]), k.offset[i]);
  }
  const int room = kTargetSize - 8;

  // Where it is kept: a variable, or shared or global memory of the thread's own.
  Address place, behind;
  bool inRegion = false;
  if (random.chance(25)) {
    std::vector<const Region*> usable;
    for (const Region& region : body.regions)
      if (region.writable && region.size >= 16 && region.align >= 16 && region.bases.front().reg >= 0 &&
          region.name != "pointer")
        usable.push_back(&region);
    if (!usable.empty()) {
      const Base base = random.pick(usable)->bases.front();
      place = Address{fmt::format("{}", body.name(base.reg)), base.space};
      behind = Address{fmt::format("{}+8", body.name(base.reg)), base.space};
      inRegion = true;
    }
  }
  if (!inRegion) {
    const std::string holder = variable("_holder", 16);
    place = Address{holder, ".local"};
    behind = Address{holder + "+8", ".local"};
    if (random.chance(30)) {
      const Reg base = body.temporary(Class::I64);
      body.line("mov.u64 {}, {};", body.name(base), holder);
      place.text = body.name(base);
    }
  }

  const Reg p = body.condition(false);
  const bool guarded = random.chance(60);
  std::string guard;
  if (guarded) guard = "@" + body.maybeNot(p) + " ";
  keep(k, place, behind, k.address[0], k.address[1]);
  if (random.chance(60)) storeDirectly(k);
  if (random.chance(20)) {
    // The two change places in a loop.
    const Reg i = body.temporary(Class::I32), more = body.temporary(Class::Pred);
    const std::string head = body.label();
    body.line("mov.u32 {}, {};", body.name(i), random.between(1, 3));
    body.place(head);
    const Reg q = reload(k, place, "", -1);
    const Reg other = reload(k, place, guard, k.address[1]);
    storeThrough(k, q, room);
    storeThrough(k, other, room);
    body.line("st{}.u64 [{}], {};", place.space, place.text, body.name(k.address[1]));
    body.line("add.s32 {}, {}, -1;", body.name(i), body.name(i));
    body.line("setp.ne.s32 {}, {}, 0;", body.name(more), body.name(i));
    body.branchIf(body.name(more), head, false);
  } else {
    Reg q = -1;
    if (guarded && random.chance(30)) {
      // By a branch.
      const std::string end = body.label();
      q = body.temporary(Class::I64);
      body.line("mov.b64 {}, {};", body.name(q), body.name(k.address[1]));
      body.branchIf(body.name(p), end, false);
      const Reg loaded = reload(k, place, "", -1);
      body.line("mov.b64 {}, {};", body.name(q), body.name(loaded));
      body.place(end);
    } else if (guarded && random.chance(30)) {
      // Into the register that has the other's address.
      q = k.address[1];
      body.line("{}ld{}.u64 {}, [{}];", guard, place.space, body.name(q), place.text);
    } else {
      q = reload(k, place, guard, k.address[1]);
    }
    storeThrough(k, q, room);
    if (random.chance(30)) storeThrough(k, q, room);
    if (random.chance(30)) storeDirectly(k);
  }
  for (int i = 0; i < 2; ++i)
    for (int at = 0; at < kTargetSize; at += 4)
      if (random.chance(70)) loadFrom(body, Address{fmt::format("{}+{}", k.target[i], at), ".local"}, 4, false);
  if (inRegion) {
    for (const Address& a : {place, behind}) {
      const std::string value = body.immediate(Class::I64);
      body.line("st{}.u64 [{}], {};", a.space, a.text, value);
    }
  }
}

}  // namespace kernels
