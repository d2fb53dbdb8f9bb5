// Each block is scheduled for itself: heights are computed backward from dependences, and a queue of ready instructions
// is emptied by height. Live units are counted as values begin and end in the new order.
#include "analysis/machine/eager_schedule.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ptxopt {
namespace {

constexpr uint32_t kNoValue = AllocatedValues::kNone;

// Cycles until a result can be read.
uint32_t latencyOf(const OpcodeForm& form) {
  if (form.op == Op::Mov || (form.op == Op::Ld && isParameter(form.space))) return 4;
  if (form.op == Op::Ld && (isOwnShared(form.space) || form.space == StateSpace::Const)) return 30;
  if (form.is(effect::Read | effect::Async)) return 200;
  if (form.type == ScalarType::f64 || form.sourceType == ScalarType::f64) return 16;
  switch (form.op) {
    case Op::Div:
    case Op::Sqrt:
    case Op::Rcp:
    case Op::Rsqrt:
    case Op::Sin:
    case Op::Cos:
    case Op::Ex2:
    case Op::Lg2:
    case Op::Shfl:
    case Op::Vote: return 20;
    default: return 5;
  }
}

class Scheduler {
 public:
  Scheduler(const Module& module, const Function& f, const RegisterPressure& pressure,
            const AllocatedValues& allocated)
      : module_(module),
        f_(f),
        points_(pressure.points()),
        values_(allocated.values),
        valueOf_(allocated.valueOf),
        writer_(f.registers.size(), kNoValue),
        readers_(f.registers.size(), kNoValue),
        reads_(values_.size()),
        liveOut_(values_.size()),
        live_(values_.size()) {}

  // What no order of the block exceeds: all values live that are so where it begins, and all that it writes.
  uint32_t bound(BlockId b, std::span<const uint32_t> in) const {
    uint32_t units = 0;  // in half units
    for (const uint32_t v : in) units += unitsOf(v);
    for (std::size_t p = points_.firstOf(b) + 1; p < points_.endOf(b); ++p)
      for (const Operand& o : operandsAt(p))
        if (o.isRegister() && o.writes() && valueOf_[o.payload] != kNoValue) units += unitsOf(valueOf_[o.payload]);
    return (units + 1) / 2;
  }

  // The most units in a block, with the values that are live where it begins and ends.
  uint32_t block(BlockId b, std::span<const uint32_t> in, std::span<const uint32_t> out) {
    const std::size_t first = points_.firstOf(b), n = points_.endOf(b) - first - 1;
    makeGraph(first, n);
    return simulate(first, n, in, out);
  }

 private:
  struct Link {
    uint32_t to, next;
  };
  struct Node {
    uint32_t after = kNoValue;  // the chain of those that wait for it, in edges_
    uint32_t waits = 0;
    uint32_t latency = 0, height = 0, ready = 0;
  };

  std::span<const Operand> operandsAt(std::size_t point) const {
    return f_.operandsOf(f_[points_[point].instruction]);
  }

  void edge(uint32_t from, uint32_t to) {
    if (from == kNoValue || from == to) return;
    edges_.push_back({to, nodes_[from].after});
    nodes_[from].after = static_cast<uint32_t>(edges_.size() - 1);
    ++nodes_[to].waits;
  }

  void makeGraph(std::size_t first, std::size_t n) {
    nodes_.assign(n, {});
    edges_.clear();
    chain_.clear();
    touched_.clear();
    uint32_t lastEffect = kNoValue;
    std::vector<uint32_t> loads;  // since the last effect
    for (uint32_t i = 0; i < n; ++i) {
      const Instruction& instruction = f_[points_[first + 1 + i].instruction];
      const OpcodeForm& form = module_.form(instruction);
      nodes_[i].latency = latencyOf(form);
      for (const Operand& o : f_.operandsOf(instruction)) {
        if (!o.isRegister() || !o.reads()) continue;
        edge(writer_[o.payload], i);
        chain_.push_back({i, readers_[o.payload]});
        readers_[o.payload] = static_cast<uint32_t>(chain_.size() - 1);
        touched_.push_back(o.reg());
      }
      for (const Operand& o : f_.operandsOf(instruction)) {
        if (!o.isRegister() || !o.writes()) continue;
        edge(writer_[o.payload], i);
        for (uint32_t c = readers_[o.payload]; c != kNoValue; c = chain_[c].next) edge(chain_[c].to, i);
        readers_[o.payload] = kNoValue;
        writer_[o.payload] = i;
        touched_.push_back(o.reg());
      }
      if (form.is(effect::kKeep)) {
        edge(lastEffect, i);
        for (const uint32_t l : loads) edge(l, i);
        loads.clear();
        lastEffect = i;
      } else if (form.is(effect::Read)) {
        edge(lastEffect, i);
        loads.push_back(i);
      }
    }
    for (const RegId r : touched_) writer_[r.value] = readers_[r.value] = kNoValue;
    for (uint32_t i = static_cast<uint32_t>(n); i-- > 0;) {
      uint32_t most = 0;
      for (uint32_t e = nodes_[i].after; e != kNoValue; e = edges_[e].next)
        most = std::max(most, nodes_[edges_[e].to].height);
      nodes_[i].height = most + nodes_[i].latency;
    }
  }

  uint32_t unitsOf(uint32_t v) const { return values_[v].size.isHalf ? 1 : 2 * values_[v].size.units; }

  uint32_t simulate(std::size_t first, std::size_t n, std::span<const uint32_t> in, std::span<const uint32_t> out) {
    uint32_t now = 0, most = 0;  // in half units
    const auto begin = [&](uint32_t v) {
      if (!live_[v]) now += unitsOf(v);
      live_[v] = true;
    };
    const auto end = [&](uint32_t v) {
      if (live_[v]) now -= unitsOf(v);
      live_[v] = false;
    };
    for (const uint32_t v : out) liveOut_[v] = true;
    for (const uint32_t v : in) begin(v);
    most = now;
    for (std::size_t i = 0; i < n; ++i)
      for (const Operand& o : operandsAt(first + 1 + i))
        if (o.isRegister() && o.reads() && valueOf_[o.payload] != kNoValue) ++reads_[valueOf_[o.payload]];

    using Entry = std::pair<uint32_t, uint32_t>;
    const auto later = [](const Entry& a, const Entry& b) { return a > b; };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> waiting(later);  // by the cycle it is ready
    // By height, the first in the text for equals.
    const auto lower = [](const Entry& a, const Entry& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(lower)> ready(lower);
    for (uint32_t i = 0; i < n; ++i)
      if (nodes_[i].waits == 0) waiting.emplace(0, i);
    uint32_t cycle = 0;
    while (!waiting.empty() || !ready.empty()) {
      while (!waiting.empty() && waiting.top().first <= cycle) {
        const uint32_t i = waiting.top().second;
        waiting.pop();
        ready.emplace(nodes_[i].height, i);
      }
      if (ready.empty()) {
        cycle = waiting.top().first;
        continue;
      }
      const uint32_t i = ready.top().second;
      ready.pop();
      const auto operands = operandsAt(first + 1 + i);
      for (const Operand& o : operands)
        if (o.isRegister() && o.reads())
          if (const uint32_t v = valueOf_[o.payload]; v != kNoValue && --reads_[v] == 0 && !liveOut_[v]) end(v);
      for (const Operand& o : operands)
        if (o.isRegister() && o.writes() && valueOf_[o.payload] != kNoValue) begin(valueOf_[o.payload]);
      most = std::max(most, now);
      for (const Operand& o : operands)
        if (o.isRegister() && o.writes())
          if (const uint32_t v = valueOf_[o.payload]; v != kNoValue && reads_[v] == 0 && !liveOut_[v]) end(v);
      for (uint32_t e = nodes_[i].after; e != kNoValue; e = edges_[e].next) {
        const uint32_t next = edges_[e].to;
        nodes_[next].ready = std::max(nodes_[next].ready, cycle + nodes_[i].latency);
        if (--nodes_[next].waits == 0) waiting.emplace(nodes_[next].ready, next);
      }
      ++cycle;
    }
    for (const uint32_t v : out) {
      liveOut_[v] = false;
      end(v);
    }
    for (const uint32_t v : in) end(v);
    return (most + 1) / 2;
  }

  const Module& module_;
  const Function& f_;
  const PressurePoints& points_;
  const std::vector<AllocatedValue>& values_;
  const std::vector<uint32_t>& valueOf_;  // by register
  std::vector<uint32_t> writer_;          // by register: the last in the block so far
  std::vector<uint32_t> readers_;         // by register: the chain of those that read what that wrote
  std::vector<Link> chain_;               // readers
  std::vector<RegId> touched_;            // in the block: some more than once
  std::vector<uint32_t> reads_;           // by value: still to come in the block
  std::vector<bool> liveOut_, live_;      // by value
  std::vector<Node> nodes_;
  std::vector<Link> edges_;
};

}  // namespace

uint32_t eagerPressure(const Module& module, const Function& function, const RegisterPressure& pressure,
                       const AllocatedValues& allocated, uint32_t enough) {
  const PressurePoints& points = pressure.points();
  std::vector<std::vector<uint32_t>> in(points.blocks()), out(points.blocks());
  for (uint32_t v = 0; v < allocated.values.size(); ++v)
    for (const AllocatedValue::Span& s : allocated.values[v].spans)
      for (uint32_t b = points[s.first].block.value; b <= points[s.last].block.value; ++b) {
        if (s.first <= points.firstOf(BlockId(b))) in[b].push_back(v);
        if (s.last + 1 >= points.endOf(BlockId(b))) out[b].push_back(v);
      }
  Scheduler scheduler(module, function, pressure, allocated);
  std::vector<std::pair<uint32_t, uint32_t>> order;  // by what a block cannot exceed
  for (uint32_t b = 0; b < points.blocks(); ++b) order.emplace_back(scheduler.bound(BlockId(b), in[b]), b);
  std::ranges::sort(order, std::greater());
  uint32_t most = 0;
  for (const auto& [bound, b] : order) {
    if (bound <= most || most >= enough) break;
    most = std::max(most, scheduler.block(BlockId(b), in[b], out[b]));
  }
  return most;
}

}  // namespace ptxopt
