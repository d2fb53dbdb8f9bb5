// The copies that packs and unpacks make together, and the bridges across which their registers are joined: on
// small texts, and on random functions that are run by values.
//
// A random function runs along a random path, before and after the pass in step. Loads give values drawn from where
// they are met; packs, unpacks, moves, constants and additions do what they do. Branches and guards are decided by
// the path.
#include <fmt/format.h>

#include <map>

#include "analysis/dataflow/copies.h"
#include "coalescing_model.h"
#include "ir/verify.h"
#include "passes/coalescing/pack_copies.h"
#include "sampled.h"
#include "support.h"
#include "text/print.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

struct Found {
  Parsed p;
  PackCopies packs;

  explicit Found(std::string text) : p(std::move(text)) {
    const Knobs knobs;
    PassReport report;
    Function& f = p.function();
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    std::vector<Copy> known;
    for (const InstrId id : f)
      if (const auto copy = readCopy(*p, f, id)) known.push_back(*copy);
    packs = findPackCopies(f, context, known);
  }

  // `unpack %r3=%r1; pack %rd2=%rd1 via %r1; 1 across; 2 halves`
  std::string text() const {
    std::string text;
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
    const auto nameOf = [&](RegId r) { return p.name(p.function().registers[r.value].name); };
    for (const Copy& c : packs.copies)
      add(fmt::format("{} {}={} via {}", name(c.family), nameOf(c.to), nameOf(c.from), nameOf(c.via)));
    if (packs.acrossBlocks != 0) add(fmt::format("{} across", packs.acrossBlocks));
    if (packs.halves != 0) add(fmt::format("{} halves", packs.halves));
    return text;
  }
};

std::string found(std::string_view body) { return Found(kernel(body)).text(); }

// ---- random functions ----

class PackFunction {
 public:
  PackFunction(uint64_t seed, std::size_t blocks) : random_(seed) {
    for (std::size_t r = 0; r < kWide; ++r) add(fmt::format("ld.global.u64 %rd{}, [%rd90];", r));
    for (std::size_t r = 0; r < kNarrow; ++r) add(fmt::format("ld.global.u32 %r{}, [%rd90];", r));
    for (std::size_t r = 0; r < kReal; ++r) add(fmt::format("ld.global.f32 %f{}, [%rd90];", r));
    for (std::size_t b = 0; b < blocks; ++b) {
      add(fmt::format("$L{}:", b));
      for (std::size_t k = 4 + below(9); k != 0; --k) addStatement();
      if (blocks > 1) add(fmt::format("@%p1 bra $L{};", below(blocks)));
    }
    for (std::size_t r = 0; r < kWide; ++r) add(fmt::format("st.global.u64 [%rd90], %rd{};", r));
    for (std::size_t r = 0; r < kNarrow; ++r) add(fmt::format("st.global.u32 [%rd90], %r{};", r));
    for (std::size_t r = 0; r < kReal; ++r) add(fmt::format("st.global.f32 [%rd90], %f{};", r));
    add("ret;");
  }
  std::string text() const { return kernel("ld.param.u64 %rd90, [p];\nsetp.eq.u64 %p1, %rd90, 0;\n" + body_); }

 private:
  static constexpr std::size_t kWide = 4, kNarrow = 7, kReal = 3;

  std::size_t below(std::size_t n) { return random_() % n; }
  void add(const std::string& line) { body_ += line + "\n"; }
  std::string wide() { return fmt::format("%rd{}", below(kWide)); }
  std::string real() { return fmt::format("%f{}", below(kReal)); }
  std::string narrow() { return fmt::format("%r{}", below(kNarrow)); }
  void addStatement() {
    switch (below(16)) {
      case 0: return add(fmt::format("ld.global.u32 {}, [%rd90];", narrow()));
      case 1: return add(fmt::format("ld.global.u64 {}, [%rd90];", wide()));
      case 2: return add(fmt::format("add.u32 {}, {}, {};", narrow(), narrow(), narrow()));
      case 3: return add(fmt::format("mov.b32 {}, {};", narrow(), narrow()));
      case 4: return add(fmt::format("mov.b64 {}, {};", wide(), wide()));
      case 5: return add(fmt::format("@%p1 mov.b32 {}, {};", narrow(), narrow()));
      case 6: return add(fmt::format("st.global.u32 [%rd90], {};", narrow()));
      case 12: return add(fmt::format("mov.u32 {}, {};", narrow(), below(3)));
      case 13: return add(fmt::format("mov.b32 {}, {};", real(), below(2) ? narrow() : real()));
      case 14: return add(fmt::format("mov.b32 {}, {};", narrow(), real()));
      case 15:
        if (below(2) == 0) return add(fmt::format("mov.f32 {}, 0f3F80000{};", real(), below(2)));
        return add(fmt::format("selp.b32 {0}, {1}, {1}, %p1;", narrow(), below(2) ? narrow() : real()));
      case 7:
        low_ = narrow(), high_ = narrow();
        return add(fmt::format("mov.b64 {}, {{{}, {}}};", whole_ = wide(), low_, high_));
      // What was packed or unpacked last is taken up again as often as not.
      case 8:
      case 9: {
        const std::string whole = below(2) == 0 && !whole_.empty() ? whole_ : wide();
        low_ = narrow();
        do high_ = narrow();
        while (high_ == low_);
        const std::size_t sink = below(8);
        return add(fmt::format("mov.b64 {{{}, {}}}, {};", sink == 0 ? "_" : low_, sink == 1 ? "_" : high_,
                               whole_ = whole));
      }
      default: {
        const bool again = below(2) == 0 && !low_.empty();
        const std::string low = again ? low_ : narrow(), high = again ? high_ : narrow();
        return add(fmt::format("mov.b64 {}, {{{}, {}}};", whole_ = wide(), low, high));
      }
    }
  }

  std::mt19937_64 random_;
  std::string body_, whole_, low_, high_;
};

// The registers of a running function.
class Values {
 public:
  Values(const Module& module, const Function& f) : module_(module), f_(f) {}
  uint64_t operator[](RegId r) const {
    const auto at = held_.find(r.value);
    return at == held_.end() ? 0 : at->second;
  }

  // `drawn` is what a load gives and whether a guard holds.
  void step(InstrId id, uint64_t drawn) {
    const Instruction& i = f_[id];
    if (!i.isInstruction() || i.is(Instruction::Erased)) return;
    const bool isGuarded = i.is(Instruction::Guarded);
    if (isGuarded && drawn % 2 == 0) return;
    const auto o = f_.operandsOf(i).subspan(isGuarded);
    const std::string_view opcode = module_.printedOpcode(i);
    const bool isMove = opcode.starts_with("mov.");
    if (opcode.starts_with("ld.")) {
      set(o[0], opcode.ends_with("32") ? drawn & 0xFFFFFFFF : drawn);
    } else if (opcode.starts_with("add.")) {
      set(o[0], ((*this)[o[1].reg()] + (*this)[o[2].reg()]) & 0xFFFFFFFF);
    } else if (isMove && o[0].kind == OperandKind::Vector) {
      const uint64_t whole = (*this)[o[3].reg()];
      set(o[1], whole & 0xFFFFFFFF);
      set(o[2], whole >> 32);
    } else if (isMove && o[1].kind == OperandKind::Vector) {
      set(o[0], (*this)[o[2].reg()] | (*this)[o[3].reg()] << 32);
    } else if (isMove || opcode.starts_with("selp.")) {
      set(o[0], o[1].isRegister() ? (*this)[o[1].reg()] : o[1].payload);  // or a constant of 32 bits
    }
  }

 private:
  void set(const Operand& o, uint64_t value) {
    if (o.isRegister()) held_[o.payload] = value;
  }

  const Module& module_;
  const Function& f_;
  std::map<uint32_t, uint64_t> held_;
};

bool isMove(std::string_view opcode) { return opcode.starts_with("mov.") || opcode.starts_with("selp."); }

// Calls `step(id, drawn)` for each instruction along a random path.
template <typename Step>
void walk(const Function& f, const Cfg& cfg, std::mt19937_64& random, Step step) {
  for (const BlockId b : randomPath(cfg, random, 24))
    for (InstrId id = cfg[b].first;; id = f[id].next) {
      step(id, random());
      if (id == cfg[b].last) break;
    }
}

// How many copies there are at least in a function of one block: packs of what an unpack left and lanes of unpacks
// of what was packed, seen through plain moves only.
std::size_t copiesAtLeast(const Module& module, const Function& f) {
  struct Value {
    InstrId def;
    std::size_t lane = 0;  // of an unpack
    bool isPack = false, isLane = false;
    RegId reg;
  };
  std::map<uint32_t, Value> held;
  std::size_t count = 0;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) continue;
    const auto o = f.operandsOf(f[id]);
    const bool isMove = module.printedOpcode(f[id]).starts_with("mov.") && !f[id].is(Instruction::Guarded);
    std::vector<std::pair<uint32_t, Value>> written;
    if (isMove && o[0].kind == OperandKind::Vector) {
      for (std::size_t k = 1; k <= 2; ++k) {
        if (!o[k].isRegister()) continue;
        count += held[o[3].payload].isPack;
        written.push_back({o[k].payload, {id, k, false, true, o[k].reg()}});
      }
    } else if (isMove && o[1].kind == OperandKind::Vector) {
      const Value low = held[o[2].payload], high = held[o[3].payload];
      count += low.isLane && high.isLane && low.def == high.def && low.lane == 1 && high.lane == 2;
      written.push_back({o[0].payload, {id, 0, true, false, o[0].reg()}});
    } else if (isMove) {
      written.push_back({o[0].payload, o[1].isRegister() ? held[o[1].payload] : Value()});
    } else {
      for (const Operand& operand : o)
        if (operand.isRegister() && operand.writes()) written.push_back({operand.payload, {}});
    }
    // A guarded move leaves a value of neither.
    if (f[id].is(Instruction::Guarded) && o[1].isRegister()) written = {{o[1].payload, {}}};
    for (const auto& [reg, value] : written) held[reg] = value;
  }
  return count;
}

}  // namespace

TEST_CASE("pack copies: an unpack of what was packed, a pack of what was unpacked") {
  CHECK(found("mov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r3, %r4}, %rd1;\nret;\n") ==
        "unpack %r3=%r1 via %rd1; unpack %r4=%r2 via %rd1");
  CHECK(found("mov.b64 {%r1, %r2}, %rd1;\nmov.b64 %rd2, {%r1, %r2};\nret;\n") == "pack %rd2=%rd1 via %r1");
  CHECK(found("mov.b128 {%rd1, %rd2}, %q1;\nmov.b128 %q2, {%rd1, %rd2};\nret;\n") == "");
}

TEST_CASE("pack copies: through copies, and through what was found before") {
  CHECK(found("mov.b64 %rd1, {%r1, %r2};\nmov.b64 %rd2, %rd1;\nmov.b64 {%r3, %r4}, %rd2;\nret;\n") ==
        "unpack %r3=%r1 via %rd2; unpack %r4=%r2 via %rd2");
  // The second pack is one of %r1 and %r2 as soon as %r3 and %r4 are known to be these.
  CHECK(found("mov.b64 {%r1, %r2}, %rd9;\nmov.b64 %rd1, {%r2, %r1};\nmov.b64 {%r3, %r4}, %rd1;\n"
              "mov.b64 %rd2, {%r4, %r3};\nret;\n") ==
        "unpack %r3=%r2 via %rd1; unpack %r4=%r1 via %rd1; pack %rd2=%rd9 via %r4");
}

TEST_CASE("pack copies: what is none") {
  // Other lanes, another register, the other order, a value that changed in between.
  CHECK(found("mov.b64 {%r1, %r2}, %rd1;\nmov.b64 %rd2, {%r2, %r1};\nret;\n") == "");
  CHECK(found("mov.b64 {%r1, %r2}, %rd1;\nmov.b64 %rd2, {%r1, %r3};\nret;\n") == "");
  CHECK(found("mov.b64 {%r1, %r2}, %rd1;\nadd.u32 %r2, %r2, 1;\nmov.b64 %rd2, {%r1, %r2};\nret;\n") == "");
  CHECK(found("mov.b64 %rd1, {%r1, %r2};\nadd.u64 %rd1, %rd1, 1;\nmov.b64 {%r3, %r4}, %rd1;\nret;\n") == "");
  CHECK(found("@%p1 mov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r3, %r4}, %rd1;\nret;\n") == "");
  CHECK(found("mov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r3, _}, %rd1;\nret;\n") == "unpack %r3=%r1 via %rd1");
}

TEST_CASE("pack copies: halves and other blocks are only counted") {
  CHECK(found("mov.b32 {%h1, %h2}, %r1;\nmov.b32 %r2, {%h1, %h2};\nret;\n") == "2 halves");
  CHECK(found("mov.b64 %rd1, {%r1, %r2};\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L;\n$M:\n"
              "mov.b64 {%r3, %r4}, %rd1;\n$L:\nret;\n") == "1 across");
}

TEST_CASE("pack copies: what is found holds on every walk") {
  std::size_t copies = 0, checked = 0;
  for (uint64_t seed = 0; seed < sampled(3000); ++seed) {
    const Found found(PackFunction(seed, 1 + seed % 5).text());
    const Function& f = found.p.function();
    CAPTURE(seed);
    INFO(found.p.source);
    if (seed % 5 == 0) REQUIRE(found.packs.copies.size() >= copiesAtLeast(*found.p, f));
    copies += found.packs.copies.size();
    const Cfg cfg(*found.p, f);
    std::mt19937_64 random(seed);
    for (int k = 0; k < 4; ++k) {
      Values now(*found.p, f);
      std::vector<uint64_t> source(found.packs.copies.size());
      walk(f, cfg, random, [&](InstrId id, uint64_t drawn) {
        for (std::size_t c = 0; c < source.size(); ++c)
          if (found.packs.copies[c].readAt == id) source[c] = now[found.packs.copies[c].from];
        now.step(id, drawn);
        for (std::size_t c = 0; c < source.size(); ++c) {
          if (found.packs.copies[c].instruction != id) continue;
          ++checked;
          REQUIRE(now[found.packs.copies[c].to] == source[c]);
        }
      });
    }
  }
  MESSAGE(copies << " copies, seen " << checked << " times");
  CHECK(copies > sampled(3000));
}

TEST_CASE("cross-type-coalescer: joined across packs and unpacks, every walk reads what it read" *
          doctest::test_suite("slow")) {
  uint64_t removed = 0, constants = 0;
  for (uint64_t seed = 0; seed < sampled(6000); ++seed) {
    const Parsed p(PackFunction(seed, 1 + seed % 5).text());
    Function& f = p.function();
    const Function old = f;
    Knobs knobs;
    REQUIRE(knobs.set("join-packs", 1) == "");
    REQUIRE(knobs.set("join-guarded-definitions", seed % 2) == "");
    PassReport report;
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    findPass("cross-type-coalescer")->run(f, context);
    for (const auto& [name, n] : report.counters)
      if (name == "removed-pack" || name == "removed-unpack")
        removed += n;
      else if (name == "rematerialized")
        constants += n;
    CAPTURE(seed);
    INFO(p.source);
    INFO(text::print(*p));
    REQUIRE(verify(*p, f) == "");
    const Cfg cfg(*p, old);
    std::mt19937_64 random(seed);
    for (int k = 0; k < 6; ++k) {
      Values before(*p, old), after(*p, f);
      walk(old, cfg, random, [&](InstrId id, uint64_t drawn) {
        const auto was = old.operandsOf(old[id]);
        const auto is = f.operandsOf(f[id]);
        const bool compares = old[id].isInstruction() && !isMove(p->printedOpcode(old[id]));
        for (std::size_t o = 0; compares && o < was.size(); ++o)
          if (was[o].isRegister() && was[o].reads()) REQUIRE(before[was[o].reg()] == after[is[o].reg()]);
        before.step(id, drawn);
        after.step(id, drawn);
      });
    }
  }
  MESSAGE(removed << " copies across packs and unpacks went, " << constants << " are constants now");
  CHECK(removed > sampled(1500));
  CHECK(constants > sampled(500));
}
