// The addresses of a loop, grouped: passes/addressing/loop_uses.h, and which operands are addresses: address_operands.h.
#include "passes/addressing/loop_uses.h"

#include <fmt/format.h>

#include "lsr_support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Lines = std::vector<std::string>;

// Every address of the function: "ld.global.u32: 1+4 global".
Lines addresses(std::string_view body) {
  const Parsed p(kernel(body));
  const Function& f = p.function();
  Lines found;
  for (const InstrId id : f)
    for (const AddressOperand& a : addressOperands(*p, f, f[id]))
      found.push_back(fmt::format("{}: {}{:+} {}", p->printedOpcode(f[id]), a.operand, a.immediate, name(a.space)));
  return found;
}

struct Uses {
  Reducible k;
  LoopUses uses;

  explicit Uses(std::string_view body, uint32_t loop = 0) : k(body) {
    const auto phis = findPhis(k.analyses.cfg(), k.analyses.slotIndexes(), k.analyses.liveIntervals());
    const BlockId header = k.analyses.loops()[LoopId(loop)].header;
    uses = collectUses(k.f, k.context, LoopId(loop), phis[header.value]);
  }
  // "global 64: 2 uses of {start,+,step} in [least, most]"
  Lines groups() {
    Lines found;
    for (const UseGroup& g : uses.groups)
      found.push_back(fmt::format("{} {}: {} uses of {} by {} in [{}, {}]", name(g.space), g.width, g.uses.size(),
                                  k.text(g.start), k.text(g.step), g.least, g.most));
    return found;
  }
  Lines ivs() {
    Lines found;
    for (const InductionVariable& iv : uses.ivs)
      found.push_back(
          fmt::format("{} = {}", k.context.module.text(k.f.registers[iv.reg.value].name), k.text(iv.expr)));
    return found;
  }
};

}  // namespace

TEST_CASE("address operands: a register and perhaps a number, of accesses that may be computed otherwise") {
  CHECK(addresses("ld.global.u32 %r1, [%rd1];\nst.shared.u32 [%r2+-8], %r1;\natom.add.u32 %r3, [%rd2+12], %r1;\n"
                  "red.global.add.u32 [%rd3], %r1;\nld.local.u32 %r4, [%rd4+4];\nld.const.u32 %r5, [%rd5];\n"
                  "prefetch.global.L1 [%rd6];\nst.shared::cta.u32 [%rd7], %r1;\nret;\n") ==
        Lines{"ld.global.u32: 2+0 global", "st.shared.u32: 1-8 shared", "atom.add.u32: 2+12 generic",
              "red.global.add.u32: 1+0 global", "ld.local.u32: 2+4 local", "ld.const.u32: 2+0 const",
              "prefetch.global.L1: 1+0 global", "st.shared::cta.u32: 1+0 shared"});
  // Of a copy the first is shared memory; a matrix comes from shared memory, said or not.
  CHECK(addresses("cp.async.cg.shared.global [%r1+16], [%rd1+32], 16;\n"
                  "ldmatrix.sync.aligned.m8n8.x1.b16 {%r2}, [%rd2+8];\nret;\n") ==
        Lines{"cp.async.cg.shared.global: 1+16 shared", "cp.async.cg.shared.global: 4+32 global",
              "ldmatrix.sync.aligned.m8n8.x1.b16: 3+8 shared"});
  CHECK(addresses("ld.param.u32 %r1, [n];\ncp.async.bulk.prefetch.L2.global [%rd1], 16;\nret;\n") == Lines{});
}

TEST_CASE("loop uses: addresses that differ by constants are one group, of one space and step") {
  Uses u(
      "ld.param.u64 %rd1, [p];\nmov.u32 %r9, %tid.x;\nmul.wide.u32 %rd2, %r9, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
      "mov.u32 %r1, 0;\nL1:\n"
      "ld.global.u32 %r2, [%rd3+4];\nld.global.u32 %r3, [%rd3+-12];\nadd.s64 %rd4, %rd3, 100;\n"
      "st.global.u32 [%rd4], %r2;\nst.u32 [%rd3], %r3;\n"
      "shl.b32 %r4, %r1, 3;\nld.shared.u32 %r5, [%r4+64];\nmul.wide.u32 %rd5, %r5, 4;\n"
      "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r6, [%rd6];\nld.global.u32 %r7, [%rd1];\n"
      "add.s64 %rd3, %rd3, 16;\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100;\n@%p1 bra L1;\nret;\n");
  CHECK(u.groups() == Lines{"global 64: 3 uses of %rd1 + 4*zext64(%r9) by 16 in [-12, 100]",
                            "generic 64: 1 uses of %rd1 + 4*zext64(%r9) by 16 in [0, 0]",
                            "shared 32: 1 uses of 0 by 8 in [64, 64]"});
  CHECK(u.ivs() == Lines{"%rd3 = {%rd1 + 4*zext64(%r9),+,16}<B1>", "%r1 = {0,+,1}<B1>"});
  CHECK(u.uses.otherAddresses == 1);  // what is loaded; the one that does not move is no use
}

TEST_CASE("loop uses: those of loops further in are theirs") {
  const std::string body =
      "ld.param.u64 %rd1, [p];\nmov.u32 %r1, 0;\nL1:\nmov.u32 %r2, 0;\nmov.u64 %rd2, %rd1;\n"
      "L2:\nst.global.u32 [%rd2], %r2;\nadd.s64 %rd2, %rd2, 4;\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 8;\n"
      "@%p1 bra L2;\nst.global.u32 [%rd1+64], %r1;\nadd.s64 %rd1, %rd1, 128;\nadd.s32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p2, %r1, 8;\n@%p2 bra L1;\nret;\n";
  CHECK(Uses(body, 0).groups() == Lines{"global 64: 1 uses of %rd1 by 128 in [64, 64]"});
  CHECK(Uses(body, 1).groups() == Lines{"global 64: 1 uses of {%rd1,+,128}<B1> by 4 in [0, 0]"});
}
