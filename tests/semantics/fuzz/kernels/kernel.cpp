// The file around the statements: launch, variables, functions, and the kernel's prologue and epilogue.
//
// `out` holds 64 bytes a thread, which only it writes; then 4 words a thread in columns; then counters.
#include "kernel.h"

#include <bit>

#include "apart.h"
#include "calls.h"
#include "memory.h"
#include "names.h"
#include "phases.h"
#include "sections.h"
#include "statements.h"

namespace kernels {
namespace {

constexpr int kSlot = 64, kColumns = 4, kCounters = 32, kWideCounters = 16;
constexpr int kCounterBytes = kCounters * 4 + kWideCounters * 8;

Options swarm(Random& random, const Options& given) {
  Options options = given;
  if (!given.swarm) return options;
  for (std::size_t i = 1; i < kFeatures; ++i)
    if (random.chance(20)) options.weight[i] = 0;
  for (std::size_t i = 1; i < kFeatures; ++i)
    if (random.chance(8)) options.weight[i] *= 4;
  return options;
}

// A kernel that begins with sections of one lane: no barrier comes after a store to global memory.
void makeQuiet(File& file) {
  file.quiet = true;
  Launch& launch = file.launch;
  launch.block[0] = file.random.pick({32, 64, 64, 96, 128});
  launch.block[1] = launch.block[2] = 1;
  for (const Feature feature :
       {Feature::Memory, Feature::Vectors, Feature::Local, Feature::Shared, Feature::Exchange, Feature::Atomics,
        Feature::Calls, Feature::Exits, Feature::Kept, Feature::Aggregates})
    file.options.weight[static_cast<std::size_t>(feature)] = 0;
  if (file.options.size == 0 && file.random.chance(70)) file.options.size = 8;
}

Launch drawLaunch(Random& random) {
  struct Shape {
    int x, y, z;
  };
  const Shape block = random.pick<Shape>({{1, 1, 1},
                                          {31, 1, 1},
                                          {32, 1, 1},
                                          {33, 1, 1},
                                          {64, 1, 1},
                                          {128, 1, 1},
                                          {32, 1, 1},
                                          {64, 1, 1},
                                          {8, 4, 1},
                                          {16, 2, 2},
                                          {4, 4, 4},
                                          {5, 13, 1},
                                          {32, 2, 1},
                                          {2, 3, 11},
                                          {96, 1, 1}});
  const Shape grid = random.pick<Shape>({{1, 1, 1}, {1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {1, 2, 2}});
  Launch launch;
  launch.block[0] = block.x, launch.block[1] = block.y, launch.block[2] = block.z;
  launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
  launch.words = 1 << random.between(6, 9);
  launch.a = random.chance(70) ? static_cast<uint32_t>(random.below(64)) : random.word();
  launch.b = random.chance(50) ? static_cast<uint32_t>(random.below(64)) : random.word();
  launch.f = static_cast<float>(random.between(-400, 400)) / 16;
  return launch;
}

// A variable with 16 words that nothing writes.
Region addTable(Body& body) {
  File& file = body.file;
  const bool isConst = body.random.chance(50);
  const std::string name = fmt::format("table{}", file.tables++);
  file.globals += fmt::format(".{} .align 16 .u32 {}[16] = {{", isConst ? "const" : "global", name);
  for (int i = 0; i < 16; ++i) file.globals += fmt::format("{}0x{:x}", i == 0 ? "" : ", ", file.random.word());
  file.globals += "};\n";
  Region region;
  region.name = name;
  region.size = 64;
  region.writable = false;
  region.constant = !isConst;
  const std::string space = isConst ? ".const" : ".global";
  const Reg address = body.temporary(Class::I64);
  body.line("mov.u64 {}, {};", body.name(address), name);
  region.bases = {Base{address, "", space, true, 0}, Base{-1, name, space, true, 0}};
  return region;
}

class Kernel {
 public:
  explicit Kernel(File& file) : file_(file), body_(file, true), random_(file.random) {}

  std::string text();

 private:
  void parameters();
  void threadNumbers();
  void outRegion();
  void inRegion();
  void localRegion();
  void sharedRegion(bool dynamic);
  void counters();
  void members();
  void epilogue();

  Reg fixed(Class c, bool uniform) {
    const Reg r = body_.temporary(c);
    body_.regs.keepFixed(r, uniform);
    return r;
  }
  // A second way to a region.
  void addGeneric(Region& region, Reg from, const char* space);
  std::string name(Reg r) { return body_.name(r); }

  File& file_;
  Body body_;
  Random& random_;
  std::string variables_;
  int dynamicShared_ = 0;
  Reg out_ = -1, in_ = -1, tid_ = -1, block_ = -1, thread_ = -1;
  Region histogram_;
};

void Kernel::parameters() {
  body_.checksum = fixed(Class::I32, false);
  body_.line("mov.u32 {}, 0;", name(body_.checksum));
  out_ = body_.temporary(Class::I64);
  in_ = body_.temporary(Class::I64);
  for (const auto& [reg, parameter] : {std::pair{out_, "out"}, std::pair{in_, "in"}}) {
    body_.line("ld.param.u64 {}, [{}];", name(reg), parameter);
    body_.line("cvta.to.global.u64 {}, {};", name(reg), name(reg));
  }
  const Reg n = fixed(Class::I32, true);
  body_.line("ld.param.u32 {}, [n];", name(n));
  body_.words = n;
  for (const char* parameter : {"a", "b"}) {
    const Reg r = body_.temporary(Class::I32);
    body_.line("ld.param.u32 {}, [{}];", name(r), parameter);
    body_.regs.keep(r, true);
  }
  const Reg f = body_.temporary(Class::F32);
  body_.line("ld.param.f32 {}, [f];", name(f));
  body_.regs.keep(f, true);
}

void Kernel::threadNumbers() {
  const Launch& launch = file_.launch;
  const auto read = [&](const char* special) {
    const Reg r = body_.temporary(Class::I32);
    body_.line("mov.u32 {}, {};", name(r), special);
    return r;
  };
  // Numbers within the block and the grid, with as many dimensions as the launch has.
  const auto linear = [&](const char* at, const char* count, const int* extent, bool uniform) {
    const Reg result = fixed(Class::I32, uniform);
    const Reg x = read(fmt::format("{}.x", at).c_str());
    body_.line("mov.u32 {}, {};", name(result), name(x));
    if (extent[1] * extent[2] == 1) return result;
    const Reg y = read(fmt::format("{}.y", at).c_str()), z = read(fmt::format("{}.z", at).c_str());
    const Reg nx = read(fmt::format("{}.x", count).c_str()), ny = read(fmt::format("{}.y", count).c_str());
    body_.line("mad.lo.s32 {}, {}, {}, {};", name(z), name(z), name(ny), name(y));
    body_.line("mad.lo.s32 {}, {}, {}, {};", name(result), name(z), name(nx), name(result));
    return result;
  };
  body_.tid = tid_ = linear("%tid", "%ntid", launch.block, false);
  block_ = linear("%ctaid", "%nctaid", launch.grid, true);
  thread_ = fixed(Class::I32, false);
  body_.line("mad.lo.u32 {}, {}, {}, {};", name(thread_), name(block_), launch.threads(), name(tid_));
  for (const char* special : {"%tid.x", "%laneid", "%tid.y"})
    if (random_.chance(60)) body_.regs.keep(read(special));
  if (random_.chance(60)) body_.regs.keep(read("%ntid.x"), true);
}

void Kernel::addGeneric(Region& region, Reg from, const char* space) {
  if (!body_.has(Feature::Generic)) return;
  const Reg generic = body_.temporary(Class::I64);
  body_.line("cvta.{}.u64 {}, {};", space, name(generic), name(from));
  region.bases.push_back(Base{generic, "", "", true, 0});
}

void Kernel::outRegion() {
  Region slot;
  slot.name = "slot";
  slot.size = kSlot;
  const Reg base = body_.temporary(Class::I64);
  body_.line("mad.wide.u32 {}, {}, {}, {};", name(base), name(thread_), kSlot, name(out_));
  slot.bases = {Base{base, "", ".global", true, 0}};
  if (random_.chance(50)) {
    const Reg middle = body_.temporary(Class::I64);
    const int by = random_.pick({16, 32, 60});
    body_.line("add.s64 {}, {}, {};", name(middle), name(base), by);
    slot.bases.push_back(Base{middle, "", ".global", true, by});
  }
  addGeneric(slot, base, "global");
  body_.regions.push_back(slot);
  body_.result = fmt::format("[{}+60]", name(base));

  if (body_.has(Feature::Exchange)) {
    Exchange exchange;
    exchange.own = "slot";
    exchange.all.name = "block";
    exchange.all.size = file_.launch.threads() * kSlot;
    exchange.all.writable = false;
    const Reg all = body_.temporary(Class::I64), offset = body_.temporary(Class::I32);
    body_.line("mul.lo.u32 {}, {}, {};", name(offset), name(block_), file_.launch.threads() * kSlot);
    body_.line("cvt.u64.u32 {}, {};", name(all), name(offset));
    body_.line("add.s64 {}, {}, {};", name(all), name(all), name(out_));
    exchange.all.bases = {Base{all, "", ".global", true, 0}};
    body_.exchanges.push_back(exchange);
  }
}

void Kernel::inRegion() {
  Region in;
  in.name = "in";
  in.size = file_.launch.words * 4;
  in.writable = false;
  in.constant = true;
  in.bases = {Base{in_, "", ".global", true, 0}};
  addGeneric(in, in_, "global");
  body_.regions.push_back(in);
  // What the kernel computes with, from the start.
  for (int i = random_.between(2, 6); i > 0; --i) {
    const int width = random_.pick({4, 4, 8, 2});
    const Reg index = body_.masked(i % 2 == 0 ? thread_ : tid_, in.size / width / 2);
    const int offset = random_.below(in.size / width / 2) * width;
    loadFrom(body_, indexed(body_, in.bases[0], index, width, offset), width, true);
  }
}

void Kernel::localRegion() {
  variables_ += "  .local .align 16 .b8 __local_depot0[64];\n";
  Region depot;
  depot.name = "depot";
  depot.size = 64;
  const Reg base = body_.temporary(Class::I64);
  body_.line("mov.u64 {}, __local_depot0;", name(base));
  depot.bases = {Base{base, "", ".local", true, 0}, Base{-1, "__local_depot0", ".local", true, 0}};
  addGeneric(depot, base, "local");
  for (int at = 0; at < depot.size; at += 8) {
    const Reg x = body_.source(Class::I32), y = body_.source(Class::I32);
    body_.line("st.local.v2.u32 [{}+{}], {{{}, {}}};", name(base), at, name(x), name(y));
  }
  body_.regions.push_back(depot);
}

void Kernel::sharedRegion(bool dynamic) {
  const int bytes = random_.pick({4, 8, 16, 32}), size = bytes * file_.launch.threads();
  const char* variable = dynamic ? "dynamic_memory" : "static_memory";
  if (dynamic) {
    file_.globals += fmt::format(".extern .shared .align 16 .b8 {}[];\n", variable);
    dynamicShared_ = size;
  } else if (random_.chance(50)) {
    variables_ += fmt::format("  .shared .align 16 .b8 {}[{}];\n", variable, size);
  } else {
    file_.globals += fmt::format(".shared .align 16 .b8 {}[{}];\n", variable, size);
  }
  Region own, all;
  own.name = fmt::format("{}_own", variable);
  own.size = bytes;
  own.align = bytes < 16 ? bytes : 16;
  all.name = variable;
  all.size = size;
  all.writable = false;
  // Addresses in the window of shared memory have 32 bits; wider registers may hold them too.
  if (random_.chance(70)) {
    const Reg base = body_.temporary(Class::I32), mine = body_.temporary(Class::I32);
    body_.line("mov.u32 {}, {};", name(base), variable);
    body_.line("mad.lo.u32 {}, {}, {}, {};", name(mine), name(tid_), bytes, name(base));
    own.bases.push_back(Base{mine, "", ".shared", false, 0});
    all.bases.push_back(Base{base, "", ".shared", false, 0});
  }
  if (own.bases.empty() || random_.chance(50)) {
    const Reg base = body_.temporary(Class::I64), mine = body_.temporary(Class::I64);
    body_.line("mov.u64 {}, {};", name(base), variable);
    body_.line("mad.wide.u32 {}, {}, {}, {};", name(mine), name(tid_), bytes, name(base));
    own.bases.push_back(Base{mine, "", ".shared", true, 0});
    all.bases.push_back(Base{base, "", ".shared", true, 0});
    addGeneric(own, mine, "shared");
    addGeneric(all, base, "shared");
  }
  all.bases.push_back(Base{-1, variable, ".shared", true, 0});
  for (int at = 0; at < bytes; at += 4) {
    const Reg x = body_.source(Class::I32);
    body_.line("st.shared.u32 [{}+{}], {};", name(own.bases[0].reg), at, name(x));
  }
  body_.regions.push_back(own);
  Exchange exchange;
  exchange.own = own.name;
  exchange.all = all;
  body_.exchanges.push_back(exchange);
}

void Kernel::counters() {
  const int threads = file_.launch.blocks() * file_.launch.threads();
  const auto add = [&](int width, int count, const Base& base, const char* operation) {
    Counters c;
    c.width = width;
    c.count = count;
    c.base = base;
    c.operation = operation;
    body_.counters.push_back(c);
  };
  const Reg words = body_.temporary(Class::I64), wide = body_.temporary(Class::I64);
  body_.line("add.s64 {}, {}, {};", name(words), name(out_), threads * (kSlot + kColumns * 4));
  body_.line("add.s64 {}, {}, {};", name(wide), name(words), kCounters * 4);
  const char* narrowOperation =
      random_.pick({"add.u32", "add.s32", "xor.b32", "or.b32", "max.u32", "max.s32", "min.s32"});
  const char* wideOperation = random_.pick({"add.u64", "xor.b64", "max.u64", "or.b64", "min.s64"});
  add(4, kCounters, Base{words, "", ".global", true, 0}, narrowOperation);
  add(8, kWideCounters, Base{wide, "", ".global", true, 0}, wideOperation);
  if (!body_.has(Feature::Shared)) return;

  // A histogram in shared memory, which the threads clear together.
  const int count = random_.pick({16, 64, 128});
  variables_ += fmt::format("  .shared .align 8 .u32 histogram[{}];\n", count);
  const Reg base = body_.temporary(Class::I32), i = body_.temporary(Class::I32), at = body_.temporary(Class::I32);
  const Reg p = body_.temporary(Class::Pred);
  const std::string head = body_.label(), end = body_.label();
  body_.line("mov.u32 {}, histogram;", name(base));
  body_.line("mov.u32 {}, {};", name(i), name(tid_));
  body_.place(head);
  body_.line("setp.ge.u32 {}, {}, {};", name(p), name(i), count);
  body_.branchIf(name(p), end, false);
  body_.line("mad.lo.u32 {}, {}, 4, {};", name(at), name(i), name(base));
  body_.line("st.shared.u32 [{}], {};", name(at), random_.between(0, 9));
  body_.line("add.u32 {}, {}, {};", name(i), name(i), file_.launch.threads());
  body_.line("bra {};", head);
  body_.place(end);
  const char* operation = random_.pick({"add.u32", "xor.b32", "or.b32", "and.b32", "min.u32", "max.s32"});
  add(4, count, Base{base, "", ".shared", false, 0}, operation);
  histogram_.name = "histogram";
  histogram_.size = count * 4;
  histogram_.bases = {body_.counters.back().base};
  emitBarrier(body_);
}

// The mask of the lanes that exist.
void Kernel::members() {
  const int threads = file_.launch.threads();
  body_.wholeWarps = threads % 32 == 0;
  body_.members = random_.pick({"-1", "0xffffffff"});
  if (body_.wholeWarps) return;
  const Reg warp = body_.temporary(Class::I32), mask = body_.temporary(Class::I32);
  const Reg last = body_.temporary(Class::Pred);
  body_.line("shr.u32 {}, {}, 5;", name(warp), name(tid_));
  body_.line("setp.eq.u32 {}, {}, {};", name(last), name(warp), threads / 32);
  body_.line("selp.b32 {}, 0x{:x}, -1, {};", name(mask), (1u << (threads % 32)) - 1, name(last));
  body_.members = name(mask);
}

void Kernel::epilogue() {
  body_.foldSome(70);
  // Columns: word k of all threads lies together.
  const Reg p = body_.temporary(Class::I64), k = body_.temporary(Class::I32), more = body_.temporary(Class::Pred);
  const int threads = file_.launch.blocks() * file_.launch.threads();
  const std::string head = body_.label();
  body_.line("mad.wide.u32 {}, {}, 4, {};", name(p), name(thread_), name(out_));
  body_.line("mov.u32 {}, {};", name(k), kColumns);
  body_.place(head);
  const Reg x = body_.source(Class::I32);
  body_.line("st.global.u32 [{}+{}], {};", name(p), threads * kSlot, name(body_.checksum));
  body_.line("mad.lo.u32 {}, {}, 0x9e3779b1, {};", name(body_.checksum), name(body_.checksum), name(x));
  body_.line("add.s64 {}, {}, {};", name(p), name(p), threads * 4);
  body_.line("add.s32 {}, {}, -1;", name(k), name(k));
  body_.line("setp.ne.s32 {}, {}, 0;", name(more), name(k));
  body_.line("@{} bra {};", name(more), head);
  body_.line("st.global.u32 {}, {};", body_.result, name(body_.checksum));
  body_.line("ret;");
}

std::string Kernel::text() {
  body_.uniform = true;
  body_.regs.beginStatement();
  parameters();
  threadNumbers();
  outRegion();
  inRegion();
  members();
  Random apart(file_.options.seed * 8);
  const bool hasPointers = apart.chance(20) && body_.has(Feature::Generic) && body_.has(Feature::Memory);
  const bool hasEqualSources =
      apart.chance(20) && body_.has(Feature::Convert) && body_.has(Feature::Loops) && !file_.quiet;
  if (hasPointers) emitPointersFromInitializer(body_);
  if (body_.has(Feature::Memory) && random_.chance(60)) body_.regions.push_back(addTable(body_));
  if (body_.has(Feature::Local)) localRegion();
  if (body_.has(Feature::Shared)) {
    const int which = random_.below(3);
    if (which != 1) sharedRegion(false);
    if (which != 0) sharedRegion(true);
  }
  if (body_.has(Feature::Atomics)) counters();

  if (hasEqualSources) emitEqualSourcesInLoop(body_);
  if (file_.quiet) emitSections(body_);
  const int size = file_.options.size > 0 ? file_.options.size : random_.between(15, 90);
  emitStatements(body_, size * 3 / 4);
  if (histogram_.size > 0) {
    emitBarrier(body_);
    body_.counters.pop_back();
    const Reg index = body_.masked(tid_, histogram_.size / 4);
    loadFrom(body_, indexed(body_, histogram_.bases[0], index, 4, 0), 4, false);
  }
  if (body_.has(Feature::Exits)) {
    body_.late = true;
    body_.uniform = false;
  }
  emitStatements(body_, size / 4);
  epilogue();
  body_.regs.endStatement();

  const Launch& launch = file_.launch;
  const auto triple = [](const int* x) { return fmt::format("{},{},{}", x[0], x[1], x[2]); };
  const int threads = launch.blocks() * launch.threads();
  std::string result = fmt::format("// launch: grid={} block={} dynamic_shared={}\n", triple(launch.grid),
                                   triple(launch.block), dynamicShared_);
  result += fmt::format(
      "// arguments: out=buf:b8:{}:zero in=buf:u32:{}:random n=u32:{} a=u32:{} b=u32:{} f=f32:{}\n",
      threads * (kSlot + kColumns * 4) + kCounterBytes, launch.words, launch.words, launch.a, launch.b, launch.f);
  result +=
      fmt::format("// out: {} bytes for each of {} threads, {} columns of a word a thread, {} bytes of counters\n",
                  kSlot, threads, kColumns, kCounterBytes);
  result += fmt::format("// seed: {}\n", file_.options.seed);
  std::string text;
  std::swap(text, result);
  result += fmt::format(".version 7.8\n.target sm_{}\n.address_size 64\n\n", file_.options.arch);
  result += file_.globals;
  result +=
      "\n.visible .entry kernel(\n  .param .u64 out,\n  .param .u64 in,\n  .param .u32 n,\n  .param .u32 a,\n"
      "  .param .u32 b,\n  .param .f32 f\n)\n";
  if (random_.chance(30))
    result += fmt::format(".{} {}, {}, {}\n", random_.pick({"maxntid", "reqntid"}), launch.block[0],
                          launch.block[1], launch.block[2]);
  result += "{\n" + variables_ + body_.variables + body_.regs.declarations() + body_.undefinedNames + "\n" +
            body_.text + "}\n";
  const bool odd = body_.has(Feature::Names) && random_.chance(30);
  return text + (odd && !file_.options.plainNames ? withOddNames(random_, result) : result);
}

}  // namespace

File::File(uint64_t seed, const Options& given)
    : random(seed),
      options(swarm(random, given)),
      launch(drawLaunch(random)),
      reuse(random.pick({0, 30, 60, 90})),
      typed(random.pick({0, 0, 30, 80})) {}

std::string generate(const Options& options) {
  File file(options.seed, options);
  if (file.options.has(Feature::Sections) && file.random.chance(12)) makeQuiet(file);
  if (file.options.has(Feature::Calls))
    for (int i = file.random.between(1, 3); i > 0; --i) addFunction(file);
  return Kernel(file).text();
}

}  // namespace kernels
