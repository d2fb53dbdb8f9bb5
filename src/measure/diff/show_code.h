// The machine code of both sides of a row, aligned.
//
//     code of k for sm_80: constants differ
//                                       d  a  b        c  modifiers
//         0060      IMAD               07 04 00000004 ff 000078e02
//       - 0070      IMAD               05 00 00000005 03 000078e02
//       + 0070      IMAD               05 00 00000007 03 000078e02
//
// Instructions are aligned by their operations: the longest common sequence of these. What is the same on both sides, and is far
// from what is not, is left out. No disassembler is asked, since ptxas comes without one: an instruction has its guard, its
// mnemonic, where a branch leads, and the bits of its operands, as registers and immediates mostly are (sass/instruction.h);
// what is for the scheduler is shown where nothing else differs.
// Cost: the product of the lengths of what differs on both sides; beyond a limit that is not aligned.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "diff/measurements.h"

namespace ptxopt::diff {

struct CodeLine {
  std::string operation;  // what it is aligned by: "IMAD"
  std::string text;       // with its place
  std::string same;       // of lines that are the same this is: without places, and targets relative
};

// From the bytes of a function.
std::vector<CodeLine> codeLinesOf(std::string_view text, uint32_t architecture, bool withScheduling);
// The lines that differ, and a few around them, with "- " and "+ " before those of one side and "  " before others.
std::string alignedCode(const std::vector<CodeLine>& before, const std::vector<CodeLine>& after);

// For all rows whose code is not the same, one after the other; they were measured with MeasureOptions::keepsCode.
std::string showCode(const Result& result, const Side& before, const Side& after);
// The same by row; empty where the code is the same or not known.
std::vector<std::string> codeOfRows(const Result& result, const Side& before, const Side& after);

}  // namespace ptxopt::diff
