// mov: copies, packs, unpacks, addresses.
//
//     mov.type d, a;            a register, constant, special register
//     mov.type d, symbol+4;     an address within the symbol's state space
//     mov.b64 d, {a, b, ...};   the first part is the lowest
//     mov.b64 {d, e, ...}, a;   `_` drops a part; a vector register is such a list
//     mov.v4.u16 d, a;          vector registers, or lists, lane by lane
// Types mean their width only. The parts of a pack share the width equally.
#include <array>

#include "exec/binder.h"
#include "exec/instructions/integer_types.h"
#include "exec/lanes.h"

namespace ptxopt::exec {

namespace {

using enum ScalarType;

struct Wide128 {
  uint64_t low, high;
};

template <typename T>
Step copy(Warp& w, const Op& op, Mask active) {
  T* d = w.out<T>(op.args[0]);
  const T* a = w.in<T>(op.args[1]);
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = a[i]; });
  return Step::Next;
}

Step copyPredicate(Warp& w, const Op& op, Mask active) {
  w.setPredicate(op.args[0], w.predicate(op.args[1]), active);
  return Step::Next;
}

// args: destinations, then as many sources. All are read before any is written.
template <typename T, unsigned kCount>
Step copyVector(Warp& w, const Op& op, Mask active) {
  forEachLane(active, [&](unsigned i) {
    std::array<T, kCount> values;
    for (unsigned k = 0; k < kCount; ++k) values[k] = w.in<T>(op.args[kCount + k])[i];
    for (unsigned k = 0; k < kCount; ++k) w.out<T>(op.args[k])[i] = values[k];
  });
  return Step::Next;
}

// args: d; the parts begin at small[0].
template <typename Part, unsigned kCount>
Step pack(Warp& w, const Op& op, Mask active) {
  Part* d = w.out<Part>(op.args[0]);
  std::array<const Part*, kCount> parts;
  for (unsigned k = 0; k < kCount; ++k) parts[k] = w.in<Part>(op.args[op.small[0] + k]);
  forEachLaneVectorized(active, [=](unsigned i) {
    for (unsigned k = 0; k < kCount; ++k) d[i * kCount + k] = parts[k][i];
  });
  return Step::Next;
}

// args: the parts, then the source.
template <typename Part, unsigned kCount>
Step unpack(Warp& w, const Op& op, Mask active) {
  const Part* a = w.in<Part>(op.args[kCount]);
  std::array<Part*, kCount> parts;
  for (unsigned k = 0; k < kCount; ++k) parts[k] = op.args[k].isSink ? nullptr : w.out<Part>(op.args[k]);
  for (unsigned k = 0; k < kCount; ++k)
    if (Part* d = parts[k]) forEachLaneVectorized(active, [=](unsigned i) { d[i] = a[i * kCount + k]; });
  return Step::Next;
}

// args: d, base; a variable of the stack frame has its lane's frame as base. data: the offset.
template <typename D, typename Base>
Step moveAddress(Warp& w, const Op& op, Mask active) {
  D* d = w.out<D>(op.args[0]);
  const Base* base = w.in<Base>(op.args[1]);
  const auto offset = static_cast<uint64_t>(*static_cast<const int64_t*>(op.data));
  forEachLaneVectorized(active, [=](unsigned i) { d[i] = static_cast<D>(base[i] + offset); });
  return Step::Next;
}

// f(TypeTag of the part, number of parts) for what fits a register of `bits` bits.
template <template <typename, unsigned> class H>
Handler partHandler(unsigned partBits, std::size_t count) {
  switch (count) {
    case 2:
      switch (partBits) {
        case 8: return H<uint8_t, 2>::kRun;
        case 16: return H<uint16_t, 2>::kRun;
        case 32: return H<uint32_t, 2>::kRun;
        case 64: return H<uint64_t, 2>::kRun;
        default: return nullptr;
      }
    case 4:
      switch (partBits) {
        case 8: return H<uint8_t, 4>::kRun;
        case 16: return H<uint16_t, 4>::kRun;
        case 32: return H<uint32_t, 4>::kRun;
        case 64: return H<uint64_t, 4>::kRun;
        default: return nullptr;
      }
    case 8:
      switch (partBits) {
        case 8: return H<uint8_t, 8>::kRun;
        case 16: return H<uint16_t, 8>::kRun;
        case 32: return H<uint32_t, 8>::kRun;
        default: return nullptr;
      }
    default: return nullptr;
  }
}
template <typename T, unsigned kCount>
struct Pack {
  static constexpr Handler kRun = pack<T, kCount>;
};
template <typename T, unsigned kCount>
struct Unpack {
  static constexpr Handler kRun = unpack<T, kCount>;
};
template <typename T, unsigned kCount>
struct CopyVector {
  static constexpr Handler kRun = copyVector<T, kCount>;
};

ScalarType bitType(unsigned bits) {
  switch (bits) {
    case 8: return b8;
    case 16: return b16;
    case 32: return b32;
    case 64: return b64;
    default: return None;
  }
}

// The type of each of `count` parts of `type`.
ScalarType partType(Binder& b, ScalarType type, std::size_t count) {
  const ScalarType part = count == 2 || count == 4 ? bitType(info(type).bits / static_cast<unsigned>(count)) : None;
  if (part == None) b.unsupported("this number of parts");
  return part;
}

void bindPack(Binder& b, ScalarType type) {
  b.dest(0, type);
  // Read as the narrowest type first, for their number alone: constants must be read as what they are.
  const std::size_t count = b.sources(1, b8, true).size();
  const ScalarType part = partType(b, type, count);
  b.sources(1, part);
  b.op().small[0] = static_cast<uint8_t>(1 + count);
  b.handler(partHandler<Pack>(info(part).bits, count));
}

void bindUnpack(Binder& b, ScalarType type) {
  const std::vector<Arg> parts = b.dests(0, b8, true);
  const ScalarType part = partType(b, type, parts.size());
  for (const Arg& a : parts)
    if (!a.isSink && a.bytes * 8u != info(part).bits) b.unsupported("a part of another width");
  b.source(1, type);
  b.handler(partHandler<Unpack>(info(part).bits, parts.size()));
}

void bindVectorMove(Binder& b, ScalarType type, unsigned lanes) {
  const std::size_t to = b.dests(0, type).size(), from = b.sources(1, type).size();
  if (to != lanes || from != lanes) b.unsupported("operands of another number of lanes");
  b.handler(partHandler<CopyVector>(info(type).bits, lanes));
}

void bindAddressMove(Binder& b, ScalarType type) {
  const Arg d = b.dest(0, type);
  const AddressArg a = b.address(1, Space::Generic);
  b.data<int64_t>(a.offset);
  if (d.bytes == 8)
    b.handler(a.base.bytes == 8 ? moveAddress<uint64_t, uint64_t> : moveAddress<uint64_t, uint32_t>);
  else if (d.bytes == 4)
    b.handler(a.base.bytes == 8 ? moveAddress<uint32_t, uint64_t> : moveAddress<uint32_t, uint32_t>);
  else
    b.unsupported("an address of this width");
}

}  // namespace

void bindMov(Binder& b) {
  const unsigned lanes = b.takeVector();
  const ScalarType type = takeTypeOf(b, {pred, b16, u16, s16, b32, u32, s32, f32, b64, u64, s64, f64, b128});
  if (type == pred) {
    b.predicateDest(0);
    b.predicate(1);
    return b.handler(copyPredicate);
  }
  if (lanes > 1) return bindVectorMove(b, type, lanes);
  if (b.shape(0) == Shape::Vector) return bindUnpack(b, type);
  if (b.shape(1) == Shape::Vector) return bindPack(b, type);
  if (b.shape(1) == Shape::Address) return bindAddressMove(b, type);
  b.dest(0, type);
  b.source(1, type);
  if (type == b128) return b.handler(copy<Wide128>);
  b.handler(forUnsigned(b, type, []<typename T>(TypeTag<T>) -> Handler { return copy<T>; }));
}

}  // namespace ptxopt::exec
