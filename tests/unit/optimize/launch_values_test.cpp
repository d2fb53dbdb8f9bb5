// What is as it was at the launch: loads, and values that all threads of a block have.
#include "analysis/values/launch_values.h"

#include <set>

#include "analysis/addresses/address_facts.h"
#include "analysis/addresses/address_spaces.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Names = std::set<std::string>;

const Function& withParts(const Parsed& p) {
  p->makeSynthParts();
  return p.function();
}

struct Analysed {
  explicit Analysed(std::string_view text)
      : p(std::string(text)),
        f(withParts(p)),
        facts(makeAddressFacts(*p, true)),
        cfg(*p, f),
        dominators(cfg, DominatorTree::Direction::Dominators),
        slots(f, cfg),
        intervals(f, cfg, slots, &dominators),
        spaces(*p, f, cfg, slots, intervals, &facts, true),
        memory(*p, f, cfg, &spaces) {}
  Parsed p;
  const Function& f;
  ModuleAddressFacts facts;
  Cfg cfg;
  DominatorTree dominators;
  SlotIndexes slots;
  LiveIntervals intervals;
  AddressSpaces spaces;
  LaunchMemory memory;
};

// The registers that loads write which read memory as launched.
Names asLaunched(std::string_view body) {
  const Analysed a(kernel("ld.param.u64 %rd1, [p];\n" + std::string(body)));
  Names names;
  for (const InstrId id : a.f)
    if (a.f[id].isInstruction() && a.memory.isAsLaunched(id))
      names.insert(std::string(a.p.name(a.f.registers[a.f.operandsOf(a.f[id])[0].payload].name)));
  return names;
}

// What the last store, `st.global.u32 [..], %r9` or `.u64 .., %rd9`, stores: "differs", or the register of the
// leader, with its part.
std::string stored(std::string_view body) {
  const Analysed a(kernel("ld.param.u64 %rd1, [p];\n" + std::string(body)));
  const LaunchValues values(*a.p, a.f, a.cfg, a.slots, a.intervals, a.memory);
  std::string result = "nothing";
  for (const InstrId id : a.f) {
    if (!a.f[id].isInstruction() || !a.slots[id].valid()) continue;
    for (const Operand& o : a.f.operandsOf(a.f[id])) {
      if (!o.isRegister() || !o.reads()) continue;
      const std::string_view name = a.p.name(a.f.registers[o.payload].name);
      if (name != "%r9" && name != "%rd9") continue;
      const LaunchValues::State s = values.read(o.reg(), id);
      if (!s.isOne()) {
        result = "differs";
        continue;
      }
      const InstrId maker = a.slots.instructionAt(values.placeOf(s));
      result = std::string(a.p.name(a.f.registers[a.f.operandsOf(a.f[maker])[0].payload].name));
      if (s.part != LaunchValues::Part::Whole) result += s.part == LaunchValues::Part::Low ? " low" : " high";
    }
  }
  return result;
}

constexpr const char* kStore = "st.global.u32 [%rd1], %r9;\n";
constexpr const char* kStore64 = "st.global.u64 [%rd1], %rd9;\n";

}  // namespace

TEST_CASE("launch memory: until something is written, or what others wrote may be seen") {
  CHECK(asLaunched("ld.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1];\n") == Names{"%r1", "%r2"});
  CHECK(asLaunched("ld.volatile.u32 %r1, [%rd1];\nld.u32 %r2, [%rd1];\n") == Names{});
  CHECK(asLaunched("ld.shared.u32 %r1, [%rd1];\nld.local.u32 %r2, [%rd1];\nld.const.u32 %r3, [%rd1];\n") ==
        Names{});
  for (const char* change :
       {"st.u32 [%rd1], 1;", "st.global.u32 [%rd1], 1;", "atom.add.u32 %r8, [%rd1], 1;",
        "red.global.add.u32 [%rd1], 1;", "membar.gl;", "fence.acq_rel.gpu;", "ld.acquire.gpu.u32 %r8, [%rd1];",
        "ld.relaxed.sys.u32 %r8, [%rd1];", "@%p1 st.u32 [%rd1], 1;", "cp.async.wait_all;", "frob.b32 %r8;"}) {
    CAPTURE(change);
    CHECK(asLaunched("ld.u32 %r1, [%rd1];\n" + std::string(change) + "\nld.u32 %r2, [%rd1];\n") == Names{"%r1"});
  }
  for (const char* harmless :
       {"st.shared.u32 [%rd1], 1;", "st.local.u32 [%rd1], 1;", "shfl.sync.idx.b32 %r8, 5, 0, 31, -1;",
        "vote.sync.ballot.b32 %r8, %p1, -1;", "div.s64 %rd8, %rd7, 3;", "bar.sync 0;", "bar.warp.sync -1;",
        "prefetch.global.L2 [%rd1];"}) {
    CAPTURE(harmless);
    CHECK(asLaunched("ld.u32 %r1, [%rd1];\n" + std::string(harmless) + "\nld.u32 %r2, [%rd1];\n") ==
          Names{"%r1", "%r2"});
  }
}

TEST_CASE("launch memory: without a space only what is proven to be global") {
  for (const char* address : {"mov.u64 %rd2, %rd1;", "ld.u64 %rd2, [%rd1+8];", "add.u64 %rd2, %rd1, 400;",
                              "mov.b64 {%r5, %r6}, %rd1;\nshfl.sync.idx.b32 %r7, %r5, 3, 31, -1;\n"
                              "shfl.sync.idx.b32 %r8, %r6, 3, 31, -1;\nmov.b64 %rd2, {%r7, %r8};"}) {
    CAPTURE(address);
    CHECK(asLaunched(std::string(address) + "\nld.u32 %r1, [%rd2+4];\n").contains("%r1"));
  }
  for (const char* address :
       {".shared .b32 s;\nmov.u64 %rd2, s;\ncvta.shared.u64 %rd2, %rd2;", "cvta.shared.u64 %rd2, %rd1;",
        "cvta.local.u64 %rd2, %rd1;", "cvta.const.u64 %rd2, %rd1;", "mov.b64 %rd2, p;\ncvta.param.u64 %rd2, %rd2;",
        "mapa.u64 %rd2, %rd1, 0;", "mov.b64 %rd2, {%r5, %r6};", "ld.volatile.u64 %rd2, [%rd1];",
        "mov.u64 %rd2, 4096;", "cvta.shared.u64 %rd7, %rd6;\nselp.b64 %rd2, %rd1, %rd7, %p1;",
        "mov.u64 %rd2, %rd1;\n@%p1 cvta.shared.u64 %rd2, %rd7;"}) {
    CAPTURE(address);
    CHECK_FALSE(asLaunched(std::string(address) + "\nld.u32 %r1, [%rd2+4];\n").contains("%r1"));
  }
  for (const char* load : {"ld.shared::cluster.u32 %r1, [%rd1];", "ld.weak.shared.u32 %r1, [%rd1];",
                           "ld.param.u32 %r1, [n];", "ld.weak.local.u32 %r1, [%rd1];"}) {
    CAPTURE(load);
    CHECK(asLaunched(std::string(load) + "\n") == Names{});
  }
}

TEST_CASE("launch memory: on every way, and with what others do at barriers") {
  CHECK(asLaunched("@%p1 bra A;\nst.u32 [%rd1], 1;\nA:\nld.u32 %r1, [%rd1];\n") == Names{});
  CHECK(asLaunched("L:\nld.u32 %r1, [%rd1];\nst.u32 [%rd1], 1;\n@%p1 bra L;\n") == Names{});
  CHECK(asLaunched("@%p1 bra A;\nld.u32 %r1, [%rd1];\nA:\nst.u32 [%rd1], 1;\n") == Names{"%r1"});
  // A thread that wrote may wait at the second barrier, or in what it calls, for one at the first.
  CHECK(asLaunched("ld.u32 %r2, [%rd1];\nbar.warp.sync -1;\nld.u32 %r1, [%rd1];\nst.u32 [%rd1], 1;\n"
                   "bar.warp.sync -1;\n") == Names{"%r2"});
  CHECK(asLaunched("bar.warp.sync -1;\nld.u32 %r1, [%rd1];\nst.u32 [%rd1], 1;\n") == Names{"%r1"});
  // Nobody may write what is read so.
  CHECK(asLaunched("st.u32 [%rd1], 1;\nld.global.nc.u32 %r1, [%rd1];\n") == Names{"%r1"});
  const Analysed function(kHeader +
                          ".func f()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.u32 %r1, [%rd1];\nret;\n}\n");
  for (const InstrId id : function.f)
    if (function.f[id].isInstruction()) CHECK_FALSE(function.memory.isAsLaunched(id));
}

TEST_CASE("launch values: copies, arithmetic, loads") {
  CHECK(stored("mov.u32 %r1, %ctaid.x;\nmov.u32 %r9, %r1;\n" + std::string(kStore)) == "%r1");
  CHECK(stored("mov.u32 %r1, %tid.x;\nmov.u32 %r9, %r1;\n" + std::string(kStore)) == "differs");
  CHECK(stored("mov.u32 %r1, %ctaid.x;\nadd.u32 %r9, %r1, 7;\n" + std::string(kStore)) == "%r9");
  CHECK(stored("ld.u32 %r1, [%rd1+4];\nmov.u32 %r9, %r1;\n" + std::string(kStore)) == "%r1");
  CHECK(stored("st.u32 [%rd1], 1;\nld.u32 %r9, [%rd1+4];\n" + std::string(kStore)) == "differs");
  CHECK(stored("mov.u32 %r1, %tid.x;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nld.u32 %r9, [%rd2];\n" +
               std::string(kStore)) == "differs");
  CHECK(stored("mov.u32 %r9, 5;\n@%p1 mov.u32 %r9, 6;\n" + std::string(kStore)) == "differs");
  CHECK(stored("activemask.b32 %r9;\n" + std::string(kStore)) == "differs");
}

TEST_CASE("launch values: exchanges and halves") {
  CHECK(stored("mov.u32 %r1, %ctaid.x;\nshfl.sync.bfly.b32 %r9, %r1, 3, 31, -1;\n" + std::string(kStore)) == "%r1");
  CHECK(stored("mov.u32 %r1, %laneid;\nshfl.sync.idx.b32 %r9, %r1, 3, 31, -1;\n" + std::string(kStore)) ==
        "differs");
  CHECK(stored("mov.u32 %r1, %ctaid.x;\nshfl.sync.idx.b32 %r9|%p1, %r1, 3, 31, -1;\n" + std::string(kStore)) ==
        "differs");
  CHECK(stored("mov.b64 {%r1, %r2}, %rd1;\nmov.u32 %r9, %r2;\n" + std::string(kStore)) == "%rd1 high");
  CHECK(stored("mov.b64 {%r1, %r2}, %rd1;\nshfl.sync.idx.b32 %r1, %r1, 0, 31, -1;\nmov.b64 %rd9, {%r1, %r2};\n" +
               std::string(kStore64)) == "%rd1");
  CHECK(stored("mov.b64 {%r1, %r2}, %rd1;\nmov.b64 %rd9, {%r2, %r1};\n" + std::string(kStore64)) == "%rd9");
}

TEST_CASE("launch values: where ways meet") {
  // One value comes both ways, two do not.
  CHECK(stored("mov.u32 %r1, %ctaid.x;\n@%p1 bra A;\nmov.u32 %r9, %r1;\nbra B;\nA:\nmov.u32 %r9, %r1;\nB:\n" +
               std::string(kStore)) == "%r1");
  CHECK(stored("@%p1 bra A;\nmov.u32 %r9, 5;\nbra B;\nA:\nmov.u32 %r9, 6;\nB:\n" + std::string(kStore)) ==
        "differs");
  // Around a loop unchanged, and counted.
  CHECK(stored("mov.u32 %r9, %ctaid.x;\nL:\nshfl.sync.idx.b32 %r9, %r9, 0, 31, -1;\n@%p1 bra L;\n" +
               std::string(kStore)) == "%r9");
  CHECK(stored("mov.u32 %r9, 0;\nL:\nadd.u32 %r9, %r9, 1;\n@%p1 bra L;\n" + std::string(kStore)) == "differs");
  // Nobody wrote it on one way.
  CHECK(stored("@%p1 bra A;\nmov.u32 %r9, 5;\nA:\n" + std::string(kStore)) == "differs");
}

TEST_CASE("launch values: an edge that is assumed away") {
  const Analysed a(kernel("@%p1 bra A;\nmov.u32 %r9, 5;\nA:\nst.global.u32 [%rd1], %r9;\n"));
  const LaunchValues::Edge edge{BlockId(0u), BlockId(2u)};
  const LaunchValues with(*a.p, a.f, a.cfg, a.slots, a.intervals, a.memory),
      without(*a.p, a.f, a.cfg, a.slots, a.intervals, a.memory, {&edge, 1});
  for (const InstrId id : a.f)
    if (a.f[id].isInstruction() && a.cfg.blockOf(id) == edge.to && a.f.operandsOf(a.f[id]).size() == 3) {
      const RegId r = a.f.operandsOf(a.f[id])[2].reg();
      CHECK_FALSE(with.read(r, id).isOne());
      CHECK(without.read(r, id).isOne());
    }
}
