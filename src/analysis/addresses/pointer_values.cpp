#include "analysis/addresses/pointer_values.h"

namespace ptxopt {

bool canHoldPointer(ScalarType t) { return t == ScalarType::b64 || t == ScalarType::u64 || t == ScalarType::s64; }

PointerValues::PointerValues(const Function& f, const Cfg& cfg, const SlotIndexes& slots,
                             const LiveIntervals& intervals)
    : start_(f.registers.size(), kNone), begin_(cfg.size()) {
  for (uint32_t r = 1; r < f.registers.size(); ++r) {
    const Register& reg = f.registers[r];
    if (reg.lanes != 1 || !canHoldPointer(reg.type)) continue;
    start_[r] = size_;
    const auto& all = intervals[RegId(r)].values();
    size_ += static_cast<uint32_t>(all.size());
    for (std::size_t v = 0; v < all.size(); ++v)
      if (all[v].kind == ValueKind::Phi || all[v].kind == ValueKind::Entry)
        begin_[slots.blockAt(all[v].def).value].push_back({RegId(r), ValueId(v)});
  }
}

}  // namespace ptxopt
