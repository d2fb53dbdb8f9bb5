// Each word touched has events of reads, writes and atomic accesses; an access is a race where an earlier conflicting
// event is not in what its cluster knows. Pages go from words to bytes at the first access that is not of whole words.
#include "exec/checks_races_global.h"

#include <algorithm>
#include <cstring>

namespace ptxopt::exec {

// The page of an address; of bytes unless the access `isWhole`, nullptr when there are too many.
GlobalRaces::Page* GlobalRaces::pageAt(uint64_t address, bool isWhole) {
  const uint64_t at = address / kPage;
  auto found = pages_.find(at);
  if (found == pages_.end()) {
    if (pages_.size() >= kMostPages) return nullptr;
    found = pages_.try_emplace(at).first;
  }
  Page& p = found->second;
  if (!isWhole && p.cellBytes == kWord) {
    std::vector<Cell> bytes;
    bytes.reserve(kPage);
    for (const Cell& c : p.cells) bytes.insert(bytes.end(), kWord, c);
    p.cells = std::move(bytes);
    p.cellBytes = 1;
  }
  return &p;
}

template <typename F>
GlobalRaces::Conflict GlobalRaces::forEachCell(uint64_t address, unsigned bytes, F&& f) {
  const bool isWhole = address % kWord == 0 && bytes % kWord == 0;
  const uint64_t end = address + bytes;
  while (address < end) {
    Page* const p = pageAt(address, isWhole);
    const uint64_t last = std::min(end, (address / kPage + 1) * kPage);
    if (p == nullptr) {
      address = last;
      continue;
    }
    for (; address < last; address += p->cellBytes) {
      Conflict c = f(p->cells[address % kPage / p->cellBytes], address, p->cellBytes);
      c.address = address;
      if (c.kind != nullptr) return c;
    }
  }
  return {};
}

GlobalRaces::Conflict GlobalRaces::read(uint64_t address, unsigned bytes, const Event& now,
                                        const Knowledge& knows) {
  return forEachCell(address, bytes, [&](Cell& c, uint64_t, uint64_t) -> Conflict {
    if (!c.writes.empty() && !c.writes.anyKnownTo(knows)) return {*c.writes.unknownTo(knows), "write"};
    if (const Event* e = c.atomicWrites.unknownTo(knows)) return {*e, "atomic access"};
    c.reads.add(now, c.reads.isKnownTo(knows));
    return {};
  });
}

GlobalRaces::Conflict GlobalRaces::write(uint64_t address, unsigned bytes, const Event& now, const Knowledge& knows,
                                         const std::byte* before, const std::byte* after) {
  const uint64_t first = address;
  return forEachCell(address, bytes, [&](Cell& c, uint64_t at, uint64_t size) -> Conflict {
    const bool changes = std::memcmp(before + (at - first), after + (at - first), size) != 0;
    const Event* const writer = c.writes.unknownTo(knows);
    if (changes && writer != nullptr) return {*writer, "write"};
    if (const Event* e = c.atomicWrites.unknownTo(knows)) return {*e, "atomic access"};
    if (!changes) {
      Events& events = writer != nullptr ? c.writes : c.reads;
      events.add(now, writer == nullptr && events.isKnownTo(knows));
      return {};
    }
    if (const Event* e = c.reads.unknownTo(knows)) return {*e, "read"};
    if (const Event* e = c.atomicReads.unknownTo(knows)) return {*e, "atomic read"};
    c = {};
    c.writes.add(now, true);
    return {};
  });
}

GlobalRaces::Conflict GlobalRaces::atomic(uint64_t address, unsigned bytes, Access access, const Event& now,
                                          const Knowledge& knows) {
  return forEachCell(address, bytes, [&](Cell& c, uint64_t, uint64_t) -> Conflict {
    if (const Event* e = c.writes.unknownTo(knows)) return {*e, "write"};
    if (access != Access::Read)
      if (const Event* e = c.reads.unknownTo(knows)) return {*e, "read"};
    Events& events = access != Access::Read ? c.atomicWrites : c.atomicReads;
    events.add(now, events.isKnownTo(knows));
    return {};
  });
}

void GlobalRaces::learn(Others& to, const Others& from) {
  for (const auto& [cluster, sequence] : from) {
    uint32_t& known = to[cluster];
    known = std::max(known, sequence);
  }
}

}  // namespace ptxopt::exec
