// Digests of a function's machine code: of all of it, and of its parts, which say in what two codes differ.
//
// The fields of an instruction of 16 bytes (sass/instruction.h) are taken apart by bits: the opcode with its form and
// modifiers; guards, registers and predicates; what is an immediate, an offset, a place in a constant bank or a target;
// what is for the scheduler. Which of these a bit is depends on the opcode in places that are not decoded: a part may
// be named after its neighbour there. That some part differs where the codes do is certain. Padding counts.
// Cost: linear.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::ptxas {

enum class CodePart : uint8_t {
  Instructions,  // which there are, and how often
  Order,         // in which sequence
  Registers,     // also predicates
  Constants,     // also offsets, and targets of branches
  Scheduling,    // stalls, scoreboards, reuse
};
inline constexpr std::size_t kCodeParts = 5;
std::string_view name(CodePart part);  // "instructions", "order", "registers", "constants", "scheduling"

using CodeParts = std::array<uint32_t, kCodeParts>;

// "cec0a3...": of the bytes.
std::string codeDigest(std::string_view text);
// `architecture` has instructions of 16 bytes.
CodeParts codePartsOf(std::string_view text, uint32_t architecture);

// In what these differ: of other instructions, or of the same in another order, no more is said. Empty where nothing does.
std::vector<CodePart> differingParts(const CodeParts& before, const CodeParts& after);

}  // namespace ptxopt::ptxas
