// Decoding the code of a routine: see program.h.
#include <algorithm>

#include "analysis/dataflow/cfg.h"
#include "analysis/dataflow/loops.h"
#include "exec/align.h"
#include "exec/decoder.h"
#include "exec/machine.h"
#include "exec/reconvergence.h"
#include "exec/warp.h"

namespace ptxopt::exec {
namespace {

constexpr uint32_t kControlFlow =
    effect::Branch | effect::IndirectBranch | effect::Return | effect::Exit | effect::Call;

Step refreshSpecials(Warp& w, const Op& op, Mask) {
  w.refreshSpecials(op);
  return Step::Next;
}

Step countEntry(Warp&, const Op& op, Mask) {
  static_cast<std::atomic<uint64_t>*>(const_cast<void*>(op.data))->fetch_add(1, std::memory_order_relaxed);
  return Step::Next;
}

Cfg completeCfg(const Module& module, const Function& f) {
  Cfg cfg(module, f);
  if (!cfg.complete()) throw ExecError(FaultKind::Unsupported, "a function with too many branch targets");
  return cfg;
}

}  // namespace

Step throwUnsupported(Warp&, const Op& op, Mask) {
  throw ExecError(FaultKind::Unsupported, *static_cast<const std::string*>(op.data));
}

struct Decoder::Body {
  Body(const Module& module, Routine& routine, std::deque<LoopCounter>* loopCounters)
      : counters(loopCounters),
        r(routine),
        f(*routine.function),
        cfg(completeCfg(module, f)),
        meeting(cfg),
        tables(f),
        start(cfg.size()),
        again(cfg.size()),
        join(cfg.size(), UINT32_MAX) {
    if (counters != nullptr) loops.emplace(cfg);
  }

  BlockId blockOf(LabelId l) const { return cfg.blockOf(f.labels[l.value].place); }
  uint32_t end() const { return static_cast<uint32_t>(r.code.size()); }

  void add(Op op, InstrId id) {
    op.instruction = id.value;
    r.code.push_back(op);
  }
  // What makes the operands of the op to come.
  void addBefore(const Binder& b, InstrId id) {
    for (Op op : b.before_) {
      op.guard = b.op_.guard;
      op.guardNegated = b.op_.guardNegated;
      op.prepares = true;
      add(op, id);
    }
  }
  // Where the instruction is the first of a block.
  void beginBlock(InstrId id) {
    const BlockId b = cfg.blockOf(id);
    if (b == current) return;
    const BlockId before = current;
    current = b;
    start[b.value] = end();
    LoopCounter* const counter = counterOf(b);
    // Where control falls into the header from inside its loop, entries are counted elsewhere.
    const bool isFallenIntoAgain = counter != nullptr && before.valid() && isInLoopOf(b, before);
    if (isFallenIntoAgain)
      entered.emplace_back(b, &counter->entries);
    else if (counter != nullptr)
      addCount(counter->entries, id);
    again[b.value] = end();
    if (meeting.isMeetingPoint(b)) {
      join[b.value] = end();
      Op op;
      op.kind = OpKind::Join;
      add(op, id);
    }
    if (counter != nullptr) addCount(counter->iterations, id);
  }
  void addCount(std::atomic<uint64_t>& counter, InstrId id) {
    Op op;
    op.run = countEntry;
    op.data = &counter;
    op.prepares = true;
    add(op, id);
  }
  // For the loop whose header it is.
  LoopCounter* counterOf(BlockId b) {
    if (!loops || !loops->of(b).valid()) return nullptr;
    const Loop& loop = (*loops)[loops->of(b)];
    if (loop.header != b || loop.irreducible) return nullptr;
    LoopCounter& counter = counters->emplace_back();
    counter.header = b;
    return &counter;
  }
  bool isInLoopOf(BlockId header, BlockId b) const {
    const LoopId l = loops->of(header);
    return (*loops)[l].header == header && loops->contains(l, b);
  }
  // Where a branch from one block to another leads to.
  uint32_t placeOf(BlockId from, BlockId to) const {
    return loops && loops->of(to).valid() && isInLoopOf(to, from) ? again[to.value] : start[to.value];
  }
  // After the code: ways into loops.
  void addEntries() {
    for (const auto& [header, counter] : entered) {
      start[header.value] = end();
      addCount(*counter, cfg[header].first);
      Op op;
      op.kind = OpKind::Branch;
      op.target = again[header.value];
      add(op, cfg[header].first);
    }
  }
  // Branches lead to ops from here on, and know where their lanes meet again.
  void resolveBranches() {
    for (const auto& [op, block] : branches)
      r.code[op].target = placeOf(cfg.blockOf(InstrId(r.code[op].instruction)), block);
    for (const auto& [table, from] : branchTables)
      for (uint32_t& target : table->targets) target = placeOf(from, BlockId(target));
    for (Op& op : r.code) {
      if (op.kind != OpKind::Branch && op.kind != OpKind::BranchIndexed) continue;
      const BlockId meet = meeting.of(cfg.blockOf(InstrId(op.instruction)));
      if (meet.valid()) op.join = join[meet.value];
    }
  }

  std::deque<LoopCounter>* counters;  // of loops that are to be counted
  Routine& r;
  const Function& f;
  const Cfg cfg;
  std::optional<Loops> loops;
  const Reconvergence meeting;
  const LabelTables tables;
  BlockId current;
  std::vector<uint32_t> start;                                      // by block: the op it begins with
  std::vector<uint32_t> again;                                      // ... for branches from inside its loop
  std::vector<uint32_t> join;                                       // by block: the op at which lanes meet
  std::vector<std::pair<BlockId, std::atomic<uint64_t>*>> entered;  // loops whose entries are counted elsewhere
  std::vector<std::pair<std::size_t, BlockId>> branches;            // ops, and where they lead
  std::vector<std::pair<BranchTable*, BlockId>> branchTables;       // of blocks, and where they stand
};

void Decoder::run() {
  findRoutines();
  for (const auto& r : program_.routines_) layOut(*r);
  layOutKernelParameters();
  program_.staticShared_ = static_cast<uint32_t>(roundUp(program_.staticShared_, 16));
  placeDynamicShared();
  for (const auto& r : program_.routines_) decode(*r);
  alignConstants();
}

void Decoder::decode(Routine& r) {
  const bool counts = program_.machine_.countsLoops && &r == program_.routines_.front().get();
  Body body(module_, r, counts ? &program_.loopCounters_ : nullptr);
  const Function& f = body.f;
  for (const InstrId id : f) {
    body.beginBlock(id);
    if (!f[id].isInstruction()) continue;
    try {
      instruction(body, id);
    } catch (const ExecError& e) {
      if (e.kind != FaultKind::Unsupported) throw;
      body.add(unsupportedOp(r, f[id], e.message), id);
    }
  }
  Op end;
  end.kind = f.isEntry ? OpKind::Exit : OpKind::Return;
  body.add(end, f.last.valid() ? f.last : InstrId(0u));
  body.addEntries();
  body.resolveBranches();
}

void Decoder::instruction(Body& body, InstrId id) {
  const Instruction& i = body.f[id];
  const OpcodeForm& form = module_.form(i);
  Binder b(program_, program_.machine_, body.r, i);
  if (form.is(kControlFlow) && !form.is(effect::Unknown)) {
    const Op op = controlFlow(body, b, i);
    body.addBefore(b, id);
    return body.add(op, id);
  }
  const BindFunction bind = findBinder(b.base());
  if (bind == nullptr) b.unsupported("the interpreter does not have this instruction");
  bind(b);
  b.finish();
  if (b.usesVolatileSpecial_) {
    Op refresh;
    refresh.run = refreshSpecials;
    refresh.prepares = true;
    body.add(refresh, id);
  }
  body.addBefore(b, id);
  body.add(b.op_, id);
}

Op Decoder::controlFlow(Body& body, Binder& b, const Instruction& i) {
  const OpcodeForm& form = module_.form(i);
  const auto entries = callEntries(body.f, i);
  if (form.is(effect::IndirectBranch) && !form.is(effect::Branch)) return indexedBranch(body, b, entries);
  if (form.is(effect::Call) && !form.is(kControlFlow & ~effect::Call)) return callOp(b, body.r, entries);
  Op op = b.op_;
  if (form.is(effect::Branch)) {
    op.kind = OpKind::Branch;
    body.branches.emplace_back(body.r.code.size(), body.blockOf(LabelId(entries.front().payload)));
  } else {
    op.kind = form.is(effect::Return) && !body.f.isEntry ? OpKind::Return : OpKind::Exit;
  }
  return op;
}

Op Decoder::indexedBranch(Body& body, Binder& b, std::span<const Operand> entries) {
  b.take("idx");
  b.take("uni");
  b.source(0, ScalarType::u32);
  b.ignore(1);
  const Operand& list = entries.back();
  if (list.kind != OperandKind::Label) b.unsupported("a table that is not a list of labels");
  BranchTable table;
  for (const Operand& target : body.tables.targets(body.f, LabelId(list.payload))) {
    if (target.kind != OperandKind::Label) b.unsupported("a table with other things than labels");
    table.targets.push_back(body.blockOf(LabelId(target.payload)).value);
  }
  body.branchTables.emplace_back(&b.data(std::move(table)), body.current);
  b.op_.kind = OpKind::BranchIndexed;
  b.handler(throwUnsupported);  // never run; finish() wants one
  b.finish();
  return b.op_;
}

Op Decoder::unsupportedOp(Routine& r, const Instruction& i, const std::string& message) {
  Op op;
  op.run = throwUnsupported;
  program_.unsupported_.emplace_back(i.sourceBegin, message);
  auto text = std::make_shared<std::string>(message);
  op.data = text.get();
  program_.data_.push_back(std::move(text));
  if (i.is(Instruction::Guarded)) {
    const Operand& g = r.function->operandsOf(i).front();
    op.guard = r.registers[g.payload].offset;
    op.guardNegated = g.is(Operand::Not);
  }
  return op;
}

}  // namespace ptxopt::exec
