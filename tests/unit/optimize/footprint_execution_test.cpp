// Footprints against the addresses that the interpreter reaches: of random kernels with guards, loops and indices of all
// kinds, in random launches, each address lies within the bounds of its access wherever what they assume holds. The second
// generator has 16, 32 and 64 bits, most integer operations, values that are written again and under guards, tests of several
// conditions, irreducible loops and such as are left in the middle, and launches of numbers near the ends of their types.
#include <bit>
#include <cstring>
#include <random>

#include "analysis/addresses/footprint.h"
#include "exec/block.h"
#include "exec/error.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "hostile_index_kernel.h"
#include "random_index_kernel.h"
#include "sampled.h"

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
      if (address >= b.least && address + byInstruction_[id.value]->bytes <= b.end) continue;
      if (error.empty())
        error = std::to_string(address) + " is not in [" + std::to_string(b.least) + ", " + std::to_string(b.end) +
                ") at byte " + std::to_string(f_[id].sourceBegin);
    }
  }

  std::size_t seen = 0;
  std::string error;

 private:
  const Function& f_;
  std::vector<const Footprint*> byInstruction_;
};

// clang-format off
constexpr int64_t kFootprintNumbers[] = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 100, -1, 1000,  // small ones
    -2, -7, INT32_MAX, INT32_MIN, 1 << 20, 65535, 65536, 32767, -32768, UINT32_MAX, INT64_MIN, INT64_MAX,
    int64_t{1} << 32, int64_t{1} << 61, (int64_t{1} << 62) + 5};
// clang-format on
constexpr std::size_t kSmallNumbers = 15;

// A test at the entry compares by the sign of a difference of 64 bits.
bool isAtMost(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(b) - static_cast<uint64_t>(a)) >= 0;
}

struct Counts {
  std::size_t known = 0, unknown = 0, holding = 0, seen = 0;
};

constexpr std::string_view kPlaces[] = {"%tid.x",  "%tid.y",  "%tid.z",    "%ctaid.x",  "%ctaid.y", "%ctaid.z",
                                        "%ntid.x", "%ntid.y", "%nctaid.x", "%nctaid.y", "%laneid"};

// The kernel, whose first special registers are read in their order, with a parameter more for each of these; `reads` them
// instead. So one thread is executed of a launch of any size.
std::string withPlaces(std::string text, bool reads) {
  std::string more;
  for (std::size_t k = 0; k < std::size(kPlaces); ++k) {
    more += ", .param .u32 place" + std::to_string(k);
    const std::string from = ", " + std::string(kPlaces[k]) + ";", to = ", [place" + std::to_string(k) + "];";
    const std::size_t end = text.find(from), begin = text.rfind("mov.u32", end);
    if (reads) text.replace(end, from.size(), to).replace(begin, 7, "ld.param.u32");
  }
  return text.insert(text.find(")\n{"), more);
}

// Of a launch that is as large as it may be, or has one thread, or something between: the numbers of kPlaces.
struct LargeLaunch {
  explicit LargeLaunch(std::mt19937_64& random) {
    const auto size = [&](uint32_t most) {
      const uint64_t small = std::min<uint64_t>(most, 70);
      const uint64_t of[] = {1, most, 1 + random() % most, 1 + random() % small, 1 + random() % small};
      return static_cast<uint32_t>(of[random() % 5]);
    };
    block.x = size(1024);
    block.y = size(1024 / block.x);
    block.z = size(std::min(64u, 1024 / block.x / block.y));
    // Many have about 2^29 to 2^32 threads.
    const uint64_t edge = (uint64_t{1} << (29 + random() % 4)) / block.x + random() % 3;
    grid.x = random() % 4 == 0 ? static_cast<uint32_t>(std::min<uint64_t>(INT32_MAX, edge)) : size(INT32_MAX);
    grid.y = size(65535);
    grid.z = size(65535);
    const auto place = [&](uint32_t of) {
      const uint64_t at[] = {0, of - 1, random() % of, random() % of};
      return static_cast<uint32_t>(at[random() % 4]);
    };
    for (const uint32_t of : {block.x, block.y, block.z, grid.x, grid.y, grid.z}) places.push_back(place(of));
    for (const uint32_t of : {block.x, block.y, grid.x, grid.y}) places.push_back(of);
    places.push_back(static_cast<uint32_t>(random() % 32));
  }
  exec::Dim3 block, grid;
  std::vector<uint32_t> places;
};

// Launches of a kernel: `p`, at least, is a pointer, as `q` is; the others are numbers. What was wrong in words.
std::string launches(const std::string& kernel, bool isLarge, uint64_t seed, Counts& counts) {
  const Parsed p(isLarge ? withPlaces(kernel, false) : kernel);
  const Function& f = p.function();
  Analyses analyses(*p, f);
  const Footprints footprints(*p, f, analyses);
  REQUIRE(footprints.declined() == "");
  for (const Footprint& print : footprints.all()) (print.isKnown() ? counts.known : counts.unknown)++;
  const Parsed executed(isLarge ? withPlaces(kernel, true) : kernel);
  REQUIRE(executed.function().instructions.size() == f.instructions.size());
  exec::Machine machine(*executed);
  const exec::Program& program = machine.kernel("k");
  Reached reached(executed.function(), footprints);
  std::mt19937_64 random(seed);
  for (unsigned launch = 0; launch < (isLarge ? 40 : 6) && reached.error.empty(); ++launch) {
    exec::LaunchConfig config;
    const auto upTo = [&](uint64_t n) { return 1 + static_cast<uint32_t>(random() % n); };
    config.grid = {upTo(3), upTo(2), upTo(2)};
    config.block = {upTo(random() % 8 == 0 ? 40 : 8), upTo(3), upTo(2)};
    const LargeLaunch large(random);
    if (isLarge) config.grid = config.block = {1, 1, 1};
    config.stepLimit = 4000;
    config.isLenient = true;
    config.observer = &reached;
    // Small ones most of the time.
    std::vector<int64_t> numbers;
    for (std::size_t k = 0; k < program.parameters().size(); ++k)
      numbers.push_back(
          kFootprintNumbers[random() % (random() % 4 == 0 ? std::size(kFootprintNumbers) : kSmallNumbers)]);
    numbers[0] = random() % 16 == 0 ? -16 : 0x7f0000000000;
    numbers[4] = 0x7e0000000000;
    if (isLarge) std::ranges::copy(large.places, numbers.end() - static_cast<std::ptrdiff_t>(large.places.size()));
    config.parameters.resize(program.parameterBytes());
    for (std::size_t k = 0; k < numbers.size(); ++k)
      std::memcpy(config.parameters.data() + program.parameters()[k].place.offset, &numbers[k],
                  info(p->declarationForms[f.variables[f.parameters[k].value].form].type).bits / 8);
    const auto leaf = [&](const Term& t) -> int64_t {
      if (t.kind == TermKind::Size) {
        const exec::Dim3& block = isLarge ? large.block : config.block;
        const exec::Dim3& size = !t.size.isGrid ? block : isLarge ? large.grid : config.grid;
        return t.size.component == 0 ? size.x : t.size.component == 1 ? size.y : size.z;
      }
      const unsigned bits = 8u * t.parameter.bytes;
      const auto value = static_cast<uint64_t>(numbers[t.parameter.index]);
      if (bits == 64) return static_cast<int64_t>(value);
      return t.parameter.isSigned ? signedAt(value, bits)
                                  : static_cast<int64_t>(value & ((uint64_t{1} << bits) - 1));
    };
    const BoundTerms& terms = footprints.terms();
    reached.bounds.assign(f.instructions.size(), {});
    for (const Footprint& print : footprints.all()) {
      if (!print.isKnown()) continue;
      Reached::Bound& b = reached.bounds[print.access.value];
      b.holds = std::ranges::all_of(print.assumptions.all(), [&](const auto& a) {
        const int64_t value = terms.evaluate(a.first, leaf);
        return (!a.second.least || isAtMost(*a.second.least, value)) &&
               (!a.second.most || isAtMost(value, *a.second.most));
      });
      counts.holding += b.holds;
      b.least = terms.evaluate(print.least, leaf);
      b.end = terms.evaluate(print.end, leaf);
    }
    try {
      machine.launch("k", config);
    } catch (const exec::ExecError&) {  // it ran too long; what was seen was seen
    }
  }
  counts.seen += reached.seen;
  return reached.error;
}

template <typename Kernel>
void check(uint64_t all, bool isLarge = false) {
  const uint64_t kernels = sampled(all);
  Counts counts;
  for (uint64_t seed = 1; seed <= kernels; ++seed) {
    const Kernel kernel(seed);
    CAPTURE(seed);
    const std::string error = launches(kernel.text(), isLarge, seed, counts);
    INFO(kernel.text());
    CHECK(error == "");
    if (!error.empty()) break;
  }
  MESSAGE(counts.known << " accesses with bounds, " << counts.unknown << " without, " << counts.holding << " hold, "
                       << counts.seen << " addresses");
  CHECK(counts.known > kernels);
  CHECK(counts.seen > 50 * kernels);
}

}  // namespace

TEST_CASE("footprints: each address that the interpreter reaches is within the bounds" *
          doctest::test_suite("slow")) {
  check<RandomKernel>(2000);
}

TEST_CASE("footprints: so is each address that is made in unusual ways" * doctest::test_suite("slow")) {
  check<HostileKernel>(1500);
}

TEST_CASE("footprints: so is each address of large launches" * doctest::test_suite("slow")) {
  check<HostileKernel>(400, true);
}
