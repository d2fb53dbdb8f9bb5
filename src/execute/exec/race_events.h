// Accesses as the race checks remember them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "exec/vector_clock.h"

namespace ptxopt::exec {

struct Event {
  uint32_t cluster = 0;   // by the order in which the launch makes them
  uint32_t thread = 0;    // in its cluster
  uint32_t time = 0;      // of the thread's clock; 0: no event
  uint32_t sequence = 0;  // among all events of the launch
  uint32_t source = 0;
};

// What one thread knows of others: of its cluster by the clock, of another cluster all that is no later than what
// it got to know last.
struct Knowledge {
  uint32_t cluster = 0;
  const VectorClock* clock = nullptr;
  const std::map<uint32_t, uint32_t>* others = nullptr;  // sequence by cluster; null: nothing of them

  bool operator()(const Event& e) const {
    if (e.cluster == cluster) return clock->knows(e.thread, e.time);
    if (others == nullptr) return false;
    const auto found = others->find(e.cluster);
    return found != others->end() && e.sequence <= found->second;
  }
};

// The last access of each thread, of those that are not all ordered: one by itself or a table.
class Events {
 public:
  Events() = default;
  Events(const Events& other) { *this = other; }
  Events& operator=(const Events& other) {
    one_ = other.one_;
    more_ = other.more_ == nullptr ? nullptr : std::make_unique<Table>(*other.more_);
    return *this;
  }
  Events(Events&&) = default;
  Events& operator=(Events&&) = default;
  ~Events() = default;

  bool empty() const { return one_.time == 0; }
  void clear() {
    one_ = {};
    more_.reset();
  }
  // `known`: the one that is there has happened before.
  void add(const Event& e, bool known) {
    if (more_ != nullptr) {
      (*more_)[keyOf(e)] = e;
    } else if (empty() || known || keyOf(one_) == keyOf(e)) {
      one_ = e;
    } else {
      more_ = std::make_unique<Table>();
      more_->emplace(keyOf(one_), one_);
      more_->emplace(keyOf(e), e);
    }
  }
  // The first, by cluster and thread, that is not known, or nullptr.
  const Event* unknownTo(const Knowledge& knows) const {
    if (more_ == nullptr) return empty() || knows(one_) ? nullptr : &one_;
    for (const auto& [key, e] : *more_)
      if (!knows(e)) return &e;
    return nullptr;
  }
  bool isKnownTo(const Knowledge& knows) const { return more_ == nullptr && !empty() && knows(one_); }
  bool anyKnownTo(const Knowledge& knows) const {
    if (more_ == nullptr) return !empty() && knows(one_);
    for (const auto& [key, e] : *more_)
      if (knows(e)) return true;
    return false;
  }

 private:
  using Table = std::map<uint64_t, Event>;
  static uint64_t keyOf(const Event& e) { return uint64_t{e.cluster} << 32 | e.thread; }

  Event one_;
  std::unique_ptr<Table> more_;
};

}  // namespace ptxopt::exec
