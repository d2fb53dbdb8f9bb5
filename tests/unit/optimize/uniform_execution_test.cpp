// Registers that count as uniform, against what the interpreter sees written: in each block one value, by all
// threads and in all iterations, in runs of the sample kernels on made-up inputs.
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "analysis/values/uniform_registers.h"
#include "exec/block.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "support.h"
#include "verify/run.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The first value written to each register of a kernel, by block; whether another came behind it, and whether any
// did.
class Written final : public exec::Observer {
 public:
  explicit Written(const Function& f) : differs(f.registers.size()), again(f.registers.size()), f_(f) {}

  void op(exec::Warp&, const exec::Routine&, const exec::Op&, exec::Mask, exec::Mask) override {}
  void after(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask active) override {
    if (routine.function != &f_) return;
    const Instruction& i = f_[InstrId(op.instruction)];
    if (!i.isInstruction()) return;
    const exec::Dim3 id = warp.block().id();
    auto& values = values_[{id.x, id.y, id.z}];
    for (const Operand& o : f_.operandsOf(i)) {
      if (!o.isRegister() || o.role != Role::Def || o.is(Operand::Implicit)) continue;
      const exec::Arg& place = routine.registers[o.payload];
      if (place.bytes == 0 || place.bytes > 8 || f_.registers[o.payload].lanes != 1) continue;
      for (exec::Mask m = active; m != 0; m &= m - 1) {
        const uint64_t value = warp.value(place, static_cast<unsigned>(std::countr_zero(m)));
        const auto [first, isNew] = values.try_emplace(o.payload, value);
        if (isNew) continue;
        again.set(o.payload);
        if (first->second != value) differs.set(o.payload);
      }
    }
  }

  BitVector differs, again;

 private:
  const Function& f_;
  std::map<std::array<uint32_t, 3>, std::map<uint32_t, uint64_t>> values_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("uniform: as the interpreter sees it, on the sample kernels" * doctest::test_suite("slow")) {
  std::size_t kernels = 0, confirmed = 0, different = 0;
  const std::filesystem::path folder = std::filesystem::path(PTXOPT_TESTS_DIR) / ".." / "samples";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    const Parsed p(read(entry.path()));
    exec::Machine machine(*p);
    for (const Function& f : p->functions) {
      if (!f.isEntry || !f.hasBody) continue;
      ++kernels;
      const std::string name(p->text(f.name));
      CAPTURE(entry.path().filename().string());
      CAPTURE(name);
      const Cfg cfg(*p, f);
      const BitVector uniform = findUniform(*p, f, cfg, DominatorTree(cfg, DominatorTree::Direction::Dominators));
      const verify::KernelUse use = verify::findUse(*p, f, machine.kernel(name));
      for (unsigned number = 0; number < 3; ++number) {
        Written written(f);
        const verify::Trial trial = verify::makeTrial(use, verify::shapeLimits(*p, f), 1, number);
        // Runs that fail or take too long say something up to there.
        verify::runTrial(machine, name, use, trial, 50'000, {.observer = &written});
        for (uint32_t r = 0; r < f.registers.size(); ++r) {
          if (written.differs.test(r)) {
            CAPTURE(p.name(f.registers[r].name));
            CHECK_FALSE(uniform.test(r));
            ++different;
          } else if (written.again.test(r) && uniform.test(r)) {
            ++confirmed;
          }
        }
      }
    }
  }
  CHECK(kernels >= 14);
  CHECK(confirmed > 500);
  CHECK(different > 1000);
}
