// ld, ldu, st: values of 1 to 16 bytes and vectors of up to 32, in every state space.
//
// A vector is one access, aligned to its whole size. A register may be wider than the value: a load extends with
// the sign for .s types and with zeros for all others, a store takes the low bits, also of a floating-point number.
// Lanes go in ascending order, so of several lanes that store to one place the highest wins. A lane reads its address
// before it writes its result;
// so a register may be both. A read of parameters or constants at an address that the instruction itself gives is
// the same for all lanes and resolved once. Ordered accesses (.volatile, .relaxed, ...): blocks may run on several
// host threads; a copy of a fixed 1, 2, 4, 8 or 16 bytes is a single move of the host, and x86 keeps moves in
// order, so that only the compiler must be made to. They yield, because they are what spin loops consist of.
// An access through the name of a variable in the stack frame that leaves the variable is an error when it is
// executed, though the frame goes on there: which variable comes next is nobody's business.
// Declines: vectors of registers of several widths.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "exec/instructions/async_copy.h"
#include "exec/instructions/memory_operand.h"

namespace ptxopt::exec {

namespace {

constexpr unsigned kMostElements = 8;

// Reads the elements of the active lanes: those of element e to d[e], with the width that they have in memory.
using ReadLanes = void (*)(Warp& w, const Op& op, Mask active, std::byte* const* d);
// Writes what was read to a wider register.
using ExtendLanes = void (*)(const std::byte* from, std::byte* d, Mask active);

struct MemoryAccess {
  int64_t offset = 0;
  Space space = Space::Generic;
  uint8_t count = 1;                    // elements
  uint8_t strides[kMostElements] = {};  // st: bytes of a lane of each source
  ReadLanes read = nullptr;             // ld
  ExtendLanes extend = nullptr;         // ld to registers that are wider than the value
  Handler weak = nullptr;               // the access itself, when it is ordered
};

const MemoryAccess& accessOf(const Op& op) { return *static_cast<const MemoryAccess*>(op.data); }

enum class Reach : uint8_t {
  Global,  // known to be .global
  Shared,  // known to be .shared
  Any,
  Uniform,  // one address for all lanes, which all read the same
};

// Where the bytes of a lane are.
template <Reach kReach>
class Resolver {
 public:
  Resolver(Warp& w, Space space) : warp_(w), space_(space) {}
  std::byte* operator()(unsigned lane, uint64_t address, unsigned bytes, Access access) const {
    return warp_.memory(kReach == Reach::Global ? Space::Global : space_, lane, address, bytes, bytes, access);
  }

 private:
  Warp& warp_;
  Space space_;
};
template <>
class Resolver<Reach::Shared> {
 public:
  Resolver(Warp& w, Space) : shared_(w) {}
  std::byte* operator()(unsigned lane, uint64_t address, unsigned bytes, Access access) const {
    return shared_.memory(lane, address, bytes, bytes, access);
  }

 private:
  OwnShared shared_;
};

template <unsigned kMem, unsigned kCount, typename Base, Reach kReach>
void readLanes(Warp& w, const Op& op, Mask active, std::byte* const* results) {
  constexpr unsigned kBytes = kMem * kCount;
  const MemoryAccess& a = accessOf(op);
  const int64_t offset = a.offset;
  const Space space = a.space;
  const Base* base = w.in<Base>(op.args[kCount]);
  Word<kMem>* d[kCount];
  for (unsigned e = 0; e < kCount; ++e) d[e] = reinterpret_cast<Word<kMem>*>(results[e]);

  if constexpr (kReach == Reach::Uniform) {
    const auto first = static_cast<unsigned>(std::countr_zero(active));
    const std::byte* p =
        w.memory(space, first, Location::addressOf(base[first], offset), kBytes, kBytes, Access::Read);
    for (unsigned e = 0; e < kCount; ++e) {
      Word<kMem> m;
      std::memcpy(&m, p + e * kMem, kMem);
      forEachLaneVectorized(active, [m, to = d[e]](unsigned i) { to[i] = m; });
    }
  } else {
    forEachLane(active, [&, resolve = Resolver<kReach>(w, space)](unsigned i) {
      const std::byte* p = resolve(i, Location::addressOf(base[i], offset), kBytes, Access::Read);
      for (unsigned e = 0; e < kCount; ++e) std::memcpy(d[e] + i, p + e * kMem, kMem);
    });
  }
}

Step load(Warp& w, const Op& op, Mask active) {
  const MemoryAccess& a = accessOf(op);
  std::byte* d[kMostElements];
  for (unsigned e = 0; e < a.count; ++e) d[e] = w.out<std::byte>(op.args[e]);
  a.read(w, op, active, d);
  return Step::Next;
}

// Mem and Reg are both signed or both not.
template <typename Mem, typename Reg>
void extendLanes(const std::byte* from, std::byte* to, Mask active) {
  const Mem* m = reinterpret_cast<const Mem*>(from);
  Reg* d = reinterpret_cast<Reg*>(to);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = m[i]; });  // NOLINT(bugprone-signed-char-misuse): a number
}

Step loadExtended(Warp& w, const Op& op, Mask active) {
  const MemoryAccess& a = accessOf(op);
  alignas(64) std::byte narrow[kMostElements][kLanes * sizeof(uint32_t)];
  std::byte* d[kMostElements];
  for (unsigned e = 0; e < a.count; ++e) d[e] = narrow[e];
  a.read(w, op, active, d);
  for (unsigned e = 0; e < a.count; ++e) a.extend(narrow[e], w.out<std::byte>(op.args[e]), active);
  return Step::Next;
}

template <unsigned kMem, unsigned kCount, typename Base, Reach kReach>
Step store(Warp& w, const Op& op, Mask active) {
  constexpr unsigned kBytes = kMem * kCount;
  const MemoryAccess& a = accessOf(op);
  const int64_t offset = a.offset;
  const Base* base = w.in<Base>(op.args[0]);
  const std::byte* s[kCount];
  for (unsigned e = 0; e < kCount; ++e) s[e] = w.in<std::byte>(op.args[1 + e]);

  forEachLane(active, [&, resolve = Resolver<kReach>(w, a.space)](unsigned i) {
    std::byte* p = resolve(i, Location::addressOf(base[i], offset), kBytes, Access::Write);
    for (unsigned e = 0; e < kCount; ++e) {
      Word<kMem> m;
      std::memcpy(&m, s[e] + std::size_t{i} * a.strides[e], kMem);
      std::memcpy(p + e * kMem, &m, kMem);
    }
  });
  return Step::Next;
}

Step orderedAccess(Warp& w, const Op& op, Mask active) {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  accessOf(op).weak(w, op, active);
  std::atomic_thread_fence(std::memory_order_acq_rel);
  return Step::Yield;
}

// ---- choosing the handler ----

template <unsigned kMem, unsigned kCount, typename Base>
ReadLanes readReaching(Reach reach) {
  switch (reach) {
    case Reach::Global: return readLanes<kMem, kCount, Base, Reach::Global>;
    case Reach::Shared: return readLanes<kMem, kCount, Base, Reach::Shared>;
    case Reach::Any: return readLanes<kMem, kCount, Base, Reach::Any>;
    case Reach::Uniform: return readLanes<kMem, kCount, Base, Reach::Uniform>;
  }
  return nullptr;
}

template <unsigned kMem, unsigned kCount>
ReadLanes readFrom(unsigned baseBytes, Reach reach) {
  return baseBytes == 4 ? readReaching<kMem, kCount, uint32_t>(reach) : readReaching<kMem, kCount, uint64_t>(reach);
}

template <unsigned kMem>
ReadLanes readOf(unsigned count, unsigned baseBytes, Reach reach) {
  if (count == 1) return readFrom<kMem, 1>(baseBytes, reach);
  if constexpr (kMem <= 8)
    if (count == 2) return readFrom<kMem, 2>(baseBytes, reach);
  if constexpr (kMem <= 8)
    if (count == 4) return readFrom<kMem, 4>(baseBytes, reach);
  if constexpr (kMem <= 4)
    if (count == 8) return readFrom<kMem, 8>(baseBytes, reach);
  return nullptr;
}

ReadLanes chooseRead(unsigned mem, unsigned count, unsigned baseBytes, Reach reach) {
  switch (mem) {
    case 1: return readOf<1>(count, baseBytes, reach);
    case 2: return readOf<2>(count, baseBytes, reach);
    case 4: return readOf<4>(count, baseBytes, reach);
    case 8: return readOf<8>(count, baseBytes, reach);
    case 16: return readOf<16>(count, baseBytes, reach);
    default: return nullptr;
  }
}

// Mem is signed for an extension with the sign.
template <typename Mem>
ExtendLanes extendTo(unsigned reg) {
  constexpr bool kSigned = std::is_signed_v<Mem>;
  if constexpr (sizeof(Mem) < 2)
    if (reg == 2) return extendLanes<Mem, std::conditional_t<kSigned, int16_t, uint16_t>>;
  if constexpr (sizeof(Mem) < 4)
    if (reg == 4) return extendLanes<Mem, std::conditional_t<kSigned, int32_t, uint32_t>>;
  return reg == 8 ? extendLanes<Mem, std::conditional_t<kSigned, int64_t, uint64_t>> : nullptr;
}

ExtendLanes chooseExtend(unsigned mem, unsigned reg, bool isSigned) {
  switch (mem) {
    case 1: return isSigned ? extendTo<int8_t>(reg) : extendTo<uint8_t>(reg);
    case 2: return isSigned ? extendTo<int16_t>(reg) : extendTo<uint16_t>(reg);
    case 4: return isSigned ? extendTo<int32_t>(reg) : extendTo<uint32_t>(reg);
    default: return nullptr;
  }
}

template <unsigned kMem, unsigned kCount, typename Base>
Handler storeReaching(Reach reach) {
  switch (reach) {
    case Reach::Global: return store<kMem, kCount, Base, Reach::Global>;
    case Reach::Shared: return store<kMem, kCount, Base, Reach::Shared>;
    default: return store<kMem, kCount, Base, Reach::Any>;
  }
}

template <unsigned kMem, unsigned kCount>
Handler storeTo(unsigned baseBytes, Reach reach) {
  return baseBytes == 4 ? storeReaching<kMem, kCount, uint32_t>(reach)
                        : storeReaching<kMem, kCount, uint64_t>(reach);
}

template <unsigned kMem>
Handler storeOf(unsigned count, unsigned baseBytes, Reach reach) {
  if (count == 1) return storeTo<kMem, 1>(baseBytes, reach);
  if constexpr (kMem <= 8)
    if (count == 2) return storeTo<kMem, 2>(baseBytes, reach);
  if constexpr (kMem <= 8)
    if (count == 4) return storeTo<kMem, 4>(baseBytes, reach);
  if constexpr (kMem <= 4)
    if (count == 8) return storeTo<kMem, 8>(baseBytes, reach);
  return nullptr;
}

Handler chooseStore(unsigned mem, unsigned count, unsigned baseBytes, Reach reach) {
  switch (mem) {
    case 1: return storeOf<1>(count, baseBytes, reach);
    case 2: return storeOf<2>(count, baseBytes, reach);
    case 4: return storeOf<4>(count, baseBytes, reach);
    case 8: return storeOf<8>(count, baseBytes, reach);
    case 16: return storeOf<16>(count, baseBytes, reach);
    default: return nullptr;
  }
}

Step outsideVariable(Warp&, const Op& op, Mask active) {
  throw LaneFault{FaultKind::OutOfBounds, static_cast<unsigned>(std::countr_zero(active)),
                  *static_cast<const std::string*>(op.data)};
}

// Makes the instruction the error that it is when it leaves the variable that it names.
bool refuseOutside(Binder& b, const AddressArg& address, unsigned bytes, const char* verb) {
  if (address.available >= int64_t{bytes}) return false;
  b.data(fmt::format("{} of {} bytes, {} of them in '{}', which the address names", verb, bytes,
                     std::max<int64_t>(address.available, 0), address.variable));
  b.handler(outsideVariable);
  return true;
}

Reach reachOf(Space space) {
  return space == Space::Global ? Reach::Global : space == Space::Shared ? Reach::Shared : Reach::Any;
}

bool isSignedInteger(ScalarType t) {
  return t == ScalarType::s8 || t == ScalarType::s16 || t == ScalarType::s32 || t == ScalarType::s64;
}

void setHandler(Binder& b, MemoryAccess access, Handler h, bool ordered) {
  if (h != nullptr && ordered) {
    access.weak = h;
    h = orderedAccess;
  }
  b.data(access);
  b.handler(h);
}

}  // namespace

void bindLoad(Binder& b) {
  const bool ordered = takeOrdering(b);
  const Space space = takeSpace(b);
  const bool hasPolicy = takeCaching(b);
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType();
  const unsigned mem = memoryBytes(type);

  const std::vector<Arg> d = b.dests(0, type, true);
  if (d.size() != count) b.unsupported("as many registers as the vector has elements are needed");
  const AddressArg address = b.address(1, space);
  if (hasPolicy) b.ignore(2);
  if (refuseOutside(b, address, mem * count, "read")) return;

  unsigned reg = 0;
  for (const Arg& a : d) {
    if (a.isSink) continue;
    if (reg != 0 && reg != a.bytes) b.unsupported("registers of several widths in a vector");
    reg = a.bytes;
  }
  if (reg == 0) reg = mem;  // nothing but `_`

  MemoryAccess access;
  access.offset = address.offset;
  access.space = address.space;
  const bool uniform =
      address.base.base == Base::Constant && (address.space == Space::Param || address.space == Space::Const);
  access.count = static_cast<uint8_t>(count);
  access.read = chooseRead(mem, count, address.base.bytes, uniform ? Reach::Uniform : reachOf(address.space));
  if (reg != mem) access.extend = chooseExtend(mem, reg, isSignedInteger(type));
  const bool isKnown = access.read != nullptr && (reg == mem || access.extend != nullptr);
  setHandler(b, access, !isKnown ? nullptr : reg == mem ? load : loadExtended, ordered);
}

void bindStore(Binder& b) {
  // st.async.mmio has no mbarrier that says when: it is done at once.
  if (b.take("async") && !b.has("mmio")) return bindAsyncStore(b);
  if (b.take("bulk")) return bindBulkStore(b);

  const bool ordered = takeOrdering(b);
  const Space space = takeSpace(b);
  const bool hasPolicy = takeCaching(b);
  const unsigned count = b.takeVector();
  const ScalarType type = b.takeType();

  const AddressArg address = b.address(0, space);
  const std::vector<Arg> s = b.sources(1, type, true);
  if (s.size() != count) b.unsupported("as many values as the vector has elements are needed");
  if (hasPolicy) b.ignore(2);
  if (refuseOutside(b, address, memoryBytes(type) * count, "write")) return;

  MemoryAccess access;
  access.offset = address.offset;
  access.space = address.space;
  for (unsigned e = 0; e < count; ++e) access.strides[e] = s[e].bytes;
  setHandler(b, access, chooseStore(memoryBytes(type), count, address.base.bytes, reachOf(address.space)), ordered);
}

}  // namespace ptxopt::exec
