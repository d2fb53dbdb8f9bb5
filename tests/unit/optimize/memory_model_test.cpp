// What opcodes mean for values of shared and constant memory, and which addresses are apart.
#include "passes/arithmetic/cse/memory_model.h"

#include "ir/opcodes.h"
#include "passes/arithmetic/cse/shared_address.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;
using cse::MemoryEffect;
using cse::MemoryOperation;
using cse::TrackedSpace;

namespace {

MemoryOperation operation(std::string_view opcode) { return cse::memoryOperation(readOpcode(opcode)); }

}  // namespace

TEST_CASE("memory model: plain accesses of shared and constant memory are followed") {
  const MemoryOperation load = operation("ld.shared.v4.f32");
  CHECK(load.effect == MemoryEffect::Load);
  CHECK(load.space == TrackedSpace::Shared);
  CHECK(load.lanes == 4);
  CHECK(load.laneBytes() == 4);
  CHECK(load.bytes() == 16);
  CHECK(operation("ld.weak.shared::cta.u8").effect == MemoryEffect::Load);
  CHECK(operation("ld.const.b64").effect == MemoryEffect::Load);
  CHECK(operation("ld.const.b64").space == TrackedSpace::Constant);
  CHECK(operation("st.shared.u16").effect == MemoryEffect::Store);
  CHECK(operation("st.weak.shared.v2.b64").bytes() == 16);
  CHECK(operation("st.shared.b128").effect == MemoryEffect::Store);
}

TEST_CASE("memory model: what neither writes shared memory nor orders any") {
  for (const std::string_view opcode : {"ld.global.u32",
                                        "ld.global.nc.v4.f32",
                                        "ld.u32",
                                        "ld.local.u8",
                                        "ld.param.b64",
                                        "ld.shared::cluster.u32",
                                        "st.global.u32",
                                        "st.local.v2.u32",
                                        "st.param.b32",
                                        "add.s32",
                                        "add.cc.u32",
                                        "addc.u32",
                                        "setp.lt.s32",
                                        "div.rn.f32",
                                        "div.s64",
                                        "sqrt.rn.f64",
                                        "rcp.rn.f32",
                                        "rsqrt.approx.f64",
                                        "shfl.sync.bfly.b32",
                                        "vote.sync.ballot.b32",
                                        "match.any.sync.b32",
                                        "redux.sync.add.s32",
                                        "activemask.b32",
                                        "elect.sync",
                                        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                                        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                                        "bra",
                                        "brx.idx",
                                        "ret",
                                        "exit",
                                        "trap",
                                        "cvta.shared.u64",
                                        "mov.b64"}) {
    INFO(opcode);
    CHECK(operation(opcode).effect == MemoryEffect::None);
  }
}

TEST_CASE("memory model: walls") {
  for (const std::string_view opcode :
       {"bar.sync",
        "bar.warp.sync",
        "bar.arrive",
        "bar.red.and.pred",
        "barrier.sync.aligned",
        "barrier.cluster.wait",
        "membar.gl",
        "fence.acq_rel.gpu",
        "fence.proxy.async",
        "mbarrier.init.shared.b64",
        "mbarrier.arrive.shared.b64",
        "mbarrier.try_wait.parity.shared.b64",
        "mbarrier.unknown",
        "atom.add.u32",
        "atom.global.add.u32",
        "atom.shared.cas.b32",
        "red.shared.add.u32",
        "red.global.add.f32",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
        "ld.volatile.shared.u32",
        "ld.relaxed.cta.shared.u32",
        "ld.acquire.gpu.global.u32",
        "ld.mmio.relaxed.sys.global.u32",
        "st.volatile.shared.u32",
        "st.volatile.global.u32",
        "st.release.gpu.global.u32",
        "st.relaxed.cta.shared.u32",
        "st.u32",
        "st.shared::cluster.u32",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
        "st.bulk.weak.shared::cta",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16",
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32",
        "cp.async.ca.shared.global",
        "cp.async.commit_group",
        "cp.async.wait_group",
        "cp.async.wait_all",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "call",
        "call.uni",
        "wgmma.fence.sync.aligned",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        "tcgen05.wait::ld.sync.aligned",
        "nanosleep.u32",
        "griddepcontrol.wait",
        "setmaxnreg.inc.sync.aligned.u32",
        "unheard.of"}) {
    INFO(opcode);
    CHECK(operation(opcode).effect == MemoryEffect::Wall);
  }
}

TEST_CASE("memory model: no opcode that writes or orders is taken for harmless") {
  for (const OpcodeRow& row : opcodeTable()) {
    const MemoryOperation o = operation(row.key);
    INFO(row.key);
    if ((row.effects & (effect::Ordering | effect::Async | effect::Call)) != 0)
      CHECK(o.effect == MemoryEffect::Wall);
    if ((row.effects & effect::Write) != 0) CHECK(o.effect == MemoryEffect::Wall);
  }
}

namespace {

// Whether the last two accesses of the body are apart.
bool areApart(std::string_view body, unsigned bytesOfFirst, unsigned bytesOfSecond) {
  const Parsed p(kHeader + ".shared .b8 a[64];\n.shared .b8 b[64];\n.extern .shared .b8 x[];\n" +
                 kernel(std::string(body)).substr(kHeader.size()));
  p->makeSynthParts();
  const Function& f = p.function(0);
  const Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  PassReport report;
  PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
  cse::MemoryAddresses addresses(f, context);
  std::vector<cse::MemoryAddress> found;
  for (const InstrId id : f) {
    if (!f[id].isInstruction() || p->form(f[id]).op != Op::St) continue;
    const auto a = addresses.of(id, 0);
    REQUIRE(a);
    found.push_back(*a);
  }
  REQUIRE(found.size() == 2);
  CHECK(addresses.areApart(found[1], bytesOfSecond, found[0], bytesOfFirst) ==
        addresses.areApart(found[0], bytesOfFirst, found[1], bytesOfSecond));
  return addresses.areApart(found[0], bytesOfFirst, found[1], bytesOfSecond);
}

}  // namespace

TEST_CASE("shared addresses: the same base") {
  const auto at = [](std::string_view first, std::string_view second) {
    return "mov.u32 %r1, %tid.x;\nst.shared.u32 [" + std::string(first) + "], %r2;\nst.shared.u32 [" +
           std::string(second) + "], %r2;\n";
  };
  CHECK(areApart(at("%r1", "%r1+4"), 4, 4));
  CHECK(!areApart(at("%r1", "%r1+3"), 4, 4));
  CHECK(areApart(at("%r1", "%r1+-4"), 4, 4));
  CHECK(!areApart(at("%r1", "%r1+-4"), 4, 8));
  CHECK(areApart(at("%r1", "%r1+-8"), 4, 8));
  CHECK(!areApart(at("%r1", "%r1"), 1, 1));
  CHECK(!areApart(at("%r1", "%r3"), 1, 1));
  CHECK(areApart(
      "mov.u32 %r1, %tid.x;\nadd.s32 %r4, %r1, 12;\nst.shared.u32 [%r4], %r2;\nst.shared.u32 [%r1], %r2;\n", 4,
      12));
}

TEST_CASE("shared addresses: variables") {
  const auto at = [](std::string_view first, std::string_view second) {
    return "mov.u32 %r1, a;\nmov.u32 %r3, x;\nst.shared.u32 [" + std::string(first) + "], %r2;\nst.shared.u32 [" +
           std::string(second) + "], %r2;\n";
  };
  CHECK(areApart(at("a", "b"), 4, 4));
  CHECK(areApart(at("%r1+60", "b"), 4, 4));
  CHECK(!areApart(at("a+61", "b"), 4, 4));
  CHECK(!areApart(at("a+-4", "b"), 4, 4));
  CHECK(!areApart(at("a", "x"), 4, 4));
  CHECK(!areApart(at("a", "%r3"), 4, 4));
  CHECK(areApart(at("x", "%r3+4"), 4, 4));
  CHECK(!areApart(at("%r1+8", "a+8"), 4, 4));
  CHECK(areApart(at("%r1+8", "a+12"), 4, 4));
  CHECK(!areApart(at("%r4", "a"), 4, 4));
}
