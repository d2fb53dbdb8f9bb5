// --check-uninit: a register or a byte of memory is read that nothing has written.
//
// Registers: a bit a lane and component of each register of a frame. The roles of the operands in the IR say what
// an instruction reads and writes; that a guard makes a definition look like a modification is undone here. Memory:
// a byte of state for each byte, Allocation::written for global memory (where it is kept), shadows for shared and
// local. A read of unwritten bytes is the fault itself, so that copies through registers launder nothing. Stores
// and atomic operations mark; atom and red, but for exch, also read. Parameters and results of calls keep their
// state on the way. Asynchronous copies mark when they are issued. What malloc gives counts as written. The carry flag is
// unwritten after a call and where a loop begins, as for -Wuninitialised.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "analysis/dataflow/uninitialised.h"
#include "exec/checks_made.h"
#include "exec/checks_touched.h"
#include "exec/checks_warp_ids.h"
#include "exec/lanes.h"
#include "exec/launch.h"

namespace ptxopt::exec {

namespace {

constexpr std::size_t kFlag = Function::kCarry.value * kComponents;  // the bit of the carry flag

using Bytes = std::vector<bool>;  // which are written; what lies after the end is not

bool isWritten(const Bytes& b, uint64_t at) { return at < b.size() && b[at]; }

void setWritten(Bytes& b, uint64_t at, bool value) {
  if (at >= b.size()) b.resize(std::max<uint64_t>(at + 1, b.size() * 2));
  b[at] = value;
}

uint32_t stackBase(const Frame& frame, unsigned lane) {
  return reinterpret_cast<const uint32_t*>(frame.registers)[lane];
}

class UninitialisedCheck final : public Checks {
 public:
  void newFrame(Frame& frame) override {
    warpIds_.newFrame(frame);
    const Routine& r = *frame.routine;
    std::vector<Mask>& bits = registers_[&frame];
    bits.assign(r.registers.size() * kComponents, 0);
    // Predicates that are passed in registers are copied without a word to `copied`.
    for (const auto* places : {&r.parameters, &r.returns})
      for (const ParameterPlace& p : *places)
        if (p.isRegister && p.reg.bytes == 0) bits[bitOf(r, p.reg)] = kAllLanes;
  }

  void copied(Warp& warp, unsigned lane, const ParameterPlace& to, Frame& toFrame, const ParameterPlace& from,
              Frame& fromFrame) override {
    const uint32_t bytes = from.isRegister ? from.reg.bytes * from.lanes : from.memory.bytes;
    Bytes state(bytes, true);
    Bytes& stack = stackOf(warp, lane);
    if (!from.isRegister) {
      const uint32_t at = stackBase(fromFrame, lane) + from.memory.offset;
      for (uint32_t i = 0; i < bytes; ++i) state[i] = isWritten(stack, at + i);
    } else if (from.reg.base == Base::Frame && isRegister(*fromFrame.routine, from.reg)) {
      const std::size_t bit = bitOf(*fromFrame.routine, from.reg);
      for (uint32_t i = 0; i < bytes; ++i)
        state[i] = (registers_[&fromFrame][bit + i / from.reg.bytes] >> lane & 1) != 0;
    }
    if (to.isRegister) {
      if (to.reg.base != Base::Frame) return;
      const std::size_t bit = bitOf(*toFrame.routine, to.reg);
      for (unsigned c = 0; c < to.lanes; ++c) {
        bool all = true;
        for (uint32_t i = c * to.reg.bytes; i < std::min(bytes, (c + 1) * to.reg.bytes); ++i) all = all && state[i];
        Mask& bits = registers_[&toFrame][bit + c];
        bits = (bits & ~(Mask{1} << lane)) | (Mask{all} << lane);
      }
      return;
    }
    state.resize(to.memory.bytes, true);  // what is longer was filled with zeros
    const uint32_t at = stackBase(toFrame, lane) + to.memory.offset;
    for (uint32_t i = 0; i < to.memory.bytes; ++i) setWritten(stack, at + i, state[i]);
  }

  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const TouchedAt& t = touched(warp, routine, op);
    readsAtomically_ = t.readsAtomically;
    std::vector<Mask>& bits = registers_[warp.path().frame];
    if (t.startsLoop) bits[kFlag] &= ~active;
    for (const RegisterUse& use : t.guard) demand(warp, routine, bits, use, warp.path().mask);
    for (const RegisterUse& use : t.reads) demand(warp, routine, bits, use, active);
    if (t.calls) bits[kFlag] &= ~active;
    if (t.takesStack)
      forEachLane(active, [&](unsigned lane) {
        Bytes& stack = stackOf(warp, lane);
        stack.resize(std::min<std::size_t>(stack.size(), warp.stackTop(lane)));
      });
    if (t.builtin != nullptr) parameters(warp, t.builtin->arguments, active, Access::Read);
  }

  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const TouchedAt& t = touched(warp, routine, op);
    std::vector<Mask>& bits = registers_[warp.path().frame];
    for (const RegisterUse& use : t.writes)
      for (unsigned c = 0; c < use.count; ++c) bits[use.first + c] |= active;
    if (t.builtin != nullptr) parameters(warp, t.builtin->results, active, Access::Write);
  }

  void global(Warp&, unsigned lane, Allocation& a, uint64_t offset, std::byte*, unsigned bytes,
              Access access) override {
    if (a.written == nullptr) return;
    std::byte* const from = a.written + offset;
    if (isRead(access)) {
      std::byte* const bad = std::find(from, from + bytes, std::byte{0});
      const auto at = static_cast<uint64_t>(bad - a.written);
      if (bad != from + bytes) fault(lane, fmt::format("byte {} of '{}', at {:#x}", at, a.name, a.base + at));
    }
    if (access != Access::Read) std::fill(from, from + bytes, std::byte{1});
  }

  void shared(Warp& warp, unsigned lane, Block& owner, uint32_t offset, unsigned bytes, Access access) override {
    Shared& s = shared_[&owner];
    if (const uint64_t birth = warpIds_.ofCluster(warp); s.birth != birth) s = {birth, Bytes(owner.shared.size())};
    touch(s.written, lane, offset, bytes, access, "shared");
  }

  void local(Warp& warp, unsigned lane, uint32_t offset, unsigned bytes, Access access) override {
    touch(stackOf(warp, lane), lane, offset, bytes, access, "local");
  }

  void barrier(Block&, const std::vector<uint32_t>&) override {}

 private:
  struct Shared {
    uint64_t birth = 0;
    Bytes written;
  };
  struct TouchedAt : Touched {
    bool startsLoop = false;
  };
  struct Stacks {
    uint64_t birth = 0;
    std::array<Bytes, kLanes> written;
  };

  [[noreturn]] static void fault(unsigned lane, const std::string& what) {
    throw LaneFault{FaultKind::Uninitialised, lane, fmt::format("read of {}, which nothing has written", what)};
  }

  static std::string nameOf(Warp& warp, const Routine& routine, RegId reg) {
    if (reg == Function::kCarry) return "the carry flag";
    const Register& r = routine.function->registers[reg.value];
    return fmt::format("register {}", warp.block().program().module().text(r.name));
  }

  static void demand(Warp& warp, const Routine& routine, const std::vector<Mask>& bits, const RegisterUse& use,
                     Mask lanes) {
    for (unsigned c = 0; c < use.count; ++c)
      if (const Mask missing = lanes & ~bits[use.first + c]; missing != 0)
        fault(static_cast<unsigned>(std::countr_zero(missing)), nameOf(warp, routine, use.reg));
  }

  bool isRead(Access access) const {
    return access == Access::Read || (access == Access::Atomic && readsAtomically_);
  }

  void touch(Bytes& written, unsigned lane, uint64_t offset, unsigned bytes, Access access, const char* space) {
    for (uint64_t i = offset; i < offset + bytes; ++i) {
      if (isRead(access) && !isWritten(written, i)) fault(lane, fmt::format("{} memory at {:#x}", space, i));
      if (access != Access::Read) setWritten(written, i, true);
    }
  }

  // The arguments or results of a built-in function that lie in memory.
  void parameters(Warp& warp, const std::vector<ParameterPlace>& places, Mask active, Access access) {
    for (const ParameterPlace& p : places)
      if (!p.isRegister)
        forEachLane(active, [&](unsigned lane) {
          local(warp, lane, stackBase(*warp.path().frame, lane) + p.memory.offset, p.memory.bytes, access);
        });
  }

  const TouchedAt& touched(Warp& warp, const Routine& routine, const Op& op) {
    const auto [known, isNew] = touched_.try_emplace(&op);
    if (!isNew) return known->second;
    const Module& module = warp.block().program().module();
    static_cast<Touched&>(known->second) = touchedBy(module, routine, op);
    const auto [starts, isFirst] = loopStarts_.try_emplace(&routine);
    if (isFirst) starts->second = loopStarts(module, *routine.function);
    known->second.startsLoop = starts->second[op.instruction];
    return known->second;
  }

  // By InstrId: whether a block that begins a loop has it as its first instruction.
  static std::vector<bool> loopStarts(const Module& module, const Function& f) {
    std::vector<bool> starts(f.instructions.size());
    const Cfg cfg(module, f);
    const std::vector<bool> blocks = findLoopStarts(cfg);
    for (uint32_t b = 0; b < cfg.size(); ++b) {
      InstrId id = cfg[BlockId(b)].first;
      while (id.valid() && !f[id].isInstruction()) id = f[id].next;
      if (blocks[b] && id.valid()) starts[id.value] = true;
    }
    return starts;
  }

  // False for a sum that was made for an instruction: its register has been looked at.
  bool isRegister(const Routine& routine, const Arg& arg) { return bitsOf(routine).contains(arg.offset); }

  // The bit of a register of a frame, by where its lanes lie.
  std::size_t bitOf(const Routine& routine, const Arg& arg) { return bitsOf(routine).at(arg.offset); }

  const std::unordered_map<uint32_t, std::size_t>& bitsOf(const Routine& routine) {
    auto& bits = bitOf_[&routine];
    if (bits.empty())
      for (std::size_t r = 0; r < routine.registers.size(); ++r) {
        const Arg& a = routine.registers[r];
        for (unsigned c = 0; c < routine.function->registers[r].lanes && c < kComponents; ++c)
          bits.emplace(a.offset + c * a.bytes * kLanes, r * kComponents + c);
      }
    return bits;
  }

  Bytes& stackOf(Warp& warp, unsigned lane) {
    Stacks& s = stacks_[&warp];
    if (const uint64_t birth = warpIds_.of(warp); s.birth != birth) s = {birth, {}};
    return s.written[lane];
  }

  WarpIds warpIds_;
  std::unordered_map<const Frame*, std::vector<Mask>> registers_;
  std::unordered_map<const Routine*, std::unordered_map<uint32_t, std::size_t>> bitOf_;
  std::unordered_map<const Op*, TouchedAt> touched_;
  std::unordered_map<const Routine*, std::vector<bool>> loopStarts_;
  std::unordered_map<const Block*, Shared> shared_;
  std::unordered_map<const Warp*, Stacks> stacks_;
  bool readsAtomically_ = false;  // the op that is being executed
};

}  // namespace

std::unique_ptr<Checks> makeUninitialisedCheck() { return std::make_unique<UninitialisedCheck>(); }

}  // namespace ptxopt::exec
