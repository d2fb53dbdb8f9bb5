// schedule-pressure: puts instructions of a block in an order in which values live shorter.
//
// What:       runs of instructions whose only effect is on registers, loads among them, change their order. ptxas
//             orders the machine's instructions itself, but begins with the order that it finds, and what it ends
//             with depends on that.
// Algorithm:  a graph of the dependences of each run: an instruction stays after the last write of what it
//             mentions, and a write after the reads of what it writes. Two orders of it, by knob schedule-order:
//               late      each instruction just before the first that needs it, from the top: first what nothing
//                         in the run needs, in the order of the text, with all that it needs before it
//               pressure  from the bottom, each time the instruction that leaves the fewest 32-bit units live above
//                         it; of several the last of the text. (List scheduling with the registers as the only
//                         resource, as in Goodman and Hsu, "Code scheduling and register allocation in large basic
//                         blocks", 1988, when registers are short.)
//             A run gets the new order if its values are live shorter in sum: units times instructions.
// Walls:      everything with an effect besides registers and plain loads: stores, atomics, volatile and ordered
//             accesses, barriers, whatever is convergent or asynchronous, calls, branches, opcodes that are not
//             known, reads of special registers that change; and all that is not an instruction: labels, braces,
//             declarations, .loc, pragmas, and what stands right after a pragma. Nothing moves over a wall. A
//             guarded write keeps the old value: it counts as reading what it writes. The carry flag is a register.
// Machine code of ptxas: other, that is the point; better for some kernels, worse for others. On request.
// Cost:       linear in instructions and dependences; by pressure, times those that are ready: runs are cut at
//             kMostRun instructions.
// Declines:   too-large.
#include <algorithm>
#include <functional>
#include <unordered_map>

#include "passes/manager/pass.h"

namespace ptxopt {
namespace {

constexpr std::size_t kMostRun = 1024;

enum class Order : uint8_t { Late, Pressure };

uint32_t unitsOf(const Register& r) {
  if (r.registerClass() == RegisterClass::Pred || r.registerClass() == RegisterClass::Carry) return 0;
  return std::max(1u, info(r.type).bits / 32) * r.lanes;
}

// A run as a graph: what each instruction mentions, and which must stand before which.
class Run {
 public:
  Run(const Function& f, std::vector<InstrId> instructions) : ids_(std::move(instructions)) {
    for (const InstrId id : ids_) {
      Node& node = nodes_.emplace_back();
      for (const Operand& o : f.operandsOf(f[id])) {
        if (!o.isRegister()) continue;
        const uint32_t r = numberOf(f, o.reg());
        if (o.reads()) addOnce(node.reads, r);
        if (o.role == Role::Def) addOnce(node.writes, r);
        if (o.role == Role::Mod) addOnce(node.mods, r);
      }
    }
    connect();
  }

  std::size_t size() const { return ids_.size(); }
  InstrId operator[](std::size_t i) const { return ids_[i]; }
  // The registers of the run; those that are live after it must be given before an order is asked for.
  const std::vector<RegId>& registers() const { return registers_; }
  void setLiveBehind(std::vector<bool> live) { liveBehind_ = std::move(live); }

  std::vector<uint32_t> inOrder(Order order) const { return order == Order::Late ? late() : byPressure(); }

  // Units times instructions that values of the run live, in this order.
  uint64_t lengths(const std::vector<uint32_t>& order) const {
    std::vector<bool> live = liveBehind_;
    uint64_t units = 0, sum = 0;
    for (std::size_t r = 0; r < live.size(); ++r)
      if (live[r]) units += units_[r];
    for (std::size_t i = order.size(); i-- > 0;) {
      sum += units;
      units = static_cast<uint64_t>(static_cast<int64_t>(units) + growth(nodes_[order[i]], live));
      stepOver(nodes_[order[i]], live);
    }
    return sum + units;
  }

 private:
  struct Node {
    std::vector<uint32_t> reads, writes, mods;  // registers; a mod is among the reads, too
    std::vector<uint32_t> before, after;        // nodes that must be; those before: the last of the text first
  };

  static void addOnce(std::vector<uint32_t>& all, uint32_t one) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }

  uint32_t numberOf(const Function& f, RegId reg) {
    const auto [it, isNew] = numbers_.emplace(reg.value, static_cast<uint32_t>(registers_.size()));
    if (isNew) {
      registers_.push_back(reg);
      units_.push_back(unitsOf(f.registers[reg.value]));
    }
    return it->second;
  }

  void connect() {
    constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> writer(registers_.size(), kNone);
    std::vector<std::vector<uint32_t>> readers(registers_.size());  // since it was written
    const auto edge = [&](uint32_t a, uint32_t b) {
      if (a == kNone || a == b || std::ranges::find(nodes_[b].before, a) != nodes_[b].before.end()) return;
      nodes_[b].before.push_back(a);
      nodes_[a].after.push_back(b);
    };
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      for (const uint32_t r : node.reads) edge(writer[r], i);
      for (const auto* written : {&node.writes, &node.mods})
        for (const uint32_t r : *written) {
          edge(writer[r], i);
          for (const uint32_t reader : readers[r]) edge(reader, i);
        }
      for (const auto* written : {&node.writes, &node.mods})
        for (const uint32_t r : *written) {
          writer[r] = i;
          readers[r].clear();
        }
      for (const uint32_t r : node.reads)
        if (writer[r] != i) readers[r].push_back(i);
    }
    for (Node& node : nodes_) std::ranges::sort(node.before, std::greater<>());
  }

  std::vector<uint32_t> late() const {
    std::vector<uint32_t> order;
    std::vector<bool> done(nodes_.size());
    struct Visit {
      uint32_t node;
      std::size_t next;
    };
    std::vector<Visit> stack;
    for (uint32_t root = 0; root < nodes_.size(); ++root) {
      if (!nodes_[root].after.empty()) continue;
      stack.push_back({root, 0});
      while (!stack.empty()) {
        Visit& top = stack.back();
        const std::vector<uint32_t>& before = nodes_[top.node].before;
        // The last of the text first: what stands nearest to its reader stays there.
        uint32_t next = UINT32_MAX;
        while (top.next < before.size() && next == UINT32_MAX) {
          const uint32_t candidate = before[top.next++];
          if (!done[candidate]) next = candidate;
        }
        if (next != UINT32_MAX) {
          stack.push_back({next, 0});
          continue;
        }
        done[top.node] = true;
        order.push_back(top.node);
        stack.pop_back();
      }
    }
    return order;
  }

  std::vector<uint32_t> byPressure() const {
    std::vector<bool> live = liveBehind_;
    std::vector<std::size_t> waits(nodes_.size());
    std::vector<uint32_t> ready, order;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      waits[i] = nodes_[i].after.size();
      if (waits[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      auto best = ready.begin();
      int64_t least = growth(nodes_[*best], live);
      for (auto at = best + 1; at != ready.end(); ++at) {
        const int64_t here = growth(nodes_[*at], live);
        if (here < least || (here == least && *at > *best)) {
          best = at;
          least = here;
        }
      }
      const uint32_t node = *best;
      *best = ready.back();
      ready.pop_back();
      order.push_back(node);
      stepOver(nodes_[node], live);
      for (const uint32_t b : nodes_[node].before)
        if (--waits[b] == 0) ready.push_back(b);
    }
    std::ranges::reverse(order);
    return order;
  }

  // How many more units are live before the instruction than after it, where these are.
  int64_t growth(const Node& node, const std::vector<bool>& live) const {
    int64_t units = 0;
    for (const uint32_t r : node.writes)
      if (live[r] && std::ranges::find(node.reads, r) == node.reads.end()) units -= units_[r];
    for (const uint32_t r : node.reads)
      if (!live[r]) units += units_[r];
    return units;
  }

  static void stepOver(const Node& node, std::vector<bool>& live) {
    for (const uint32_t r : node.writes) live[r] = false;
    for (const uint32_t r : node.reads) live[r] = true;
  }

  std::vector<InstrId> ids_;
  std::vector<Node> nodes_;
  std::unordered_map<uint32_t, uint32_t> numbers_;
  std::vector<RegId> registers_;
  std::vector<uint32_t> units_;   // by number
  std::vector<bool> liveBehind_;  // by number
};

class Shortener {
 public:
  Shortener(Function& f, PassContext& context, Order order)
      : f_(f), context_(context), order_(order), live_(context.analyses.liveness(Liveness::Strength::Plain)) {}

  bool run() {
    const Cfg& cfg = context_.analyses.cfg();
    for (uint32_t b = 0; b < cfg.size(); ++b) block(cfg[BlockId(b)], BlockId(b));
    context_.count("runs", runs_);
    context_.count("moved", moved_);
    return moved_ != 0;
  }

 private:
  bool isWall(const Instruction& i) const {
    if (!i.isInstruction()) return true;
    if (i.previous.valid() && f_[i.previous].kind == InstrKind::Pragma) return true;
    const OpcodeForm& form = context_.module.form(i);
    if (!form.knowsOperands() || form.is(effect::kKeep)) return true;
    return std::ranges::any_of(f_.operandsOf(i), [](const Operand& o) {
      return o.kind == OperandKind::SpecialRegister && o.is(Operand::VolatileRead);
    });
  }

  void block(const Block& block, BlockId id) {
    std::vector<InstrId> all;
    for (InstrId i = block.first; i.valid(); i = i == block.last ? InstrId() : f_[i].next) all.push_back(i);
    live_.startAtEnd(id);
    for (std::size_t end = all.size(); end > 0;) {
      std::size_t begin = end;
      while (begin > 0 && end - begin < kMostRun && !isWall(f_[all[begin - 1]])) --begin;
      if (end - begin < 3) {
        // Nothing can be said of two that depend on each other, and nothing is gained from two that do not.
        const std::size_t last = begin == end ? end - 1 : begin;
        while (end > last) live_.before(f_[all[--end]]);
        continue;
      }
      shorten(std::vector<InstrId>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                   all.begin() + static_cast<std::ptrdiff_t>(end)));
      // What is live before the run does not depend on its order.
      while (end > begin) live_.before(f_[all[--end]]);
    }
  }

  void shorten(std::vector<InstrId> instructions) {
    Run run(f_, std::move(instructions));
    std::vector<bool> liveBehind;
    for (const RegId r : run.registers()) liveBehind.push_back(live_.isLive(r));
    run.setLiveBehind(std::move(liveBehind));
    const std::vector<uint32_t> order = run.inOrder(order_);
    std::vector<uint32_t> asItIs(run.size());
    for (uint32_t i = 0; i < asItIs.size(); ++i) asItIs[i] = i;
    if (order == asItIs || run.lengths(order) >= run.lengths(asItIs)) return;
    ++runs_;
    InstrId at = run[0];
    for (const uint32_t i : order) {
      if (run[i] == at) {
        at = f_[at].next;
        continue;
      }
      f_.moveBefore(run[i], at);
      ++moved_;
    }
  }

  Function& f_;
  PassContext& context_;
  const Order order_;
  Liveness::Walk live_;
  std::size_t runs_ = 0, moved_ = 0;
};

}  // namespace

bool schedulePressure(Function& f, PassContext& context) {
  if (!context.hasUsableGraph()) return false;
  if (!context.analyses.liveness(Liveness::Strength::Plain).solved()) {
    context.decline("too-large", "the live registers would take too much memory");
    return false;
  }
  return Shortener(f, context, context.knobs[Knob::ScheduleOrder] == 0 ? Order::Late : Order::Pressure).run();
}

}  // namespace ptxopt
