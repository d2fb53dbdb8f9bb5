// One pass over the instructions makes the blocks, one over the blocks the edges, stored as compressed rows in both
// directions. A graph that is made anew takes over the rows of the one before where its edges are the same.
#include "analysis/dataflow/cfg.h"

#include <algorithm>
#include <optional>

namespace ptxopt {
namespace {

// Whether a block ends after this instruction.
bool endsBlock(const Module& module, const Instruction& i) {
  return i.isInstruction() && module.form(i).is(effect::kControl | effect::Unknown);
}

// Counted in 32 bits: compilers make vector instructions of it.
std::size_t countLabels(const std::vector<Operand>& operands) {
  uint32_t count = 0;
  for (const Operand& o : operands) count += o.kind == OperandKind::Label ? 1 : 0;
  return count;
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

void Cfg::findBlocks(const Module& module, const Function& f) {
  blockOf_.resize(f.instructions.size());
  instructions_.resize(f.instructions.size());
  blocks_.reserve(2 * f.labels.size() + 1);  // after a label often comes a branch
  firstInstruction_.reserve(2 * f.labels.size() + 2);
  const Instruction* const all = f.instructions.data();
  const OpcodeForm* const forms = module.opcodes.data();
  BlockId* const blockOf = blockOf_.data();
  InstrId* end = instructions_.data();
  const auto startRow = [&] { firstInstruction_.push_back(static_cast<uint32_t>(end - instructions_.data())); };
  for (InstrId next = f.first; next.valid();) {
    const BlockId block(blocks_.size());
    const InstrId first = next;
    InstrId last;
    startRow();
    for (bool isLast = false; !isLast;) {
      const Instruction& i = all[next.value];
      last = next;
      blockOf[last.value] = block;
      if (i.isInstruction()) *end++ = last;
      next = i.next;
      // Several labels in a row share a block.
      isLast = !next.valid() || (i.isInstruction() && forms[i.payload].is(effect::kControl | effect::Unknown)) ||
               (all[next.value].kind == InstrKind::Label && i.kind != InstrKind::Label);
    }
    blocks_.push_back({.first = first, .last = last});
  }
  if (blocks_.empty()) {
    startRow();
    blocks_.push_back({});
  }
  startRow();
  instructions_.resize(firstInstruction_.back());
}

// The edges as they are found, each once: brx.idx may name a label again and again.
class Cfg::EdgeList {
 public:
  EdgeList(const Module& module, const Function& f, Cfg& cfg)
      : module_(module), f_(f), cfg_(cfg), latest_(cfg.size(), UINT32_MAX) {
    edges_.reserve(2 * cfg.size());  // mostly enough
  }

  // In the order of their sources.
  const std::vector<std::pair<uint32_t, uint32_t>>& edges() const { return edges_; }
  // Most functions need none.
  const LabelTables& tables() { return tables_ ? *tables_ : tables_.emplace(f_); }

  void addBlock(uint32_t b) {
    source_ = b;
    Block& block = cfg_.blocks_[b];
    if (!block.last.valid()) {
      block.leaves = block.returns = true;
      return;
    }
    const Instruction& last = f_[block.last];
    const bool ends = endsBlock(module_, last);
    const uint32_t effects = ends ? module_.form(last).effects : 0;
    if (effects & (effect::Branch | effect::IndirectBranch | effect::Unknown)) addTargets(last, effects);
    if (effects & (effect::Return | effect::Exit | effect::NoReturn)) {
      block.leaves = true;
      block.returns = (effects & effect::Return) != 0;
    }
    const bool fallsThrough = !ends || last.is(Instruction::Guarded) || (effects & effect::Unknown);
    if (fallsThrough && b + 1 < cfg_.size()) add(b + 1);
    if (fallsThrough && b + 1 == cfg_.size()) block.leaves = block.returns = true;
  }

 private:
  void addTargets(const Instruction& branch, uint32_t effects) {
    bool known = (effects & effect::Unknown) != 0;
    for (const Operand& o : f_.operandsOf(branch)) {
      if (o.kind != OperandKind::Label) continue;
      if (effects & effect::IndirectBranch) {
        known |= addTable(LabelId(o.payload));
      } else {
        add(LabelId(o.payload));
        known = true;
      }
    }
    if (!known)
      for (std::size_t l = 0; l < f_.labels.size(); ++l)
        if (!f_[f_.labels[l].place].is(Instruction::Erased)) add(LabelId(l));
  }

  // False when the table names no label.
  bool addTable(LabelId table) {
    bool known = false;
    for (const Operand& target : tables().targets(f_, table)) {
      if (target.kind != OperandKind::Label) continue;
      if (!cfg_.complete_) break;
      add(LabelId(target.payload));
      known = true;
    }
    return known;
  }

  void add(LabelId label) { add(cfg_.blockOfLabel(f_, label)); }
  void add(uint32_t target) {
    if (latest_[target] == source_) return;
    latest_[target] = source_;
    if (edges_.size() < kMostEdges)
      edges_.emplace_back(source_, target);
    else
      cfg_.complete_ = false;
  }

  const Module& module_;
  const Function& f_;
  Cfg& cfg_;
  std::optional<LabelTables> tables_;
  uint32_t source_ = 0;
  std::vector<uint32_t> latest_;  // by target: the last block with an edge to it
  std::vector<std::pair<uint32_t, uint32_t>> edges_;
};

Cfg::Cfg(const Module& module, const Function& function) {
  findBlocks(module, function);
  EdgeList list(module, function, *this);
  findEdges(module, function, list);
  storeEdges(list.edges());
  findReachable();
}

Cfg::Cfg(const Module& module, const Function& function, Cfg&& before, bool& hasSameEdges) {
  findBlocks(module, function);
  hasSameEdges = endsAs(module, function, before);
  if (!hasSameEdges) {
    EdgeList list(module, function, *this);
    findEdges(module, function, list);
    hasSameEdges = hasEdges(list, before);
    if (!hasSameEdges) {
      storeEdges(list.edges());
      findReachable();
    }
  }
  if (hasSameEdges) takeEdges(std::move(before));
}

void Cfg::takeEdges(Cfg&& before) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].leaves = before.blocks_[b].leaves;
    blocks_[b].returns = before.blocks_[b].returns;
    blocks_[b].reachable = before.blocks_[b].reachable;
  }
  successors_ = std::move(before.successors_);
  predecessors_ = std::move(before.predecessors_);
  successorStart_ = std::move(before.successorStart_);
  predecessorStart_ = std::move(before.predecessorStart_);
  roots_ = std::move(before.roots_);
  postOrder_ = std::move(before.postOrder_);
}

// Whether blocks end with the branches that ended them, which nobody has changed, and labels stand where they stood: most
// passes leave it so, and the edges are the same then. Where labels are values, and with tables, a closer look is needed.
bool Cfg::endsAs(const Module& module, const Function& f, const Cfg& before) const {
  if (!before.complete_ || blocks_.size() != before.blocks_.size() || before.roots_.size() != 1) return false;
  for (const Label& label : f.labels)
    if (!label.place.valid() || label.place.value >= before.blockOf_.size() ||
        blockOf_[label.place.value] != before.blockOf_[label.place.value])
      return false;
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    const InstrId last = blocks_[b].last;
    if (!last.valid() || !endsBlock(module, f[last])) {
      const auto to = before.successors(BlockId(b));
      const bool fellThrough = b + 1 == blocks_.size() ? to.empty() && before.blocks_[b].returns
                                                       : to.size() == 1 && to[0].value == b + 1;
      if (!fellThrough || before.blocks_[b].leaves != (b + 1 == blocks_.size())) return false;
    } else if (last != before.blocks_[b].last || f[last].is(Instruction::Changed) ||
               module.form(f[last]).is(effect::IndirectBranch | effect::Unknown)) {
      return false;
    }
  }
  return true;
}

void Cfg::findEdges(const Module& module, const Function& f, EdgeList& list) {
  for (uint32_t b = 0; b < blocks_.size() && complete_; ++b) list.addBlock(b);
  findRoots(module, f, list);
}

// What is reachable follows from the rest.
bool Cfg::hasEdges(const EdgeList& list, const Cfg& before) const {
  const auto isSame = [](const Block& a, const Block& b) { return a.leaves == b.leaves && a.returns == b.returns; };
  if (!complete_ || !before.complete_ || list.edges().size() != before.successors_.size() ||
      roots_ != before.roots_ || !std::ranges::equal(blocks_, before.blocks_, isSame))
    return false;
  for (std::size_t e = 0; e < list.edges().size(); ++e) {
    const auto [from, to] = list.edges()[e];
    if (before.successors_[e].value != to || e < before.successorStart_[from] ||
        e >= before.successorStart_[from + 1])
      return false;
  }
  return true;
}

void Cfg::findRoots(const Module& module, const Function& f, EdgeList& list) {
  std::vector<uint8_t> isRoot(blocks_.size());
  isRoot[0] = 1;
  // Where as many labels stand in branches as in all operands, none is a value: each instruction has operands of its own, and
  // those of instructions that are gone count too.
  std::size_t labels = countLabels(f.operands);
  for (const Block& b : blocks_)
    if (b.last.valid() && f[b.last].isInstruction() &&
        module.form(f[b.last]).is(effect::Branch | effect::IndirectBranch))
      for (const Operand& o : f.operandsOf(f[b.last])) labels -= o.kind == OperandKind::Label ? 1 : 0;
  const bool hasLabels = labels != 0;
  for (InstrId id = hasLabels ? f.first : InstrId(); id.valid(); id = f[id].next) {
    const Instruction& i = f[id];
    if (!i.isInstruction() || module.form(i).is(effect::Branch | effect::IndirectBranch)) continue;
    for (const Operand& o : f.operandsOf(i))
      if (o.kind == OperandKind::Label && !list.tables().has(LabelId(o.payload)))
        isRoot[blockOfLabel(f, LabelId(o.payload))] = 1;
  }
  for (uint32_t b = 0; b < blocks_.size(); ++b)
    if (isRoot[b]) roots_.emplace_back(b);
}

// Both directions as compressed rows. Edges come in the order of their source already.
void Cfg::storeEdges(std::span<const std::pair<uint32_t, uint32_t>> edges) {
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
