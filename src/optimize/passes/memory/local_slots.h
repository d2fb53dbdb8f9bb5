// The parts of a local variable that become registers.
//
// Elements of accesses that overlap belong together; what is apart is a slot of its own. A slot that is only
// accessed as a whole is one register, of 16 bits for a byte. Otherwise it is its aligned 32-bit words, a register
// each: 64 bits are a pair, and narrower elements fields of a word. Cost: sorting the accesses. Declines: unaligned
// (an element that is not a multiple of its size away from the variable's start, in a slot of several kinds).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/addresses/local_addresses.h"

namespace ptxopt {

struct LocalSlot {
  int64_t begin = 0, end = 0;  // bytes
  bool isWhole = true;         // one register
  uint8_t bytes = 0;           // ... of accesses of this many
  bool isChosen = false;       // it becomes registers
  uint64_t weight = 0;         // of its accesses
  std::vector<RegId> registers;

  // 32-bit units that a thread needs for it.
  uint32_t units() const {
    if (isWhole) return bytes == 8 ? 2 : 1;
    return static_cast<uint32_t>((end + 3) / 4 - begin / 4);
  }
  RegId wordAt(int64_t offset) const { return registers[static_cast<std::size_t>(offset / 4 - begin / 4)]; }
};

class LocalSlots {
 public:
  struct Element {
    int64_t offset;
    uint8_t bytes;
    uint64_t weight;
  };
  // Empty when the variable stays as it is: then `whyNot` says why.
  static std::vector<LocalSlot> make(std::vector<Element> elements, std::string_view& whyNot);
  // The one that holds the byte; there is one for each access.
  static const LocalSlot* find(const std::vector<LocalSlot>& slots, int64_t offset);
};

}  // namespace ptxopt
