// The interpreter's loop: a path of a warp runs until it ends, waits or yields. See warp.h.
//
// PathRun holds what the loop uses for each op in members that the compiler keeps in registers, as long as all of its
// functions are inlined: they are, by attribute. What is rare is in Warp.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/launch.h"
#include "exec/observer.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

// A warp that has yielded so often, or run that many branches, lets others run.
constexpr uint32_t kYields = 64;
constexpr uint32_t kBranches = 1u << 20;
// After that many runs that ended spinning, lanes that wait at a convergence are let go: they may hold the lock.
constexpr uint32_t kSpins = 64;

}  // namespace

#define PTXOPT_IN_LOOP [[gnu::always_inline]] inline

template <bool kObserved>
class Warp::PathRun {
 public:
  static Leave run(Warp& warp) {
    PathRun path(warp);
    return path.loop();
  }

 private:
  PTXOPT_IN_LOOP explicit PathRun(Warp& warp) : w_(warp), launch_(warp.block_.launch()) {
    load();
    started_ = op_;
  }

  PTXOPT_IN_LOOP Leave loop() {
    try {
      for (;;) {
        const Leave left = execute(guarded());
        if (left != Leave::GoesOn) return left;
      }
    } catch (LaneFault& fault) {
      w_.fail(*op_, fault.kind, std::move(fault.message), static_cast<int>(fault.lane));
    } catch (ExecError& error) {
      if (!error.thread.empty()) throw;
      w_.fail(*op_, error.kind, std::move(error.message), -1);
    }
  }

  PTXOPT_IN_LOOP Path& path() { return w_.paths_[w_.current_]; }
  PTXOPT_IN_LOOP uint32_t pc() const { return static_cast<uint32_t>(op_ - code_); }
  PTXOPT_IN_LOOP void save() { path().pc = pc(); }
  PTXOPT_IN_LOOP void load() {
    code_ = path().frame->routine->code.data();
    mask_ = path().mask;
    goTo(code_ + path().pc);
  }
  PTXOPT_IN_LOOP void goTo(const Op* op) { stepsFrom_ = op_ = op; }

  PTXOPT_IN_LOOP Mask guarded() const {
    if (op_->guard == kNoGuard) return mask_;
    Mask g;
    std::memcpy(&g, w_.bases_[static_cast<unsigned>(Base::Frame)] + op_->guard, sizeof g);
    return mask_ & (op_->guardNegated ? ~g : g);
  }

  // Straight-line steps are counted at branches.
  PTXOPT_IN_LOOP void count() {
    branched_ = true;
    w_.steps_ += static_cast<uint64_t>(op_ - stepsFrom_) + 1;
    if (w_.steps_ >= kStepsTogether) {
      launch_.countSteps(w_.steps_);
      w_.steps_ = 0;
    }
  }

  PTXOPT_IN_LOOP Leave waits() {
    save();
    path().waiting = true;
    return branched_ || op_ != started_ ? Leave::Waiting : Leave::StillWaiting;
  }

  PTXOPT_IN_LOOP Leave next() {
    ++op_;
    return Leave::GoesOn;
  }

  // Control goes on there after a step that was counted.
  PTXOPT_IN_LOOP Leave nextAt(const Op* op) {
    goTo(op);
    return Leave::GoesOn;
  }

  PTXOPT_IN_LOOP Leave tire() {
    if (--w_.branchesLeft_ != 0) return Leave::GoesOn;
    save();
    return Leave::QuantumExpired;
  }

  // The op, for the lanes for which its guard is true.
  PTXOPT_IN_LOOP Leave execute(Mask active) {
    if constexpr (kObserved) {
      if (op_->kind != OpKind::Join) {
        save();
        w_.observe(*op_, mask_, active);
      }
    }
    if (op_->kind == OpKind::Plain) [[likely]]
      return plain(active);
    switch (op_->kind) {
      case OpKind::Plain: break;
      case OpKind::Collective: return collective(active);
      case OpKind::Branch: return branch(active);
      case OpKind::BranchIndexed: return branchIndexed(active);
      case OpKind::Call: return call(active);
      case OpKind::Return: return end(active, &Warp::leaveFunction);
      case OpKind::Exit: return end(active, &Warp::exitLanes);
      case OpKind::Join: return join();
    }
    return Leave::GoesOn;
  }

  PTXOPT_IN_LOOP Step handle(Mask active) {
    const Step step = op_->run(w_, *op_, active);
    if constexpr (kObserved) w_.observeAfter(*op_, active);
    return step;
  }

  PTXOPT_IN_LOOP Leave plain(Mask active) {
    if (active == 0) return next();
    const Step step = handle(active);
    if (step == Step::Next) [[likely]]
      return next();
    if (step == Step::Retry) return waits();
    ++op_;
    path().waitState = 0;
    if (--w_.yieldsLeft_ != 0) return Leave::GoesOn;
    save();
    return Leave::Spinning;
  }

  PTXOPT_IN_LOOP Leave collective(Mask active) {
    if (active == 0) return next();
    save();
    if (w_.sameMembers(*op_, active) != active) [[unlikely]]
      return collectives(active);
    std::vector<std::size_t> others;
    if (!w_.collective(*op_, active, others) || handle(active) == Step::Retry) return waits();
    for (const std::size_t i : others) {
      ++w_.paths_[i].pc;
      w_.paths_[i].waiting = false;
    }
    return next();
  }

  // Lanes that name different masks, as tiles of a warp do: each mask is an operation of its own. Lanes that wait for others
  // do so on a path of their own.
  Leave collectives(Mask active) {
    for (Mask group; active != 0; active &= ~group) {
      group = w_.sameMembers(*op_, active);
      Mask whole = group;
      std::vector<std::size_t> others;
      if (w_.collective(*op_, whole, others) && others.empty())
        handle(group);
      else
        w_.splitOff(group, pc());
    }
    if (path().mask == 0) {
      w_.endPath();
      return Leave::Ended;
    }
    mask_ = path().mask;
    return next();
  }

  PTXOPT_IN_LOOP Leave branch(Mask active) {
    count();
    if (active == 0) return nextAt(op_ + 1);
    if (active == mask_) {
      goTo(code_ + op_->target);
    } else {
      save();
      w_.branch(*op_, active);
      load();
    }
    return tire();
  }

  PTXOPT_IN_LOOP Leave branchIndexed(Mask active) {
    count();
    if (active == 0) return nextAt(op_ + 1);
    save();
    w_.branchIndexed(*op_, active);
    if (path().mask == 0) {
      w_.endPath();
      return Leave::Ended;
    }
    load();
    return Leave::GoesOn;
  }

  PTXOPT_IN_LOOP Leave call(Mask active) {
    count();
    if (active == 0) return nextAt(op_ + 1);
    save();
    w_.call(*op_, active);
    load();
    return tire();
  }

  // A return or exit. `leave` says whether lanes of the path are left.
  PTXOPT_IN_LOOP Leave end(Mask active, bool (Warp::*leave)(Mask)) {
    if (active == 0) return next();
    count();
    save();
    if (!(w_.*leave)(active)) return Leave::Ended;
    load();
    return Leave::GoesOn;
  }

  PTXOPT_IN_LOOP Leave join() {
    count();
    save();
    if (!w_.arrive()) return Leave::Ended;
    mask_ = path().mask;
    return nextAt(op_ + 1);
  }

  Warp& w_;
  Launch& launch_;
  const Op* code_ = nullptr;  // of the routine
  const Op* op_ = nullptr;    // at which the path stands
  Mask mask_ = 0;
  const Op* stepsFrom_ = nullptr;  // what is not counted yet begins here
  // Whether anything ran before the path waits: it may wait again where it began, one iteration of a loop later.
  const Op* started_ = nullptr;
  bool branched_ = false;
};

#undef PTXOPT_IN_LOOP

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
    const Leave left = observed ? PathRun<true>::run(*this) : PathRun<false>::run(*this);
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
