// SlotIndexes: order, look-ups, and the same when they are brought up to date after random edits.
#include "analysis/dataflow/slot_indexes.h"

#include <algorithm>
#include <random>

#include "list_edits.h"
#include "random_function.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

// Everything about the numbers of a function as it is now.
void check(const Function& f, const Cfg& cfg, const SlotIndexes& slots) {
  REQUIRE(slots.verify() == "");
  CHECK(slots == SlotIndexes(f, cfg));
  std::vector<std::vector<InstrId>> expected(cfg.size());
  SlotIndex last;
  std::size_t before = 0;
  for (const InstrId id : f) {
    if (!f[id].isInstruction()) {
      if (slots[id].valid()) FAIL("a number for no instruction " << id.value);
      continue;
    }
    const SlotIndex i = slots[id];
    const BlockId b = cfg.blockOf(id);
    expected[b.value].push_back(id);
    if (!i.valid() || i.slot() != SlotIndex::Block) FAIL("no number for " << id.value);
    if (last.valid() && !(last < i)) FAIL("not in order at " << id.value);
    last = i.dead();
    if (slots.countBefore(i) != b.value + 1 + before++) FAIL("what stands before " << id.value);
    for (const SlotIndex s : {i, i.at(SlotIndex::EarlyClobber), i.reg(), i.dead()}) {
      if (slots.instructionAt(s) != id) FAIL("not found by number: " << id.value);
      if (slots.blockAt(s) != b) FAIL("block of " << id.value);
      if (s.base() != i) FAIL("slots of " << id.value);
    }
    if (!(slots.start(b) < i && i.dead() < slots.end(b))) FAIL("outside its block: " << id.value);
  }
  for (uint32_t b = 0; b < cfg.size(); ++b) {
    const BlockId block(b);
    if (!std::ranges::equal(slots.instructions(block), expected[b])) FAIL("instructions of block " << b);
    if (slots.countBefore(slots.end(block)) - slots.countBefore(slots.start(block)) != 1 + expected[b].size())
      FAIL("what stands before block " << b);
    if (slots.blockAt(slots.start(block)) != block) FAIL("start of block " << b);
    if (slots.blockAt(slots.last(block)) != block) FAIL("end of block " << b);
    if (slots.instructionAt(slots.start(block)).valid()) FAIL("an instruction at the start of block " << b);
  }
}

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
  CHECK(SlotIndex(68).previous() == i.dead());
  CHECK_FALSE(SlotIndex().valid());
}

TEST_CASE("slot indexes: random functions") {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed));
    const Function& f = p.function(1);
    const Cfg cfg(*p, f);
    check(f, cfg, SlotIndexes(f, cfg));
  }
}

TEST_CASE("slot indexes: an empty body, empty blocks") {
  for (const char* body : {"", "L:\n", "bar.sync 0;\nL:\n{\n}\n"}) {
    const Parsed p(kHeader + ".entry k()\n{\n" + body + "}\n");
    const Cfg cfg(*p, p.function());
    check(p.function(), cfg, SlotIndexes(p.function(), cfg));
  }
}

TEST_CASE("slot indexes: numbers stay when others are put in and taken out") {
  std::size_t anew = 0, updates = 0, kept = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Parsed p(randomFunction(seed));
    Function& f = p.function(1);
    SlotIndexes slots(f, Cfg(*p, f));
    std::mt19937_64 random(seed);
    // Some sessions stay near one place, and some move instructions.
    const bool near = seed % 2 == 0, moves = seed % 4 < 2;
    for (int iteration = 0; iteration < 20; ++iteration) {
      const Cfg cfg(*p, f);
      std::vector<InstrId> plain;  // what neither begins a block nor ends it
      for (const InstrId id : instructionsOf(f))
        if (const Block& block = cfg[cfg.blockOf(id)]; id != block.first && id != block.last) plain.push_back(id);
      if (plain.size() < 2) break;
      const SlotIndexes before = slots;
      for (uint64_t edits = random() % 6; edits != 0; --edits) {
        const InstrId id = plain[near ? plain.size() / 2 : random() % plain.size()];
        const InstrId other = plain[random() % plain.size()];
        if (f[id].is(Instruction::Erased) || f[other].is(Instruction::Erased)) continue;
        switch (random() % 4) {
          case 0: f.erase(other); break;
          case 1:
            if (moves && id != other) f.moveBefore(other, id);
            break;
          default: insertCopy(f, other, id);
        }
      }
      const Cfg now(*p, f);
      const bool hadRoom = slots.update(f, now);
      check(f, now, slots);
      ++updates;
      anew += !hadRoom;
      const SlotIndexes fresh(f, now);
      for (uint32_t b = 0; b < now.size(); ++b)
        CHECK((slots.start(BlockId(b)) == (hadRoom ? before : fresh).start(BlockId(b))));
      for (const InstrId id : instructionsOf(f)) {
        if (!hadRoom) CHECK((slots[id] == fresh[id]));
        if (!hadRoom || !before[id].valid() || moves) continue;
        CHECK((slots[id] == before[id]));
        ++kept;
      }
    }
  }
  CHECK(updates > 1000);
  CHECK(anew > 20);
  CHECK(kept > 10000);
}

TEST_CASE("slot indexes: room for fifteen between neighbours, on either side of an empty block's braces") {
  for (const std::size_t count : {std::size_t{15}, std::size_t{16}}) {
    const Parsed p(kHeader + ".entry k()\n{\nA:\nB: {\nbar.sync 0;\n}\nC:\n{\n}\n}\n");
    Function& f = p.function();
    SlotIndexes slots(f, Cfg(*p, f));
    const InstrId only = instructionsOf(f)[0], lastBrace = f.last;
    const SlotIndex before = slots[only];
    for (std::size_t n = 0; n < count; ++n) {
      insertCopy(f, only, lastBrace);
      insertCopy(f, only, only);
    }
    const Cfg now(*p, f);
    CHECK(slots.update(f, now) == (count == 15));
    CHECK((slots[only] == before) == (count == 15));
    check(f, now, slots);
  }
}
