// What some lanes do while others wait: sections of one lane whose results a shuffle sends to all, as gcc makes them of
// OpenACC and OpenMP, several in a row; and loops that lanes leave at different iterations.
//
// A section's results are written in the lane that runs it alone. Of those that the first thread of the block runs,
// other warps have nothing defined: they send it on, and nothing reads it there. These registers are called %gap.
#include "sections.h"
#include "memory.h"
#include "statements.h"

namespace kernels {
namespace {

constexpr int kPointers = 4, kWords = 16;

class Sections {
 public:
  explicit Sections(Body& body) : body_(body), random_(body.random) {}

  void emit() {
    pointers();
    tid_ = special("%tid.x");
    const Reg lane = random_.chance(50) ? special("%laneid") : masked();
    body_.line("setp.ne.{} {}, {}, 0;", random_.pick({"u32", "s32"}), name(firstOfBlock_ = pred()), name(tid_));
    body_.line("setp.ne.{} {}, {}, 0;", random_.pick({"u32", "s32"}), name(firstOfWarp_ = pred()), name(lane));
    for (int i = random_.between(2, 4); i > 0; --i) section();
    use();
  }

 private:
  struct Value {
    Reg reg;
    Class c;
    bool everywhere;  // defined in all warps, not only the first
    bool pointer;
    int room = 0;  // words behind a pointer
  };

  std::string name(Reg r) { return body_.name(r); }
  Reg pred() { return body_.temporary(Class::Pred); }
  Reg special(const char* text) {
    const Reg r = body_.temporary(Class::I32);
    body_.line("mov.u32 {}, {};", name(r), text);
    return r;
  }
  Reg masked() {
    const Reg r = body_.temporary(Class::I32);
    body_.line("and.b32 {}, {}, 31;", name(r), name(tid_));
    return r;
  }

  // Variables with numbers, and one with pointers to them.
  void pointers() {
    std::string list;
    for (int i = 0; i < kPointers; ++i) {
      body_.file.globals += fmt::format(".global .align 8 .u32 data{}[{}] = {{", i, kWords);
      for (int k = 0; k < kWords; ++k)
        body_.file.globals += fmt::format("{}{}", k == 0 ? "" : ", ", random_.below(100000));
      body_.file.globals += "};\n";
      const int at = random_.below(4) * 8;
      rooms_.push_back(kWords - at / 4);
      list += fmt::format("{}data{}{}", i == 0 ? "" : ", ", i, at == 0 ? "" : fmt::format("+{}", at));
    }
    body_.file.globals += fmt::format(".global .align 8 .u64 pointers[{}] = {{{}}};\n", kPointers, list);
  }

  // A register that only the lane of the section writes.
  std::string gap(Class c) {
    const std::string text = fmt::format("%gap{}", ++gaps_);
    body_.undefinedNames += fmt::format("  .reg .{} {};\n", bitType(c), text);
    return text;
  }

  struct Loaded {
    std::string gap;
    Class c;
    bool pointer;
    int room;
  };

  Loaded load(bool ofWarp) {
    std::vector<Value> usable;
    for (const Value& v : values_)
      if (v.pointer && (v.everywhere || !ofWarp)) usable.push_back(v);
    if (!usable.empty() && random_.chance(65)) {
      const Value from = random_.pick(usable);
      const bool wide = from.room >= 4 && random_.chance(25);
      const Class c = wide ? Class::I64 : Class::I32;
      const Loaded l{gap(c), c, false, 0};
      const int word = wide ? 2 * random_.below(from.room / 2) : random_.below(from.room);
      const char* opcode = random_.pick({"ld.global", "ld.global", "ld", "ld.global.nc"});
      body_.line("{}.{}{} {}, [{}+{}];", opcode, random_.pick({"u", "b"}), bits(c), l.gap, name(from.reg),
                 4 * word);
      return l;
    }
    if (random_.chance(65)) {
      const int which = random_.below(kPointers);
      const Loaded l{gap(Class::I64), Class::I64, true, rooms_[static_cast<std::size_t>(which)]};
      body_.line("ld.global.u64 {}, [pointers+{}];", l.gap, 8 * which);
      return l;
    }
    const Loaded l{gap(Class::I32), Class::I32, false, 0};
    const Region* in = nullptr;
    for (const Region& region : body_.regions)
      if (region.name == "in") in = &region;
    body_.line("ld.global.u32 {}, [{}+{}];", l.gap, name(in->bases.front().reg), 4 * random_.below(16));
    return l;
  }

  void section() {
    const bool ofWarp = random_.chance(35);
    const std::string end = body_.label();
    body_.branchIf(name(ofWarp ? firstOfWarp_ : firstOfBlock_), end, false);
    std::vector<Loaded> loaded;
    for (int i = random_.between(1, 3); i > 0; --i) {
      loaded.push_back(load(ofWarp));
      const Loaded l = loaded.back();
      if (l.pointer || !random_.chance(25)) continue;
      const Loaded sum{gap(l.c), l.c, false, 0};
      body_.line("add.u{} {}, {}, {};", bits(l.c), sum.gap, l.gap, random_.between(1, 99));
      loaded.push_back(sum);
    }
    body_.place(end);
    body_.line("{};",
               random_.pick({"bar.warp.sync -1", "bar.warp.sync 0xffffffff", "bar.sync 0", "barrier.sync 0"}));
    for (const Loaded& l : loaded) values_.push_back(Value{send(l), l.c, ofWarp, l.pointer, l.room});
    if (random_.chance(40)) body_.line("bar.sync 0;");
  }

  // To all lanes of the warp, from the first.
  Reg send(const Loaded& l) {
    const auto shuffle = [&](const std::string& from) {
      const Reg to = body_.temporary(Class::I32);
      body_.line("shfl.sync.idx.b32 {}, {}, 0, 31, -1;", name(to), from);
      return to;
    };
    if (l.c == Class::I32) return shuffle(l.gap);
    const std::string low = gap(Class::I32), high = gap(Class::I32);
    body_.line("mov.b64 {{{}, {}}}, {};", low, high, l.gap);
    const Reg a = shuffle(low), b = shuffle(high), whole = body_.temporary(Class::I64);
    body_.line("mov.b64 {}, {{{}, {}}};", name(whole), name(a), name(b));
    return whole;
  }

  void use() {
    const std::string& sum = name(body_.checksum);
    const auto mix = [&](const Value& v) {
      Reg r = v.reg;
      if (v.pointer) {
        r = body_.temporary(Class::I32);
        body_.line("ld.global.u32 {}, [{}];", name(r), name(v.reg));
      } else if (v.c == Class::I64) {
        r = body_.temporary(Class::I32);
        body_.line("cvt.u32.u64 {}, {};", name(r), name(v.reg));
      }
      body_.line("mad.lo.u32 {}, {}, 31, {};", sum, sum, name(r));
    };
    for (const Value& v : values_)
      if (v.everywhere) mix(v);
    const Reg others = pred();
    const std::string end = body_.label();
    body_.line("setp.ge.u32 {}, {}, 32;", name(others), name(tid_));
    body_.branchIf(name(others), end, false);
    for (const Value& v : values_)
      if (!v.everywhere) mix(v);
    body_.place(end);
  }

  Body& body_;
  Random& random_;
  std::vector<int> rooms_;
  std::vector<Value> values_;
  Reg tid_ = -1, firstOfBlock_ = -1, firstOfWarp_ = -1;
  int gaps_ = 0;
};

}  // namespace

void emitSections(Body& body) { Sections(body).emit(); }

// The last lane writes a word of shared memory in each iteration, and those lanes that are left read it, mostly by a
// generic address. A lane goes with what it read last.
void emitStragglers(Body& body) {
  Random& random = body.random;
  if (!body.wholeWarps || body.work > 4) return;
  const int warps = body.file.launch.threads() / 32;
  const std::string variable = fmt::format("stragglers{}", body.file.stragglers++);
  const auto name = [&](Reg r) { return body.name(r); };
  const auto temporary = [&](Class c) { return body.temporary(c); };
  body.variables += fmt::format("  .shared .align 8 .b8 {}[{}];\n", variable, 8 * warps);
  const Reg lane = temporary(Class::I32), base = temporary(Class::I64), generic = temporary(Class::I64);
  body.line("mov.u32 {}, %laneid;", name(lane));
  body.line("mov.u64 {}, {};", name(base), variable);
  if (warps > 1) {
    const Reg warp = temporary(Class::I32), offset = temporary(Class::I64);
    body.line("shr.u32 {}, {}, 5;", name(warp), name(body.tid));
    body.line("mul.wide.u32 {}, {}, 8;", name(offset), name(warp));
    body.line("add.s64 {}, {}, {};", name(base), name(base), name(offset));
  }
  body.line("cvta.shared.u64 {}, {};", name(generic), name(base));
  const int shift = random.pick({0, 1, 2, 3}), factor = random.between(1, 9);
  const Reg iteration = temporary(Class::I32), mask = temporary(Class::I32), iterations = temporary(Class::I32);
  const Reg last = temporary(Class::Pred), more = temporary(Class::Pred);
  const Class c = random.pick({Class::I32, Class::I32, Class::I64, Class::F32});
  const Reg seen = temporary(c), word = temporary(Class::I32), wide = temporary(Class::I64);
  const std::string head = body.label();
  body.line("mov.u32 {}, 0;", name(iteration));
  body.line("mov.u32 {}, -1;", name(mask));
  body.line("shr.u32 {}, {}, {};", name(iterations), name(lane), shift);
  body.line("setp.eq.u32 {}, {}, 31;", name(last), name(lane));
  body.place(head);
  body.line("mad.lo.u32 {}, {}, {}, 5;", name(word), name(iteration), factor);
  body.line("mov.b64 {}, {{{}, {}}};", name(wide), name(word), name(word));
  body.line("@{} st.shared.u64 [{}], {};", name(last), name(base), name(wide));
  body.line("bar.warp.sync {};", name(mask));
  const bool byGeneric = random.chance(80);
  const std::string type = c == Class::F32 ? "f32" : fmt::format("u{}", bits(c));
  body.line("ld{}.{} {}, [{}];", byGeneric ? "" : ".shared", type, name(seen), name(byGeneric ? generic : base));
  body.line("bar.warp.sync {};", name(mask));
  body.line("add.u32 {}, {}, 1;", name(iteration), name(iteration));
  const Reg first = temporary(Class::I32);
  body.line("shl.b32 {}, {}, {};", name(first), name(iteration), shift);
  body.line("shl.b32 {}, -1, {};", name(mask), name(first));
  body.line("setp.le.u32 {}, {}, {};", name(more), name(iteration), name(iterations));
  body.branchIf(name(more), head, false);
  body.line("bar.warp.sync -1;");
  const auto shuffle = [&](Reg from) {
    const Reg to = temporary(Class::I32);
    const char* mode = random.pick({"idx", "idx", "bfly", "up", "down"});
    body.line("shfl.sync.{}.b32 {}, {}, {}, {}, -1;", mode, name(to), name(from), random.below(32),
              mode[0] == 'u' ? 0 : 31);
    body.regs.keep(to);
    body.fold(to);
  };
  if (c == Class::I64) {
    const Reg low = temporary(Class::I32), high = temporary(Class::I32);
    body.line("mov.b64 {{{}, {}}}, {};", name(low), name(high), name(seen));
    shuffle(low);
    shuffle(high);
  } else if (c == Class::F32) {
    const Reg as = temporary(Class::I32);
    body.line("mov.b32 {}, {};", name(as), name(seen));
    shuffle(as);
  } else {
    shuffle(seen);
    body.regs.keep(seen);
  }
}

}  // namespace kernels
