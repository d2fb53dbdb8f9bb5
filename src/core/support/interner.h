// Strings to dense ids, both ways.
//
// Algorithm: open addressing with linear probing over (pointer, length, id) entries, hashed eight bytes a step.
// A string found in the table costs one hash and usually one comparison and allocates nothing.
// Invariant: ids count up from 0 in order of first appearance, so nothing depends on addresses.
// Views given to `intern` must outlive the interner; `internCopy` keeps a copy itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/id.h"

namespace ptxopt {

using NameId = Id<struct NameTag>;

class Interner {
 public:
  // Makes room for the names of a text of that many bytes. Only while there are no names.
  void expectTextOf(std::size_t bytes) {
    constexpr std::size_t kBytesForEntry = 24;  // half of the table stays empty
    table_.resize(std::bit_ceil(std::clamp(bytes / kBytesForEntry, kLeastEntries, kMostExpected)));
  }

  // Returns the id of `text`, giving it the next free one if it is new.
  NameId intern(std::string_view text) {
    Entry& entry = slot(text);
    if (entry.id != kEmpty) return NameId(entry.id);
    const auto id = static_cast<uint32_t>(views_.size());
    entry = {text.data(), static_cast<uint32_t>(text.size()), id};
    views_.push_back(text);
    if (views_.size() * 2 > table_.size()) grow();
    return NameId(id);
  }

  NameId internCopy(std::string_view text) {
    const NameId known = find(text);
    return known.valid() ? known : intern(owned_.emplace_back(text));
  }

  // Keeps what another one copied, so that its texts may be interned here. It can then no longer be used.
  void keep(Interner& other) { kept_.push_back(std::move(other.owned_)); }

  // Returns no id when `text` was never interned.
  NameId find(std::string_view text) const { return NameId(const_cast<Interner*>(this)->slot(text).id); }

  std::string_view operator[](NameId id) const { return views_[id.value]; }
  std::size_t size() const { return views_.size(); }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  struct Entry {
    const char* text = nullptr;
    uint32_t length = 0;
    uint32_t id = kEmpty;
  };

  static uint64_t hash(std::string_view text) {
    uint64_t h = text.size() * 0x9E3779B97F4A7C15ull;
    const char* p = text.data();
    std::size_t n = text.size();
    for (; n >= 8; p += 8, n -= 8) {
      uint64_t word;
      std::memcpy(&word, p, 8);
      h = (h ^ word) * 0xff51afd7ed558ccdull;
      h ^= h >> 32;
    }
    h = (h ^ tail(p, n)) * 0xff51afd7ed558ccdull;
    h = (h ^ (h >> 32)) * 0xff51afd7ed558ccdull;
    return h ^ (h >> 32);
  }

  // Up to seven bytes as a number, by loads that may overlap: a copy of a length that varies is a call.
  static uint64_t tail(const char* p, std::size_t n) {
    const auto byte = [&](std::size_t i) { return uint64_t{static_cast<unsigned char>(p[i])}; };
    if (n == 0) return 0;
    if (n < 4) return byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
    uint32_t first, last;
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    return uint64_t{last} << 32 | first;
  }

  // The entry that holds `text`, or the empty one where it belongs.
  Entry& slot(std::string_view text) {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = hash(text) & mask;; i = (i + 1) & mask) {
      Entry& entry = table_[i];
      if (entry.id == kEmpty) return entry;
      if (entry.length == text.size() && std::memcmp(entry.text, text.data(), text.size()) == 0) return entry;
    }
  }

  void grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry& entry : old)
      if (entry.id != kEmpty) slot({entry.text, entry.length}) = entry;
  }

  static constexpr std::size_t kLeastEntries = 1 << 9, kMostExpected = 1 << 14;
  std::vector<Entry> table_ = std::vector<Entry>(kLeastEntries);
  std::vector<std::string_view> views_;
  std::deque<std::string> owned_;
  std::deque<std::deque<std::string>> kept_;  // what others owned, where it was
};

}  // namespace ptxopt
