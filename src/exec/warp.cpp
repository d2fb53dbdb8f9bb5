// The paths of a warp: how they split, meet, call, return and end. See warp.h.
#include "exec/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/align.h"
#include "exec/block.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/observer.h"

namespace ptxopt::exec {

namespace {

// A warp that has yielded so often, or run so many branches, lets others run.
constexpr uint32_t kYields = 64;
constexpr uint32_t kBranches = 1u << 20;
// After so many runs that ended spinning, lanes that wait at a convergence are let go: they may hold the lock.
constexpr uint32_t kSpins = 64;

}  // namespace

Warp::Warp(Block& block, unsigned index) : block_(block), index_(index) {
  const Program& program = block.program();
  const unsigned threads = block.threads() - index * kLanes;
  started_ = threads >= kLanes ? kAllLanes : (Mask{1} << threads) - 1;
  special_ = std::make_unique<std::byte[]>(program.specialBytes() + 64);
  specialLanes_ = align64(special_.get());
  scratch_ = std::make_unique<std::byte[]>(kLanes * 16 + 64);
  bases_[static_cast<unsigned>(Base::Constant)] = program.constants();
  bases_[static_cast<unsigned>(Base::Special)] = specialLanes_;
  bases_[static_cast<unsigned>(Base::Scratch)] = align64(scratch_.get());
  checks_ = block.launch().checks();
  fastMemory_ = !block.launch().watchesMemory();

  Path start;
  start.mask = started_;
  start.frame = newFrame(program.entry(), nullptr);
  start.frame->references = 1;
  paths_.push_back(start);
  fillSpecials();
  growStack(program.entry().stackBytes);
  stackTop_.fill(program.entry().stackBytes);
  auto* stackBase = reinterpret_cast<uint32_t*>(start.frame->registers);
  std::fill(stackBase, stackBase + kLanes, 0u);
}

Warp::~Warp() = default;

uint64_t Warp::value(const Arg& a, unsigned lane) const {
  switch (a.bytes) {
    case 0: return predicate(a) >> lane & 1;
    case 1: return in<uint8_t>(a)[lane];
    case 2: return in<uint16_t>(a)[lane];
    case 4: return in<uint32_t>(a)[lane];
    case 8: return in<uint64_t>(a)[lane];
    default: {
      uint64_t v;
      std::memcpy(&v, in<std::byte>(a) + std::size_t{lane} * a.bytes, sizeof v);
      return v;
    }
  }
}

void Warp::setValue(const Arg& a, unsigned lane, uint64_t v) const {
  switch (a.bytes) {
    case 0: setPredicate(a, v != 0 ? kAllLanes : 0, Mask{1} << lane); break;
    case 1: out<uint8_t>(a)[lane] = static_cast<uint8_t>(v); break;
    case 2: out<uint16_t>(a)[lane] = static_cast<uint16_t>(v); break;
    case 4: out<uint32_t>(a)[lane] = static_cast<uint32_t>(v); break;
    case 8: out<uint64_t>(a)[lane] = v; break;
    default: {
      std::byte* at = out<std::byte>(a) + std::size_t{lane} * a.bytes;
      std::memset(at, 0, a.bytes);
      std::memcpy(at, &v, sizeof v);
    }
  }
}

// ---- convergences ----

int Warp::makeConvergence(Frame* frame, uint32_t pc, Mask expected, int parent) {
  int index = 0;
  while (index < static_cast<int>(convergences_.size()) && convergences_[static_cast<std::size_t>(index)].inUse)
    ++index;
  if (index == static_cast<int>(convergences_.size())) convergences_.emplace_back();
  convergences_[static_cast<std::size_t>(index)] = {frame, pc, expected, 0, parent, true};
  ++frame->references;
  return index;
}

// All that were awaited have come: they go on as one path, unless they are awaited again at the same place.
void Warp::completed(int index) {
  Mask lanes = 0;
  for (;;) {
    Convergence& c = convergences_[static_cast<std::size_t>(index)];
    lanes |= c.arrived;
    Frame* const frame = c.frame;
    const uint32_t pc = c.pc;
    const int parent = c.parent;
    c.inUse = false;
    if (lanes == 0) return releaseFrame(frame);
    if (parent >= 0) {
      Convergence& outer = convergences_[static_cast<std::size_t>(parent)];
      if (outer.inUse && outer.frame == frame && outer.pc == pc) {
        outer.arrived |= lanes;
        releaseFrame(frame);
        if (outer.arrived != outer.expected) return;
        index = parent;
        continue;
      }
    }
    Path p;
    p.mask = lanes;
    p.frame = frame;  // takes over the reference
    p.pc = pc;
    p.convergence = parent;
    paths_.push_back(p);
    return;
  }
}

// Lanes will not come to this convergence, nor to those around it, up to those of frame `until`.
void Warp::removeLanes(int index, Mask lanes, const Frame* until) {
  while (index >= 0) {
    Convergence& c = convergences_[static_cast<std::size_t>(index)];
    if (until != nullptr && c.frame == until) return;
    const int parent = c.parent;
    c.expected &= ~lanes;
    if (c.inUse && c.arrived == c.expected) completed(index);
    index = parent;
  }
}

// The current path stands at a Join. False when its lanes now wait there.
bool Warp::arrive() {
  for (;;) {
    Path& p = paths_[current_];
    if (p.convergence < 0) return true;
    Convergence& c = convergences_[static_cast<std::size_t>(p.convergence)];
    if (c.frame != p.frame || c.pc != p.pc) return true;
    c.arrived |= p.mask;
    if (c.arrived != c.expected) {
      endPath();
      return false;
    }
    // The last to come goes on for all.
    p.mask = c.arrived;
    p.convergence = c.parent;
    c.inUse = false;
    releaseFrame(c.frame);
  }
}

bool Warp::breakConvergences() {
  bool any = false;
  for (std::size_t i = 0; i < convergences_.size(); ++i) {
    Convergence& c = convergences_[i];
    if (!c.inUse || c.arrived == 0) continue;
    any = true;
    Path p;
    p.mask = c.arrived;
    p.frame = c.frame;
    p.pc = c.pc;
    p.convergence = c.parent;
    ++c.frame->references;
    c.expected &= ~c.arrived;
    c.arrived = 0;
    paths_.push_back(p);
  }
  return any;
}

// ---- paths ----

void Warp::switchTo(std::size_t path) {
  current_ = path;
  bases_[static_cast<unsigned>(Base::Frame)] = paths_[path].frame->registers;
}

void Warp::endPath() {
  Frame* const frame = paths_[current_].frame;
  paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(current_));
  releaseFrame(frame);
}

// Splits the current path: `lanes` leave it for `pc`. The rest stays the current path.
void Warp::splitOff(Mask lanes, uint32_t pc) {
  Path p = paths_[current_];
  p.mask = lanes;
  p.pc = pc;
  p.waitState = 0;
  p.waiting = false;
  ++p.frame->references;
  paths_[current_].mask &= ~lanes;
  paths_.push_back(p);
}

// Makes sure that lanes which part here are awaited at `join`.
void Warp::awaitAt(uint32_t join) {
  Path& p = paths_[current_];
  if (join == UINT32_MAX) return;
  if (p.convergence >= 0) {
    const Convergence& c = convergences_[static_cast<std::size_t>(p.convergence)];
    if (c.frame == p.frame && c.pc == join) return;  // a loop: they are awaited there already
  }
  const int c = makeConvergence(p.frame, join, p.mask, p.convergence);
  paths_[current_].convergence = c;
}

void Warp::branch(const Op& op, Mask taken) {
  Path& p = paths_[current_];
  if (taken == p.mask) {
    p.pc = op.target;
    return;
  }
  if (op.target == p.pc + 1) {
    ++p.pc;
    return;
  }
  awaitAt(op.join);
  ++paths_[current_].pc;
  splitOff(taken, op.target);
}

void Warp::branchIndexed(const Op& op, Mask active) {
  const BranchTable& table = *static_cast<const BranchTable*>(op.data);
  const uint32_t* index = in<uint32_t>(op.args[0]);
  Mask rest = active;
  forEachLane(active, [&](unsigned i) {
    if (index[i] >= table.targets.size())
      throw LaneFault{FaultKind::BadBranch, i,
                      fmt::format("index {} into a table of {} labels", index[i], table.targets.size())};
  });
  bool split = false;
  if (active != paths_[current_].mask) {
    awaitAt(op.join);
    split = true;
  }
  while (rest != 0) {
    const uint32_t target = table.targets[index[std::countr_zero(rest)]];
    const Mask same = collectMask(rest, [&](unsigned i) { return table.targets[index[i]] == target; });
    rest &= ~same;
    if (same == paths_[current_].mask) {
      paths_[current_].pc = target;
      return;
    }
    if (!split) awaitAt(op.join);
    split = true;
    splitOff(same, target);
  }
  ++paths_[current_].pc;  // those whose guard was false
}

bool Warp::exitLanes(Mask active) {
  exited_ |= active;
  block_.threadsExited(static_cast<unsigned>(std::popcount(active)));
  Path& p = paths_[current_];
  const int convergence = p.convergence;
  p.mask &= ~active;
  const bool ended = p.mask == 0;
  if (ended)
    endPath();
  else
    ++p.pc;
  removeLanes(convergence, active, nullptr);
  return !ended;
}

// True when the op may be executed for all lanes of its member mask: those that stand here too are added.
bool Warp::collective(const Op& op, Mask& active, std::vector<std::size_t>& others) {
  const Arg& arg = op.args[op.memberMask];
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  const auto member = static_cast<Mask>(value(arg, first));
  forEachLane(active, [&](unsigned i) {
    if (static_cast<Mask>(value(arg, i)) != member)
      throw LaneFault{FaultKind::Deadlock, i,
                      fmt::format("lanes that run it together name different masks, {:#010x} and {:#010x}", member,
                                  value(arg, i))};
    if ((member >> i & 1) == 0)
      throw LaneFault{FaultKind::Deadlock, i, fmt::format("the lane is not in the mask {:#010x} it gives", member)};
  });
  Mask missing = member & live() & ~active;
  if (missing == 0) return true;
  const Path& p = paths_[current_];
  for (std::size_t i = 0; i < paths_.size() && missing != 0; ++i) {
    const Path& other = paths_[i];
    if (i == current_ || other.pc != p.pc || other.frame != p.frame || !other.waiting) continue;
    const Mask guarded = guardOf(op, other);
    if ((guarded & missing) == 0) continue;
    missing &= ~guarded;
    active |= guarded;
    others.push_back(i);
  }
  return missing == 0;
}

Mask Warp::guardOf(const Op& op, const Path& p) const {
  if (op.guard == kNoGuard) return p.mask;
  Mask g;
  std::memcpy(&g, p.frame->registers + op.guard, sizeof g);
  return p.mask & (op.guardNegated ? ~g : g);
}

// ---- running ----

template <bool kObserved>
Warp::Leave Warp::runPath() {
  const Op* code = paths_[current_].frame->routine->code.data();
  uint32_t pc = paths_[current_].pc;
  Mask mask = paths_[current_].mask;
  Launch& launch = block_.launch();
  uint64_t stepsFrom = pc;  // straight-line steps are counted at branches
  // Whether anything ran before the path waits: it may wait again where it began, one round of a loop later.
  const uint32_t startedAt = pc;
  bool branched = false;
  const auto waits = [&](uint32_t at) {
    paths_[current_].pc = at;
    paths_[current_].waiting = true;
    return branched || at != startedAt ? Leave::Waiting : Leave::StillWaiting;
  };
  const auto load = [&] {
    code = paths_[current_].frame->routine->code.data();
    pc = paths_[current_].pc;
    mask = paths_[current_].mask;
    stepsFrom = pc;
  };
  const auto count = [&](uint32_t at) {
    branched = true;
    steps_ += at - stepsFrom + 1;
    if (steps_ >= kStepsTogether) {
      launch.countSteps(steps_);
      steps_ = 0;
    }
  };
  const Op* op = nullptr;
  try {
    for (;;) {
      op = code + pc;
      Mask active = mask;
      if (op->guard != kNoGuard) {
        Mask g;
        std::memcpy(&g, bases_[static_cast<unsigned>(Base::Frame)] + op->guard, sizeof g);
        active &= op->guardNegated ? ~g : g;
      }
      if constexpr (kObserved) {
        if (op->kind != OpKind::Join) {
          paths_[current_].pc = pc;
          observe(*op, mask, active);
        }
      }
      switch (op->kind) {
        case OpKind::Plain: {
          if (active == 0) {
            ++pc;
            break;
          }
          const Step step = op->run(*this, *op, active);
          if constexpr (kObserved) observeAfter(*op, active);
          if (step == Step::Next) [[likely]] {
            ++pc;
            break;
          }
          if (step == Step::Retry) return waits(pc);
          Path& p = paths_[current_];
          ++pc;
          p.waitState = 0;
          if (--yieldsLeft_ != 0) break;
          p.pc = pc;
          return Leave::Spinning;
        }
        case OpKind::Collective: {
          if (active == 0) {
            ++pc;
            break;
          }
          paths_[current_].pc = pc;
          std::vector<std::size_t> others;
          if (!collective(*op, active, others)) return waits(pc);
          const Step step = op->run(*this, *op, active);
          if constexpr (kObserved) observeAfter(*op, active);
          if (step == Step::Retry) return waits(pc);
          for (const std::size_t i : others) {
            ++paths_[i].pc;
            paths_[i].waiting = false;
          }
          ++pc;
          break;
        }
        case OpKind::Branch:
          count(pc);
          if (active == 0) {
            ++pc;
            stepsFrom = pc;
            break;
          }
          if (active == mask) {
            pc = op->target;
            stepsFrom = pc;
          } else {
            paths_[current_].pc = pc;
            branch(*op, active);
            load();
          }
          if (--branchesLeft_ == 0) {
            paths_[current_].pc = pc;
            return Leave::QuantumExpired;
          }
          break;
        case OpKind::BranchIndexed:
          count(pc);
          paths_[current_].pc = pc;
          if (active == 0) {
            ++pc;
            stepsFrom = pc;
            break;
          }
          branchIndexed(*op, active);
          if (paths_[current_].mask == 0) {
            endPath();
            return Leave::Ended;
          }
          load();
          break;
        case OpKind::Call:
          count(pc);
          if (active == 0) {
            ++pc;
            stepsFrom = pc;
            break;
          }
          paths_[current_].pc = pc;
          call(*op, active);
          load();
          if (--branchesLeft_ == 0) return Leave::QuantumExpired;
          break;
        case OpKind::Return:
          if (active == 0) {
            ++pc;
            break;
          }
          count(pc);
          paths_[current_].pc = pc;
          if (!leaveFunction(active)) return Leave::Ended;
          load();
          break;
        case OpKind::Exit:
          if (active == 0) {
            ++pc;
            break;
          }
          count(pc);
          paths_[current_].pc = pc;
          if (!exitLanes(active)) return Leave::Ended;
          load();
          break;
        case OpKind::Join:
          count(pc);
          paths_[current_].pc = pc;
          if (!arrive()) return Leave::Ended;
          mask = paths_[current_].mask;
          ++pc;
          stepsFrom = pc;
          break;
      }
    }
  } catch (LaneFault& fault) {
    fail(*op, fault.kind, std::move(fault.message), static_cast<int>(fault.lane));
  } catch (ExecError& error) {
    if (!error.thread.empty()) throw;
    fail(*op, error.kind, std::move(error.message), -1);
  }
}

void Warp::observe(const Op& op, Mask mask, Mask active) {
  const Routine& r = *paths_[current_].frame->routine;
  if (checks_ != nullptr) checks_->before(*this, r, op, active);
  if (Observer* o = block_.launch().observer()) o->op(*this, r, op, mask, active);
}

void Warp::observeAfter(const Op& op, Mask active) {
  const Routine& r = *paths_[current_].frame->routine;
  if (checks_ != nullptr) checks_->after(*this, r, op, active);
  if (Observer* o = block_.launch().observer()) o->after(*this, r, op, active);
}

void Warp::fail(const Op& op, FaultKind kind, std::string message, int lane) {
  ExecError error(kind, std::move(message));
  const Function& f = *paths_[current_].frame->routine->function;
  error.source = f.instructions[op.instruction].sourceBegin;
  error.function = f.name;
  if (lane < 0) lane = std::countr_zero(paths_[current_].mask);
  error.thread =
      fmt::format("thread {} of block {}",
                  toString(positionIn(block_.launch().config().block, threadIndex(static_cast<unsigned>(lane)))),
                  toString(block_.id()));
  throw error;
}

Warp::Progress Warp::run() {
  if (done()) return Progress::Done;
  yieldsLeft_ = kYields;
  branchesLeft_ = kBranches;
  const bool observed = block_.launch().observer() != nullptr || checks_ != nullptr;
  bool any = false;
  // From the newest path to the oldest: what a branch made runs before what waits for it.
  for (std::size_t i = paths_.size(); i > 0;) {
    switchTo(i - 1);
    const bool wasWaiting = paths_[current_].waiting;
    paths_[current_].waiting = false;
    const Leave left = observed ? runPath<true>() : runPath<false>();
    if (left == Leave::Ended) {
      any = true;
      spins_ = 0;
      i = paths_.size();
      continue;
    }
    if (left == Leave::Waiting || left == Leave::StillWaiting) {
      any = any || !wasWaiting || left == Leave::Waiting;
      i = current_;
      continue;
    }
    // The others get their turn first next time.
    std::rotate(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(current_),
                paths_.begin() + static_cast<std::ptrdiff_t>(current_) + 1);
    if (left == Leave::QuantumExpired) return Progress::Some;
    if (++spins_ % kSpins == 0) breakConvergences();
    return any ? Progress::Some : Progress::Spinning;
  }
  if (done()) return Progress::Done;
  return any ? Progress::Some : Progress::None;
}

}  // namespace ptxopt::exec
