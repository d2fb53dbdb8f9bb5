// What a thread knows of the others' time: the vector clocks of the race check.
//
// After a barrier all threads that met there know the same; so a clock is a shared, constant table and the thread's
// own time beside it, and a barrier of a thousand threads makes one table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace ptxopt::exec {

using ClockTable = std::vector<uint32_t>;  // by thread; missing entries are 0

class VectorClock {
 public:
  VectorClock() = default;
  explicit VectorClock(uint32_t thread) : thread_(thread) {}

  uint32_t thread() const { return thread_; }
  uint32_t now() const { return now_; }
  void tick() { ++now_; }
  // Has what `thread` did at `time` happened before?
  bool knows(uint32_t thread, uint32_t time) const {
    if (thread == thread_) return true;
    return table_ != nullptr && thread < table_->size() && (*table_)[thread] >= time;
  }
  void learn(std::shared_ptr<const ClockTable> table) { table_ = std::move(table); }
  const std::shared_ptr<const ClockTable>& table() const { return table_; }

 private:
  uint32_t thread_ = 0, now_ = 1;
  std::shared_ptr<const ClockTable> table_;
};

// Puts together what several clocks know.
class ClockJoin {
 public:
  void add(const ClockTable& t) {
    if (table_.size() < t.size()) table_.resize(t.size());
    for (std::size_t i = 0; i < t.size(); ++i) table_[i] = std::max(table_[i], t[i]);
  }
  void add(const std::shared_ptr<const ClockTable>& t) {
    if (t == nullptr || t == last_) return;  // most clocks share theirs
    last_ = t;
    add(*t);
  }
  void add(const VectorClock& c) {
    add(c.table());
    if (table_.size() <= c.thread()) table_.resize(c.thread() + 1);
    table_[c.thread()] = std::max(table_[c.thread()], c.now());
  }
  std::shared_ptr<const ClockTable> take() { return std::make_shared<const ClockTable>(std::move(table_)); }

 private:
  ClockTable table_;
  std::shared_ptr<const ClockTable> last_;
};

}  // namespace ptxopt::exec
