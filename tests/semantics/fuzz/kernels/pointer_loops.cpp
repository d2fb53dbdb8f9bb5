// Loops that walk through memory: pointers that move, indices of 32 and 64 bits that are scaled in every way, up
// and down, several per loop, several accesses per step with constant distances.
//
// A walk visits start + i * stride (or the same backwards), `parts` accesses of `width` bytes each, for i below a
// number of trips that keeps all of it inside the region.
#include <algorithm>

#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

enum class Form { Pointer, Index32, Index64, Offset32, Offset64, FromCounter };

struct Walk {
  Region region;  // a copy: statements inside the loop may add regions
  Base base;
  Form form = Form::Pointer;
  int width = 4, parts = 1, stride = 4;  // bytes; the stride is positive
  int start = 0;                         // of the lowest step
  bool down = false;
  bool store = false;
  Reg reg = -1;  // the pointer or the index
};

Class baseClass(const Walk& w) { return w.base.wide ? Class::I64 : Class::I32; }

bool choose(Body& body, Walk& w, int& trips) {
  Random& random = body.random;
  std::vector<const Region*> usable;
  for (const Region& region : body.regions)
    if (region.size >= 16 && (!w.store || region.writable)) usable.push_back(&region);
  if (usable.empty()) return false;
  w.region = *random.pick(usable);
  w.base = pickBase(body, w.region, true);
  if (w.base.reg < 0) return false;
  w.width = random.pick({1, 2, 4, 4, 4, 8});
  w.parts = random.pick({1, 1, 2, 3});
  const int gap = random.pick({0, 0, 0, 1, 2, 5});
  w.stride = w.width * (w.parts + gap);
  while (w.region.size < 2 * w.stride && w.parts > 1) w.stride = w.width * --w.parts;
  const int fit = w.region.size / w.stride;
  if (fit < 2) return false;
  trips = std::min(trips, fit);
  w.down = random.chance(30);
  w.form = static_cast<Form>(random.below(6));
  if (!w.base.wide && (w.form == Form::Index64 || w.form == Form::Offset64)) w.form = Form::Pointer;
  return true;
}

// The walk's register before the first of `trips` steps; `runtime` holds the number of steps where it is not fixed.
void begin(Body& body, Walk& w, int most, int fixed, Reg runtime) {
  Random& random = body.random;
  const int room = (w.region.size - most * w.stride) / w.width;
  w.start = random.below(room + 1) * w.width;
  // Down walks begin at the step `trips - 1`.
  Reg last = -1;
  if (w.down) {
    last = body.temporary(Class::I32);
    if (runtime >= 0)
      body.line("add.s32 {}, {}, -1;", body.name(last), body.name(runtime));
    else
      body.line("mov.u32 {}, {};", body.name(last), fixed - 1);
  }
  switch (w.form) {
    case Form::Pointer: {
      w.reg = body.temporary(baseClass(w));
      const int n = bits(baseClass(w));
      body.line("add.s{} {}, {}, {};", n, body.name(w.reg), body.name(w.base.reg), w.start - w.base.offset);
      if (!w.down) break;
      if (w.base.wide)
        body.line("mad.wide.u32 {}, {}, {}, {};", body.name(w.reg), body.name(last), w.stride, body.name(w.reg));
      else
        body.line("mad.lo.u32 {}, {}, {}, {};", body.name(w.reg), body.name(last), w.stride, body.name(w.reg));
      break;
    }
    case Form::Index32:
    case Form::Offset32: {
      w.reg = body.temporary(Class::I32);
      if (w.down)
        body.line("mov.b32 {}, {};", body.name(w.reg), body.name(last));
      else
        body.line("mov.u32 {}, 0;", body.name(w.reg));
      if (w.form == Form::Offset32) {
        body.line("mad.lo.s32 {}, {}, {}, {};", body.name(w.reg), body.name(w.reg), w.stride, w.start);
        w.start = 0;
      }
      break;
    }
    case Form::Index64:
    case Form::Offset64: {
      w.reg = body.temporary(Class::I64);
      if (w.down)
        body.line("cvt.{} {}, {};", random.pick({"u64.u32", "s64.s32"}), body.name(w.reg), body.name(last));
      else
        body.line("mov.u64 {}, 0;", body.name(w.reg));
      if (w.form == Form::Offset64) {
        body.line("mul.lo.s64 {}, {}, {};", body.name(w.reg), body.name(w.reg), w.stride);
        body.line("add.s64 {}, {}, {};", body.name(w.reg), body.name(w.reg), w.start);
        w.start = 0;
      }
      break;
    }
    case Form::FromCounter: break;
  }
}

// The address of the step's lowest byte, as a base.
Base now(Body& body, const Walk& w, Reg counter) {
  Base base = w.base;
  const Class c = baseClass(w);
  const Reg r = body.temporary(c);
  const std::string to = body.name(r), from = body.name(w.base.reg);
  switch (w.form) {
    case Form::Pointer:
      base.reg = w.reg;
      base.offset = 0;
      return base;
    case Form::Offset32:
      if (w.base.wide) {
        body.line("cvt.{} {}, {};", body.random.pick({"u64.u32", "s64.s32"}), to, body.name(w.reg));
        body.line("add.s64 {}, {}, {};", to, from, to);
      } else {
        body.line("add.s32 {}, {}, {};", to, from, body.name(w.reg));
      }
      break;
    case Form::Offset64: body.line("add.s64 {}, {}, {};", to, body.name(w.reg), from); break;
    case Form::Index64: {
      const bool power = (w.stride & (w.stride - 1)) == 0;
      if (power && body.random.chance(50)) {
        int shift = 0;
        while ((1 << shift) < w.stride) ++shift;
        body.line("shl.b64 {}, {}, {};", to, body.name(w.reg), shift);
        body.line("add.s64 {}, {}, {};", to, from, to);
      } else {
        body.line("mad.lo.{} {}, {}, {}, {};", body.random.pick({"s64", "u64"}), to, body.name(w.reg), w.stride,
                  from);
      }
      break;
    }
    case Form::Index32:
    case Form::FromCounter: {
      // indexed() gives [register + start - offset]; the register alone is the base.
      const Reg index = w.form == Form::Index32 ? w.reg : counter;
      Base bare = w.base;
      bare.offset = 0;
      const Address address = indexed(body, bare, index, w.stride, 0);
      body.line("mov.b{} {}, {};", bits(c), to, address.text);
      break;
    }
  }
  base.reg = r;
  base.offset = w.base.offset - w.start;
  return base;
}

void step(Body& body, const Walk& w) {
  if (w.form == Form::FromCounter) return;
  const std::string& r = body.name(w.reg);
  const int n = bits(body.regs.classOf(w.reg));
  const bool index = w.form == Form::Index32 || w.form == Form::Index64;
  const int by = index ? 1 : w.stride;
  const char* sign = body.random.pick({"s", "u"});
  if (w.down && body.random.chance(50))
    body.line("sub.{}{} {}, {}, {};", sign, n, r, r, by);
  else
    body.line("add.{}{} {}, {}, {};", sign, n, r, r, w.down ? -by : by);
}

}  // namespace

void emitPointerLoop(Body& body) {
  Random& random = body.random;
  int most = std::min(random.pick({3, 4, 8, 16}), kMostWork / body.work);
  if (most < 2) return;
  std::vector<Walk> walks;
  for (int i = random.between(1, 3); i > 0; --i) {
    Walk w;
    w.store = i == 1 && random.chance(60);
    int trips = most;
    if (!choose(body, w, trips)) continue;
    most = trips;
    // Two pointers into one array.
    if (!walks.empty() && !w.store && random.chance(30)) {
      const Walk& first = walks.front();
      w.region = first.region;
      w.base = first.base;
      w.width = first.width;
      w.parts = first.parts;
      w.stride = first.stride;
      if (!w.base.wide && (w.form == Form::Index64 || w.form == Form::Offset64)) w.form = Form::Pointer;
    }
    walks.push_back(w);
  }
  if (walks.empty()) return;

  const bool before = body.uniform, together = before && random.chance(60), fixed = random.chance(50);
  const int trips = random.between(2, most);
  Reg runtime = -1;
  if (!fixed) {
    const Reg x = body.number(together);
    int count = 1;
    while (2 * count <= most) count *= 2;
    runtime = body.masked(x, count);
    body.line("add.s32 {}, {}, 1;", body.name(runtime), body.name(runtime));
  }
  for (Walk& w : walks) begin(body, w, most, trips, runtime);

  // The counter runs upwards; where the first walk is a pointer that moves up, its end may end the loop.
  const Reg counter = body.temporary(Class::I32);
  body.line("mov.u32 {}, 0;", body.name(counter));
  const Walk& first = walks.front();
  Reg end = -1;
  if (first.form == Form::Pointer && random.chance(50)) {
    end = body.temporary(baseClass(first));
    const std::string e = body.name(end), p = body.name(first.reg);
    if (fixed)
      body.line("add.s{} {}, {}, {};", bits(baseClass(first)), e, p, (first.down ? -1 : 1) * trips * first.stride);
    else if (first.base.wide)
      body.line("mad.wide.s32 {}, {}, {}, {};", e, body.name(runtime), first.down ? -first.stride : first.stride,
                p);
    else
      body.line("mad.lo.s32 {}, {}, {}, {};", e, body.name(runtime), first.down ? -first.stride : first.stride, p);
  }

  body.uniform = before && (together || fixed);
  body.work *= most;
  ++body.depth;
  const std::string head = body.label();
  body.place(head);
  body.regs.beginScope();
  body.regs.keepFixed(counter, body.uniform);
  body.regs.beginScope();
  for (const Walk& w : walks) {
    const Base base = now(body, w, counter);
    for (int part = 0; part < w.parts; ++part) {
      const Address address = at(body, base, part * w.width);
      if (w.store) {
        storeTo(body, address, w.width);
      } else {
        const Reg value = loadFrom(body, address, w.width, w.region.constant);
        if (random.chance(50)) body.fold(value);
      }
    }
    if (random.chance(50)) emitStatements(body, random.between(1, 3));
  }
  body.foldSome(40);
  body.regs.endScope();
  for (const Walk& w : walks) step(body, w);
  const Reg more = body.temporary(Class::Pred);
  const std::string last = fixed ? fmt::format("{}", trips) : body.name(runtime);
  body.line("add.s32 {}, {}, 1;", body.name(counter), body.name(counter));
  if (end >= 0) {
    // Downwards the end may lie before the first byte of all memory.
    const char* compare = first.down || random.chance(50) ? "ne" : "lo";
    body.line("setp.{}.u{} {}, {}, {};", compare, bits(baseClass(first)), body.name(more), body.name(first.reg),
              body.name(end));
  } else {
    body.line("setp.{} {}, {}, {};", random.pick({"lt.u32", "lt.s32", "ne.s32", "ne.b32"}), body.name(more),
              body.name(counter), last);
  }
  body.branchIf(body.name(more), head, body.uniform);
  body.regs.endScope();
  --body.depth;
  body.work /= most;
  body.uniform = before && !body.late;
}

}  // namespace kernels
