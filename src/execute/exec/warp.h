// A warp: 32 lanes, their registers, and the paths on which they run.
//
// Paths. All lanes start on one path. A branch that lanes take differently splits it, and the parts meet again at
// the branch's immediate post-dominator: a Convergence there collects them. A path runs until it ends, waits (a
// handler said Retry) or yields; then another of the warp runs, then other warps, then other blocks. When nothing
// else can run, lanes that wait at a convergence are let go before the others have come, which is the progress that
// independent thread scheduling gives; so spin locks work.
//
// Frames. A call makes a frame of registers for its lanes; lanes that diverged inside a function share its frame.
//
// What handlers use is the first half of the class.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "exec/error.h"
#include "exec/memory.h"
#include "exec/op.h"
#include "exec/program.h"

namespace ptxopt::exec {

class Block;
class Checks;
struct AsyncCopies;  // async_copy.h
struct WgmmaGroups;  // wgmma.cpp

struct Frame {
  const Routine* routine = nullptr;
  std::byte* registers = nullptr;  // 64-aligned
  std::unique_ptr<std::byte[]> storage;
  Frame* caller = nullptr;
  const CallSite* callSite = nullptr;  // in the caller
  uint32_t returnPc = 0;
  uint32_t depth = 0;       // calls above it
  uint32_t references = 0;  // paths and convergences inside it or inside what it called
};

struct Path {
  Mask mask = 0;
  uint32_t pc = 0;
  Frame* frame = nullptr;
  int convergence = -1;  // innermost place where its lanes are awaited
  // For handlers that return Retry: 0 when the instruction is met for the first time, kept between retries.
  uint64_t waitState = 0;
  bool waiting = false;  // the last step was Retry, or it stands at a Collective
};

class Warp {
 public:
  Warp(Block& block, unsigned index);
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // ---- for handlers: operands ----
  // The 32 lanes of a source or destination.
  template <typename T>
  const T* in(const Arg& a) const {
    return reinterpret_cast<const T*>(bases_[static_cast<unsigned>(a.base)] + a.offset);
  }
  template <typename T>
  T* out(const Arg& a) const {
    return reinterpret_cast<T*>(bases_[static_cast<unsigned>(a.base)] + a.offset);
  }
  // A predicate source, negation applied.
  Mask predicate(const Arg& a) const {
    const Mask m = *in<Mask>(a);
    return a.negated ? ~m : m;
  }
  // Writes the predicate of the active lanes.
  void setPredicate(const Arg& a, Mask value, Mask active) const {
    Mask& m = *out<Mask>(a);
    m = (m & ~active) | (value & active);
  }
  // A lane of an integer source of any width, zero-extended; of 128 bits the lower half.
  uint64_t value(const Arg& a, unsigned lane) const;
  // Stores the low bits of `v` in a lane of a destination of any width up to 64 bits.
  void setValue(const Arg& a, unsigned lane, uint64_t v) const;

  // ---- for handlers: memory ----
  // The bytes at an address in a space: checked for bounds, alignment (to `alignment`, a power of two) and
  // permission. Throws LaneFault. `bytes` is at most 32 unless the whole range lies in one allocation.
  std::byte* memory(Space space, unsigned lane, uint64_t address, unsigned bytes, unsigned alignment,
                    Access access) {
    if (space <= Space::Const && fastMemory_) [[likely]] {
      const uint64_t offset = address - cachedBase_;
      if (offset < cachedSize_ && bytes <= cachedSize_ - offset && (address & (alignment - 1)) == 0 &&
          (access == Access::Read || cachedWritable_))
        return cachedData_ + offset;
    }
    return slowMemory(space, lane, address, bytes, alignment, access);
  }

  // ---- for handlers: who is who ----
  Block& block() { return block_; }
  unsigned index() const { return index_; }
  unsigned threadIndex(unsigned lane) const { return index_ * kLanes + lane; }  // in the block
  Mask started() const { return started_; }  // lanes that are threads of the block
  Mask exited() const { return exited_; }    // lanes that are done
  Mask live() const { return started_ & ~exited_; }
  Path& path() { return paths_[current_]; }
  uint64_t readClock() { return clock_ += 16; }  // counts reads, so that optimizing does not change it
  void refreshSpecials(const Op& op);
  // The top of a lane's stack, for alloca; bytes from the beginning of its local memory.
  uint32_t stackTop(unsigned lane) const { return stackTop_[lane]; }
  void setStackTop(unsigned lane, uint32_t bytes);
  // Arguments and results of built-in functions, up to 8 bytes.
  uint64_t parameterValue(const ParameterPlace& place, unsigned lane);
  void setParameterValue(const ParameterPlace& place, unsigned lane, uint64_t value);

  std::shared_ptr<AsyncCopies> asyncCopies;  // made by the instructions that use it
  std::shared_ptr<WgmmaGroups> wgmmaGroups;  // likewise

  std::array<uint32_t, kLanes> clusterPhase{};  // the cluster barrier's generation that a lane awaits

  // ---- for the block ----
  enum class Progress : uint8_t {
    None,      // all paths wait
    Spinning,  // a path did little but look at memory that others may change
    Some,
    Done,
  };
  // Runs the paths until each has ended or waits, or one spins.
  Progress run();
  bool done() const { return live() == 0; }
  // Lets go the lanes that wait for others at convergences. False when there are none.
  bool breakConvergences();
  const std::vector<Path>& paths() const { return paths_; }

 private:
  // A place where paths meet: lanes that came wait here for the others.
  struct Convergence {
    Frame* frame = nullptr;
    uint32_t pc = 0;
    Mask expected = 0;
    Mask arrived = 0;
    int parent = -1;
    bool inUse = false;
  };

  // Why a path stopped running, if it did.
  enum class Leave : uint8_t { GoesOn, Ended, Waiting, StillWaiting, Spinning, QuantumExpired };
  template <bool kObserved>
  class PathRun;  // warp_run.cpp
  void observe(const Op& op, Mask mask, Mask active);
  void observeAfter(const Op& op, Mask active);
  [[noreturn]] void fail(const Op& op, FaultKind kind, std::string message, int lane);

  // Memory, warp_memory.cpp.
  std::byte* slowMemory(Space space, unsigned lane, uint64_t address, unsigned bytes, unsigned alignment,
                        Access access);
  std::byte* globalMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access);
  std::byte* sharedMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access);
  std::byte* localMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access);
  std::byte* parameterMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access);
  std::byte* stackBytes(unsigned lane, uint32_t offset) {
    return stack_.data() + std::size_t{lane} * stackCapacity_ + offset;
  }
  void growStack(uint32_t bytes);
  void fillSpecials();
  void fillSpecial(const SpecialUse& use);

  // Paths, warp_paths.cpp.
  void switchTo(std::size_t path);
  void endPath();
  void splitOff(Mask lanes, uint32_t pc);
  void awaitAt(uint32_t join);
  void branch(const Op& op, Mask taken);
  void branchIndexed(const Op& op, Mask active);
  Mask sameMembers(const Op& op, Mask active) const;
  bool collective(const Op& op, Mask& active, std::vector<std::size_t>& others);
  Mask guardOf(const Op& op, const Path& path) const;
  bool exitLanes(Mask active);

  // Convergences.
  int makeConvergence(Frame* frame, uint32_t pc, Mask expected, int parent);
  bool arrive();
  void completed(int convergence);
  void removeLanes(int convergence, Mask lanes, const Frame* until);

  // Calls, warp_call.cpp.
  Frame* newFrame(const Routine& routine, Frame* caller);
  void releaseFrame(Frame* frame);
  void call(const Op& op, Mask active);
  void enter(const CallSite& site, const Routine& callee, Mask active);
  bool leaveFunction(Mask active);
  void copyParameter(const ParameterPlace& to, Frame& toFrame, const ParameterPlace& from, Frame& fromFrame,
                     Mask active);

  std::array<std::byte*, kBases> bases_{};
  bool fastMemory_ = true;  // nothing watches accesses
  bool cachedWritable_ = false;
  uint64_t cachedBase_ = 0, cachedSize_ = 0;
  std::byte* cachedData_ = nullptr;
  Allocation* lastFound_ = nullptr;  // of global memory; nothing is allocated or freed while a kernel runs

  Block& block_;
  unsigned index_;
  Mask started_ = 0, exited_ = 0;
  std::vector<Path> paths_;
  std::size_t current_ = 0;
  std::vector<Convergence> convergences_;
  std::vector<std::unique_ptr<Frame>> frames_, freeFrames_;
  std::unique_ptr<std::byte[]> special_, scratch_;
  std::byte* specialLanes_ = nullptr;
  std::vector<std::byte> stack_;  // lane after lane, stackCapacity_ bytes each
  uint32_t stackCapacity_ = 0;
  std::array<uint32_t, kLanes> stackTop_{};
  uint64_t clock_ = 0;
  uint64_t steps_ = 0;       // not yet counted by the launch
  uint32_t yieldsLeft_ = 0;  // in this run()
  uint32_t branchesLeft_ = 0;
  uint32_t spins_ = 0;  // runs that ended spinning since a path last ended
  Checks* checks_ = nullptr;
};

}  // namespace ptxopt::exec
