// Common beginnings and ends are cut off first; the rest is aligned by the longest common subsequence, unless its table
// would have more than 2^24 cells. Three lines around each difference are shown.
#include "diff/show_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "diff/names.h"
#include "diff/output.h"
#include "ptxas/cubin.h"
#include "sass/decode.h"
#include "support/printable.h"

namespace ptxopt::diff {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 24;  // of the table of the alignment
constexpr std::size_t kContext = 3;                       // lines around what differs

std::string guardText(sass::Predicate guard) {
  if (guard.isAlways()) return {};
  const std::string name = guard.number == sass::Predicate::kTrue ? "PT" : fmt::format("P{}", guard.number);
  return fmt::format("@{}{}", guard.negated ? "!" : "", name);
}

struct Step {
  enum class Of : uint8_t { Both, Before, After } of;
  std::size_t before, after;
};

// A longest common sequence of operations: which lines of both sides belong together, in order.
std::vector<Step> align(const std::vector<CodeLine>& a, const std::vector<CodeLine>& b) {
  const auto same = [&](std::size_t i, std::size_t j) { return a[i].operation == b[j].operation; };
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (head < shorter && same(head, head)) ++head;
  while (tail < shorter - head && same(a.size() - 1 - tail, b.size() - 1 - tail)) ++tail;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({Step::Of::Both, i, i});
  const std::size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  const bool fits = (rows + 1) * (columns + 1) <= kMostCells;
  std::vector<uint32_t> longest(fits ? (rows + 1) * (columns + 1) : 0);  // from here to the end
  const auto at = [&](std::size_t i, std::size_t j) -> uint32_t& { return longest[i * (columns + 1) + j]; };
  if (fits)
    for (std::size_t i = rows; i-- > 0;)
      for (std::size_t j = columns; j-- > 0;)
        at(i, j) = same(head + i, head + j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    if (fits && i < rows && j < columns && same(head + i, head + j)) {
      steps.push_back({Step::Of::Both, head + i++, head + j++});
    } else if (i < rows && (j == columns || !fits || at(i + 1, j) >= at(i, j + 1))) {
      steps.push_back({Step::Of::Before, head + i++, 0});
    } else {
      steps.push_back({Step::Of::After, 0, head + j++});
    }
  }
  for (std::size_t k = tail; k > 0; --k) steps.push_back({Step::Of::Both, a.size() - k, b.size() - k});
  return steps;
}

// The bytes of a function of a unit that was kept.
const Unit* unitOf(const Side& side, const std::string& file, const std::string& architecture) {
  for (const Unit& unit : side.units)
    if (unit.file == file && unit.measures.architecture == architecture) return &unit;
  return nullptr;
}

std::vector<CodeLine> linesOf(const Side& side, const std::string& file, const std::string& architecture,
                              const std::string& function, bool withScheduling) {
  const Unit* const unit = unitOf(side, file, architecture);
  if (unit == nullptr) return {};
  const auto read = ptxas::readCubinCode(unit->cubin);
  if (const auto* const code = std::get_if<ptxas::CubinCode>(&read))
    for (const ptxas::FunctionCode& f : code->functions)
      if (f.name == function) return codeLinesOf(f.text, code->architecture, withScheduling);
  return {};
}

std::string codeOf(const Row& row, const Side& before, const Side& after) {
  const auto orOld = [](const std::string& old, const std::string& now) { return old.empty() ? now : old; };
  const std::string difference = row.codeDifference();
  std::string out = fmt::format("code of {} for {}{}\n", printable(fullName(row.name, {})), row.architecture,
                                difference.empty() ? "" : ": other " + difference);
  const bool withScheduling = difference == name(ptxas::CodePart::Scheduling);
  const auto a = linesOf(before, orOld(row.oldFile, row.file), orOld(row.oldArchitecture, row.architecture),
                         orOld(row.oldName, row.name), withScheduling);
  const auto b = linesOf(after, row.file, row.architecture, row.name, withScheduling);
  if (a.empty() || b.empty())
    return out + fmt::format("  there is none of the side {}: a baseline, or code to be linked\n",
                             a.empty() ? "before" : "after");
  out += fmt::format("{:39}d  a  b        c  {}\n", "", withScheduling ? "modifiers, scheduling" : "modifiers");
  return out + alignedCode(a, b);
}

}  // namespace

std::vector<CodeLine> codeLinesOf(std::string_view text, uint32_t architecture, bool withScheduling) {
  const std::vector<sass::Instruction> code = sass::Decoder(architecture).decode(text);
  std::vector<CodeLine> lines;
  for (std::size_t n = 0; n < sass::countWithoutPadding(code); ++n) {
    const sass::Instruction& i = code[n];
    const std::size_t at = n * sass::kInstructionBytes;
    sass::Word word;
    std::memcpy(&word.low, text.data() + at, sizeof word.low);
    std::memcpy(&word.high, text.data() + at + sizeof word.low, sizeof word.high);
    CodeLine line;
    line.operation = i.opcode == sass::Opcode::Unknown ? fmt::format("?{:x}", i.encoding)
                                                       : std::string(sass::mnemonicOf(i.opcode));
    std::string bits = fmt::format("{:02x} {:02x} {:08x} {:02x} {:01x}{:08x}", word.bits(16, 8), word.bits(24, 8),
                                   word.bits(32, 32), word.bits(64, 8), word.bits(104, 1), word.bits(72, 32));
    if (withScheduling) bits += fmt::format(" {:06x}", word.bits(105, 23));
    const std::string guard = guardText(i.guard);
    std::string operation = line.operation;
    if (i.target) operation += fmt::format(" {:04x}", *i.target);
    line.text = fmt::format("{:04x} {:>4} {:26} {}", at, guard, operation, bits);
    line.same = fmt::format("{} {} {}", guard, line.operation, bits);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string alignedCode(const std::vector<CodeLine>& before, const std::vector<CodeLine>& after) {
  const std::vector<Step> steps = align(before, after);
  std::vector<bool> isEqual, isShown(steps.size());
  for (const Step& s : steps)
    isEqual.push_back(s.of == Step::Of::Both && before[s.before].same == after[s.after].same);
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!isEqual[i])
      for (std::size_t k = i - std::min(i, kContext); k <= std::min(i + kContext, steps.size() - 1); ++k)
        isShown[k] = true;
  std::string out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (!isShown[i]) {
      if (i == 0 || isShown[i - 1]) out += "    ...\n";
      continue;
    }
    if (isEqual[i]) {
      out += "    " + after[s.after].text + "\n";
      continue;
    }
    if (s.of != Step::Of::After) out += "  - " + before[s.before].text + "\n";
    if (s.of != Step::Of::Before) out += "  + " + after[s.after].text + "\n";
  }
  return out;
}

std::string showCode(const Result& result, const Side& before, const Side& after) {
  std::string out;
  for (const std::string& code : codeOfRows(result, before, after))
    if (!code.empty()) out += (out.empty() ? "" : "\n") + code;
  return out;
}

std::vector<std::string> codeOfRows(const Result& result, const Side& before, const Side& after) {
  std::vector<std::string> codes;
  for (const Row& row : result.rows)
    codes.push_back(row.hasSameCode().value_or(true) ? std::string() : codeOf(row, before, after));
  return codes;
}

}  // namespace ptxopt::diff
