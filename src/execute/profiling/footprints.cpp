// Launches with the same key, which is shape, numbers and places of addresses in their allocations, share one watched
// result. While a launch is watched, each access of a shared allocation widens the range of every parameter that its
// address may be made of.
#include "profiling/footprints.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analysis/addresses/parameter_memory.h"
#include "analysis/manager/analyses.h"
#include "exec/warp.h"
#include "ir/opcode_predicates.h"

namespace ptxopt::profiling {
namespace {

constexpr uint32_t kMostParameters = 63;  // of ParameterMemory

bool has(uint64_t set, uint32_t parameter) { return parameter < kMostParameters && (set >> parameter & 1) != 0; }

}  // namespace

// While it lives, accesses of allocations are noted for the parameters that the running instruction's address is made
// from.
class FootprintFinder::Watch final : public exec::Observer {
 public:
  Watch(const Function& kernel, const std::vector<Set>& accessed, const std::vector<Pointer>& pointers)
      : kernel_(kernel), accessed_(accessed) {
    for (const Pointer& p : pointers)
      if (std::ranges::find(watched_, p.allocation) == watched_.end()) watched_.push_back(p.allocation);
    for (exec::Allocation* const a : watched_) {
      a->watched = true;
      a->quiet = {};
      a->watch = [this, a](const exec::Warp&, unsigned, uint64_t offset, unsigned bytes, exec::Access) {
        note(a, offset, bytes);
        return a->data + offset;
      };
    }
  }
  ~Watch() override {
    for (exec::Allocation* const a : watched_) {
      a->watched = false;
      a->watch = {};
    }
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void op(exec::Warp&, const exec::Routine& routine, const exec::Op& op, exec::Mask, exec::Mask) override {
    now_ = routine.function == &kernel_ ? accessed_[op.instruction] : 0;
  }

  bool meet(uint32_t a, uint32_t b, const exec::Allocation* allocation) const {
    const auto x = ranges_.find({allocation, a}), y = ranges_.find({allocation, b});
    return x != ranges_.end() && y != ranges_.end() && x->second.first < y->second.second &&
           y->second.first < x->second.second;
  }

 private:
  void note(const exec::Allocation* a, uint64_t offset, unsigned bytes) {
    for (Set rest = now_; rest != 0; rest &= rest - 1) {
      const auto parameter = static_cast<uint32_t>(std::countr_zero(rest));
      const auto [range, isNew] = ranges_.try_emplace({a, parameter}, offset, offset + bytes);
      range->second.first = std::min(range->second.first, offset);
      range->second.second = std::max(range->second.second, offset + bytes);
    }
  }

  const Function& kernel_;
  const std::vector<Set>& accessed_;
  std::vector<exec::Allocation*> watched_;
  Set now_ = 0;
  std::map<std::pair<const exec::Allocation*, uint32_t>, std::pair<uint64_t, uint64_t>> ranges_;
};

FootprintFinder::FootprintFinder(const Module& module, const Function& kernel, std::vector<ReadPart> parts)
    : kernel_(kernel), parts_(std::move(parts)), accessed_(kernel.instructions.size()) {
  Analyses analyses(module, kernel);
  if (!analyses.cfg().complete() || !analyses.mayHaveLiveIntervals()) return;
  const ParameterMemory memory(module, kernel, analyses.cfg(), analyses.slotIndexes(), analyses.liveIntervals());
  isKnown_ = true;
  written_ = memory.written();
  bool others = false;  // accesses by addresses that are made of no parameter
  for (const InstrId id : kernel) {
    const Instruction& i = kernel[id];
    if (!i.isInstruction() || !module.form(i).is(effect::Read | effect::Write)) continue;
    accessed_[id.value] = memory.accessed(id) & ~ParameterMemory::kOther;
    reached_ |= accessed_[id.value];
    others |= (memory.accessed(id) & ParameterMemory::kOther) != 0 && !isParameterLoad(module.form(i));
  }
  // What is reached by other addresses may be so through parameters that are read in part.
  if (!others) return;
  partly_ = memory.escaped() & ~reached_;
  for (const ReadPart& part : parts_)
    if (const Variable& v = kernel.variables[kernel.parameters[part.parameter].value];
        part.mayBeAddress && !v.declarator.dimensions.empty() && part.parameter < kMostParameters)
      partly_ |= Set{1} << part.parameter;
  if ((written_ & ParameterMemory::kOther) != 0) written_ |= partly_;
}

std::vector<FootprintFinder::Pointer> FootprintFinder::pointersOf(exec::Machine& machine,
                                                                  std::span<const std::byte> parameters) const {
  std::vector<Pointer> pointers;
  for (const ReadPart& part : parts_) {
    if (!part.mayBeAddress || !has(reached_ | partly_, part.parameter) ||
        part.place + part.bytes > parameters.size())
      continue;
    uint64_t address = 0;
    std::memcpy(&address, parameters.data() + part.place, part.bytes);
    if (exec::Allocation* const a = machine.memory().find(address); a != nullptr)
      pointers.push_back({part.parameter, address, a});
  }
  return pointers;
}

// Launches with the same key reach the same: the same shape, numbers, and places of addresses in their allocations.
std::vector<uint64_t> FootprintFinder::keyOf(const exec::LaunchConfig& config,
                                             const std::vector<Pointer>& pointers) const {
  std::vector<uint64_t> key;
  for (const exec::Dim3& d : {config.grid, config.block}) key.insert(key.end(), {d.x, d.y, d.z});
  std::vector<const exec::Allocation*> seen;
  for (const Pointer& p : pointers) {
    const auto known = std::ranges::find(seen, p.allocation);
    key.push_back(static_cast<uint64_t>(known - seen.begin()));
    if (known == seen.end()) seen.push_back(p.allocation);
    key.push_back(p.address - p.allocation->base);
  }
  for (const ReadPart& part : parts_) {
    if (part.mayBeAddress || part.place + part.bytes > config.parameters.size()) continue;
    uint64_t bits = 0;
    std::memcpy(&bits, config.parameters.data() + part.place, part.bytes);
    key.push_back(bits);
  }
  return key;
}

std::optional<Footprints> FootprintFinder::run(exec::Machine& machine, exec::LaunchConfig& config,
                                               const std::function<void(exec::LaunchConfig&)>& launch) {
  const std::vector<Pointer> pointers = isKnown_ ? pointersOf(machine, config.parameters) : std::vector<Pointer>();
  if (!isKnown_) {
    launch(config);
    return std::nullopt;
  }
  std::vector<Pointer> shared;  // that lead to an allocation that another parameter leads to as well
  for (const Pointer& p : pointers)
    if (std::ranges::any_of(pointers, [&](const Pointer& q) {
          return p.allocation == q.allocation && (p.parameter != q.parameter || has(partly_, p.parameter)) &&
                 &p != &q;
        }))
      shared.push_back(p);
  Footprints found;
  for (const Pointer& p : pointers)
    if (has(written_, p.parameter)) found.written.push_back(p.parameter);
  std::ranges::sort(found.written);
  found.written.erase(std::ranges::unique(found.written).begin(), found.written.end());
  if (shared.empty()) {
    launch(config);
    return found;
  }
  std::vector<uint64_t> key = keyOf(config, pointers);
  if (const auto known = known_.find(key); known != known_.end()) {
    launch(config);
    return known->second;
  }
  const bool isWatched = std::ranges::any_of(shared, [](const Pointer& p) { return p.allocation->watched; });
  const bool isFollowed = std::ranges::none_of(shared, [&](const Pointer& p) { return has(partly_, p.parameter); });
  if (!isFollowed || known_.size() >= kMostWatched || config.observer != nullptr || isWatched) {
    launch(config);
    return std::nullopt;
  }
  Watch watch(kernel_, accessed_, shared);
  exec::LaunchConfig watched = config;
  watched.observer = &watch;
  watched.jobs = 1;
  launch(watched);
  for (const Pointer& p : shared)
    for (const Pointer& q : shared)
      if (p.parameter < q.parameter && p.allocation == q.allocation &&
          watch.meet(p.parameter, q.parameter, p.allocation))
        found.overlapping.emplace_back(p.parameter, q.parameter);
  std::ranges::sort(found.overlapping);
  found.overlapping.erase(std::ranges::unique(found.overlapping).begin(), found.overlapping.end());
  return known_.emplace(std::move(key), std::move(found)).first->second;
}

}  // namespace ptxopt::profiling
