// Parameters are sorted by how often their loads are assumed to run, and each is added to the test if its cost stays
// within the limit. The range of several accesses goes from the minimum of their starts to the maximum of their ends.
#include "passes/versions/alias_test.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <set>

#include "analysis/addresses/footprint.h"
#include "passes/versions/term_writer.h"

namespace ptxopt {
namespace {

using Set = ParameterMemory::Set;

// Machine instructions of a test for loads that are executed once each.
constexpr unsigned kMostOutsideLoops = 40;

// What is tested: that nothing is below what it must not be below; for each pair, that one ends before the other begins.
struct Plan {
  BoundTerms terms;
  // The test fails where `less` is less.
  struct Below {
    TermId less, than;
  };
  std::vector<Below> below;
  // Numbers that are not negative and have `mostBits` at most: pointers.
  std::vector<TermId> large;
  unsigned mostBits = 63;
  struct Apart {
    TermId leastRead, endOfRead, leastWritten, endOfWritten;
  };
  std::vector<Apart> apart;

  RegId emit(const Module& module, Function& f, InstrId where) const {
    TermWriter writer(module, f, where, terms);
    RegId failed;
    const auto also = [&](RegId test) { failed = failed.valid() ? writer.either(failed, test) : test; };
    if (!large.empty()) also(writer.isBeyond(large, mostBits));
    for (const Below& b : below) also(writer.isBelow(b.less, b.than));
    for (const Apart& a : apart) {
      const RegId before = writer.isBelow(a.leastWritten, a.endOfRead);
      const RegId after = writer.isBelow(a.leastRead, a.endOfWritten);
      also(writer.both(before, after));
    }
    return writer.holds(failed);
  }
};

class AliasTests {
 public:
  AliasTests(const Module& module, const Function& f, Analyses& analyses, unsigned most,
             const Overlaps& overlapping, bool onlyAfterWrites)
      : f_(f),
        module_(module),
        cfg_(analyses.cfg()),
        loops_(analyses.loops()),
        most_(most),
        overlapping_(overlapping),
        onlyAfterWrites_(onlyAfterWrites),
        footprints_(module, f, analyses),
        terms_(footprints_.terms()) {}

  std::optional<AliasTest> run(std::string_view& why) {
    why = footprints_.declined();
    if (!why.empty()) return std::nullopt;
    for (const Footprint& p : footprints_.all()) {
      if (!p.isWrite) continue;
      if (!isUsable(p)) {
        why = "unknown-write";
        return std::nullopt;
      }
      writes_[p.parameters].push_back(&p);
    }
    const std::vector<std::size_t> candidates = findCandidates();
    why = "no-candidate";
    if (candidates.empty() || writes_.empty()) return std::nullopt;
    why = "too-long";
    std::vector<std::size_t> taken;
    std::optional<Plan> best;
    for (const std::size_t p : candidates) {
      std::vector<std::size_t> with = taken;
      with.push_back(p);
      std::optional<Plan> plan = planFor(with);
      const bool isInLoop =
          std::ranges::any_of(reads_[p], [&](const Footprint* read) { return loops_.of(read->block).valid(); });
      if (!plan || costOf(*plan) > (isInLoop ? most_ : std::min(most_, kMostOutsideLoops))) continue;
      taken = std::move(with);
      best = std::move(plan);
    }
    if (!best) return std::nullopt;
    why = {};
    AliasTest test;
    test.pointers.resize(f_.parameters.size());
    for (const std::size_t p : taken) test.pointers[p].isReadonly = true;
    const auto plan = std::make_shared<const Plan>(std::move(*best));
    test.emit = [plan](const Module& m, Function& f, InstrId where) { return plan->emit(m, f, where); };
    return test;
  }

 private:
  bool isUsable(const Footprint& p) const {
    if (!p.isKnown() || !TermWriter::canWrite(module_, terms_, p.least) ||
        !TermWriter::canWrite(module_, terms_, p.end))
      return false;
    return std::ranges::all_of(p.assumptions.all(),
                               [&](const auto& a) { return TermWriter::canWrite(module_, terms_, a.first); });
  }

  // Blocks that are entered after something may have been written.
  std::vector<bool> blocksAfterWrites() const {
    std::vector<bool> isAfter(cfg_.size());
    std::vector<BlockId> left;
    for (const Footprint& p : footprints_.all())
      if (p.isWrite) left.push_back(p.block);
    while (!left.empty()) {
      const BlockId block = left.back();
      left.pop_back();
      for (const BlockId next : cfg_.successors(block)) {
        if (isAfter[next.value]) continue;
        isAfter[next.value] = true;
        left.push_back(next);
      }
    }
    return isAfter;
  }

  bool mayFollowWrite(const Footprint& load, const std::vector<bool>& isAfter) const {
    if (isAfter[load.block.value]) return true;
    for (InstrId id = cfg_[load.block].first; id != load.access; id = f_[id].next)
      if (std::ranges::any_of(footprints_.all(), [&](const Footprint& p) { return p.isWrite && p.access == id; }))
        return true;
    return false;
  }

  // Parameters by which all that is read is known, and nothing is written; those with loads in deep loops first.
  std::vector<std::size_t> findCandidates() {
    Set candidates = ~(footprints_.memory().written() | footprints_.memory().escaped() | ParameterMemory::kOther);
    for (const auto& [p, q] : overlapping_)
      for (const auto& [first, second] : {std::pair(p, q), std::pair(q, p)})
        if (first < 63 && second < 63 && (footprints_.memory().written() >> second & 1) != 0)
          candidates &= ~(Set{1} << first);
    std::map<std::size_t, uint64_t> weights;
    const std::vector<bool> isAfter = blocksAfterWrites();
    Set reached = 0;
    for (const Footprint& p : footprints_.all()) {
      if (p.isWrite) continue;
      if (!isUsable(p)) candidates &= ~p.parameters;
      // What is loaded as constant already gains nothing.
      if (module_.form(f_[p.access]).has(ModifierFlag::NonCoherent)) continue;
      if (!onlyAfterWrites_ || mayFollowWrite(p, isAfter)) reached |= p.parameters;
    }
    candidates &= reached;
    // What is read through several is known only where it is of all.
    for (bool goesOn = true; goesOn;) {
      goesOn = false;
      for (const Footprint& p : footprints_.all()) {
        if (p.isWrite || (p.parameters & candidates) == 0 || (p.parameters & ~candidates) == 0) continue;
        candidates &= ~p.parameters;
        goesOn = true;
      }
    }
    std::vector<std::size_t> all;
    for (std::size_t p = 0; p < f_.parameters.size() && p < 63; ++p) {
      if ((candidates >> p & 1) == 0) continue;
      for (const Footprint& print : footprints_.all()) {
        if (print.isWrite || (print.parameters >> p & 1) == 0) continue;
        reads_[p].push_back(&print);
        weights[p] += loops_.assumedCount(print.block);
      }
      all.push_back(p);
    }
    std::ranges::stable_sort(all, std::greater<>(), [&](std::size_t p) { return weights[p]; });
    return all;
  }

  // The one term that is below all others, or the minimum of those for which that is not known.
  TermId extreme(std::vector<TermId> all, TermKind kind, const BoundAssumptions& known) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const auto isCovered = [&](TermId t, TermId by) {
      const TermId difference = kind == TermKind::Max ? terms_.subtract(by, t) : terms_.subtract(t, by);
      return difference.valid() && known.range(difference).least >= 0;
    };
    std::vector<TermId> kept;
    for (const TermId t : all) {
      if (std::ranges::any_of(kept, [&](TermId k) { return isCovered(t, k); })) continue;
      std::erase_if(kept, [&](TermId k) { return isCovered(k, t); });
      kept.push_back(t);
    }
    TermId result = kept.front();
    for (std::size_t k = 1; k < kept.size(); ++k) result = terms_.minMax(kind, result, kept[k]);
    return result;
  }

  std::optional<Plan> planFor(const std::vector<std::size_t>& parameters) {
    BoundAssumptions known(terms_);
    const auto note = [&](const std::vector<const Footprint*>& those) {
      return std::ranges::all_of(those, [&](const Footprint* p) { return known.add(p->assumptions); });
    };
    for (const auto& [set, those] : writes_)
      if (!note(those)) return std::nullopt;
    for (const std::size_t p : parameters)
      if (!note(reads_[p])) return std::nullopt;
    const auto ends = [&](const std::vector<const Footprint*>& those) -> std::pair<TermId, TermId> {
      std::vector<TermId> least, end;
      for (const Footprint* p : those) {
        least.push_back(p->least);
        end.push_back(p->end);
      }
      return {extreme(least, TermKind::Min, known), extreme(end, TermKind::Max, known)};
    };
    Plan plan;
    for (const std::size_t p : parameters) {
      const auto [leastRead, endOfRead] = ends(reads_[p]);
      for (const auto& [set, those] : writes_) {
        const auto [leastWritten, endOfWritten] = ends(those);
        for (const TermId t : {leastRead, endOfRead, leastWritten, endOfWritten})
          if (!t.valid() || !known.assumeComparable(t)) return std::nullopt;
        plan.apart.push_back({leastRead, endOfRead, leastWritten, endOfWritten});
      }
    }
    if (!known.assumeTestsFit()) return std::nullopt;
    for (const auto& [t, assumed] : known.all()) {
      if (!TermWriter::canWrite(module_, terms_, t)) return std::nullopt;
      if (assumed.least == 0 && assumed.most && terms_[t].kind == TermKind::Parameter) {
        const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(*assumed.most) + 1) - 1);
        if (bits > 32) {
          plan.large.push_back(t);
          plan.mostBits = std::min(plan.mostBits, bits);
          continue;
        }
      }
      if (assumed.least) plan.below.push_back({t, terms_.constant(*assumed.least)});
      if (assumed.most) plan.below.push_back({terms_.constant(*assumed.most), t});
    }
    plan.terms = terms_;
    return plan;
  }

  unsigned costOf(const Plan& plan) const {
    std::set<TermId> seen;
    unsigned cost = 0;
    const std::function<void(TermId)> visit = [&](TermId t) {
      if (!seen.insert(t).second) return;
      const Term& n = plan.terms[t];
      switch (n.kind) {
        case TermKind::Constant: return;
        case TermKind::Parameter:
        case TermKind::Size: ++cost; return;
        case TermKind::Sum:
          // 64 bits are two of 32; a factor that is a power of two is a part of the addition.
          cost += 2 * static_cast<unsigned>(plan.terms.parts(t).size());
          for (const TermPart& p : plan.terms.parts(t)) visit(p.term);
          return;
        case TermKind::Product: cost += 2; break;
        case TermKind::Min:
        case TermKind::Max: cost += 4; break;
        default: cost += 2;
      }
      visit(n.left);
      if (n.right.valid()) visit(n.right);
    };
    if (!plan.large.empty()) cost += 2;
    for (const TermId t : plan.large) {
      ++cost;
      visit(t);
    }
    for (const Plan::Below& b : plan.below) {
      cost += 3;
      visit(b.less);
      visit(b.than);
    }
    for (const Plan::Apart& a : plan.apart) {
      cost += 4;
      for (const TermId t : {a.leastRead, a.endOfRead, a.leastWritten, a.endOfWritten}) visit(t);
    }
    return cost;
  }

  const Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  const Loops& loops_;
  const unsigned most_;
  const Overlaps& overlapping_;
  const bool onlyAfterWrites_;
  Footprints footprints_;
  BoundTerms& terms_;
  std::map<Set, std::vector<const Footprint*>> writes_;         // by what their addresses are made of
  std::map<std::size_t, std::vector<const Footprint*>> reads_;  // by parameter
};

}  // namespace

std::optional<AliasTest> findAliasTest(const Module& module, const Function& kernel, Analyses& analyses,
                                       unsigned most, const Overlaps& overlapping, bool onlyAfterWrites,
                                       std::string_view& why) {
  if (!analyses.cfg().complete() || !analyses.mayHaveLiveIntervals()) {
    why = "too-large";
    return std::nullopt;
  }
  return AliasTests(module, kernel, analyses, most, overlapping, onlyAfterWrites).run(why);
}

}  // namespace ptxopt
