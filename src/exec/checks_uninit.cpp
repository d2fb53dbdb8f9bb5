// --check-uninit: a register or a byte of memory is read that nothing has written.
//
// Registers: a bit a lane and component of each register of a frame. The roles of the operands in the IR say what
// an instruction reads and writes; that a guard makes a definition look like a modification is undone here. Memory:
// a byte of state for each byte, Allocation::written for global memory (where it is kept), shadows for shared and
// local. A read of unwritten bytes is the fault itself, so that copies through registers launder nothing. Stores
// and atomic operations mark; atom and red, but for exch, also read. Parameters and results of calls keep their
// state on the way. Asynchronous copies mark when they are issued. What malloc gives counts as written.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "exec/checks_births.h"
#include "exec/checks_made.h"
#include "exec/launch.h"

namespace ptxopt::exec {

namespace {

constexpr unsigned kComponents = 4;

struct RegisterUse {
  RegId reg;
  uint32_t first = 0;  // bits: register * kComponents, and the component
  uint8_t count = 1;
};

// What an op reads and writes, worked out when it is first met.
struct Touched {
  std::vector<RegisterUse> reads, writes, guard;
  bool readsAtomically = false;  // an atomic operation that looks at the old value
  bool takesStack = false;       // what lies above the stack's top is new from here on
  const CallSite* builtin = nullptr;
};

std::string_view baseOf(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

unsigned componentOf(std::string_view selector) {
  const std::size_t at = std::string_view("xyzw").find(selector);
  return static_cast<unsigned>(at != std::string_view::npos ? at : std::string_view("rgba").find(selector));
}

Touched touchedBy(const Module& module, const Routine& routine, const Op& op) {
  const Function& f = *routine.function;
  const Instruction& i = f.instructions[op.instruction];
  Touched t;
  if (!i.isInstruction()) return t;  // the end of a function
  const OpcodeForm& form = module.form(i);
  const std::string_view opcode = module.text(form.text), base = baseOf(opcode);
  // Ops without a handler's arguments are control flow, refusals, and the refreshing of special registers.
  if (op.kind == OpKind::Plain && op.args == nullptr) return t;
  if (op.kind == OpKind::Plain && form.is(effect::Call)) t.builtin = static_cast<const CallSite*>(op.data);
  t.takesStack = op.kind == OpKind::Call || base == "alloca";
  t.readsAtomically = (base == "atom" || base == "red") && opcode.find(".exch") == std::string_view::npos;

  const std::span<const Operand> operands = f.operandsOf(i);
  std::size_t index = 0, depth = 0;  // of the operand, counted from the left without the guard
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Operand& o = operands[k];
    if (o.is(Operand::Guard)) {
      if (o.isRegister()) t.guard.push_back({o.reg(), o.payload * kComponents, 1});
      continue;
    }
    if (depth > 0) {
      --depth;
    } else {
      if (o.join == Join::Comma) ++index;
      depth = o.inside();
    }
    if (!o.isRegister()) continue;
    RegisterUse use{o.reg(), o.payload * kComponents, f.registers[o.payload].lanes};
    if (use.count > 1 && k + 1 < operands.size() && operands[k + 1].kind == OperandKind::Selector) {
      const unsigned c = componentOf(module.text(NameId(operands[k + 1].payload)));
      use.first += std::min(c, kComponents - 1);
      use.count = 1;
    }
    bool isRead = o.reads();
    // A definition under a guard, or of one component, counts as a modification in the IR.
    if (o.role == Role::Mod)
      isRead =
          o.is(Operand::Implicit) ? form.is(effect::CarryIn) : !form.is(effect::Call) && form.role(index) == 'm';
    if (isRead) t.reads.push_back(use);
    if (o.writes()) t.writes.push_back(use);
  }
  return t;
}

using Bytes = std::vector<bool>;  // which are written; what lies behind the end is not

bool isWritten(const Bytes& b, uint64_t at) { return at < b.size() && b[at]; }

void setWritten(Bytes& b, uint64_t at, bool value) {
  if (at >= b.size()) b.resize(std::max<uint64_t>(at + 1, b.size() * 2));
  b[at] = value;
}

template <typename F>
void forEach(Mask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<unsigned>(std::countr_zero(lanes)));
}

uint32_t stackBase(const Frame& frame, unsigned lane) {
  return reinterpret_cast<const uint32_t*>(frame.registers)[lane];
}

class UninitialisedCheck final : public Checks {
 public:
  void newFrame(Frame& frame) override {
    births_.newFrame(frame);
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
    const uint32_t bytes = from.isRegister ? from.reg.bytes : from.memory.bytes;
    Bytes state(bytes, true);
    Bytes& stack = stackOf(warp, lane);
    if (!from.isRegister) {
      const uint32_t at = stackBase(fromFrame, lane) + from.memory.offset;
      for (uint32_t i = 0; i < bytes; ++i) state[i] = isWritten(stack, at + i);
    } else if (from.reg.base == Base::Frame) {
      state.assign(bytes, (registers_[&fromFrame][bitOf(*fromFrame.routine, from.reg)] >> lane & 1) != 0);
    }
    if (to.isRegister) {
      if (to.reg.base != Base::Frame) return;
      const auto used = state.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes, to.reg.bytes));
      const bool all = std::all_of(state.begin(), used, [](bool b) { return b; });
      Mask& bits = registers_[&toFrame][bitOf(*toFrame.routine, to.reg)];
      bits = (bits & ~(Mask{1} << lane)) | (Mask{all} << lane);
      return;
    }
    state.resize(to.memory.bytes, true);  // what is longer was filled with zeros
    const uint32_t at = stackBase(toFrame, lane) + to.memory.offset;
    for (uint32_t i = 0; i < to.memory.bytes; ++i) setWritten(stack, at + i, state[i]);
  }

  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const Touched& t = touched(warp, routine, op);
    readsAtomically_ = t.readsAtomically;
    const std::vector<Mask>& bits = registers_[warp.path().frame];
    for (const RegisterUse& use : t.guard) demand(warp, routine, bits, use, warp.path().mask);
    for (const RegisterUse& use : t.reads) demand(warp, routine, bits, use, active);
    if (t.takesStack)
      forEach(active, [&](unsigned lane) {
        Bytes& stack = stackOf(warp, lane);
        stack.resize(std::min<std::size_t>(stack.size(), warp.stackTop(lane)));
      });
    if (t.builtin != nullptr) parameters(warp, t.builtin->arguments, active, Access::Read);
  }

  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    const Touched& t = touched(warp, routine, op);
    std::vector<Mask>& bits = registers_[warp.path().frame];
    for (const RegisterUse& use : t.writes)
      for (unsigned c = 0; c < use.count; ++c) bits[use.first + c] |= active;
    if (t.builtin != nullptr) parameters(warp, t.builtin->results, active, Access::Write);
  }

  void global(Warp&, unsigned lane, Allocation& a, uint64_t offset, unsigned bytes, Access access) override {
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
    if (const uint64_t birth = births_.ofCluster(warp); s.birth != birth) s = {birth, Bytes(owner.shared.size())};
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
        forEach(active, [&](unsigned lane) {
          local(warp, lane, stackBase(*warp.path().frame, lane) + p.memory.offset, p.memory.bytes, access);
        });
  }

  const Touched& touched(Warp& warp, const Routine& routine, const Op& op) {
    const auto [known, isNew] = touched_.try_emplace(&op);
    if (isNew) known->second = touchedBy(warp.block().program().module(), routine, op);
    return known->second;
  }

  // The bit of a register of a frame, by where its lanes lie.
  std::size_t bitOf(const Routine& routine, const Arg& arg) {
    auto& bits = bitOf_[&routine];
    if (bits.empty())
      for (std::size_t r = 0; r < routine.registers.size(); ++r) {
        const Arg& a = routine.registers[r];
        for (unsigned c = 0; c < routine.function->registers[r].lanes && c < kComponents; ++c)
          bits.emplace(a.offset + c * a.bytes * kLanes, r * kComponents + c);
      }
    return bits.at(arg.offset);
  }

  Bytes& stackOf(Warp& warp, unsigned lane) {
    Stacks& s = stacks_[&warp];
    if (const uint64_t birth = births_.of(warp); s.birth != birth) s = {birth, {}};
    return s.written[lane];
  }

  Births births_;
  std::unordered_map<const Frame*, std::vector<Mask>> registers_;
  std::unordered_map<const Routine*, std::unordered_map<uint32_t, std::size_t>> bitOf_;
  std::unordered_map<const Op*, Touched> touched_;
  std::unordered_map<const Block*, Shared> shared_;
  std::unordered_map<const Warp*, Stacks> stacks_;
  bool readsAtomically_ = false;  // the op that is being executed
};

}  // namespace

std::unique_ptr<Checks> makeUninitialisedCheck() { return std::make_unique<UninitialisedCheck>(); }

}  // namespace ptxopt::exec
