#include "apart.h"

namespace kernels {
namespace {

constexpr int kWords = 4;  // of a variable

// Braces with registers of their own around what `emit` writes.
class Apart {
 public:
  Apart(Body& to, uint64_t purpose) : body(to), random(to.file.options.seed * 8 + purpose) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void place(const std::string& label) { text_ += label + ":\n"; }
  std::string label() { return fmt::format("$apart{}_{}", body.file.apart, labels_++); }
  std::string reg(const char* type) {
    const std::string name = fmt::format("apart_{}_{}", type, registers_++);
    declarations_ += fmt::format("  .reg .{} {};\n", type, name);
    return name;
  }
  void fold(const std::string& r) {
    const std::string sum = body.name(body.checksum);
    if (random.chance(50))
      line("mad.lo.u32 {}, {}, 31, {};", sum, sum, r);
    else
      line("xor.b32 {}, {}, {};", sum, sum, r);
  }
  ~Apart() {
    body.text += "  {\n" + declarations_ + text_ + "  }\n";
    ++body.file.apart;
  }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  Body& body;
  Random random;

 private:
  std::string text_, declarations_;
  int registers_ = 0, labels_ = 0;
};

std::string variable(Apart& a, const char* space) {
  const std::string name = fmt::format("apart_{}{}", space, a.body.file.apart);
  a.body.file.globals += fmt::format(".{} .align 16 .u32 {}[{}] = {{", space, name, kWords);
  for (int k = 0; k < kWords; ++k)
    a.body.file.globals += fmt::format("{}0x{:x}", k == 0 ? "" : ", ", a.random.word());
  a.body.file.globals += "};\n";
  return name;
}

// A load of one of the words from the pointer on; the pointer leads to the first or the second word.
std::string wordOf(Apart& a, const std::string& pointer) {
  const int at = a.random.below(kWords - 1) * 4;
  return at == 0 ? pointer : fmt::format("{}+{}", pointer, at);
}

// What isspacep says decides how the pointer is used.
void loadBySpace(Apart& a, const std::string& pointer) {
  Random& random = a.random;
  const bool asksGlobal = random.chance(65);
  const std::string p = a.reg("pred"), to = a.reg("b64"), word = a.reg("b32");
  const std::string global = a.label(), constant = a.label(), end = a.label();
  const bool convertsFirst = random.chance(20);  // as a compiler may, which moves what has no effect
  if (convertsFirst) a.line("cvta.to.global.u64 {}, {};", to, pointer);
  a.line("isspacep.{} {}, {};", asksGlobal ? "global" : "const", p, pointer);
  const bool jumpsToGlobal = random.chance(50);
  a.line("@{}{} bra {};", asksGlobal == jumpsToGlobal ? "" : "!", p, jumpsToGlobal ? global : constant);
  const auto path = [&](bool isGlobal) {
    const char* space = isGlobal ? "global" : "const";
    a.place(isGlobal ? global : constant);
    if (!isGlobal || !convertsFirst) a.line("cvta.to.{}.u64 {}, {};", space, to, pointer);
    a.line("ld.{}.u32 {}, [{}];", space, word, wordOf(a, to));
    if (isGlobal) a.line("add.u32 {}, {}, 77;", word, word);
    a.line("bra {};", end);
  };
  path(!jumpsToGlobal);
  path(jumpsToGlobal);
  a.place(end);
  a.fold(word);
}

void noteSpace(Apart& a, const std::string& pointer) {
  const std::string p = a.reg("pred"), bit = a.reg("b32");
  a.line("isspacep.{} {}, {};", a.random.pick({"global", "global", "const", "shared", "local"}), p, pointer);
  a.line("selp.b32 {}, {}, 3, {};", bit, a.random.between(4, 1000), p);
  a.fold(bit);
}

}  // namespace

void emitPointersFromInitializer(Body& body) {
  Apart a(body, 1);
  Random& random = a.random;
  const std::string constant = variable(a, "const"), global = variable(a, "global");
  const int count = random.pick({2, 4, 8});
  const std::string table = fmt::format("apart_pointers{}", body.file.apart);
  const bool isConstTable = random.chance(20);
  body.file.globals +=
      fmt::format(".{} .align 8 .u64 {}[{}] = {{", isConstTable ? "const" : "global", table, count);
  for (int k = 0; k < count; ++k) {
    const std::string& to = random.chance(50) ? constant : global;
    body.file.globals += fmt::format("{}generic({}){}", k == 0 ? "" : ", ", to, random.chance(30) ? "+4" : "");
  }
  body.file.globals += "};\n";

  const std::string index = a.reg("b32"), base = a.reg("b64"), place = a.reg("b64"), pointer = a.reg("b64");
  a.line("and.b32 {}, {}, {};", index, random.chance(60) ? body.name(body.tid) : body.name(body.words), count - 1);
  a.line("mov.u64 {}, {};", base, table);
  a.line("mad.wide.u32 {}, {}, 8, {};", place, index, base);
  if (isConstTable) {
    a.line("ld.const.u64 {}, [{}];", pointer, place);
  } else {
    const char* load = random.pick({"ld.global", "ld.global", "ld.global.nc", "ld.volatile.global", "ld"});
    if (std::string_view(load) == "ld") a.line("cvta.global.u64 {}, {};", place, place);
    a.line("{}.{} {}, [{}];", load, random.pick({"u64", "b64"}), pointer, place);
  }
  std::string used = pointer;
  if (random.chance(25)) {
    const std::string other = a.reg("b64"), p = a.reg("pred");
    used = a.reg("b64");
    a.line("cvta.global.u64 {}, {};", other, global);
    a.line("setp.gt.u32 {}, {}, {};", p, body.name(body.tid), random.below(20));
    a.line("selp.b64 {}, {}, {}, {};", used, pointer, other, p);
  }
  if (random.chance(60)) loadBySpace(a, used);
  for (int k = random.between(0, 2); k > 0; --k) noteSpace(a, used);
  const std::string word = a.reg("b32");
  a.line("ld.u32 {}, [{}];", word, wordOf(a, used));
  a.fold(word);
}

void emitEqualSourcesInLoop(Body& body) {
  Apart a(body, 2);
  Random& random = a.random;
  const std::string i = a.reg("b32"), trips = a.reg("b32"), more = a.reg("pred"), from = a.reg("b32");
  const std::string sum = a.reg("f32"), whole = a.reg("b64"), head = a.label();
  a.line("mov.b32 {}, {};", from, body.name(random.chance(50) ? body.tid : body.words));
  a.line("shr.u32 {}, {}, 6;", trips, body.name(body.words));
  a.line("and.b32 {}, {}, 3;", trips, trips);
  a.line("mov.u32 {}, 0;", i);
  a.line("mov.f32 {}, 0f00000000;", sum);
  a.line("mov.u64 {}, 0;", whole);
  const char* narrow = random.pick({"s8.s32", "u8.u32", "s16.s32", "u16.u32", "s8.u32"});
  a.place(head);
  for (int k = random.between(2, 4); k > 0; --k) {
    const char* type = random.pick({"b16", "b32", "b64"});
    const std::string_view bits = std::string_view(type).substr(1);
    const std::string part = a.reg(type);
    a.line("cvt.{} {}, {};", narrow, part, from);
    if (random.chance(60)) {
      const std::string number = a.reg("f32"), quotient = a.reg("f32");
      a.line("cvt.rn.f32.s{} {}, {};", bits, number, part);
      a.line("div.rn.f32 {}, {}, 0f{:08X};", quotient, number,
             random.pick({0x40400000u, 0x40A00000u, 0x40E00000u}));
      a.line("add.rn.f32 {}, {}, {};", sum, sum, quotient);
    } else {
      const std::string number = a.reg("b64"), quotient = a.reg("b64");
      if (bits == "64")
        a.line("mov.b64 {}, {};", number, part);
      else
        a.line("cvt.s64.s{} {}, {};", bits, number, part);
      a.line("div.s64 {}, {}, {};", quotient, number, random.pick({3, 7, 10}));
      a.line("add.s64 {}, {}, {};", whole, whole, quotient);
    }
  }
  a.line("add.u32 {}, {}, 1;", i, i);
  a.line("setp.le.u32 {}, {}, {};", more, i, trips);
  a.line("@{} bra {};", more, head);
  const std::string bits = a.reg("b32"), low = a.reg("b32"), high = a.reg("b32");
  a.line("mov.b32 {}, {};", bits, sum);
  a.line("mov.b64 {{{}, {}}}, {};", low, high, whole);
  a.line("xor.b32 {}, {}, {};", bits, bits, low);
  a.fold(bits);
}

}  // namespace kernels
