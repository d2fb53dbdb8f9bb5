// The test that memory is apart, as kernels execute it: where it is true, no byte that is read by p is written by q. The two
// arrays lie beside each other, over each other, and far apart, by words and by bytes.
#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <tuple>

#include "exec/block.h"
#include "exec/error.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "passes/versions/alias_test.h"
#include "random_index_kernel.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The kernel with the test at its entry: where it is false, it does nothing.
std::string withTest(const Parsed& p, const AliasTest& test) {
  Function& f = p.function();
  const InstrId where = p.at(0);
  OpcodeId ret;
  for (const InstrId id : f)
    if (f[id].isInstruction() && p->form(f[id]).op == Op::Ret) ret = f[id].opcode();
  const RegId holds = test.emit(*p, f, where);
  f.insert(where, ret,
           std::vector<Operand>{registerOperand(holds, Role::Use, Join::None, Operand::Guard | Operand::Not)});
  return text::print(*p);
}

class Accesses final : public exec::Observer {
 public:
  explicit Accesses(const Module& module) : module_(module), f_(module.functions.front()) {}

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask,
          exec::Mask active) override {
    const InstrId id(op.instruction);
    const OpcodeForm& form = module_.form(f_[id]);
    if (!f_[id].isInstruction() || form.space != StateSpace::Global) return;
    const auto operands = f_.operandsOf(f_[id]);
    const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
    const int64_t offset = memory->inside() == 2 ? static_cast<int64_t>(*immediate(f_, *(memory + 2))) : 0;
    for (exec::Mask m = active; m != 0; m &= m - 1) {
      const auto first = static_cast<int64_t>(warp.value(routine.registers[(memory + 1)->payload],
                                                         static_cast<unsigned>(std::countr_zero(m)))) +
                         offset;
      for (unsigned byte = 0; byte < info(form.type).bits / 8; ++byte)
        (form.op == Op::Ld ? read : written).insert(first + byte);
    }
  }

  std::set<int64_t> read, written;

 private:
  const Module& module_;
  const Function& f_;
};

struct Counts {
  std::size_t tests = 0, isTrue = 0, isFalse = 0, meets = 0;
};

// Launches of the kernel with the test and without; p is read and q written by so many bytes at once.
void launchBoth(uint64_t seed, unsigned read, unsigned written, Counts& counts) {
  constexpr int32_t kNumbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 100, -1, -3, 1000, INT32_MAX, INT32_MIN};
  const RandomKernel kernel(seed, true, read, written);
  const Parsed p(kernel.text());
  p->makeSynthParts();
  Analyses analyses(*p, p.function());
  std::string_view why;
  const auto test = findAliasTest(*p, p.function(), analyses, 1000, {}, false, why);
  if (!test) return;
  ++counts.tests;
  CHECK(test->pointers[0].isReadonly);
  for (const bool hasTest : {true, false}) {
    const Parsed made(hasTest ? withTest(p, *test) : kernel.text());
    exec::Machine machine(*made);
    const exec::Allocation& memory = machine.memory().allocate("memory", 1u << 16);
    std::mt19937_64 random(seed);
    for (unsigned launch = 0; launch < 12; ++launch) {
      exec::LaunchConfig config;
      config.grid = {1 + static_cast<uint32_t>(random() % 3), 1 + static_cast<uint32_t>(random() % 2)};
      config.block = {1 + static_cast<uint32_t>(random() % 8), 1 + static_cast<uint32_t>(random() % 3)};
      config.stepLimit = 4000;
      config.isLenient = true;
      Accesses accesses(*made);
      config.observer = &accesses;
      const uint64_t a = memory.base + 20000 + read * (random() % 64);
      const uint64_t distance = random() % 3 == 0 ? 16384 : written * (random() % 32);
      const uint64_t b = (random() % 2 == 0 ? a + distance : a - distance) / written * written;
      const exec::Program& program = machine.kernel("k");
      config.parameters.resize(program.parameterBytes());
      const auto pass = [&](std::size_t k, const auto& value) {
        std::memcpy(config.parameters.data() + program.parameters()[k].place.offset, &value, sizeof value);
      };
      pass(0, a);
      for (std::size_t k = 1; k < 4; ++k)
        pass(k, kNumbers[random() % (random() % 4 == 0 ? std::size(kNumbers) : 13)]);
      pass(4, b);
      try {
        machine.launch("k", config);
      } catch (const exec::ExecError&) {  // too long, or a store elsewhere
      }
      bool meet = false;
      for (const int64_t w : accesses.written) meet |= accesses.read.contains(w);
      if (!hasTest) {
        counts.meets += meet;
        continue;
      }
      (accesses.read.empty() && accesses.written.empty() ? counts.isFalse : counts.isTrue)++;
      INFO(made.source);
      CAPTURE(seed);
      REQUIRE_FALSE(meet);
    }
  }
}

}  // namespace

TEST_CASE("alias test: where it is true, nothing that is read is written") {
  for (const auto& [read, written, seeds] :
       {std::tuple(4u, 4u, 700u), {1u, 1u, 250u}, {4u, 1u, 250u}, {2u, 4u, 250u}, {1u, 4u, 250u}}) {
    CAPTURE(read);
    CAPTURE(written);
    Counts counts;
    for (uint64_t seed = 1; seed <= seeds; ++seed) launchBoth(seed, read, written, counts);
    MESSAGE(counts.tests << " tests, true in " << counts.isTrue << " launches, false in " << counts.isFalse
                         << "; without them memory meets in " << counts.meets);
    CHECK(counts.tests > seeds / 18);
    CHECK(counts.isTrue > seeds / 7);
    CHECK(counts.meets > seeds / 14);
  }
}
