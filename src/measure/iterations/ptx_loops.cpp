// Each loop is noted by the lines of its instructions, with the trip count of scalar evolution or the entries and
// iterations of the profile. Copies of a loop share the profile's counts by how much each computes in an iteration.
#include "iterations/ptx_loops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/manager/analyses.h"
#include "iterations/entry_bodies.h"
#include "text/instruction_printer.h"

namespace ptxopt::iterations {
namespace {

constexpr uint32_t kNone = timing::PtxLoops::kNone;
constexpr double kAlmostWhole = 0.1;  // of a number of copies

class Lines {
 public:
  explicit Lines(std::string_view text) {
    starts_.push_back(0);
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string_view::npos;) starts_.push_back(++at);
  }
  // 0: it has no source.
  uint32_t of(const Instruction& i) const {
    if (!i.hasSource()) return 0;
    return static_cast<uint32_t>(std::ranges::upper_bound(starts_, i.sourceBegin) - starts_.begin());
  }

 private:
  std::vector<std::size_t> starts_;
};

class LoopsOfFunction {
 public:
  LoopsOfFunction(const Module& module, const Function& f, const Lines& lines, timing::PtxLoops& result)
      : module_(module), f_(f), lines_(lines), analyses_(module, f), result_(result) {}

  void add() {
    if (!analyses_.cfg().complete()) return;
    addBodies();
    addLoops();
    const Cfg& cfg = analyses_.cfg();
    for (uint32_t b = 0; b < cfg.size(); ++b)
      forEach(BlockId(b), [&](InstrId id) {
        const uint32_t line = lines_.of(f_[id]);
        if (line == 0) return;
        const LoopId l = analyses_.loops().of(BlockId(b));
        note(result_.loopOfLine, line, l.valid() ? first_ + l.value : kNone);
        if (!bodyOf_.empty()) note(result_.bodyOfLine, line, bodyOf_[b]);
      });
  }

 private:
  template <typename Work>
  void forEach(BlockId b, Work&& work) const {
    const Block& block = analyses_.cfg()[b];
    for (InstrId id = block.first; id.valid(); id = f_[id].next) {
      if (f_[id].isInstruction()) work(id);
      if (id == block.last) break;
    }
  }

  static void note(std::map<uint32_t, uint32_t>& of, uint32_t line, uint32_t what) {
    const auto [at, isNew] = of.try_emplace(line, what);
    if (!isNew && at->second != what) at->second = kNone;
  }

  // ---- bodies ----

  void addBodies() {
    if (!f_.isEntry) return;
    const LaunchProfile* const profile = module_.profiles.empty() ? nullptr : &module_.profiles[f_.index];
    if (profile != nullptr && !profile->classes.empty()) {
      const auto& block = profile->classes.front().block;
      result_.threads[std::string(module_.text(f_.name))] = block[0] * block[1] * block[2];
    }
    isApart_ = profile != nullptr && !profile->classes.empty() &&
               std::ranges::all_of(profile->classes, [](const LaunchClass& launches) {
                 return launches.isMemoryKnown && launches.overlapping.empty();
               });
    const EntryBodies bodies = entryBodiesOf(module_, f_, analyses_.cfg());
    if (bodies.blocks.empty()) return;
    const std::vector<double> shares = profile == nullptr ? std::vector<double>() : sharesOf(bodies, *profile);
    bodyOf_.assign(analyses_.cfg().size(), kNone);
    for (std::size_t k = 0; k < bodies.blocks.size(); ++k) {
      timing::PtxBody body{.kernel = std::string(module_.text(f_.name))};
      body.isSeen = !shares.empty();
      body.share = body.isSeen ? shares[k] : 1 / static_cast<double>(bodies.blocks.size());
      for (const BlockId b : bodies.blocks[k]) {
        bodyOf_[b.value] = static_cast<uint32_t>(result_.bodies.size());
        forEach(b, [&](InstrId id) {
          const uint32_t line = lines_.of(f_[id]);
          if (line == 0) return;
          body.firstLine = body.firstLine == 0 ? line : std::min(body.firstLine, line);
          body.lastLine = std::max(body.lastLine, line);
        });
      }
      result_.bodies.push_back(std::move(body));
    }
  }

  // ---- loops ----

  // For the code that tests at the end, or after the header's test; 0: not known.
  double knownOf(LoopId l) {
    ScalarEvolution& evolution = analyses_.scalarEvolution();
    const TripCount& trip = evolution.tripCount(l);
    if (!trip.exact.valid() || !evolution.expressions().isConstant(trip.exact)) return 0;
    const auto backedges = static_cast<double>(evolution.expressions()[trip.exact].constant);
    const Loops& loops = analyses_.loops();
    const std::vector<BlockId> latches = loops.latches(analyses_.cfg(), l);
    const auto exits = loops.exits(analyses_.cfg(), l);
    const BlockId header = loops[l].header;
    const bool testsFirst =
        std::ranges::find(latches, header) == latches.end() && exits.size() == 1 && exits[0].from == header;
    return testsFirst ? backedges : backedges + 1;
  }

  // The observed iterations of a loop that the profile has, and which of the profile's loops it is.
  struct Seen {
    double iterations = 0;  // in the mean over launches, as PtxLoops has it
    std::string_view label;
  };
  Seen seenOf(LoopId l) const {
    if (module_.profiles.empty()) return {};
    const Block& header = analyses_.cfg()[analyses_.loops()[l].header];
    for (InstrId id = header.first; f_[id].kind == InstrKind::Label; id = f_[id].next) {
      for (const LoopCount& seen : module_.profiles[f_.index].loops)
        if (seen.header.value == f_[id].payload)
          return {seen.entries == 0 ? timing::PtxLoops::kNever
                                    : static_cast<double>(seen.iterations) / static_cast<double>(seen.entries),
                  text::MadeNames::copiedLabel(module_.text(f_.labels[f_[id].payload].name))};
      if (id == header.last) break;
    }
    return {};
  }

  // What an iteration does, which shows how many of the original it makes: arithmetic of floating-point numbers, which
  // passes neither remove nor add; stores; all instructions.
  std::array<double, 3> workOf(LoopId l) const {
    const Loops& loops = analyses_.loops();
    double computed = 0, written = 0, all = 0;
    for (const BlockId b : loops.blocks(l)) {
      if (loops.of(b) != l) continue;
      forEach(b, [&](InstrId id) {
        const OpcodeForm& form = module_.form(f_[id]);
        const RegisterClass c = info(form.type).registerClass;
        computed += (c == RegisterClass::F32 || c == RegisterClass::F64) && form.op != Op::Mov &&
                    !form.is(effect::Read | effect::Write);
        written += form.is(effect::Write);
        ++all;
      });
    }
    return {computed, written, all};
  }

  void addLoops() {
    const Loops& loops = analyses_.loops();
    first_ = static_cast<uint32_t>(result_.iterations.size());
    std::map<std::pair<uint32_t, std::string_view>, std::vector<LoopId>>
        alike;  // in one body, of one loop of the profile
    for (uint32_t l = 0; l < loops.size(); ++l) {
      const double known = knownOf(LoopId(l));
      const Seen seen = known != 0 ? Seen() : seenOf(LoopId(l));
      result_.iterations.push_back(known != 0 ? known : seen.iterations);
      result_.isSeen.push_back(known == 0);
      if (seen.iterations <= 0) continue;
      const uint32_t body = bodyOf_.empty() ? kNone : bodyOf_[loops[LoopId(l)].header.value];
      alike[{body, seen.label}].push_back(LoopId(l));
    }
    for (const auto& [of, those] : alike)
      if (those.size() > 1) divide(those);
  }

  // Among versions of a loop with as many copies, the one with fewest accesses runs where arrays are apart.
  void leaveVersions(const std::vector<LoopId>& those, const std::vector<double>& copies) {
    for (std::size_t k = 0; k < those.size(); ++k)
      for (std::size_t other = 0; other < those.size(); ++other)
        if (copies[other] == copies[k] && accessesOf(those[other]) < accessesOf(those[k]))
          result_.iterations[first_ + those[k].value] = timing::PtxLoops::kNever;
  }

  std::size_t accessesOf(LoopId l) const {
    const Loops& loops = analyses_.loops();
    std::size_t accesses = 0;
    for (const BlockId b : loops.blocks(l))
      if (loops.of(b) == l)
        forEach(b, [&](InstrId id) { accesses += module_.form(f_[id]).is(effect::Read | effect::Write); });
    return accesses;
  }

  // The one with most copies iterates as often as it can, others for what is left.
  void divide(const std::vector<LoopId>& those) {
    std::vector<std::array<double, 3>> work;
    for (const LoopId l : those) work.push_back(workOf(l));
    std::size_t by = 0;  // the first that all do
    while (std::ranges::any_of(work, [&](const auto& its) { return its[by] == 0; })) ++by;
    double least = work.front()[by];
    for (const auto& its : work) least = std::min(least, its[by]);
    std::vector<double> copies;
    for (const auto& its : work) {
      const double times = its[by] / least, whole = std::round(times);
      copies.push_back(std::abs(times - whole) <= kAlmostWhole * whole ? whole : 1);
    }
    const double most = *std::ranges::max_element(copies);
    if (isApart_) leaveVersions(those, copies);
    for (std::size_t k = 0; k < those.size(); ++k) {
      double& iterations = result_.iterations[first_ + those[k].value];
      const double all = iterations;
      if (all > 0 && most > 1 && all >= most)
        iterations = copies[k] == most ? std::floor(all / most) : std::fmod(all, most) / copies[k];
    }
  }

  const Module& module_;
  const Function& f_;
  const Lines& lines_;
  mutable Analyses analyses_;
  timing::PtxLoops& result_;
  std::vector<uint32_t> bodyOf_;  // by block; empty: the kernel has one
  uint32_t first_ = 0;            // of its loops
  bool isApart_ = false;          // in no launch that was seen arrays overlapped
};

}  // namespace

timing::PtxLoops loopsOf(const Module& module) {
  timing::PtxLoops loops;
  const Lines lines(module.source);
  for (const Function& f : module.functions)
    if (f.hasBody) LoopsOfFunction(module, f, lines, loops).add();
  return loops;
}

}  // namespace ptxopt::iterations
