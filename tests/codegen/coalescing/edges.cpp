// Copies between blocks: on edges, at the starts and ends of blocks, and as phis.
//
// A critical edge gets a block of its own, in front of the label it led to, so that the label is in scope for
// whoever branched there. Entries of .branchtargets are led through the new block together, whichever brx.idx they
// serve. That is right because all copies are of a register to others and back: a path that did not need them runs
// them unharmed.
#include <algorithm>
#include <map>

#include "analysis/dataflow/liveness.h"
#include "inserter.h"

namespace coalescing {

namespace effect = ptxopt::effect;
using ptxopt::Block;
using ptxopt::BlockId;
using ptxopt::Cfg;
using ptxopt::InstrKind;
using ptxopt::LabelTables;
using ptxopt::OperandKind;

namespace {

bool endsByControl(const Module& module, const Instruction& i) {
  return i.isInstruction() && module.form(i).is(effect::kControl | effect::Unknown);
}

}  // namespace

// Finds the place for copies on an edge, making a block where one is needed.
struct Inserter::EdgePlaces {
  EdgePlaces(Inserter& inserter, const Cfg& graph)
      : cfg(graph), tables(inserter.f_), editor(inserter.editor_), counts(inserter.counts_), self(inserter) {}

  bool isRoot(BlockId b) const { return std::find(cfg.roots().begin(), cfg.roots().end(), b) != cfg.roots().end(); }

  // All places together cover the edge; none when it cannot be had.
  std::vector<Place> of(BlockId from, BlockId to) {
    Function& f = editor.function();
    if (cfg.successors(from).size() == 1) return {self.blockEnd(cfg[from])};
    if (cfg.predecessors(to).size() == 1 && !isRoot(to)) return {self.blockStart(cfg[to])};
    const InstrId last = cfg[from].last;
    if (!self.options_.split || !last.valid() || editor.module().form(f[last]).is(effect::Unknown)) return {};
    std::vector<Place> places;
    if (f[last].is(Instruction::Guarded) && to.value == from.value + 1) places.push_back(editor.behind(last));
    const bool isTable = editor.module().form(f[last]).is(effect::IndirectBranch);
    for (const Operand& o : f.operandsOf(f[last])) {
      if (o.kind != OperandKind::Label) continue;
      const uint32_t begin = isTable ? firstTarget(LabelId(o.payload)) : indexOf(o);
      const std::size_t count = isTable ? tables.targets(f, LabelId(o.payload)).size() : 1;
      if (isTable && count == 0) return {};
      const InstrId owner = isTable ? tableStatement(LabelId(o.payload)) : last;
      for (uint32_t k = begin; k < begin + count; ++k)
        if (leadsTo(f.operands[k], to)) places.push_back(split(k, owner));
      break;
    }
    return places;
  }

  const Cfg& cfg;
  const LabelTables tables;
  Editor& editor;
  Counts& counts;
  Inserter& self;

 private:
  uint32_t indexOf(const Operand& o) const { return static_cast<uint32_t>(&o - editor.function().operands.data()); }
  uint32_t firstTarget(LabelId table) const {
    const auto targets = tables.targets(editor.function(), table);
    return targets.empty() ? 0 : indexOf(targets.front());
  }
  InstrId tableStatement(LabelId table) const {
    const Function& f = editor.function();
    InstrId id = f.labels[table.value].place;
    while (f[id].kind != InstrKind::Targets) id = f[id].next;
    return id;
  }
  bool leadsTo(const Operand& o, BlockId to) const {
    if (o.kind != OperandKind::Label) return false;
    if (const auto it = splits.find(indexOf(o)); it != splits.end()) return it->second.target == to;
    return o.payload < sourceLabels && cfg.blockOf(editor.function().labels[o.payload].place) == to;
  }

  // The new block on the way of one label operand, which then names the new block.
  Place split(uint32_t operand, InstrId owner) {
    Function& f = editor.function();
    if (const auto it = splits.find(operand); it != splits.end()) return it->second.place;
    const LabelId old(f.operands[operand].payload);
    const InstrId target = f.labels[old.value].place;
    const Place place = editor.inFrontOf(target);
    if (mayFallInto(target)) {
      editor.branch(place, old);
      ++counts.branches;
    }
    const LabelId made = editor.label(place);
    ++counts.labels;
    editor.branch(place, old);
    ++counts.branches;
    f.operands[operand].payload = made.value;
    f.touch(owner);
    // Copies go in front of the branch back.
    const Place result = editor.inFrontOf(f[target].previous);
    splits[operand] = {cfg.blockOf(target), result};
    return result;
  }

  bool mayFallInto(InstrId label) const {
    const Function& f = editor.function();
    for (InstrId p = f[label].previous; p.valid(); p = f[p].previous) {
      if (f[p].kind == InstrKind::Label) return true;
      if (!f[p].isInstruction()) continue;
      return !endsByControl(editor.module(), f[p]) || f[p].is(Instruction::Guarded) ||
             editor.module().form(f[p]).is(effect::Unknown);
    }
    return true;
  }

  struct Split {
    BlockId target;
    Place place;
  };
  std::map<uint32_t, Split> splits;  // by index of the label operand
  const std::size_t sourceLabels = editor.function().labels.size();
};

// Behind labels and directives, before the first real instruction.
Place Inserter::blockStart(const Block& block) const {
  for (InstrId id = block.first; id.valid(); id = id == block.last ? InstrId() : f_[id].next)
    if (f_[id].isInstruction()) return inFrontOf(id);
  return block.last.valid() ? editor_.behind(block.last) : Place();
}

Place Inserter::blockEnd(const Block& block) const {
  if (!block.last.valid()) return Place();
  return endsByControl(module_, f_[block.last]) ? inFrontOf(block.last) : editor_.behind(block.last);
}

std::vector<RegId> Inserter::choose(const std::vector<RegId>& live) {
  std::vector<RegId> chosen;
  for (const RegId reg : live)
    if (static_cast<double>(edgeRandom_.word()) < options_.density * 0x1p32) chosen.push_back(reg);
  while (chosen.size() > static_cast<std::size_t>(options_.most))
    chosen.erase(chosen.begin() + edgeRandom_.below(static_cast<int>(chosen.size())));
  return chosen;
}

void Inserter::insertBetweenBlocks() {
  const Cfg cfg(module_, f_);
  if (!cfg.complete()) return;
  const ptxopt::RegisterFiles files(f_);
  const ptxopt::Liveness liveness(module_, f_, cfg, files, ptxopt::Liveness::Strength::Plain, {});
  EdgePlaces places(*this, cfg);
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    std::vector<RegId> live;
    liveness.forEachLiveIn(BlockId(b), [&](RegId reg) {
      if (mayCopyAnywhere(reg)) live.push_back(reg);
    });
    if (live.empty()) continue;
    const bool onEdges = options_.mode == Mode::Edges || (options_.mode == Mode::Mixed && edgeRandom_.chance(50));
    if (onEdges) {
      insertOnEdges(BlockId(b), live, places);
    } else if (edgeRandom_.chance(50)) {
      insertPhis(BlockId(b), choose(live), places);
    } else {
      insertRotation(blockStart(cfg[BlockId(b)]), choose(live));
      if (cfg.successors(BlockId(b)).size() == 1 && edgeRandom_.chance(50)) {
        live.clear();
        liveness.forEachLiveIn(cfg.successors(BlockId(b))[0], [&](RegId reg) {
          if (mayCopyAnywhere(reg)) live.push_back(reg);
        });
        insertRotation(blockEnd(cfg[BlockId(b)]), choose(live));
      }
    }
  }
}

void Inserter::insertOnEdges(BlockId target, const std::vector<RegId>& live, EdgePlaces& places) {
  for (const BlockId from : places.cfg.predecessors(target)) {
    const std::vector<RegId> chosen = choose(live);
    if (chosen.empty()) continue;
    for (const Place place : places.of(from, target)) insertAcross(place, chosen);
  }
}

// To new registers and back: one after the other, or all there and then all back.
void Inserter::insertAcross(Place place, const std::vector<RegId>& registers) {
  const bool together = edgeRandom_.chance(50);
  std::vector<RegId> made;
  for (const RegId reg : registers) {
    made.push_back(copier_.fresh(reg));
    copier_.copy(place, made.back(), reg);
    if (!together) copier_.copy(place, reg, made.back());
  }
  if (together)
    for (std::size_t k = 0; k < registers.size(); ++k) copier_.copy(place, registers[k], made[k]);
  ++counts_.places;
}

// Registers of one type go to new registers, these rotate by one place (two swap), and what was turned goes back.
// The rotation is a parallel copy, put in sequence by one more register.
void Inserter::insertRotation(Place place, const std::vector<RegId>& registers) {
  for (std::size_t first = 0; first < registers.size(); ++first) {
    std::vector<RegId> ring;
    const auto typeOf = [&](RegId reg) { return f_.registers[reg.value].type; };
    for (std::size_t k = 0; k < registers.size(); ++k)
      if (typeOf(registers[k]) == typeOf(registers[first])) {
        if (k < first) break;  // this type had its turn
        ring.push_back(registers[k]);
      }
    if (ring.empty()) continue;
    std::vector<RegId> made;
    for (const RegId reg : ring) {
      made.push_back(copier_.fresh(reg));
      copier_.copy(place, made.back(), reg);
    }
    if (made.size() > 1) {
      const RegId saved = copier_.fresh(ring[0]);
      copier_.plain(place, saved, made[0]);
      for (std::size_t k = 0; k + 1 < made.size(); ++k) copier_.plain(place, made[k], made[k + 1]);
      copier_.plain(place, made.back(), saved);
    }
    for (std::size_t k = 0; k < ring.size(); ++k) copier_.copy(place, ring[(k + 1) % ring.size()], made[k]);
    ++counts_.places;
  }
}

// As front ends leave phis: each predecessor puts the value into a new register, which the block copies.
void Inserter::insertPhis(BlockId target, const std::vector<RegId>& registers, EdgePlaces& places) {
  if (registers.empty() || places.isRoot(target)) return;
  // New blocks come to stand in front of the target, and so behind the ends of blocks that fall into it: all of
  // them are made before any place is used.
  const auto predecessors = places.cfg.predecessors(target);
  for (const BlockId from : predecessors)
    if (places.of(from, target).empty()) return;
  std::vector<Place> ends;
  for (const BlockId from : predecessors) {
    const std::vector<Place> found = places.of(from, target);
    ends.insert(ends.end(), found.begin(), found.end());
  }
  if (ends.empty()) return;  // nothing leads there
  const Place start = blockStart(places.cfg[target]);
  std::vector<RegId> made;
  for (const RegId reg : registers) made.push_back(copier_.fresh(reg));
  for (const Place end : ends)
    for (std::size_t k = 0; k < registers.size(); ++k) copier_.copy(end, made[k], registers[k]);
  for (std::size_t k = 0; k < registers.size(); ++k) copier_.copy(start, registers[k], made[k]);
  ++counts_.places;
}

}  // namespace coalescing
