// Memory and special registers as a warp sees them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/block.h"
#include "exec/checks.h"
#include "exec/lanes.h"
#include "exec/launch.h"
#include "exec/warp.h"

namespace ptxopt::exec {

void Warp::growStack(uint32_t bytes) {
  if (bytes <= stackCapacity_) return;
  const uint32_t limit = block_.launch().stackLimit();
  if (bytes > limit)
    throw ExecError(FaultKind::StackOverflow,
                    fmt::format("a thread needs {} bytes of stack, the limit is {}", bytes, limit));
  const uint32_t capacity = std::min(limit, std::max(std::bit_ceil(bytes), 64u));
  std::vector<std::byte> grown(std::size_t{capacity} * kLanes, block_.launch().config().unwritten);
  for (unsigned lane = 0; lane < kLanes && stackCapacity_ != 0; ++lane)
    std::memcpy(grown.data() + std::size_t{lane} * capacity, stack_.data() + std::size_t{lane} * stackCapacity_,
                stackCapacity_);
  stack_ = std::move(grown);
  stackCapacity_ = capacity;
}

void Warp::setStackTop(unsigned lane, uint32_t bytes) {
  growStack(bytes);
  stackTop_[lane] = bytes;
}

namespace {

std::string describe(const Allocation& a) {
  return fmt::format("'{}' of {} bytes at {:#x}", a.name, a.size, a.base);
}

const char* verb(Access access) {
  return access == Access::Read ? "read" : access == Access::Write ? "write" : "atomic access";
}

void checkAlignment(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access) {
  if ((address & (alignment - 1)) != 0)
    throw LaneFault{FaultKind::Misaligned, lane,
                    fmt::format("{} of {} bytes at {:#x}, which is not a multiple of {}", verb(access), bytes,
                                address, alignment)};
}

}  // namespace

std::byte* Warp::slowMemory(Space space, unsigned lane, uint64_t address, unsigned bytes, unsigned alignment,
                            Access access) {
  if (space == Space::Generic) {
    const uint64_t window = address & ~(kWindowSize - 1);
    if (window == kSharedWindow) {
      space = Space::Shared;
      address -= kSharedWindow;
    } else if (window == kLocalWindow) {
      space = Space::Local;
      address -= kLocalWindow;
    } else if (window == kParamWindow) {
      space = Space::Param;
      address -= kParamWindow;
    }
  }
  switch (space) {
    case Space::Shared: return sharedMemory(lane, address, bytes, alignment, access);
    case Space::Local: return localMemory(lane, address, bytes, alignment, access);
    case Space::Param: return parameterMemory(lane, address, bytes, alignment, access);
    default: return globalMemory(lane, address, bytes, alignment, access);
  }
}

std::byte* Warp::globalMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access) {
  Machine& machine = block_.launch().machine();
  if (lastFound_ == nullptr || address - lastFound_->base >= lastFound_->reserved)
    lastFound_ = machine.memory().find(address);
  Allocation* const a = lastFound_;
  if (a == nullptr) {
    if (access == Access::Read && block_.launch().isLenient()) return block_.launch().strayBytes({}, bytes);
    const Allocation* const near = machine.memory().nearest(address);
    std::string where;
    if (near != nullptr && address < near->base)
      where = fmt::format("; {} bytes before {}", near->base - address, describe(*near));
    else if (near != nullptr)
      where = fmt::format("; {} bytes after the beginning of {}", address - near->base, describe(*near));
    throw LaneFault{
        FaultKind::OutOfBounds, lane,
        fmt::format("{} of {} bytes at {:#x}, which is in no allocation{}", verb(access), bytes, address, where)};
  }
  checkAlignment(lane, address, bytes, alignment, access);
  const uint64_t offset = address - a->base;
  if (!a->contains(address, bytes)) {
    if (!a->grows || bytes > a->reserved - offset) {
      if (access == Access::Read && block_.launch().isLenient())
        return block_.launch().strayBytes({a->data + offset, a->size - std::min(offset, a->size)}, bytes);
      throw LaneFault{FaultKind::OutOfBounds, lane,
                      fmt::format("{} of {} bytes at {:#x}, {} bytes after the beginning of {}", verb(access),
                                  bytes, address, offset, describe(*a))};
    }
    const uint64_t before = a->size;
    a->size = offset + bytes;
    if (a->grown) a->grown(before, a->size);
  }
  if (access != Access::Read && a->readOnly)
    throw LaneFault{FaultKind::ReadOnly, lane,
                    fmt::format("{} of {} bytes in {}, which is read-only", verb(access), bytes, describe(*a))};
  const bool isWatched = a->watched && a->watch;
  std::byte* const at = isWatched ? a->watch(*this, lane, offset, bytes, access) : a->data + offset;
  if (checks_ != nullptr) checks_->global(*this, lane, *a, offset, at, bytes, access);
  if (checks_ == nullptr) {
    const Allocation::Quiet open = isWatched ? a->quiet : Allocation::Quiet{0, a->size, true, a->data};
    cachedBase_ = a->base + open.begin;
    cachedSize_ = open.bytes;
    cachedData_ = open.data;
    cachedWritable_ = open.writes && !a->readOnly;
  }
  return at;
}

std::byte* Warp::sharedMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access) {
  const auto tag = static_cast<unsigned>(address >> kSharedRankShift);
  Block* owner = &block_;
  if (tag != 0 && address < kWindowSize) {
    if (tag > block_.cluster().blocks().size())
      throw LaneFault{FaultKind::OutOfBounds, lane,
                      fmt::format("{} of {} bytes at shared address {:#x}: the cluster has {} blocks", verb(access),
                                  bytes, address, block_.cluster().blocks().size())};
    owner = &block_.cluster().block(tag - 1);
  }
  const uint64_t offset = address & ((uint64_t{1} << kSharedRankShift) - 1);
  if (address >= kWindowSize || offset >= owner->shared.size() || bytes > owner->shared.size() - offset)
    throw LaneFault{FaultKind::OutOfBounds, lane,
                    fmt::format("{} of {} bytes at shared address {:#x}: the block has {} bytes of shared memory",
                                verb(access), bytes, address, owner->shared.size())};
  checkAlignment(lane, address, bytes, alignment, access);
  if (checks_ != nullptr) checks_->shared(*this, lane, *owner, static_cast<uint32_t>(offset), bytes, access);
  return owner->shared.data() + offset;
}

std::byte* Warp::localMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment, Access access) {
  if (address >= stackTop_[lane] || bytes > stackTop_[lane] - address)
    throw LaneFault{FaultKind::OutOfBounds, lane,
                    fmt::format("{} of {} bytes at local address {:#x}: the thread's stack has {} bytes",
                                verb(access), bytes, address, stackTop_[lane])};
  checkAlignment(lane, address, bytes, alignment, access);
  if (checks_ != nullptr) checks_->local(*this, lane, static_cast<uint32_t>(address), bytes, access);
  return stackBytes(lane, static_cast<uint32_t>(address));
}

std::byte* Warp::parameterMemory(unsigned lane, uint64_t address, unsigned bytes, unsigned alignment,
                                 Access access) {
  auto& parameters = block_.launch().parameters();
  if (address >= parameters.size() || bytes > parameters.size() - address)
    throw LaneFault{FaultKind::OutOfBounds, lane,
                    fmt::format("{} of {} bytes at parameter address {:#x}: the kernel has {} bytes of parameters",
                                verb(access), bytes, address, parameters.size())};
  checkAlignment(lane, address, bytes, alignment, access);
  if (access != Access::Read)
    throw LaneFault{FaultKind::ReadOnly, lane, fmt::format("{} to a kernel's parameters", verb(access))};
  return parameters.data() + address;
}

// ---- special registers ----

namespace {

template <typename T, typename F>
void putLanes(std::byte* at, const F& valueOf) {
  T values[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) values[i] = static_cast<T>(valueOf(i));
  std::memcpy(at, values, sizeof values);
}

// The position after this one, x fastest.
void advance(Dim3& at, const Dim3& shape) {
  if (++at.x < shape.x) return;
  at.x = 0;
  if (++at.y < shape.y) return;
  at.y = 0;
  ++at.z;
}

}  // namespace

void Warp::fillSpecials() {
  for (const SpecialUse& use : block_.program().specials()) fillSpecial(use);
}

void Warp::refreshSpecials(const Op&) {
  for (const SpecialUse& use : block_.program().specials())
    if (use.isVolatile) fillSpecial(use);
}

void Warp::fillSpecial(const SpecialUse& use) {
  std::byte* const at = specialLanes_ + use.offset;
  const auto put = [&](auto&& valueOf) {
    if (use.bytes == 0) {
      Mask m = 0;
      for (unsigned i = 0; i < kLanes; ++i) m |= static_cast<Mask>(valueOf(i) != 0) << i;
      std::memcpy(at, &m, sizeof m);
      return;
    }
    // Each warp of each block comes here: the usual sizes have code of their own.
    if (use.bytes == 4) return putLanes<uint32_t>(at, valueOf);
    if (use.bytes == 8) return putLanes<uint64_t>(at, valueOf);
    for (unsigned i = 0; i < kLanes; ++i) {
      const uint64_t v = valueOf(i);
      std::memset(at + std::size_t{i} * use.bytes, 0, use.bytes);
      std::memcpy(at + std::size_t{i} * use.bytes, &v, std::min<std::size_t>(use.bytes, 8));
    }
  };
  const auto all = [&](uint64_t v) { put([v](unsigned) { return v; }); };
  const LaunchConfig& config = block_.launch().config();
  const std::size_t dot = use.name.find('.');
  const std::string_view base = std::string_view(use.name).substr(0, dot);
  const char component = dot == std::string::npos ? ' ' : use.name[dot + 1];
  const auto of = [&](const Dim3& d) -> uint64_t {
    return component == 'x' ? d.x : component == 'y' ? d.y : component == 'z' ? d.z : component == 'w' ? 0 : d.x;
  };
  const Dim3& cluster = config.cluster;
  const Dim3 inCluster{block_.id().x % cluster.x, block_.id().y % cluster.y, block_.id().z % cluster.z};
  const Dim3 clusters{config.grid.x / cluster.x, config.grid.y / cluster.y, config.grid.z / cluster.z};
  const bool isClustered = cluster.count() > 1;
  const auto laneMask = [&](auto&& f) { put([&](unsigned i) { return uint64_t{static_cast<Mask>(f(i))}; }); };

  if (base == "tid") {
    uint64_t values[kLanes];
    Dim3 thread = positionIn(config.block, threadIndex(0));
    for (uint64_t& v : values) {
      v = of(thread);
      advance(thread, config.block);
    }
    put([&](unsigned i) { return values[i]; });
  } else if (base == "ntid")
    all(component == 'w' ? 1 : of(config.block));
  else if (base == "ctaid")
    all(of(block_.id()));
  else if (base == "nctaid")
    all(component == 'w' ? 1 : of(config.grid));
  else if (base == "laneid")
    put([](unsigned i) { return uint64_t{i}; });
  else if (base == "warpid")
    all(index_);
  else if (base == "nwarpid")
    all((block_.threads() + kLanes - 1) / kLanes);
  else if (base == "smid" || base == "gridid" || base == "current_graph_exec" || base.starts_with("pm"))
    all(0);
  else if (base.starts_with("envreg"))
    all(config.environment[std::stoul(std::string(base.substr(6))) % config.environment.size()]);
  else if (base == "nsmid")
    all(1);
  else if (base == "is_explicit_cluster")
    all(isClustered);
  else if (base == "clusterid")
    all(of(block_.cluster().id()));
  else if (base == "nclusterid")
    all(of(clusters));
  else if (base == "cluster_ctaid")
    all(of(inCluster));
  else if (base == "cluster_nctaid")
    all(of(cluster));
  else if (base == "cluster_ctarank")
    all(block_.rank());
  else if (base == "cluster_nctarank")
    all(cluster.count());
  else if (base == "lanemask_eq")
    laneMask([](unsigned i) { return Mask{1} << i; });
  else if (base == "lanemask_lt")
    laneMask([](unsigned i) { return (Mask{1} << i) - 1; });
  else if (base == "lanemask_le")
    laneMask([](unsigned i) { return (Mask{2} << i) - 1; });
  else if (base == "lanemask_gt")
    laneMask([](unsigned i) { return ~((Mask{2} << i) - 1); });
  else if (base == "lanemask_ge")
    laneMask([](unsigned i) { return ~((Mask{1} << i) - 1); });
  else if (base == "clock" || base == "clock64" || base == "globaltimer" || base == "globaltimer_lo")
    all(readClock());
  else if (base == "clock_hi" || base == "globaltimer_hi")
    all(readClock() >> 32);
  else if (base == "total_smem_size" || base == "aggr_smem_size")
    all(block_.shared.size());
  else if (base == "dynamic_smem_size")
    all(config.dynamicShared);
  else if (base.starts_with("reserved_smem_offset"))
    all(0);
}

}  // namespace ptxopt::exec
