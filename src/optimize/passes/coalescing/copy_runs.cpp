// One scan of each block opens a run at the first copy, adds copies that follow, and closes it where another
// instruction reads what it wrote or writes one of its registers. A run of one copy is shortened directly; longer ones
// are given to shortestCopies and written back into their own instructions.
#include "passes/coalescing/copy_runs.h"

#include <algorithm>
#include <utility>

#include "ir/pragmas.h"

namespace ptxopt {

CopyRuns::CopyRuns(Function& f, PassContext& context, const Coalescer& coalescer, Options options)
    : f_(f),
      module_(context.module),
      coalescer_(coalescer),
      cfg_(context.analyses.cfg()),
      slots_(context.analyses.slotIndexes()),
      options_(options),
      copyAt_(f.instructions.size(), nullptr),
      hasCopies_(cfg_.size()),
      states_(f.registers.size()),
      nextName_(static_cast<uint32_t>(coalescer.values().size())) {
  for (const Copy& c : coalescer.copies())
    if (coalescer.isCandidate(c.to) && coalescer.isCandidate(c.from)) {
      copyAt_[c.instruction.value] = &c;
      hasCopies_[cfg_.blockOf(c.instruction).value] = true;
    }
}

CopyRuns::State& CopyRuns::state(RegId r) {
  State& s = states_[r.value];
  if (s.block == block_.value) return s;
  s = State();
  s.block = block_.value;
  s.held = nextName_++;
  // Registers of one root hold the same where both live. From here on each definition gets a name of its own: in a
  // loop, one that is read no more may hold what its root was a turn ago.
  if (options_.usesRoots && coalescer_.isCandidate(r))
    if (const ValueId v = coalescer_.rangeOf(r).valueAt(slots_.start(block_)); v.valid())
      s.held = coalescer_.values().root(coalescer_.values().number(r, v));
  return s;
}

void CopyRuns::scan(BlockId b) {
  if (!hasCopies_[b.value]) return;
  block_ = b;
  place_ = 0;
  runCount_ = 0;
  // What is erased after the iterator keeps its links.
  for (InstrId id = cfg_[b].first;; id = f_[id].next) {
    const bool isLast = id == cfg_[b].last;
    const Instruction& i = f_[id];
    ++place_;
    switch (i.kind) {
      case InstrKind::Instruction:
        if (const Copy* c = copyAt_[id.value])
          visitCopy(*c);
        else
          visitOther(i);
        break;
      case InstrKind::ScopeOpen:
      case InstrKind::ScopeClose:
      case InstrKind::Declaration: closeAll(); break;
      default: break;
    }
    if (isLast) break;
  }
  closeAll();
}

void CopyRuns::visitOther(const Instruction& i) {
  const auto operands = f_.operandsOf(i);
  for (const Operand& o : operands)
    if (o.isRegister() && o.reads()) readByOther(o.reg());
  for (const Operand& o : operands)
    if (o.isRegister() && o.writes()) writtenByOther(o.reg());
}

void CopyRuns::readByOther(RegId r) {
  State& s = state(r);
  if (s.run != kNone && s.isWritten) close(s.run);
  s.lastRead = place_;
}

void CopyRuns::writtenByOther(RegId r) {
  State& s = state(r);
  if (s.run != kNone) close(s.run);
  closeGuardedBy(r);
  s.lastWrite = place_;
  s.held = nextName_++;
}

void CopyRuns::closeGuardedBy(RegId r) {
  State& s = state(r);
  for (RunId id = s.firstGuarded; id != kNone; id = runs_[id].nextOfGuard) close(id);
  s.firstGuarded = kNone;
}

bool CopyRuns::isGuardedBy(const Run& run, const Copy& c) const {
  if (!c.isGuarded) return !run.guard.valid();
  const Operand& guard = f_.operandsOf(f_[c.instruction])[0];
  return run.guard == guard.reg() && run.isNegated == guard.is(Operand::Not);
}

void CopyRuns::visitCopy(const Copy& c) {
  const Instruction& i = f_[c.instruction];
  if (c.isGuarded) {
    const RegId guard = f_.operandsOf(i)[0].reg();
    if (guard == c.to || guard == c.from) return visitOther(i);
    readByOther(guard);
  }
  closeGuardedBy(c.to);
  State& to = state(c.to);
  State& from = state(c.from);
  for (const State* s : {&to, &from})
    if (s->run != kNone && !isGuardedBy(runs_[s->run], c)) close(s->run);

  // Whether all of it could as well stand where the first of its copies does.
  uint32_t start = place_, lastWrite = 0, lastRead = to.isWritten ? 0 : to.lastRead;
  for (const State* s : {&to, &from}) {
    if (s->run == kNone) {
      lastWrite = std::max(lastWrite, s->lastWrite);
    } else {
      const Run& run = runs_[s->run];
      start = std::min(start, run.start);
      lastWrite = std::max(lastWrite, run.lastWrite);
      lastRead = std::max(lastRead, run.lastRead);
    }
  }
  if (lastWrite >= start || lastRead >= start)
    for (const State* s : {&to, &from})
      if (s->run != kNone) close(s->run);

  RunId id = to.run;
  if (id == kNone)
    id = from.run == kNone ? openRun(c) : from.run;
  else if (from.run != kNone && from.run != id)
    id = joinRuns(id, from.run);
  add(c.from, false, id);
  add(c.to, true, id);
  runs_[id].copies.push_back({place_, &c});
  runs_[id].last = place_;
}

CopyRuns::RunId CopyRuns::openRun(const Copy& c) {
  const RunId id = runCount_++;
  if (id == runs_.size()) runs_.emplace_back();
  Run& run = runs_[id];
  run.copies.clear();
  run.registers.clear();
  run.start = place_;
  run.lastWrite = run.lastRead = 0;
  run.guard = RegId();
  run.nextOfGuard = kNone;
  if (!c.isGuarded) return id;
  const Operand& guard = f_.operandsOf(f_[c.instruction])[0];
  run.guard = guard.reg();
  run.isNegated = guard.is(Operand::Not);
  run.nextOfGuard = std::exchange(state(run.guard).firstGuarded, id);
  return id;
}

CopyRuns::RunId CopyRuns::joinRuns(RunId a, RunId b) {
  if (runs_[a].copies.size() < runs_[b].copies.size()) std::swap(a, b);
  Run& to = runs_[a];
  Run& from = runs_[b];
  for (const RegId r : from.registers) states_[r.value].run = a;
  to.registers.insert(to.registers.end(), from.registers.begin(), from.registers.end());
  to.copies.insert(to.copies.end(), from.copies.begin(), from.copies.end());
  to.start = std::min(to.start, from.start);
  to.lastWrite = std::max(to.lastWrite, from.lastWrite);
  to.lastRead = std::max(to.lastRead, from.lastRead);
  from.copies.clear();
  from.registers.clear();
  return a;
}

void CopyRuns::add(RegId r, bool isWritten, RunId id) {
  State& s = state(r);
  Run& run = runs_[id];
  if (s.run == kNone) {
    s.run = id;
    s.isWritten = false;
    run.registers.push_back(r);
    run.lastWrite = std::max(run.lastWrite, s.lastWrite);
  }
  if (!isWritten || s.isWritten) return;
  s.isWritten = true;
  run.lastRead = std::max(run.lastRead, s.lastRead);
}

void CopyRuns::closeAll() {
  for (RunId id = 0; id < runCount_; ++id) {
    close(id);
    if (runs_[id].guard.valid()) states_[runs_[id].guard.value].firstGuarded = kNone;
  }
  runCount_ = 0;
}

bool CopyRuns::isNeeded(RegId r, const Run& run) const {
  const InstrId last = run.copies.back().copy->instruction;
  return coalescer_.rangeOf(r).isLiveAt(slots_[last].dead());
}

void CopyRuns::close(RunId id) {
  Run& run = runs_[id];
  if (run.copies.empty()) return;
  for (const Member& m : run.copies) {
    State& to = states_[m.copy->to.value];
    State& from = states_[m.copy->from.value];
    to.lastWrite = std::max(to.lastWrite, run.last);
    from.lastRead = std::max(from.lastRead, run.last);
  }
  if (run.copies.size() == 1)
    shortenOne(run);
  else
    shortenMany(run);
  for (const RegId r : run.registers) {
    states_[r.value].run = kNone;
    states_[r.value].isWritten = false;
  }
  run.copies.clear();
}

void CopyRuns::shortenOne(Run& run) {
  const Copy& c = *run.copies.front().copy;
  State& to = states_[c.to.value];
  const uint32_t held = states_[c.from.value].held;
  const bool isThere = to.held == held;
  if ((!isThere && isNeeded(c.to, run)) || isKept(run)) {
    to.held = run.guard.valid() ? nextName_++ : held;
    return;
  }
  // What is not needed holds what it held before.
  eraseWithPragma(module_, f_, c.instruction);
  ++counts_.shortened;
  ++counts_.removed;
  shortened_.push_back({1, 0});
}

void CopyRuns::shortenMany(Run& run) {
  std::sort(run.copies.begin(), run.copies.end(),
            [](const Member& a, const Member& b) { return a.place < b.place; });
  CopySequence sequence;
  for (const RegId r : run.registers) {
    State& s = states_[r.value];
    s.local = static_cast<uint32_t>(sequence.held.size());
    sequence.held.push_back(s.held);
    sequence.isNeeded.push_back(s.isWritten && isNeeded(r, run));
  }
  for (const Member& m : run.copies)
    sequence.moves.push_back({states_[m.copy->to.value].local, states_[m.copy->from.value].local});
  const ShortCopies shorter = shortestCopies(sequence);
  ++counts_.runs;
  counts_.swaps += shorter.swaps;
  counts_.rotations += shorter.rotations;

  // What the registers hold from here on.
  std::vector<uint32_t> held = sequence.held;
  for (const Move& m : sequence.moves) held[m.to] = held[m.from];
  for (const RegId r : run.registers) {
    State& s = states_[r.value];
    if (s.isWritten) s.held = run.guard.valid() || !sequence.isNeeded[s.local] ? nextName_++ : held[s.local];
  }
  if (shorter.moves.size() >= run.copies.size() || isKept(run)) return;
  ++counts_.shortened;
  counts_.removed += run.copies.size() - shorter.moves.size();
  shortened_.push_back({run.copies.size(), shorter.moves.size()});
  rewrite(run, shorter.moves);
}

// Into the instructions of the run, in order; those that say the same already where one is near.
void CopyRuns::rewrite(const Run& run, const std::vector<Move>& moves) {
  constexpr std::size_t kNear = 16;
  std::size_t next = 0;
  for (std::size_t k = 0; k < moves.size(); ++k) {
    const RegId to = run.registers[moves[k].to], from = run.registers[moves[k].from];
    const std::size_t room = run.copies.size() - next - (moves.size() - k);  // that may be skipped
    std::size_t skip = 0;
    const auto says = [&](const Copy& c) { return c.to == to && c.from == from; };
    while (skip < std::min(room, kNear) && !says(*run.copies[next + skip].copy)) ++skip;
    if (!says(*run.copies[next + skip].copy)) skip = 0;
    for (; skip > 0; --skip) eraseWithPragma(module_, f_, run.copies[next++].copy->instruction);
    const Copy& slot = *run.copies[next++].copy;
    if (says(slot)) continue;
    const auto operands = f_.operandsOf(f_[slot.instruction]).subspan(slot.isGuarded);
    operands[0].payload = to.value;
    operands[1].payload = from.value;
    f_.touch(slot.instruction);
  }
  for (; next < run.copies.size(); ++next) eraseWithPragma(module_, f_, run.copies[next].copy->instruction);
}

}  // namespace ptxopt
