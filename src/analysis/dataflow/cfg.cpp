#include "analysis/dataflow/cfg.h"

namespace ptxopt {
namespace {

// Whether a block ends after this instruction.
bool endsBlock(const Module& module, const Instruction& i) {
  return i.isInstruction() && module.form(i).is(effect::kControl | effect::Unknown);
}

}  // namespace

LabelTables::LabelTables(const Function& f) : statements_(f.labels.size()) {
  InstrId next;
  for (InstrId id = f.last; id.valid(); id = f[id].previous) {
    const Instruction& i = f[id];
    if (i.kind == InstrKind::Label)
      statements_[i.payload] = next;
    else
      next = i.kind == InstrKind::Targets || i.kind == InstrKind::Verbatim ? id : InstrId();
  }
}

std::span<const Operand> LabelTables::targets(const Function& f, LabelId label) const {
  const InstrId statement = statements_[label.value];
  if (!statement.valid() || f[statement].kind != InstrKind::Targets) return {};
  return f.operandsOf(f[statement]);
}

Cfg::Cfg(const Module& module, const Function& function) {
  findBlocks(module, function);
  findEdges(module, function);
  findReachable();
}

void Cfg::findBlocks(const Module& module, const Function& f) {
  blockOf_.resize(f.instructions.size());
  bool starts = true;
  for (const InstrId id : f) {
    const Instruction& i = f[id];
    // Several labels in a row share a block.
    if (i.kind == InstrKind::Label && i.previous.valid() && f[i.previous].kind != InstrKind::Label) starts = true;
    if (starts) blocks_.push_back({.first = id, .last = id});
    starts = endsBlock(module, i);
    blocks_.back().last = id;
    blockOf_[id.value] = BlockId(blocks_.size() - 1);
  }
  if (blocks_.empty()) blocks_.push_back({});
}

void Cfg::findEdges(const Module& module, const Function& f) {
  const LabelTables tables(f);
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  std::vector<uint32_t> edgeFrom(blocks_.size(), UINT32_MAX);  // by target: the last block with an edge to it
  std::vector<uint8_t> isRoot(blocks_.size());
  isRoot[0] = 1;
  const auto blockOfLabel = [&](LabelId label) { return blockOf_[f.labels[label.value].place.value].value; };

  for (uint32_t b = 0; b < blocks_.size() && complete_; ++b) {
    Block& block = blocks_[b];
    if (!block.last.valid()) {
      block.leaves = block.returns = true;
      continue;
    }
    // Each edge once: brx.idx may name a label again and again.
    const auto toBlock = [&](uint32_t target) {
      if (edgeFrom[target] == b) return;
      edgeFrom[target] = b;
      if (edges.size() < kMostEdges)
        edges.emplace_back(b, target);
      else
        complete_ = false;
    };
    const auto to = [&](LabelId label) { toBlock(blockOfLabel(label)); };
    const Instruction& last = f[block.last];
    const bool ends = endsBlock(module, last);
    const uint32_t effects = ends ? module.form(last).effects : 0;
    const bool guarded = last.is(Instruction::Guarded);
    if (effects & (effect::Branch | effect::IndirectBranch | effect::Unknown)) {
      bool known = (effects & effect::Unknown) != 0;
      for (const Operand& o : f.operandsOf(last)) {
        if (o.kind != OperandKind::Label) continue;
        if (!(effects & effect::IndirectBranch)) {
          to(LabelId(o.payload));
          known = true;
        } else {
          for (const Operand& target : tables.targets(f, LabelId(o.payload))) {
            if (target.kind != OperandKind::Label) continue;
            if (!complete_) break;
            to(LabelId(target.payload));
            known = true;
          }
        }
      }
      if (!known)
        for (std::size_t l = 0; l < f.labels.size(); ++l)
          if (!f[f.labels[l].place].is(Instruction::Erased)) to(LabelId(l));
    }
    if (effects & (effect::Return | effect::Exit | effect::NoReturn)) {
      block.leaves = true;
      block.returns = (effects & effect::Return) != 0;
    }
    const bool fallsThrough = !ends || guarded || (effects & effect::Unknown);
    if (fallsThrough && b + 1 < blocks_.size()) toBlock(b + 1);
    if (fallsThrough && b + 1 == blocks_.size()) block.leaves = block.returns = true;
  }

  for (const InstrId id : f) {
    const Instruction& i = f[id];
    if (!i.isInstruction() || module.form(i).is(effect::Branch | effect::IndirectBranch)) continue;
    for (const Operand& o : f.operandsOf(i))
      if (o.kind == OperandKind::Label && !tables.has(LabelId(o.payload)))
        isRoot[blockOfLabel(LabelId(o.payload))] = 1;
  }
  for (uint32_t b = 0; b < blocks_.size(); ++b)
    if (isRoot[b]) roots_.emplace_back(b);

  // Both directions as compressed rows. Edges come in the order of their source already.
  successorStart_.assign(blocks_.size() + 1, 0);
  predecessorStart_.assign(blocks_.size() + 1, 0);
  for (const auto& [from, target] : edges) {
    ++successorStart_[from + 1];
    ++predecessorStart_[target + 1];
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    successorStart_[b + 1] += successorStart_[b];
    predecessorStart_[b + 1] += predecessorStart_[b];
  }
  successors_.reserve(edges.size());
  predecessors_.resize(edges.size());
  std::vector<uint32_t> next(predecessorStart_.begin(), predecessorStart_.end() - 1);
  for (const auto& [from, target] : edges) {
    successors_.emplace_back(target);
    predecessors_[next[target]++] = BlockId(from);
  }
}

// Depth-first without recursion: functions may have a hundred thousand blocks in a row.
void Cfg::findReachable() {
  struct Visit {
    BlockId block;
    uint32_t next = 0;
  };
  std::vector<Visit> stack;
  const auto enter = [&](BlockId b) {
    blocks_[b.value].reachable = true;
    stack.push_back({b});
  };
  for (const BlockId root : roots_) {
    if (blocks_[root.value].reachable) continue;
    enter(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      const auto next = successors(top.block);
      if (top.next == next.size()) {
        postOrder_.push_back(top.block);
        stack.pop_back();
      } else if (const BlockId to = next[top.next++]; !blocks_[to.value].reachable) {
        enter(to);
      }
    }
  }
  for (uint32_t b = static_cast<uint32_t>(blocks_.size()); b-- > 0;)
    if (!blocks_[b].reachable) postOrder_.emplace_back(b);
}

}  // namespace ptxopt
