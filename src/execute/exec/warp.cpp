// A warp's start, and its operands. See warp.h.
#include "exec/warp.h"

#include <algorithm>
#include <cstring>

#include "exec/align.h"
#include "exec/block.h"
#include "exec/launch.h"

namespace ptxopt::exec {

Warp::Warp(Block& block, unsigned index) : block_(block), index_(index) {
  const Program& program = block.program();
  const unsigned threads = block.threads() - index * kLanes;
  started_ = threads >= kLanes ? kAllLanes : (Mask{1} << threads) - 1;
  special_ = std::make_unique<std::byte[]>(program.specialBytes() + 64);
  specialLanes_ = align64(special_.get());
  scratch_ = std::make_unique<std::byte[]>(kLanes * 16 + 64);
  bases_[static_cast<unsigned>(Base::Constant)] = program.constants();
  bases_[static_cast<unsigned>(Base::Special)] = specialLanes_;
  bases_[static_cast<unsigned>(Base::Scratch)] = align64(scratch_.get());
  checks_ = block.launch().checks();
  fastMemory_ = !block.launch().watchesMemory();

  Path start;
  start.mask = started_;
  start.frame = newFrame(program.entry(), nullptr);
  start.frame->references = 1;
  paths_.push_back(start);
  fillSpecials();
  growStack(program.entry().stackBytes);
  stackTop_.fill(program.entry().stackBytes);
  auto* stackBase = reinterpret_cast<uint32_t*>(start.frame->registers);
  std::fill(stackBase, stackBase + kLanes, 0u);
}

Warp::~Warp() { block_.launch().noteSteps(steps_); }

uint64_t Warp::value(const Arg& a, unsigned lane) const {
  switch (a.bytes) {
    case 0: return predicate(a) >> lane & 1;
    case 1: return in<uint8_t>(a)[lane];
    case 2: return in<uint16_t>(a)[lane];
    case 4: return in<uint32_t>(a)[lane];
    case 8: return in<uint64_t>(a)[lane];
    default: {
      uint64_t v;
      std::memcpy(&v, in<std::byte>(a) + std::size_t{lane} * a.bytes, sizeof v);
      return v;
    }
  }
}

void Warp::setValue(const Arg& a, unsigned lane, uint64_t v) const {
  switch (a.bytes) {
    case 0: setPredicate(a, v != 0 ? kAllLanes : 0, Mask{1} << lane); break;
    case 1: out<uint8_t>(a)[lane] = static_cast<uint8_t>(v); break;
    case 2: out<uint16_t>(a)[lane] = static_cast<uint16_t>(v); break;
    case 4: out<uint32_t>(a)[lane] = static_cast<uint32_t>(v); break;
    case 8: out<uint64_t>(a)[lane] = v; break;
    default: {
      std::byte* at = out<std::byte>(a) + std::size_t{lane} * a.bytes;
      std::memset(at, 0, a.bytes);
      std::memcpy(at, &v, sizeof v);
    }
  }
}

}  // namespace ptxopt::exec
