// The paths of a warp: how they split, meet and end. See warp.h.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/lanes.h"
#include "exec/warp.h"

namespace ptxopt::exec {

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

// Those of the lanes that name the same member mask as the first.
Mask Warp::sameMembers(const Op& op, Mask active) const {
  const Arg& arg = op.args[op.memberMask];
  const auto member = static_cast<Mask>(value(arg, static_cast<unsigned>(std::countr_zero(active))));
  return collectMask(active, [&](unsigned i) { return static_cast<Mask>(value(arg, i)) == member; });
}

// True when the op may be executed for all lanes of its member mask, the same for all that are active: those that stand here
// too are added.
bool Warp::collective(const Op& op, Mask& active, std::vector<std::size_t>& others) {
  const auto member =
      static_cast<Mask>(value(op.args[op.memberMask], static_cast<unsigned>(std::countr_zero(active))));
  forEachLane(active & ~member, [&](unsigned i) {
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

}  // namespace ptxopt::exec
