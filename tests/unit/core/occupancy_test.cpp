// Occupancy by hand, the steps against every register count, and what is read of a kernel.
#include "target/occupancy.h"

#include <fmt/format.h>

#include <random>

#include "analysis/machine/kernel_needs.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::target;
using namespace ptxopt::testing;

namespace {

const Limits* limitsOf(const char* name) { return Target(name).limits(); }

}  // namespace

TEST_CASE("architectures by the names of targets") {
  REQUIRE(limitsOf("sm_90a") != nullptr);
  CHECK(limitsOf("sm_90a")->number == 90);
  CHECK(limitsOf("sm_100f")->number == 100);
  CHECK(limitsOf("compute_75")->number == 75);
  CHECK(limitsOf("sm_121")->number == 121);
  for (const char* target : {"sm_101a", "sm_103", "sm_103a", "sm_103f", "sm_107", "sm_107a", "sm_107f", "sm_110",
                             "sm_110a", "sm_110f", "sm_120f", "sm_121a", "sm_121f"})
    CHECK(limitsOf(target) != nullptr);
  for (const char* bad :
       {"", "sm", "sm_", "sm_70", "sm_102", "sm_90x", "sm_9", "sm_080", "sm_80 ", "gfx_90", "90"}) {
    CAPTURE(bad);
    CHECK(limitsOf(bad) == nullptr);
  }
}

TEST_CASE("occupancy by hand") {
  const Limits& a = *limitsOf("sm_80");
  // 64 warps, 8 a block: 8 blocks fit as long as a warp takes no more than 65536 / 64 registers.
  const Occupancy full = occupancy(a, {32, 256, 0, 1});
  CHECK(full.blocks == 8);
  CHECK(full.warps == 64);
  CHECK(full.isLimitedBy(Resource::Registers));
  CHECK(full.isLimitedBy(Resource::Warps));
  CHECK_FALSE(full.isLimitedBy(Resource::Blocks));
  // 33 registers are 40: 1280 a warp, 12 warps a quarter, 48 warps, 6 blocks.
  const Occupancy less = occupancy(a, {33, 256, 0, 1});
  CHECK(less.blocks == 6);
  CHECK(less.warps == 48);
  CHECK(less.isLimitedBy(Resource::Registers));
  CHECK_FALSE(less.isLimitedBy(Resource::Warps));
  // 15000 bytes and the driver's 1024 are 16128 in units of 128: 10 fit in 164 KiB.
  const Occupancy shared = occupancy(a, {16, 128, 15000, 1});
  CHECK(shared.blocks == 10);
  CHECK(shared.isLimitedBy(Resource::SharedMemory));
  CHECK(occupancy(a, {16, 32, 0, 0}).blocks == 32);
  CHECK(occupancy(a, {16, 32, 0, 0}).isLimitedBy(Resource::Blocks));
  // A pool of barriers holds blocks back from sm_90 on.
  CHECK(occupancy(*limitsOf("sm_90"), {16, 32, 0, 4}).blocks == 16);
  CHECK(occupancy(*limitsOf("sm_90"), {16, 32, 0, 4}).isLimitedBy(Resource::Barriers));
  CHECK(occupancy(a, {16, 32, 0, 4}).blocks == 32);
}

TEST_CASE("blocks that cannot run") {
  const Limits& a = *limitsOf("sm_80");
  CHECK(occupancy(a, {32, 0, 0, 1}).blocks == 0);
  CHECK(occupancy(a, {32, 1025, 0, 1}).blocks == 0);
  CHECK(occupancy(a, {65, 1024, 0, 1}).blocks == 0);  // 72 times 1024 are more than there are
  CHECK(occupancy(a, {64, 1024, 0, 1}).blocks == 1);
  CHECK(occupancy(a, {256, 32, 0, 1}).blocks == 0);
  CHECK(occupancy(a, {32, 32, 163 * 1024, 1}).blocks == 1);
  CHECK(occupancy(a, {32, 32, 163 * 1024 + 1, 1}).blocks == 0);
  CHECK(occupancy(a, {32, UINT32_MAX, UINT64_MAX, UINT32_MAX}).blocks == 0);
}

TEST_CASE("steps, the next one up and the next cliff") {
  const Limits& a80 = *limitsOf("sm_80");
  CHECK(nextStepUp(a80, {40, 256, 0, 1}) == 32);
  CHECK(nextCliff(a80, {40, 256, 0, 1}) == 41);
  CHECK_FALSE(nextStepUp(a80, {32, 256, 0, 1}).has_value());
  CHECK(nextCliff(a80, {32, 256, 0, 1}) == 33);
  CHECK_FALSE(nextCliff(a80, {255, 256, 0, 1}).has_value());
  for (const Limits& a : targets())
    for (const uint32_t threads : {32u, 160u, 256u, 1024u})
      for (const uint64_t shared : {0u, 20000u}) {
        const std::vector<OccupancyStep> steps = occupancySteps(a, {0, threads, shared, 1});
        REQUIRE(!steps.empty());
        CHECK(steps.front().leastRegisters == 1);
        CHECK(steps.back().mostRegisters == 255);
        for (std::size_t s = 0; s < steps.size(); ++s) {
          if (s > 0) CHECK(steps[s].leastRegisters == steps[s - 1].mostRegisters + 1);
          if (s > 0) CHECK(steps[s].blocks < steps[s - 1].blocks);
          for (uint32_t r = steps[s].leastRegisters; r <= steps[s].mostRegisters; ++r) {
            const BlockNeeds block{r, threads, shared, 1};
            REQUIRE(occupancy(a, block).blocks == steps[s].blocks);
            REQUIRE(nextStepUp(a, block).value_or(0) == (s == 0 ? 0 : steps[s - 1].mostRegisters));
            REQUIRE(nextCliff(a, block).value_or(0) == (s + 1 == steps.size() ? 0 : steps[s + 1].leastRegisters));
          }
        }
      }
}

TEST_CASE("what a kernel needs") {
  const Parsed p(kHeader +
                 ".extern .shared .align 16 .b8 dynamic[];\n"
                 ".shared .align 8 .b8 one[12];\n.shared .b8 unused[4000];\n"
                 ".func helper() {\n\t.reg .b32 %r<3>;\n\t.shared .align 16 .b8 deep[32];\n"
                 "\tmov.u32 %r1, deep;\n\tbar.sync 3;\n\tret;\n}\n"
                 ".visible .entry k()\n.maxntid 64, 2, 1\n{\n"
                 "\t.reg .pred %p<3>;\n\t.reg .b32 %r<9>;\n\t.shared .v4 .f32 table[5];\n"
                 "\tmov.u32 %r1, one;\n\tmov.u32 %r2, one;\n\tld.shared.u32 %r3, [table+4];\n"
                 "\tbarrier.cluster.arrive.aligned;\n\tbar.sync 0;\n\tcall helper;\n\tret;\n}\n"
                 ".visible .entry other()\n.maxntid 512\n.reqntid 96\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<9>;\n"
                 "\tmov.u32 %r1, dynamic;\n\t@%p1 bar.red.popc.u32 %r4, 2, %p2;\n\tret;\n}\n"
                 ".visible .entry named()\n{\n\t.reg .b32 %r<9>;\n\tbar.sync %r1, 64;\n\tret;\n}\n");
  const KernelNeeds k = kernelNeeds(*p, p.function(1));
  CHECK(k.threads == 128);
  CHECK(k.sharedBytes == 12 + 4 + 80 + 32);  // `table` begins at a multiple of 16
  CHECK_FALSE(k.dynamicShared);
  CHECK(k.barriers == 4);
  const KernelNeeds other = kernelNeeds(*p, p.function(2));
  CHECK(other.threads == 96);
  CHECK(other.sharedBytes == 0);
  CHECK(other.dynamicShared);
  CHECK(other.barriers == 3);
  const KernelNeeds named = kernelNeeds(*p, p.function(3));
  CHECK_FALSE(named.threads.has_value());
  CHECK(named.barriers == 16);
}

TEST_CASE("what a kernel needs does not change with what becomes of the functions that it calls") {
  const Parsed p(kHeader +
                 ".func helper() {\n\t.reg .b32 %r<3>;\n\t.shared .align 16 .b8 deep[32];\n"
                 "\tmov.u32 %r1, deep;\n\tbar.sync 3;\n\tret;\n}\n"
                 ".visible .entry k()\n{\n\tcall helper;\n\tret;\n}\n");
  const ModuleCalledNeeds called = makeCalledNeeds(*p);
  Function& helper = p.function(0);
  std::vector<InstrId> all;
  for (const InstrId id : helper)
    if (helper[id].isInstruction()) all.push_back(id);
  for (const InstrId id : all) helper.erase(id);
  const KernelNeeds k = kernelNeeds(*p, p.function(1), &called);
  CHECK(k.sharedBytes == 32);
  CHECK(k.barriers == 4);
  CHECK(kernelNeeds(*p, p.function(1)).barriers == 0);
}

TEST_CASE("what a kernel needs: of known functions as of those that are walked, on random calls") {
  std::mt19937 random(1);
  const auto below = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  int unseen = 0, large = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int functions = 1 + below(12);
    std::string text =
        kHeader + ".extern .shared .align 16 .b8 dynamic[];\n.func elsewhere();\n.shared .b8 one[3];\n";
    for (int f = 0; f < functions; ++f) text += fmt::format(".func f{}();\n", f);
    for (int f = 0; f < functions; ++f) {
      text += f % 3 == 0 ? fmt::format(".visible .entry k{}() {{\n", f) : fmt::format(".func f{}() {{\n", f);
      text += fmt::format(".reg .b32 %r1; .shared .align {} .b8 own[{}];\n", 1 << below(4), 1 + below(20));
      if (below(2) == 0) text += "mov.u32 %r1, own;\n";
      if (below(4) == 0) text += "mov.u32 %r1, one;\n";
      if (below(12) == 0) text += "mov.u32 %r1, dynamic;\n";
      if (below(15) == 0) text += "call elsewhere;\n";
      if (below(3) == 0) text += fmt::format("bar.sync {};\n", below(16));
      for (int calls = below(3); calls > 0; --calls) text += fmt::format("call f{};\n", below(functions));
      text += "ret;\n}\n";
      if (below(8) == 0 && f % 3 != 0) text += fmt::format(".func f{}();\n", f);  // a prototype after it
    }
    const Parsed p(text);
    const ModuleCalledNeeds called = makeCalledNeeds(*p);
    for (const Function& f : p->functions) {
      if (!f.hasBody) continue;
      const KernelNeeds walked = kernelNeeds(*p, f), known = kernelNeeds(*p, f, &called);
      CHECK(walked.sharedBytes == known.sharedBytes);
      CHECK(walked.barriers == known.barriers);
      CHECK(walked.dynamicShared == known.dynamicShared);
      CHECK(walked.callsUnseen == known.callsUnseen);
      unseen += walked.callsUnseen;
      large += walked.sharedBytes > 24;  // several
    }
  }
  CHECK(unseen > 100);
  CHECK(large > 100);
}

TEST_CASE("what a kernel needs: of more variables than are distinguished it is all of the module") {
  const auto needs = [](std::size_t functions) {
    std::string text = kHeader;
    for (std::size_t f = 0; f < functions; ++f)
      text += fmt::format(".func f{}() {{\n.reg .b32 %r1; .shared .b32 own; mov.u32 %r1, own;\n{}ret;\n}}\n", f,
                          f == 0 ? std::string() : fmt::format("call f{};\n", f - 1));
    text += ".func apart() {\n.reg .b32 %r1; .shared .b32 own[100]; mov.u32 %r1, own; ret; }\n";
    const Parsed p(text + fmt::format(".visible .entry k() {{ call f{}; ret; }}\n", functions - 1));
    const ModuleCalledNeeds called = makeCalledNeeds(*p);
    return kernelNeeds(*p, p.function(functions + 1), &called).sharedBytes;
  };
  CHECK(needs(ModuleCalledNeeds::kMostVariables) == 4 * ModuleCalledNeeds::kMostVariables);
  CHECK(needs(ModuleCalledNeeds::kMostVariables + 1) == 4 * (ModuleCalledNeeds::kMostVariables + 1) + 400);
}

TEST_CASE("the dump of occupancy") {
  const Parsed p(kHeader + ".visible .entry k()\n.maxntid 256\n{\n\tbar.sync 0;\n\tret;\n}\n");
  CHECK(
      dumpOccupancy(*p, p.function(), *limitsOf("sm_90a"), 40) ==
      "occupancy of k (estimate) on sm_90: 40 registers a thread, 0 bytes of shared memory, 1 barrier\n"
      "  256 threads a block (estimate): 6 blocks, 48 of 64 warps, held back by registers; more with 32 registers; "
      "fewer from 41 registers\n");
}
