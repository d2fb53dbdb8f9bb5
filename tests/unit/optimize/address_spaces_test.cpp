// The spaces of addresses: the lattice, the spellings, and what is found in small kernels.
#include "analysis/addresses/address_spaces.h"

#include "analysis/addresses/address_facts.h"
#include "ir/spaced_opcodes.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Kind = AddressKind;

std::vector<AddressState> allStates() {
  std::vector<AddressState> all;
  for (uint8_t k = 0; k <= static_cast<uint8_t>(Kind::Unknown); ++k)
    for (const bool mayBeNumber : {false, true})
      for (const bool isAssumed : {false, true})
        if ((!mayBeNumber || static_cast<Kind>(k) > Kind::Number) &&
            (!isAssumed || static_cast<Kind>(k) == Kind::Global))
          all.push_back({static_cast<Kind>(k), mayBeNumber, isAssumed});
  return all;
}

// What a register holds behind the last instruction of the body, in words.
std::string at(const Parsed& p, std::string_view reg, bool paramsAreGlobal = true) {
  const Function& f = p.function();
  const Cfg cfg(*p, f);
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  const SlotIndexes slots(f, cfg);
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  const ModuleAddressFacts facts = makeAddressFacts(*p, paramsAreGlobal);
  const AddressSpaces spaces(*p, f, cfg, slots, intervals, &facts);
  // The last instruction that reads it.
  for (std::size_t n = f.instructions.size(); n-- > 0;) {
    const InstrId id(n);
    if (!f[id].isInstruction() || !slots[id].valid()) continue;
    for (const Operand& o : f.operandsOf(f[id])) {
      if (!o.isRegister() || !o.reads() || p.name(f.registers[o.payload].name) != reg) continue;
      static constexpr std::string_view kNames[] = {
          "none",         "number",       "global", "shared",   "local",    "const",  "shared offset",
          "local offset", "const offset", "mixed",  "function", "launched", "unknown"};
      const AddressState s = spaces.read(o.reg(), id);
      return (s.isAssumed ? "assumed " : "") + std::string(kNames[static_cast<std::size_t>(s.kind)]) +
             (s.mayBeNumber ? "?" : "");
    }
  }
  return "never read";
}

std::string holds(std::string_view body, bool paramsAreGlobal = true) {
  const Parsed p(kHeader + ".global .b32 g;\n.shared .b32 s;\n.const .b32 c;\n" +
                 kernel(std::string(body) + "st.global.u64 [%rd97], %rd1;\n").substr(kHeader.size()));
  p->makeSynthParts();
  return at(p, "%rd1", paramsAreGlobal);
}

}  // namespace

TEST_CASE("address states: join is commutative, associative, idempotent, and has bounds") {
  for (const AddressState a : allStates()) {
    CHECK(join(a, AddressState{}) == a);
    CHECK(join(a, a) == a);
    CHECK(join(a, {Kind::Unknown, false}).kind == Kind::Unknown);
    for (const AddressState b : allStates()) {
      CHECK(join(a, b) == join(b, a));
      CHECK(join(join(a, b), b) == join(a, b));
      for (const AddressState c : allStates()) CHECK(join(join(a, b), c) == join(a, join(b, c)));
    }
  }
  CHECK(join({Kind::Global, false}, {Kind::Shared, false}).kind == Kind::Mixed);
  CHECK(join({Kind::Shared, false}, {Kind::Number, false}) == AddressState{Kind::Shared, true});
  CHECK(join({Kind::Global}, kAssumedGlobal) == kAssumedGlobal);
}

TEST_CASE("address arithmetic rises with its sources") {
  const auto isBelow = [](AddressState a, AddressState b) { return join(a, b) == b; };
  for (uint8_t o = 0; o <= static_cast<uint8_t>(AddressOperation::Convert); ++o) {
    const auto operation = static_cast<AddressOperation>(o);
    for (const AddressState a : allStates())
      for (const AddressState b : allStates())
        for (const AddressState c : allStates()) {
          if (!isBelow(a, c)) continue;
          const AddressState low = addressResult(operation, a, b, {Kind::Number, false}, {});
          const AddressState high = addressResult(operation, c, b, {Kind::Number, false}, {});
          CAPTURE(int{o});
          CAPTURE(static_cast<int>(a.kind));
          CAPTURE(static_cast<int>(b.kind));
          CAPTURE(static_cast<int>(c.kind));
          // Nothing above may be claimed to lie in another space than something below.
          if (isSpace(high.kind) && isSpace(low.kind)) CHECK(high.kind == low.kind);
          if (isCertainlyGlobal(high) && low.kind == Kind::Global) CHECK(isCertainlyGlobal(low));
        }
  }
}

TEST_CASE("spaced opcodes: where the space stands") {
  CHECK(spacedOpcode("ld.u32", Kind::Global) == "ld.global.u32");
  CHECK(spacedOpcode("ld.relaxed.gpu.v2.u32", Kind::Shared) == "ld.relaxed.gpu.shared.v2.u32");
  CHECK(spacedOpcode("atom.acq_rel.sys.cas.b64", Kind::Global) == "atom.acq_rel.sys.global.cas.b64");
  CHECK(spacedOpcode("prefetch.L2", Kind::Global) == "prefetch.global.L2");
  CHECK(spacedOpcode("ldmatrix.sync.aligned.m8n8.x4.trans.b16", Kind::Shared) ==
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16");
  CHECK(spacedOpcode("wmma.store.d.sync.aligned.row.m16n16k16.f32", Kind::Global) ==
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f32");
}

TEST_CASE("spaced opcodes: what has none") {
  for (const std::string_view opcode :
       {"ld.global.u32", "ld.param.u64", "st.shared::cluster.u32", "prefetchu.L1", "prefetch.tensormap",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "st.async.weak.mbarrier::complete_tx::bytes.b32",
        "add.s64", "ld.const.u32"}) {
    CAPTURE(opcode);
    for (const Kind k : {Kind::Global, Kind::Shared, Kind::Local, Kind::Const})
      CHECK(spacedOpcode(opcode, k).empty());
  }
  CHECK(spacedOpcode("st.u32", Kind::Const).empty());
  CHECK(spacedOpcode("atom.add.u32", Kind::Local).empty());
  CHECK(spacedOpcode("ld.volatile.u32", Kind::Local).empty());
  CHECK(spacedOpcode("ld.L1::evict_last.u32", Kind::Shared).empty());
  CHECK(spacedOpcode("atom.add.v2.f32", Kind::Shared).empty());
  CHECK(spacedOpcode("ld.v4.b64", Kind::Shared).empty());
  CHECK(spacedOpcode("ld.v8.b32", Kind::Local).empty());
  CHECK(spacedOpcode("ld.v8.b32", Kind::Global) == "ld.global.v8.b32");
}

TEST_CASE("spaced opcodes: which accesses are generic") {
  for (const std::string_view opcode :
       {"ld.u32", "ld.volatile.v4.f32", "ldu.b32", "st.release.gpu.u32", "atom.cas.b64", "red.add.u32",
        "prefetch.L1", "applypriority.L2::evict_normal", "discard.L2", "ldmatrix.sync.aligned.m8n8.x4.b16",
        "stmatrix.sync.aligned.m8n8.x4.b16", "wmma.load.a.sync.aligned.row.m16n16k16.f16"}) {
    CAPTURE(opcode);
    CHECK(isGenericAccess(readOpcode(opcode)));
  }
  for (const std::string_view opcode :
       {"ld.global.u32", "ld.param::entry.u64", "st.shared::cluster.u32", "prefetchu.L1", "mov.u32", "unheard.of",
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", "st.bulk", "multimem.red.add.u32",
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32"}) {
    CAPTURE(opcode);
    CHECK(!isGenericAccess(readOpcode(opcode)));
  }
}

TEST_CASE("address spaces: where they come from") {
  CHECK(holds("ld.param.u64 %rd1, [p];\n") == "assumed global?");
  CHECK(holds("ld.param.u64 %rd1, [p];\n", false) == "launched");
  for (const char* load : {"ld.param::entry.u64", "ld.weak.param.u64", "ld.u64.param"})
    CHECK(holds(std::string(load) + " %rd1, [p];\n") == "assumed global?");
  CHECK(holds("mov.u64 %rd1, g;\n") == "global");
  CHECK(holds("mov.u64 %rd1, s;\n") == "shared offset");
  CHECK(holds("mov.u64 %rd1, s+4;\n") == "shared offset");
  CHECK(holds("mov.u64 %rd2, s;\ncvta.shared.u64 %rd1, %rd2;\n") == "shared");
  CHECK(holds("cvta.const.u64 %rd1, c;\n") == "const");
  CHECK(holds("ld.global.u64 %rd2, [%rd98];\ncvta.to.global.u64 %rd1, %rd2;\n") == "assumed global");
  CHECK(holds("ld.global.u64 %rd1, [%rd98];\n") == "unknown");
  CHECK(holds("mov.u64 %rd1, %clock64;\n") == "number");
  CHECK(holds("cvta.param.u64 %rd1, p;\n") == "unknown");
}

TEST_CASE("address spaces: through arithmetic") {
  const std::string shared = "cvta.shared.u64 %rd2, s;\n", param = "ld.param.u64 %rd3, [p];\n",
                    loaded = "ld.global.u64 %rd4, [%rd98];\n";
  CHECK(holds(shared + "cvt.s64.s32 %rd5, %r1;\nadd.s64 %rd1, %rd5, %rd2;\n") == "shared");
  CHECK(holds(shared + "mad.wide.s32 %rd1, %r1, 4, %rd2;\n") == "shared");
  CHECK(holds(shared + "sub.s64 %rd1, %rd2, 8;\n") == "shared");
  CHECK(holds(shared + "sub.s64 %rd1, 8, %rd2;\n") == "unknown");
  CHECK(holds(shared + "sub.s64 %rd1, %rd2, %rd2;\n") == "number");
  CHECK(holds(shared + param + "add.s64 %rd1, %rd2, %rd3;\n") == "unknown");
  CHECK(holds(shared + loaded + "add.s64 %rd1, %rd2, %rd4;\n") == "unknown");
  CHECK(holds(shared + loaded + "shl.b64 %rd5, %rd4, 2;\nadd.s64 %rd1, %rd2, %rd5;\n") == "shared");
  CHECK(holds(shared + loaded + "shl.b64 %rd5, %rd4, 32;\nadd.s64 %rd1, %rd2, %rd5;\n") == "unknown");
  CHECK(holds(param + "shl.b64 %rd5, %rd3, 3;\nadd.s64 %rd1, %rd3, %rd5;\n") == "assumed global?");
  CHECK(holds(param + loaded + "add.s64 %rd1, %rd3, %rd4;\n") == "unknown");
  CHECK(holds(param + "and.b64 %rd1, %rd3, -16;\n") == "assumed global?");
  CHECK(holds(shared + "and.b64 %rd1, %rd2, 15;\n") == "number");
  CHECK(holds(shared + "xor.b64 %rd1, %rd2, 8;\n") == "unknown");
  CHECK(holds(shared + "mov.b64 {%r1, %r2}, %rd2;\nmov.b64 %rd1, {%r1, %r2};\n") == "shared");
  CHECK(holds(shared + "mov.b64 {%r1, %r2}, %rd2;\nmov.b64 %rd1, {%r2, %r1};\n") == "unknown");
  CHECK(holds(shared + "mov.b64 {%r1, %r2}, %rd2;\nadd.u32 %r1, %r1, 8;\nmov.b64 %rd1, {%r1, %r2};\n") ==
        "unknown");
  CHECK(holds(param + "cvt.u64.u32 %rd5, %r2;\nshl.b64 %rd5, %rd5, 2;\nshl.b64 %rd6, %rd5, 3;\n" +
              "add.u64 %rd1, %rd3, %rd6;\n") == "assumed global?");
  CHECK(holds(param + "cvt.u64.u32 %rd5, %r2;\nshl.b64 %rd5, %rd5, 20;\nmov.u64 %rd7, %rd5;\n" +
              "shl.b64 %rd6, %rd7, 12;\nadd.u64 %rd1, %rd3, %rd6;\n") == "unknown");
  // An upper half that a multiplication puts in its place.
  CHECK(holds(param + "mov.b64 {%r1, %r2}, %rd2;\ncvt.u64.u32 %rd5, %r2;\nmul.lo.u64 %rd6, %rd5, 4294967296;\n" +
              "cvt.u64.u32 %rd7, %r1;\nadd.u64 %rd8, %rd6, %rd7;\nadd.u64 %rd1, %rd3, %rd8;\n") == "unknown");
  CHECK(holds(param + "cvt.u64.u32 %rd4, %r1;\ncvt.u64.u32 %rd5, %r2;\n" +
              "mad.lo.u64 %rd6, 4294967296, %rd5, %rd4;\nadd.u64 %rd1, %rd3, %rd6;\n") == "unknown");
  // What is multiplied by 1 or -1 may be the distance to an address of another space.
  const std::string distance = shared + param + "sub.u64 %rd4, %rd2, %rd3;\n";
  CHECK(holds(distance + "mad.lo.u64 %rd1, %rd4, 1, %rd3;\n") == "unknown");
  CHECK(holds(distance + "mad.lo.u64 %rd1, 1, %rd4, %rd3;\n") == "unknown");
  CHECK(holds(distance + "mul.lo.u64 %rd5, %rd4, -1;\nsub.u64 %rd1, %rd3, %rd5;\n") == "unknown");
  CHECK(holds(distance + "mad.lo.u64 %rd1, %rd4, 4, %rd3;\n") == "assumed global?");
}

TEST_CASE("address spaces: what is certainly global") {
  const std::string variable = "mov.u64 %rd2, g;\n", param = "ld.param.u64 %rd3, [p];\n";
  CHECK(holds(variable + "cvta.global.u64 %rd1, %rd2;\n") == "global");
  CHECK(holds(variable + "mad.wide.s32 %rd1, %r1, 4, %rd2;\n") == "global");
  CHECK(holds(variable + "selp.b64 %rd1, %rd2, 0, %p1;\n") == "global?");
  CHECK(holds(variable + param + "selp.b64 %rd1, %rd2, %rd3, %p1;\n") == "assumed global?");
  CHECK(holds(variable + param + "sub.s64 %rd4, %rd3, %rd2;\nadd.s64 %rd1, %rd2, %rd4;\n") == "assumed global?");
  CHECK(holds(param + "cvta.to.global.u64 %rd4, %rd3;\ncvta.global.u64 %rd1, %rd4;\n") == "assumed global?");
}

TEST_CASE("address spaces: where values meet") {
  const std::string shared = "cvta.shared.u64 %rd2, s;\n", param = "ld.param.u64 %rd3, [p];\n";
  CHECK(holds(shared + param + "selp.b64 %rd1, %rd2, %rd3, %p1;\n") == "mixed?");
  CHECK(holds(shared + "selp.b64 %rd1, %rd2, 0, %p1;\n") == "shared?");
  CHECK(holds(shared + param + "mov.u64 %rd1, %rd2;\n@%p1 mov.u64 %rd1, %rd3;\n") == "mixed?");
  CHECK(holds(shared + "mov.u64 %rd1, %rd2;\n@%p1 add.s64 %rd1, %rd1, 8;\n") == "shared");
  CHECK(holds(shared + "mov.u64 %rd1, %rd2;\nL: add.s64 %rd1, %rd1, 8;\n@%p1 bra L;\n") == "shared");
  CHECK(holds(shared + param +
              "mov.u64 %rd1, %rd2;\nL: add.s64 %rd1, %rd1, 8;\n@%p1 mov.u64 %rd1, %rd3;\n@%p2 bra L;\n") ==
        "mixed?");
  // Nobody wrote it on one of the ways.
  CHECK(holds(shared + "@%p1 bra L;\nmov.u64 %rd1, %rd2;\nL:\n") == "shared");
}

TEST_CASE("address facts: parameters of functions come from all of their calls") {
  const auto text = [](std::string_view linkage, std::string_view more) {
    return kHeader + ".shared .b32 s;\n" + std::string(linkage) +
           ".func f(.param .b64 a)\n{\n\t.reg .b64 %rd<9>;\n\tld.param.b64 %rd1, [a];\n\tst.u32 [%rd1], "
           "1;\n\tret;\n}\n" +
           ".visible .entry k(.param .u64 p)\n{\n\t.reg .b64 %rd<9>;\n\tcvta.shared.u64 %rd1, s;\n\tld.param.u64 "
           "%rd2, [p];\n"
           "\t{\n\t.param .b64 x;\n\tst.param.b64 [x], %rd1;\n\tcall f, (x);\n\t}\n" +
           std::string(more) + "\tret;\n}\n";
  };
  const auto found = [&](std::string_view linkage, std::string_view more) {
    const Parsed p(text(linkage, more));
    p->makeSynthParts();
    return at(p, "%rd1");
  };
  CHECK(found("", "") == "shared");
  CHECK(found(".visible ", "") == "function");
  CHECK(found(".weak ", "") == "function");
  CHECK(found("", "\tmov.u64 %rd3, f;\n") == "function");
  for (const std::string store : {"st.param.b64", "st.weak.param.b64", "st.b64.param"})
    CHECK(found("", "\t{\n\t.param .b64 x;\n\t" + store + " [x], %rd2;\n\tcall f, (x);\n\t}\n") == "mixed?");
  CHECK(found("", "\t{\n\t.param .b64 x;\n\tst.param.b32 [x], 1;\n\tcall f, (x);\n\t}\n") == "unknown");
  CHECK(found("", "\tcall f, (%rd1);\n") == "shared");
}
