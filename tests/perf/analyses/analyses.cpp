// Time and memory of the analyses an instruction, on made functions of 1,000 to 1,000,000 instructions.
//
//     build/release/tests/ptxopt_bench_analyses [--most INSTRUCTIONS] [--shape NAME] [--check]
//
// Shapes:
//     kernel   structured code as a compiler leaves it: nested loops, diamonds, switches and guarded returns, ten
//              instructions a block, most registers written once, a few variables carried by each loop
//     flat     diamonds one after the other, all on a few variables: many definitions and phis for each
//     nest     one nest of loops, as deep as there are blocks for
//     long     blocks of a thousand instructions
// A line for each size: how many registers are live at the start of a block on average, nanoseconds an instruction
// of each analysis (the best of several runs; `needed` is liveness again, of what is needed only), their sum, and
// the bytes an instruction that all of them keep together and that the heap grew at most while they were made. With
// --check the exit status is 1 when a sum is over 1,500 ns, or the heap grew by more than 200 bytes an instruction,
// or liveness declined.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analysis/dataflow/live_intervals.h"
#include "analysis/dataflow/liveness.h"
#include "analysis/dataflow/loops.h"
#include "analysis/machine/register_pressure.h"
#include "analysis/values/uniform_registers.h"
#include "text/parse.h"

using namespace ptxopt;

// ---- the heap ----

namespace {
std::size_t inUse = 0, mostInUse = 0;
}  // namespace

void* operator new(std::size_t size) {
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  inUse += malloc_usable_size(p);
  mostInUse = std::max(mostInUse, inUse);
  return p;
}
void operator delete(void* p) noexcept {
  if (p != nullptr) inUse -= malloc_usable_size(p);
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept { operator delete(p); }

namespace {

// ---- functions ----

class Generator {
 public:
  Generator(std::string_view shape, std::size_t instructions)
      : shape_(shape), left_(static_cast<long>(instructions)) {
    values_ = {"%r0", "%r1"};
    for (int v = 0; v < kVariables; ++v) {
      variables_.push_back("%v" + std::to_string(v));
      line("mov.b32 " + variables_.back() + ", " + std::to_string(v) + ";");
    }
    line("setp.eq.s32 %p, %v0, 0;");
    if (shape == "flat")
      while (left_ > 0) diamond();
    else if (shape == "nest")
      nest(static_cast<std::size_t>(left_) / 20);
    else
      while (left_ > 0) region(0);
    for (const std::string& v : variables_) line("st.global.b32 [%a], " + v + ";");
    line("ret;");
  }

  std::string text() const {
    return ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n.reg .pred %p, %q<" +
           std::to_string(predicates_ + 1) + ">; .reg .b64 %a; .reg .b32 %r<" + std::to_string(next_ + 1) +
           ">;\n.reg .b32 %v<" + std::to_string(carried_) + ">;\n" + tables_ + body_ + "}\n";
  }

 private:
  static constexpr int kVariables = 8;

  std::size_t pick(std::size_t n) { return random_() % n; }
  void line(const std::string& text) {
    body_ += text;
    body_ += '\n';
    --left_;
  }
  std::string label() { return "L" + std::to_string(labels_++); }
  void place(const std::string& label) { body_ += label + ":\n"; }
  // Mostly what was computed just now, sometimes long ago, sometimes a variable. Not from everywhere: in real
  // kernels the number of values that are live at once does not grow with the function.
  const std::string& value() {
    if (pick(5) == 0) return variables_[pick(variables_.size())];
    const std::size_t n = values_.size();
    return values_[n - 1 - pick(std::min<std::size_t>(n, pick(16) == 0 ? 100 : 8))];
  }
  void straight(std::size_t n) {
    while (n-- > 0) {
      const std::string a = value(), b = value();
      switch (pick(8)) {
        case 0: line("st.global.b32 [%a+" + std::to_string(4 * pick(64)) + "], " + a + ";"); continue;
        case 1: line("add.s32 " + variables_[pick(variables_.size())] + ", " + a + ", " + b + ";"); continue;
        default: break;
      }
      values_.push_back("%r" + std::to_string(next_++));
      line("mad.lo.s32 " + values_.back() + ", " + a + ", " + b + ", " + a + ";");
    }
  }
  std::size_t length() { return shape_ == "long" ? 500 + pick(1000) : 5 + pick(10); }
  std::string condition() {
    const std::string q = "%q" + std::to_string(predicates_++);
    line("setp.lt.s32 " + q + ", " + value() + ", " + value() + ";");
    return q;
  }
  // Code whose values are not known behind it.
  template <typename Code>
  void inside(Code code) {
    const std::size_t values = values_.size(), variables = variables_.size();
    code();
    values_.resize(values);
    variables_.resize(variables);
  }

  void diamond() {
    const std::string other = label(), join = label();
    line("@%p bra " + other + ";");
    inside([&] { straight(2); });
    line("mov.b32 " + variables_[pick(kVariables)] + ", 1;");
    line("bra " + join + ";");
    place(other);
    inside([&] { straight(2); });
    line("mov.b32 " + variables_[pick(kVariables)] + ", 2;");
    place(join);
    inside([&] { straight(2); });
  }
  void nest(std::size_t depth) {
    std::vector<std::string> heads;
    for (std::size_t d = 0; d < depth; ++d) {
      heads.push_back(label());
      place(heads.back());
      inside([&] { straight(9); });
    }
    while (!heads.empty()) {
      inside([&] { straight(9); });
      line("@%p bra " + heads.back() + ";");
      heads.pop_back();
    }
  }
  void region(std::size_t depth) {
    straight(length());
    if (left_ <= 0) return;
    const std::size_t kind = pick(8);
    if (kind < 2 && depth < 8) {  // a loop, with variables of its own
      const std::string head = label();
      inside([&] {
        for (std::size_t n = 1 + pick(3); n-- > 0;) {
          variables_.push_back("%v" + std::to_string(carried_++));
          line("mov.b32 " + variables_.back() + ", " + value() + ";");
        }
        place(head);
        for (std::size_t n = 1 + pick(4); n-- > 0 && left_ > 0;) region(depth + 1);
        for (std::size_t v = kVariables; v < variables_.size(); ++v)
          if (pick(2) == 0) line("add.s32 " + variables_[v] + ", " + variables_[v] + ", " + value() + ";");
        line("@" + condition() + " bra " + head + ";");
      });
    } else if (kind < 5 && depth < 12) {
      const std::string other = label(), join = label();
      line("@" + condition() + " bra " + other + ";");
      inside([&] { region(depth + 1); });
      if (pick(2) == 0) {
        line("bra " + join + ";");
        place(other);
        inside([&] { region(depth + 1); });
      } else {
        place(other);
      }
      place(join);
    } else if (kind == 5 && pick(4) == 0) {
      const std::string table = "T" + std::to_string(labels_), join = label();
      std::vector<std::string> ways;
      std::string list;
      for (std::size_t n = 2 + pick(6); n-- > 0;) {
        ways.push_back(label());
        list += (list.empty() ? "" : ", ") + ways.back();
      }
      tables_ += table + ": .branchtargets " + list + ";\n";
      line("brx.idx " + value() + ", " + table + ";");
      for (const std::string& way : ways) {
        place(way);
        inside([&] { straight(length()); });
        line("bra " + join + ";");
      }
      place(join);
    } else if (kind == 6 && pick(4) == 0) {
      line("@" + condition() + " ret;");
    }
  }

  std::mt19937_64 random_{1};
  std::string_view shape_;
  long left_;
  std::size_t next_ = 2, labels_ = 0, predicates_ = 0, carried_ = kVariables;
  std::vector<std::string> values_, variables_;
  std::string tables_, body_;
};

// ---- measuring ----

constexpr std::size_t kMostLivenessBytes = std::size_t{1} << 30;  // as passes/manager/knobs.def has it
constexpr std::size_t kParts = 9;
constexpr const char* kPartNames[kParts] = {"cfg",      "dom",    "pdom",      "loops",   "slots",
                                            "liveness", "needed", "intervals", "pressure"};

struct Result {
  double nanoseconds[kParts] = {};
  std::size_t kept = 0, most = 0;
  bool isLivenessSolved = false;
};

// Of this process: other work on the machine counts less.
double cpuNanoseconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

Result runOnce(const Module& module, const Function& f) {
  Result result;
  const std::size_t before = inUse;
  mostInUse = inUse;
  std::size_t part = 0;
  double last = cpuNanoseconds();
  const auto done = [&] {
    const double now = cpuNanoseconds();
    result.nanoseconds[part++] = now - last;
    last = now;
  };
  const Cfg cfg(module, f);
  done();
  const DominatorTree dominators(cfg, DominatorTree::Direction::Dominators);
  done();
  const DominatorTree postDominators(cfg, DominatorTree::Direction::PostDominators);
  done();
  const Loops loops(cfg);
  done();
  const SlotIndexes slots(f, cfg);
  done();
  const RegisterFiles files = findRegisterFiles(module, f, cfg, dominators);
  const Liveness liveness(module, f, cfg, files, Liveness::Strength::Plain,
                          {.mostBytes = kMostLivenessBytes, .walkOnly = false});
  done();
  const Liveness needed(module, f, cfg, files, Liveness::Strength::Needed,
                        {.mostBytes = kMostLivenessBytes, .walkOnly = false}, &liveness);
  done();
  const LiveIntervals intervals(f, cfg, slots, &dominators);
  done();
  const RegisterPressure pressure(module, f, cfg, slots, intervals, files);
  done();
  result.isLivenessSolved = liveness.solved() && needed.solved();
  result.kept = inUse - before;
  result.most = mostInUse - before;
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t mostInstructions = 1000000;
  std::vector<std::string> shapes{"kernel", "flat", "nest", "long"};
  bool check = false;
  for (int a = 1; a < argc; ++a) {
    if (std::strcmp(argv[a], "--most") == 0 && a + 1 < argc) {
      mostInstructions = std::strtoul(argv[++a], nullptr, 10);
    } else if (std::strcmp(argv[a], "--shape") == 0 && a + 1 < argc) {
      shapes = {argv[++a]};
    } else if (std::strcmp(argv[a], "--check") == 0) {
      check = true;
    } else {
      std::fprintf(stderr, "usage: %s [--most INSTRUCTIONS] [--shape kernel|flat|nest|long] [--check]\n", argv[0]);
      return 2;
    }
  }
  bool good = true;
  for (const std::string& shape : shapes) {
    std::printf("%s\n%12s %8s %6s %6s %10s", shape.c_str(), "instructions", "blocks", "live", "depth", "registers");
    for (const char* name : kPartNames) std::printf(" %9s", name);
    std::printf(" %9s %9s %9s\n", "all ns", "kept B", "most B");
    for (std::size_t size = 1000; size <= mostInstructions; size *= 10) {
      std::string text = Generator(shape, size).text();
      auto parsed = text::parse(text, "made.ptx");
      if (const auto* error = std::get_if<text::ParseError>(&parsed)) {
        std::fprintf(stderr, "%s\n", text::render(*error, "made.ptx").c_str());
        return 2;
      }
      const Module& module = *std::get<0>(parsed);
      const Function& f = module.functions[0];
      std::size_t instructions = 0;
      for (const InstrId id : f) instructions += f[id].isInstruction();
      uint32_t depth = 0;
      double live = 0;  // registers at the start of a block, on average
      const Cfg cfg(module, f);
      {
        const SlotIndexes slots(f, cfg);
        const LiveIntervals intervals(f, cfg, slots);
        for (std::size_t r = 0; r < intervals.size(); ++r)
          for (const Segment& s : intervals[RegId(r)].segments())
            for (uint32_t b = slots.blockAt(s.start).value; b < cfg.size() && slots.start(BlockId(b)) < s.end; ++b)
              live += slots.start(BlockId(b)) >= s.start ? 1 : 0;
        live /= static_cast<double>(cfg.size());
        const Loops loops(cfg);
        for (uint32_t l = 0; l < loops.size(); ++l) depth = std::max(depth, loops[LoopId(l)].depth);
      }
      Result best;
      const std::size_t runs = std::max<std::size_t>(5, 200000 / size);
      for (std::size_t r = 0; r < runs; ++r) {
        const Result now = runOnce(module, f);
        for (std::size_t k = 0; k < kParts; ++k)
          best.nanoseconds[k] = r == 0 ? now.nanoseconds[k] : std::min(best.nanoseconds[k], now.nanoseconds[k]);
        best.kept = now.kept;
        best.most = now.most;
        best.isLivenessSolved = now.isLivenessSolved;
      }
      const auto n = static_cast<double>(instructions);
      std::printf("%12zu %8zu %6.0f %6u %10zu", instructions, cfg.size(), live, depth, f.registers.size());
      double sum = 0;
      for (const double ns : best.nanoseconds) {
        std::printf(" %9.1f", ns / n);
        sum += ns / n;
      }
      const double kept = static_cast<double>(best.kept) / n;
      const double most = static_cast<double>(best.most) / n;
      std::printf(" %9.1f %9.1f %9.1f%s\n", sum, kept, most,
                  best.isLivenessSolved ? "" : "  (liveness declined: too large)");
      std::fflush(stdout);
      good = good && sum <= 1500 && most <= 200 && best.isLivenessSolved;
    }
  }
  return check && !good ? 1 : 0;
}
