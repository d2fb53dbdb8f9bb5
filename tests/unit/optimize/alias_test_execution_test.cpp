// The test that memory is apart, as kernels execute it: where it is true, no byte that is read by p is written by q. The two
// arrays lie beside each other, over each other, and far apart, by words and by bytes.
#include <bit>
#include <cstring>
#include <random>
#include <set>
#include <utility>

#include "exec/block.h"
#include "exec/error.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "hostile_index_kernel.h"
#include "passes/versions/alias_test.h"
#include "random_index_kernel.h"
#include "sampled.h"
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
    const int64_t bytes = form.vector * info(form.type).bits / 8;
    for (exec::Mask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const auto at = static_cast<int64_t>(warp.value(routine.registers[(memory + 1)->payload], lane)) + offset;
      for (int64_t b = 0; b < bytes; ++b) (form.op == Op::Ld ? read : written).insert(at + b);
    }
  }

  std::set<int64_t> read, written;

 private:
  const Module& module_;
  const Function& f_;
};

constexpr int64_t kNumbers[] = {0,  1,  2,   3,  4,  5,    7,         8,         9,         16,
                                31, 33, 100, -1, -3, 1000, INT32_MAX, INT32_MIN, INT64_MIN, INT64_MAX};

// By p so many bytes are read at once, by q so many written.
struct Widths {
  unsigned read = 4, written = 4;
};

template <typename Make>
void check(uint64_t kernels, std::size_t leastTests, std::size_t leastTrue, std::size_t leastMeets, Widths widths,
           const Make& make) {
  CAPTURE(widths.read);
  CAPTURE(widths.written);
  std::size_t tests = 0, isTrue = 0, isFalse = 0, meets = 0, stopped = 0;
  for (uint64_t seed = 1; seed <= sampled(kernels); ++seed) {
    const auto kernel = make(seed);
    const Parsed p(kernel.text());
    p->makeSynthParts();
    Analyses analyses(*p, p.function());
    std::string_view why;
    const auto test = findAliasTest(*p, p.function(), analyses, 1000, {}, false, why);
    // A number may be taken for a pointer, too.
    if (!test || !test->pointers[0].isReadonly) continue;
    ++tests;
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
        const uint64_t a = memory.base + 20000 + widths.read * (random() % 64);
        const uint64_t distance = random() % 3 == 0 ? 16384 : widths.written * (random() % 32);
        const uint64_t b = (random() % 2 == 0 ? a + distance : a - distance) / widths.written * widths.written;
        const exec::Program& program = machine.kernel("k");
        config.parameters.resize(program.parameterBytes());
        const Function& f = made->functions.front();
        for (std::size_t k = 0; k < program.parameters().size(); ++k) {
          int64_t value = kNumbers[random() % (random() % 4 == 0 ? std::size(kNumbers) : 13)];
          if (k == 0) value = static_cast<int64_t>(a);
          if (k == 4) value = static_cast<int64_t>(b);
          std::memcpy(config.parameters.data() + program.parameters()[k].place.offset, &value,
                      info(made->declarationForms[f.variables[f.parameters[k].value].form].type).bits / 8);
        }
        try {
          machine.launch("k", config);
        } catch (const exec::ExecError&) {
          ++stopped;  // too long, or a store elsewhere: what was accessed until then counts
        }
        bool meet = false;
        for (const int64_t w : accesses.written) meet |= accesses.read.contains(w);
        if (!hasTest) {
          meets += meet;
          continue;
        }
        (accesses.read.empty() && accesses.written.empty() ? isFalse : isTrue)++;
        INFO(made.source);
        CAPTURE(seed);
        REQUIRE_FALSE(meet);
      }
    }
  }
  MESSAGE(tests << " tests, true in " << isTrue << " launches, false in " << isFalse
                << "; without them memory meets in " << meets << "; " << stopped << " launches did not end");
  const auto least = [](std::size_t count) { return isSanitized() ? count / 16 : count; };
  CHECK(tests > least(leastTests));
  CHECK(isTrue > least(leastTrue));
  CHECK(meets > least(leastMeets));
}

}  // namespace

TEST_CASE("alias test: where it is true, nothing that is read is written" * doctest::test_suite("slow")) {
  for (const auto& [widths, seeds] : {std::pair(Widths{4, 4}, 700U),
                                      {Widths{1, 1}, 250U},
                                      {Widths{4, 1}, 250U},
                                      {Widths{2, 4}, 250U},
                                      {Widths{1, 4}, 250U}})
    check(seeds, seeds / 18, seeds / 7, seeds / 14, widths,
          [w = widths](uint64_t seed) { return RandomKernel(seed, true, w.read, w.written); });
}

TEST_CASE("alias test: so with addresses that are made in unusual ways" * doctest::test_suite("slow")) {
  check(2500, 100, 100, 20, {}, [](uint64_t seed) { return HostileKernel(seed, true); });
}
