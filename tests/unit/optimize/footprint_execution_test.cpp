// Footprints against the addresses that the interpreter reaches: of random kernels with guards, loops and indices of all
// kinds, in random launches, each address lies within the bounds of its access wherever what they assume holds.
#include <bit>
#include <cstring>
#include <random>

#include "analysis/addresses/footprint.h"
#include "exec/block.h"
#include "exec/error.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "random_index_kernel.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

class Reached final : public exec::Observer {
 public:
  Reached(const Function& f, const Footprints& footprints) : f_(f), byInstruction_(f.instructions.size()) {
    for (const Footprint& p : footprints.all()) byInstruction_[p.access.value] = &p;
  }

  struct Bound {
    bool holds = false;
    int64_t least = 0, end = 0;
  };
  std::vector<Bound> bounds;  // by InstrId

  void op(exec::Warp& warp, const exec::Routine& routine, const exec::Op& op, exec::Mask,
          exec::Mask active) override {
    const InstrId id(op.instruction);
    if (routine.function != &f_ || byInstruction_[id.value] == nullptr || !bounds[id.value].holds) return;
    const auto operands = f_.operandsOf(f_[id]);
    const auto memory = std::ranges::find(operands, OperandKind::Memory, &Operand::kind);
    int64_t offset = 0;
    if (memory->inside() == 2) offset = static_cast<int64_t>(*immediate(f_, *(memory + 2)));
    for (exec::Mask m = active; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const auto address =
          static_cast<int64_t>(warp.value(routine.registers[(memory + 1)->payload], lane)) + offset;
      ++seen;
      const Bound& b = bounds[id.value];
      isTight |= address == b.least;
      if (address >= b.least && address + byInstruction_[id.value]->bytes <= b.end) continue;
      if (error.empty())
        error = std::to_string(address) + " is not in [" + std::to_string(b.least) + ", " + std::to_string(b.end) +
                ") at byte " + std::to_string(f_[id].sourceBegin);
    }
  }

  std::size_t seen = 0;
  bool isTight = false;
  std::string error;

 private:
  const Function& f_;
  std::vector<const Footprint*> byInstruction_;
};

constexpr int32_t kNumbers[] = {0,  1,  2,   3,    4,  5,  7,  8,         9,         16,
                                31, 33, 100, 1000, -1, -2, -7, INT32_MAX, INT32_MIN, 1 << 20};

}  // namespace

TEST_CASE("footprints: each address that the interpreter reaches is within the bounds") {
  std::size_t known = 0, unknown = 0, holding = 0, seen = 0;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    const RandomKernel kernel(seed);
    CAPTURE(seed);
    const Parsed p(kernel.text());
    const Function& f = p.function();
    Analyses analyses(*p, f);
    const Footprints footprints(*p, f, analyses);
    REQUIRE(footprints.declined() == "");
    for (const Footprint& print : footprints.all()) (print.isKnown() ? known : unknown)++;
    exec::Machine machine(*p);
    Reached reached(f, footprints);
    std::mt19937_64 random(seed);
    for (unsigned launch = 0; launch < 6; ++launch) {
      exec::LaunchConfig config;
      config.grid = {1 + static_cast<uint32_t>(random() % 3), 1 + static_cast<uint32_t>(random() % 2)};
      config.block = {1 + static_cast<uint32_t>(random() % 8), 1 + static_cast<uint32_t>(random() % 3)};
      config.stepLimit = 4000;
      config.isLenient = true;
      config.observer = &reached;
      uint64_t pointer = 0x7f0000000000;
      if (random() % 16 == 0) pointer = 0xfffffffffffffff0;
      int32_t numbers[3];
      // Small ones most of the time.
      for (int32_t& n : numbers) n = kNumbers[random() % (random() % 4 == 0 ? std::size(kNumbers) : 14)];
      const exec::Program& program = machine.kernel("k");
      config.parameters.resize(program.parameterBytes());
      std::memcpy(config.parameters.data() + program.parameters()[0].place.offset, &pointer, 8);
      for (std::size_t k = 0; k < 3; ++k)
        std::memcpy(config.parameters.data() + program.parameters()[k + 1].place.offset, &numbers[k], 4);
      const auto leaf = [&](const Term& t) -> int64_t {
        if (t.kind == TermKind::Size)
          return t.size.component == 0 ? (t.size.isGrid ? config.grid.x : config.block.x)
                                       : (t.size.isGrid ? config.grid.y : config.block.y);
        if (t.parameter.index == 0) return static_cast<int64_t>(pointer);
        const int32_t n = numbers[t.parameter.index - 1];
        return t.parameter.isSigned ? n : static_cast<int64_t>(static_cast<uint32_t>(n));
      };
      const BoundTerms& terms = footprints.terms();
      reached.bounds.assign(f.instructions.size(), {});
      for (const Footprint& print : footprints.all()) {
        if (!print.isKnown()) continue;
        Reached::Bound& b = reached.bounds[print.access.value];
        b.holds = std::ranges::all_of(print.assumptions.all(), [&](const auto& a) {
          const int64_t value = terms.evaluate(a.first, leaf);
          return (!a.second.least || value >= *a.second.least) && (!a.second.most || value <= *a.second.most);
        });
        holding += b.holds;
        b.least = terms.evaluate(print.least, leaf);
        b.end = terms.evaluate(print.end, leaf);
      }
      try {
        machine.launch("k", config);
      } catch (const exec::ExecError&) {  // it ran too long; what was seen was seen
      }
    }
    seen += reached.seen;
    INFO(kernel.text());
    CHECK(reached.error == "");
    if (!reached.error.empty()) break;
  }
  MESSAGE(known << " accesses with bounds, " << unknown << " without, " << holding << " hold, " << seen
                << " addresses");
  CHECK(known > 2000);
  CHECK(seen > 100'000);
}
