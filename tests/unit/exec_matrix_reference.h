// What the tests of exec/matrix compare with: the fragment formulas of the PTX ISA, written out shape by shape as
// its text has them, and helpers to make and split fragments by them.
//
// Nothing here uses exec/matrix's own layouts or arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "exec/matrix/mma.h"

namespace ptxopt::testing {

using exec::matrix::Lanes;

struct Cell {
  unsigned row, column, block = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

// Lane and number of the element within the lane, low to high.
using Formula = std::function<Cell(unsigned lane, unsigned i)>;

inline std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

// How elements lie in registers: `container` bits each, the value `shift` bits up, in registers of `width` bits.
struct Packing {
  unsigned bits, container, width = 32, shift = 0;
};

struct ReferenceMatrix {
  unsigned rows, columns, blocks = 1;
  unsigned perLane;
  Packing packing;
  Formula formula;

  std::size_t registers() const { return perLane * packing.container / packing.width; }
  std::size_t size() const { return std::size_t{rows} * columns * blocks; }
};

// matrix[block][row][column] to registers; bits that no element uses are noise, which must not count.
inline std::vector<Lanes> toRegisters(const ReferenceMatrix& r, const std::vector<uint64_t>& matrix,
                                      uint64_t noise) {
  std::vector<Lanes> registers(r.registers());
  for (Lanes& lanes : registers) lanes.fill(r.packing.width == 64 ? 0 : noise << 32);
  const unsigned per = r.packing.width / r.packing.container;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < r.perLane; ++i) {
      const Cell at = r.formula(lane, i);
      const uint64_t raw = matrix[(std::size_t{at.block} * r.rows + at.row) * r.columns + at.column];
      uint64_t slot = raw << r.packing.shift;
      if (r.packing.bits != r.packing.container) {
        const uint64_t used = ((uint64_t{1} << r.packing.bits) - 1) << r.packing.shift;
        slot |= noise & ~used & ((uint64_t{1} << r.packing.container) - 1);
      }
      registers[i / per][lane] |= slot << (i % per * r.packing.container);
    }
  }
  return registers;
}

inline std::vector<uint64_t> toMatrix(const ReferenceMatrix& r, const std::vector<Lanes>& registers) {
  std::vector<uint64_t> matrix(r.size());
  const unsigned per = r.packing.width / r.packing.container;
  const uint64_t mask = r.packing.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << r.packing.bits) - 1;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < r.perLane; ++i) {
      const Cell at = r.formula(lane, i);
      matrix[(std::size_t{at.block} * r.rows + at.row) * r.columns + at.column] =
          registers[i / per][lane] >> (i % per * r.packing.container + r.packing.shift) & mask;
    }
  }
  return matrix;
}

// One dense mma.sync form; `text` has %T for the types where several share the layout.
struct ReferenceForm {
  std::string text;
  unsigned m, n, k, blocks;
  ReferenceMatrix a, b, d;  // c as d, except for m8n8k4.f32.f16.f16.f16
};

namespace isa {

inline unsigned group(unsigned lane) { return lane >> 2; }
inline unsigned member(unsigned lane) { return lane % 4; }

// Accumulators of m8n8 and of m16n8.
inline Cell c8(unsigned lane, unsigned i) { return {group(lane), member(lane) * 2 + i}; }
inline Cell c16(unsigned lane, unsigned i) {
  return {i < 2 ? group(lane) : group(lane) + 8, member(lane) * 2 + (i & 1)};
}

inline ReferenceMatrix accumulator(unsigned m, unsigned bits) {
  return {m, 8, 1, m / 4, {bits, bits, bits == 64 ? 64u : 32u}, m == 8 ? c8 : c16};
}

// A and B, by shape and element size, in the words of the ISA's sections.
inline Formula a(unsigned m, unsigned k, unsigned bits) {
  using L = unsigned;
  if (m == 8) {
    const unsigned each = bits == 64 ? 1 : 32 / bits;
    return [each](L lane, unsigned i) { return Cell{group(lane), member(lane) * each + i}; };
  }
  if (bits == 64 || bits == 32) {
    if (k == 4)
      return [](L lane, unsigned i) { return Cell{i == 0 ? group(lane) : group(lane) + 8, member(lane)}; };
    if (k == 8) {
      return [](L lane, unsigned i) {
        return Cell{i == 0 || i == 2 ? group(lane) : group(lane) + 8, i < 2 ? member(lane) : member(lane) + 4};
      };
    }
    return [](L lane, unsigned i) {
      return Cell{i % 2 == 0 ? group(lane) : group(lane) + 8, i / 2 * 4 + member(lane)};
    };
  }
  if (bits == 16 && k == 8) {
    return [](L lane, unsigned i) {
      return Cell{i < 2 ? group(lane) : group(lane) + 8, member(lane) * 2 + (i & 1)};
    };
  }
  if (bits == 16) {
    return [](L lane, unsigned i) {
      return Cell{i < 2 || (4 <= i && i < 6) ? group(lane) : group(lane) + 8,
                  i < 4 ? member(lane) * 2 + (i & 1) : member(lane) * 2 + (i & 1) + 8};
    };
  }
  if (bits == 8 && k == 16) {
    return [](L lane, unsigned i) {
      return Cell{i < 4 ? group(lane) : group(lane) + 8, member(lane) * 4 + (i & 3)};
    };
  }
  if (bits == 8) {
    return [](L lane, unsigned i) {
      return Cell{i < 4 || (8 <= i && i < 12) ? group(lane) : group(lane) + 8,
                  i < 8 ? member(lane) * 4 + (i & 3) : member(lane) * 4 + (i & 3) + 16};
    };
  }
  if (bits == 4 && k == 32) {
    return [](L lane, unsigned i) {
      return Cell{i < 8 ? group(lane) : group(lane) + 8, member(lane) * 8 + (i & 7)};
    };
  }
  if (bits == 4) {
    return [](L lane, unsigned i) {
      return Cell{i < 8 || (16 <= i && i < 24) ? group(lane) : group(lane) + 8,
                  i < 16 ? member(lane) * 8 + (i & 7) : member(lane) * 8 + (i & 7) + 32};
    };
  }
  if (k == 128) {
    return [](L lane, unsigned i) {
      return Cell{i < 32 ? group(lane) : group(lane) + 8, member(lane) * 32 + (i & 31)};
    };
  }
  return [](L lane, unsigned i) {
    return Cell{i < 32 || (64 <= i && i < 96) ? group(lane) : group(lane) + 8,
                i < 64 ? member(lane) * 32 + (i & 31) : member(lane) * 32 + (i & 31) + 128};
  };
}

inline Formula b(unsigned k, unsigned bits) {
  switch (bits) {
    case 64:
    case 32: return [](unsigned lane, unsigned i) { return Cell{member(lane) + 4 * i, group(lane)}; };
    case 16:
      return [](unsigned lane, unsigned i) {
        return Cell{i < 2 ? member(lane) * 2 + (i & 1) : member(lane) * 2 + (i & 1) + 8, group(lane)};
      };
    case 8:
      return [](unsigned lane, unsigned i) {
        return Cell{i < 4 ? member(lane) * 4 + (i & 3) : member(lane) * 4 + (i & 3) + 16, group(lane)};
      };
    case 4:
      return [](unsigned lane, unsigned i) {
        return Cell{i < 8 ? member(lane) * 8 + (i & 7) : member(lane) * 8 + (i & 7) + 32, group(lane)};
      };
    default:
      return [k](unsigned lane, unsigned i) {
        return Cell{i < 32 || k == 128 ? member(lane) * 32 + (i & 31) : member(lane) * 32 + (i & 31) + 128,
                    group(lane)};
      };
  }
}

// m8n8k4 with .f16.
inline Formula quadA(bool byRows) {
  if (byRows) {
    return [](unsigned lane, unsigned i) { return Cell{lane < 16 ? lane % 4 : lane % 4 + 4, i, lane / 4 % 4}; };
  }
  return [](unsigned lane, unsigned i) { return Cell{lane < 16 ? i % 4 : i % 4 + 4, lane % 4, lane / 4 % 4}; };
}
inline Formula quadB(bool byRows) {
  if (byRows) {
    return [](unsigned lane, unsigned i) { return Cell{lane % 4, lane < 16 ? i : i + 4, lane / 4 % 4}; };
  }
  return [](unsigned lane, unsigned i) { return Cell{i, lane < 16 ? lane % 4 : lane % 4 + 4, lane / 4 % 4}; };
}
inline Cell quadF16(unsigned lane, unsigned i) { return {lane < 16 ? lane % 4 : lane % 4 + 4, i, lane / 4 % 4}; }
inline Cell quadF32(unsigned lane, unsigned i) {
  const unsigned x = (lane & 1) + (i & 2);
  return {lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1), lane / 4 % 4};
}

}  // namespace isa

// The three matrices of mMn8kK with elements of `bits` in slots of `container` bits.
inline ReferenceForm referenceForm(std::string text, unsigned m, unsigned k, Packing a, Packing b,
                                   unsigned resultBits) {
  const auto perLane = [](unsigned count) { return count / 32; };
  ReferenceForm form;
  form.text = std::move(text);
  form.m = m, form.n = 8, form.k = k, form.blocks = 1;
  form.a = {m, k, 1, perLane(m * k), a, isa::a(m, k, a.container)};
  form.b = {k, 8, 1, perLane(k * 8), b, isa::b(k, b.container)};
  form.d = isa::accumulator(m, resultBits);
  return form;
}

}  // namespace ptxopt::testing
