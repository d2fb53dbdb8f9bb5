// From machine code back to the PTX that it was made of: what ptxas -lineinfo writes into a cubin.
//
// The section .nv_debug_line_sass is a line-number program of DWARF 2 whose lines are those of the PTX text. -lineinfo does
// not change the code. Source: DWARF Debugging Information Format, version 2 (1993), section 6.2.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ptxopt::ptxas {

// From `at`, in bytes from the beginning of the function, to the next row's.
struct LineRow {
  uint64_t at = 0;
  uint32_t line = 0;  // of the PTX text, from 1; 0: after the last instruction
  friend bool operator==(const LineRow&, const LineRow&) = default;
};

// A run of rows that begins with an address to be filled in by the linker.
struct LineSequence {
  uint64_t relocatedAt = 0;  // where, in the section, that address stands
  std::vector<LineRow> rows;
};

// What cannot be read ends the table: these are figures for people.
std::vector<LineSequence> readLineTable(std::string_view section);

// 0: not known.
uint32_t lineAt(const std::vector<LineRow>& rows, uint64_t at);

}  // namespace ptxopt::ptxas
