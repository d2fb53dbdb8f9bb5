// SlotIndexes: order, lookups, and the same after random insertions and removals.
#include "analysis/dataflow/slot_indexes.h"

#include <algorithm>
#include <map>
#include <random>

#include "list_edits.h"
#include "random_function.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// The numbers of a function: blocks as ~b, the end as ~blocks, instructions as their ids.
using Numbers = std::map<uint32_t, SlotIndex>;
Numbers numbersOf(const Function& f, const Cfg& cfg, const SlotIndexes& slots) {
  Numbers result;
  for (uint32_t b = 0; b < cfg.size(); ++b) result[~b] = slots.start(BlockId(b));
  result[~static_cast<uint32_t>(cfg.size())] = slots.lastOfFunction();
  for (const InstrId id : f)
    if (slots[id].valid()) result[id.value] = slots[id];
  return result;
}

// Everything about the numbers of a function as it is now; blockOf: of the instructions, also those put in.
void check(const Function& f, const Cfg& cfg, const SlotIndexes& slots, const std::vector<BlockId>& blockOf) {
  REQUIRE(slots.verify() == "");
  std::vector<std::vector<InstrId>> expected(cfg.size());
  SlotIndex last;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) {
      if (slots[id].valid()) FAIL("a number for no instruction " << id.value);
      continue;
    }
    const SlotIndex i = slots[id];
    const BlockId b = blockOf[id.value];
    expected[b.value].push_back(id);
    if (!i.valid() || i.slot() != SlotIndex::Block) FAIL("no number for " << id.value);
    if (last.valid() && !(last < i)) FAIL("not in order at " << id.value);
    last = i.dead();
    for (const SlotIndex s : {i, i.at(SlotIndex::EarlyClobber), i.reg(), i.dead()}) {
      if (slots.instructionAt(s) != id) FAIL("not found by number: " << id.value);
      if (slots.blockAt(s) != b) FAIL("block of " << id.value);
      if (s.base() != i || !s.sameInstruction(i)) FAIL("slots of " << id.value);
    }
    if (!(slots.start(b) < i && i.dead() < slots.end(b))) FAIL("outside its block: " << id.value);
  }
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const BlockId block(b);
    if (!std::ranges::equal(slots.instructions(block), expected[b])) FAIL("instructions of block " << b);
    if (slots.blockAt(slots.start(block)) != block) FAIL("start of block " << b);
    if (slots.blockAt(slots.end(block).previous()) != block) FAIL("end of block " << b);
    if (slots.instructionAt(slots.start(block)).valid()) FAIL("an instruction at the start of block " << b);
  }
}

std::vector<BlockId> blocksOf(const Function& f, const Cfg& cfg) {
  std::vector<BlockId> result(f.instructions.size());
  for (const InstrId id : f) result[id.value] = cfg.blockOf(id);
  return result;
}

struct Edits {
  Function& f;
  const Cfg& cfg;
  SlotIndexes slots;
  std::vector<BlockId> blockOf;
  std::size_t moved = 0, spreads = 0;

  Edits(Function& function, const Cfg& graph)
      : f(function), cfg(graph), slots(function, graph), blockOf(blocksOf(function, graph)) {}

  // In front of `where`, which is not the first of its block's text if that is a label.
  InstrId insert(InstrId what, InstrId where, bool compare) {
    Numbers before;
    if (compare) before = numbersOf(f, cfg, slots);
    const InstrId id = insertCopy(f, what, where);
    blockOf.push_back(blockOf[where.value]);
    const auto moves = slots.inserted(f, id, blockOf[id.value]);
    moved += moves.size();
    spreads += !moves.empty();
    if (!compare) return id;
    // The moves are all that changed, and nothing else.
    const Numbers after = numbersOf(f, cfg, slots);
    REQUIRE(after.size() == before.size() + 1);
    std::map<SlotIndex, SlotIndex> changed, reported;
    for (const auto& [key, number] : before)
      if (after.at(key) != number) changed[number] = after.at(key);
    for (std::size_t k = 0; k < moves.size(); ++k) {
      reported[moves[k].from] = moves[k].to;
      if (k > 0) CHECK(moves[k - 1].from < moves[k].from);
    }
    REQUIRE(reported.size() == moves.size());
    REQUIRE(changed == reported);
    return id;
  }
  void remove(InstrId id) {
    slots.removed(id, blockOf[id.value]);
    f.erase(id);
    CHECK_FALSE(slots[id].valid());
  }
};

std::vector<InstrId> instructionsOf(const Function& f) {
  std::vector<InstrId> result;
  for (const InstrId id : f)
    if (f[id].isInstruction()) result.push_back(id);
  return result;
}

}  // namespace

TEST_CASE("slot index: the slots of an instruction") {
  const SlotIndex i(64);
  CHECK(i.slot() == SlotIndex::Block);
  CHECK(i.reg().slot() == SlotIndex::Register);
  CHECK(i < i.at(SlotIndex::EarlyClobber));
  CHECK(i.at(SlotIndex::EarlyClobber) < i.reg());
  CHECK(i.reg() < i.dead());
  CHECK(i.dead().base() == i);
  CHECK(i.reg().sameInstruction(i.dead()));
  CHECK_FALSE(i.dead().sameInstruction(SlotIndex(68)));
  CHECK(SlotIndex(68).previous() == i.dead());
  CHECK_FALSE(SlotIndex().valid());
}

TEST_CASE("slot indexes: random functions") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed));
    const Function& f = p.function(1);
    const Cfg cfg(*p, f);
    const SlotIndexes slots(f, cfg);
    check(f, cfg, slots, blocksOf(f, cfg));
    CHECK(slots == SlotIndexes(f, cfg));
  }
}

TEST_CASE("slot indexes: an empty body, empty blocks") {
  for (const char* body : {"", "L:\n", "bar.sync 0;\nL:\n{\n}\n"}) {
    const Parsed p(kHeader + ".entry k()\n{\n" + body + "}\n");
    const Cfg cfg(*p, p.function());
    const SlotIndexes slots(p.function(), cfg);
    check(p.function(), cfg, slots, blocksOf(p.function(), cfg));
  }
}

TEST_CASE("slot indexes: insertions and removals anywhere") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed));
    Function& f = p.function(1);
    const Cfg cfg(*p, f);
    Edits edits(f, cfg);
    std::mt19937_64 random(seed);
    auto live = instructionsOf(f);
    if (live.empty()) continue;
    const InstrId pattern = insertCopy(f, live[0], live[0]);  // stays a pattern only
    edits.blockOf.push_back(edits.blockOf[live[0].value]);
    f.erase(pattern);
    f[pattern].flags &= static_cast<decltype(f[pattern].flags)>(~Instruction::Erased);
    // Some sessions stay near one place.
    const bool near = seed % 2 == 0;
    for (int n = 0; n < 150 && !live.empty(); ++n) {
      const std::size_t at = near ? live.size() / 2 : random() % live.size();
      if (random() % 4 != 0) {
        live.insert(live.begin() + static_cast<std::ptrdiff_t>(at), edits.insert(pattern, live[at], true));
      } else {
        edits.remove(live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    check(f, cfg, edits.slots, edits.blockOf);
  }
}

TEST_CASE("slot indexes: tens of thousands of insertions") {
  std::string body;
  for (int b = 0; b < 50; ++b) {
    body += "L" + std::to_string(b) + ":\n";
    for (int i = 0; i < 20; ++i) body += "bar.sync 0;\n";
  }
  const std::string text = kHeader + ".entry k()\n{\n" + body + "}\n";
  // Where: anywhere, always before the same one, always before the one put in last, always before the last.
  for (int way = 0; way < 4; ++way) {
    CAPTURE(way);
    const Parsed p(text);
    Function& f = p.function();
    const Cfg cfg(*p, f);
    Edits edits(f, cfg);
    std::mt19937_64 random(static_cast<uint64_t>(way));
    const auto original = instructionsOf(f);
    InstrId at = way == 3 ? original.back() : original[500];
    constexpr std::size_t kInsertions = 10000;
    for (std::size_t n = 0; n < kInsertions; ++n) {
      if (way == 0) at = original[random() % original.size()];
      const InstrId id = edits.insert(original[0], at, n % 1000 == 0);
      if (way == 2) at = id;
    }
    check(f, cfg, edits.slots, edits.blockOf);
    // Renumbering is local: few numbers an insertion, whatever the place.
    CHECK(edits.spreads > 0);
    CHECK(edits.moved < kInsertions * 60);
  }
}

TEST_CASE("slot indexes: room in front of an empty first block and behind the last") {
  const Parsed p(kHeader + ".entry k()\n{\nA:\nB: {\nbar.sync 0;\n}\nC:\n{\n}\n}\n");
  Function& f = p.function();
  const Cfg cfg(*p, f);
  Edits edits(f, cfg);
  const InstrId only = instructionsOf(f)[0];
  // Before the closing brace of the last block: behind everything.
  const InstrId lastBrace = f.last;
  const InstrId firstBrace = f[f[only].previous].kind == InstrKind::Label ? only : f[only].previous;
  for (int n = 0; n < 300; ++n) {
    edits.insert(only, lastBrace, true);
    edits.insert(only, firstBrace, true);
  }
  check(f, cfg, edits.slots, edits.blockOf);
}
