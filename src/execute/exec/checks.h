// What the checking launches look at: registers and memory that were never written, and data races.
//
// A warp with checks runs its observed loop and takes no short cuts in memory accesses. Made by makeChecks.
#pragma once

#include <cstdint>
#include <memory>

#include "exec/memory.h"
#include "exec/op.h"
#include "exec/program.h"

namespace ptxopt::exec {

class Block;
class Warp;
struct Frame;
struct LaunchConfig;

class Checks {
 public:
  virtual ~Checks() = default;
  // A frame whose registers hold nothing yet.
  virtual void newFrame(Frame& frame) = 0;
  // A parameter or result was copied for a lane.
  virtual void copied(Warp& warp, unsigned lane, const ParameterPlace& to, Frame& toFrame,
                      const ParameterPlace& from, Frame& fromFrame) = 0;
  // Around each op; they throw LaneFault.
  virtual void before(Warp& warp, const Routine& routine, const Op& op, Mask active) = 0;
  virtual void after(Warp& warp, const Routine& routine, const Op& op, Mask active) = 0;
  // Accesses, already known to be in bounds; `data`: where the bytes lie.
  virtual void global(Warp& warp, unsigned lane, Allocation& allocation, uint64_t offset, std::byte* data,
                      unsigned bytes, Access access) = 0;
  virtual void shared(Warp& warp, unsigned lane, Block& owner, uint32_t offset, unsigned bytes, Access access) = 0;
  virtual void local(Warp& warp, unsigned lane, uint32_t offset, unsigned bytes, Access access) = 0;
  // Threads of a block are ordered: all that `arrived` did before happens before what they do from now on.
  virtual void barrier(Block& block, const std::vector<uint32_t>& threads) = 0;
};

// nullptr when the launch asks for no checks.
std::unique_ptr<Checks> makeChecks(const LaunchConfig& config);

}  // namespace ptxopt::exec
