// Frames, calls and returns of a warp.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/align.h"
#include "exec/block.h"
#include "exec/checks.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/warp.h"

namespace ptxopt::exec {

Frame* Warp::newFrame(const Routine& routine, Frame* caller) {
  std::unique_ptr<Frame> f;
  for (auto& candidate : freeFrames_) {
    if (candidate->routine != &routine) continue;
    f = std::move(candidate);
    candidate = std::move(freeFrames_.back());
    freeFrames_.pop_back();
    break;
  }
  if (f == nullptr) {
    f = std::make_unique<Frame>();
    f->storage = std::make_unique<std::byte[]>(routine.frameBytes + 64);  // zeros
    f->registers = align64(f->storage.get());
    f->routine = &routine;
  }
  if (const std::byte unwritten = block_.launch().config().unwritten; unwritten != std::byte{0})
    std::memset(f->registers, static_cast<int>(unwritten), routine.frameBytes);
  f->caller = caller;
  f->depth = caller == nullptr ? 0 : caller->depth + 1;
  f->references = 0;
  frames_.push_back(std::move(f));
  if (checks_ != nullptr) checks_->newFrame(*frames_.back());
  return frames_.back().get();
}

void Warp::releaseFrame(Frame* frame) {
  while (frame != nullptr && --frame->references == 0) {
    Frame* const caller = frame->caller;
    const auto at = std::find_if(frames_.rbegin(), frames_.rend(), [=](const auto& f) { return f.get() == frame; });
    freeFrames_.push_back(std::move(*at));
    frames_.erase(std::next(at).base());
    frame = caller;
  }
}

void Warp::copyParameter(const ParameterPlace& to, Frame& toFrame, const ParameterPlace& from, Frame& fromFrame,
                         Mask active) {
  const auto* const toBase = reinterpret_cast<const uint32_t*>(toFrame.registers);
  const auto* const fromBase = reinterpret_cast<const uint32_t*>(fromFrame.registers);
  const auto lanesOf = [&](const Arg& a, Frame& frame) {
    return a.base == Base::Frame ? frame.registers + a.offset : bases_[static_cast<unsigned>(a.base)] + a.offset;
  };
  const auto bytesOf = [](const ParameterPlace& p) {
    return p.isRegister ? std::max<uint32_t>(p.reg.bytes, 1) : p.memory.bytes;
  };
  if (to.isRegister && to.reg.bytes == 0 && from.isRegister && from.reg.bytes == 0) {
    auto& d = *reinterpret_cast<Mask*>(lanesOf(to.reg, toFrame));
    const Mask s =
        *reinterpret_cast<const Mask*>(lanesOf(from.reg, fromFrame)) ^ (from.reg.negated ? kAllLanes : 0);
    d = (d & ~active) | (s & active);
    return;
  }
  if ((to.isRegister && to.reg.bytes == 0) || (from.isRegister && from.reg.bytes == 0))
    throw ExecError(FaultKind::Unsupported, "a predicate as a parameter of another type");
  if (to.isRegister && to.reg.isSink) return;
  const uint32_t toBytes = bytesOf(to), fromBytes = bytesOf(from), bytes = std::min(toBytes, fromBytes);
  if (const unsigned components = std::max(to.lanes, from.lanes); components > 1) {
    const unsigned size = from.isRegister ? fromBytes : toBytes;  // of a component
    const auto fits = [&](const ParameterPlace& p) {
      return p.isRegister ? p.lanes == components && p.reg.bytes == size : p.memory.bytes == components * size;
    };
    if (!fits(to) || !fits(from))
      throw ExecError(FaultKind::Unsupported, "a vector register as a parameter of another size");
    forEachLane(active, [&](unsigned i) {
      const auto place = [&](const ParameterPlace& p, Frame& frame, const uint32_t* base, unsigned c) {
        return p.isRegister ? lanesOf(p.reg, frame) + (std::size_t{c} * kLanes + i) * size
                            : stackBytes(i, base[i] + p.memory.offset) + std::size_t{c} * size;
      };
      for (unsigned c = 0; c < components; ++c)
        std::memcpy(place(to, toFrame, toBase, c), place(from, fromFrame, fromBase, c), size);
      if (checks_ != nullptr) checks_->copied(*this, i, to, toFrame, from, fromFrame);
    });
    return;
  }
  forEachLane(active, [&](unsigned i) {
    const std::byte* s = from.isRegister ? lanesOf(from.reg, fromFrame) + std::size_t{i} * fromBytes
                                         : stackBytes(i, fromBase[i] + from.memory.offset);
    std::byte* d = to.isRegister ? lanesOf(to.reg, toFrame) + std::size_t{i} * toBytes
                                 : stackBytes(i, toBase[i] + to.memory.offset);
    std::memmove(d, s, bytes);
    if (toBytes > bytes) std::memset(d + bytes, 0, toBytes - bytes);
    if (checks_ != nullptr) checks_->copied(*this, i, to, toFrame, from, fromFrame);
  });
}

uint64_t Warp::parameterValue(const ParameterPlace& place, unsigned lane) {
  if (place.isRegister) return value(place.reg, lane);
  uint64_t v = 0;
  const uint32_t base = reinterpret_cast<const uint32_t*>(paths_[current_].frame->registers)[lane];
  std::memcpy(&v, stackBytes(lane, base + place.memory.offset), std::min(place.memory.bytes, 8u));
  return v;
}

void Warp::setParameterValue(const ParameterPlace& place, unsigned lane, uint64_t v) {
  if (place.isRegister) return setValue(place.reg, lane, v);
  const uint32_t base = reinterpret_cast<const uint32_t*>(paths_[current_].frame->registers)[lane];
  std::memcpy(stackBytes(lane, base + place.memory.offset), &v, std::min(place.memory.bytes, 8u));
}

void Warp::enter(const CallSite& site, const Routine& callee, Mask active) {
  if (paths_.size() > 4096 || paths_[current_].frame->depth >= block_.launch().callDepthLimit())
    throw ExecError(FaultKind::StackOverflow, "calls nested too deeply");
  if (site.arguments.size() != callee.parameters.size() || site.results.size() != callee.returns.size())
    throw ExecError(FaultKind::BadBranch, "a call with more or fewer arguments than the function has");
  // All lanes of the path are awaited after the call; those whose guard was false are there at once.
  Path& p = paths_[current_];
  Frame* const caller = p.frame;
  const uint32_t after = p.pc + 1;
  p.convergence = makeConvergence(caller, after, p.mask, p.convergence);
  convergences_[static_cast<std::size_t>(p.convergence)].arrived = p.mask & ~active;
  p.mask = active;

  Frame* const frame = newFrame(callee, caller);  // the path's reference to the caller becomes the frame's
  frame->references = 1;
  frame->callSite = &site;
  frame->returnPc = after;
  auto* const base = reinterpret_cast<uint32_t*>(frame->registers);
  uint32_t needed = 0;
  forEachLane(active, [&](unsigned i) {
    base[i] = (stackTop_[i] + callee.stackAlignment - 1) & ~(callee.stackAlignment - 1);
    needed = std::max(needed, base[i] + callee.stackBytes);
  });
  growStack(needed);
  forEachLane(active, [&](unsigned i) { stackTop_[i] = base[i] + callee.stackBytes; });
  for (std::size_t k = 0; k < site.arguments.size(); ++k)
    copyParameter(callee.parameters[k], *frame, site.arguments[k], *caller, active);
  p.frame = frame;
  p.pc = 0;
  p.waitState = 0;
  switchTo(current_);
}

void Warp::call(const Op& op, Mask active) {
  const CallSite& site = *static_cast<const CallSite*>(op.data);
  if (site.callee != nullptr) return enter(site, *site.callee, active);
  // By address: lanes with the same function go together, the first group now, the others as paths that meet the
  // call again.
  const unsigned first = static_cast<unsigned>(std::countr_zero(active));
  const uint64_t address = value(op.args[0], first);
  const Routine* callee = block_.program().routineAt(address);
  if (callee == nullptr)
    throw LaneFault{FaultKind::BadBranch, first, fmt::format("no function is at {:#x}", address)};
  const Mask same = collectMask(active, [&](unsigned i) { return value(op.args[0], i) == address; });
  if (same != active) {
    // They are awaited after the call, once for all of them.
    const uint32_t pc = paths_[current_].pc;
    const int c =
        makeConvergence(paths_[current_].frame, pc + 1, paths_[current_].mask, paths_[current_].convergence);
    paths_[current_].convergence = c;
    splitOff(active & ~same, pc);
  }
  enter(site, *callee, same);
}

// The active lanes return. False when the current path ended.
bool Warp::leaveFunction(Mask active) {
  Path p = paths_[current_];
  Frame* const frame = p.frame;
  Frame* const caller = frame->caller;
  const CallSite& site = *frame->callSite;
  for (std::size_t k = 0; k < site.results.size(); ++k)
    copyParameter(site.results[k], *caller, frame->routine->returns[k], *frame, active);
  const auto* const base = reinterpret_cast<const uint32_t*>(frame->registers);
  forEachLane(active, [&](unsigned i) { stackTop_[i] = base[i]; });

  // The call's own convergence is the first of the caller's frame.
  int outer = p.convergence;
  while (convergences_[static_cast<std::size_t>(outer)].frame == frame)
    outer = convergences_[static_cast<std::size_t>(outer)].parent;
  const uint32_t pc = frame->returnPc;
  ++caller->references;
  const bool all = active == p.mask;
  if (all) {
    endPath();
  } else {
    paths_[current_].mask &= ~active;
  }
  const Mask inner = active;
  if (p.convergence != outer) removeLanes(p.convergence, inner, caller);
  Path back;
  back.mask = active;
  back.frame = caller;
  back.pc = pc;
  back.convergence = outer;
  paths_.push_back(back);
  // It stands where it is awaited; take it there at once.
  const std::size_t saved = current_;
  current_ = paths_.size() - 1;
  if (arrive()) {
    switchTo(current_);
    return true;
  }
  if (all) return false;
  switchTo(saved);
  ++paths_[current_].pc;
  return true;
}

}  // namespace ptxopt::exec
