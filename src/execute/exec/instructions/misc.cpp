// alloca, stacksave, stackrestore and trap.
//
// A thread's stack grows upwards here: alloca rounds its top up to the alignment, gives that as an address in local
// space, and moves the top after the memory. The alignment is at least 8. stacksave gives the top; stackrestore
// takes a value between the end of the running function's own variables and the top, and any other is an error,
// since it can come from no stacksave of this function that still counts. Returning from the function frees what it
// allocated. trap is an error of the launch, as it is on a device.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "exec/binder.h"
#include "exec/lanes.h"
#include "exec/warp.h"

namespace ptxopt::exec {

namespace {

constexpr uint64_t kLeastAlignment = 8;
constexpr uint64_t kMostAlignment = uint64_t{1} << 23;

// args: pointer, size. data: the alignment.
template <typename T>
Step allocateOnStack(Warp& w, const Op& op, Mask active) {
  const uint64_t alignment = *static_cast<const uint64_t*>(op.data);
  T* const pointer = w.out<T>(op.args[0]);
  const T* const size = w.in<T>(op.args[1]);
  forEachLane(active, [&](unsigned i) {
    const uint64_t begin = (uint64_t{w.stackTop(i)} + alignment - 1) & ~(alignment - 1);
    if (size[i] > UINT32_MAX - begin)
      throw LaneFault{FaultKind::StackOverflow, i, fmt::format("alloca of {} bytes", uint64_t{size[i]})};
    w.setStackTop(i, static_cast<uint32_t>(begin + size[i]));
    pointer[i] = static_cast<T>(begin);
  });
  return Step::Next;
}

template <typename T>
Step saveStack(Warp& w, const Op& op, Mask active) {
  T* const d = w.out<T>(op.args[0]);
  forEachLane(active, [&](unsigned i) { d[i] = w.stackTop(i); });
  return Step::Next;
}

template <typename T>
Step restoreStack(Warp& w, const Op& op, Mask active) {
  const T* const a = w.in<T>(op.args[0]);
  const Frame& frame = *w.path().frame;
  const auto* const bases = reinterpret_cast<const uint32_t*>(frame.registers);
  forEachLane(active, [&](unsigned i) {
    const uint64_t least = uint64_t{bases[i]} + frame.routine->stackBytes;
    if (a[i] < least || a[i] > w.stackTop(i))
      throw LaneFault{
          FaultKind::OutOfBounds, i,
          fmt::format("stackrestore to {:#x}, which is not a stack pointer of this function: they are in "
                      "{:#x} to {:#x}",
                      uint64_t{a[i]}, least, w.stackTop(i))};
    w.setStackTop(i, static_cast<uint32_t>(a[i]));
  });
  return Step::Next;
}

Step trap(Warp&, const Op&, Mask active) {
  throw LaneFault{FaultKind::Trap, static_cast<unsigned>(std::countr_zero(active)), "trap"};
}

ScalarType takeStackType(Binder& b) {
  const ScalarType type = b.takeType();
  if (type != ScalarType::u32 && type != ScalarType::u64) b.unsupported("a type other than .u32 and .u64");
  return type;
}

}  // namespace

void bindAlloca(Binder& b) {
  const ScalarType type = takeStackType(b);
  uint64_t alignment = kLeastAlignment;
  if (b.operands() > 2) {
    const int64_t given = b.immediate(2);
    if (given <= 0 || !std::has_single_bit(static_cast<uint64_t>(given)) ||
        static_cast<uint64_t>(given) > kMostAlignment)
      b.unsupported(fmt::format("an alignment of {}", given));
    alignment = std::max(alignment, static_cast<uint64_t>(given));
  }
  b.dest(0, type);
  b.source(1, type);
  b.data(alignment);
  b.handler(type == ScalarType::u64 ? allocateOnStack<uint64_t> : allocateOnStack<uint32_t>);
}

void bindStacksave(Binder& b) {
  const ScalarType type = takeStackType(b);
  b.dest(0, type);
  b.handler(type == ScalarType::u64 ? saveStack<uint64_t> : saveStack<uint32_t>);
}

void bindStackrestore(Binder& b) {
  const ScalarType type = takeStackType(b);
  b.source(0, type);
  b.handler(type == ScalarType::u64 ? restoreStack<uint64_t> : restoreStack<uint32_t>);
}

void bindTrap(Binder& b) { b.handler(trap); }

}  // namespace ptxopt::exec
