// What src/measure/sass decodes against what NVIDIA's disassembler printed of machine code by ptxas: tests/inputs/sass, which
// tests/codegen/sass/record.py writes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sass/control_flow.h"
#include "sass/decode.h"

using namespace ptxopt;
using namespace ptxopt::sass;

namespace {

std::ifstream open(const std::string& name) {
  std::ifstream in(std::string(PTXOPT_TESTS_DIR) + "/inputs/sass/" + name);
  REQUIRE(in.good());
  return in;
}

Word wordOf(const std::string& low, const std::string& high) {
  return {std::stoull(low, nullptr, 16), std::stoull(high, nullptr, 16)};
}

std::string guardOf(Predicate guard) {
  if (guard.isAlways()) return "-";
  const std::string name = guard.number == Predicate::kTrue ? "T" : std::to_string(guard.number);
  return (guard.negated ? "@!P" : "@P") + name;
}

// A function of functions.txt: what is to be decoded, and what must come out.
struct Recorded {
  std::string name;
  uint32_t architecture = 0;
  std::string text;
  std::vector<IndirectBranch> branches;
  std::vector<std::string> instructions, loops;
  bool isIrreducible = false;
};

std::vector<Recorded> readFunctions() {
  std::vector<Recorded> functions;
  std::ifstream in = open("functions.txt");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first;
    if (first == "function") {
      Recorded& f = functions.emplace_back();
      words >> f.name >> second;
      f.architecture = static_cast<uint32_t>(std::stoul(second.substr(3)));
      continue;
    }
    REQUIRE_FALSE(functions.empty());
    Recorded& f = functions.back();
    if (first == "branch") {
      IndirectBranch branch;
      words >> std::hex >> branch.at;
      for (int64_t target; words >> target;) branch.targets.push_back(target);
      f.branches.push_back(std::move(branch));
    } else if (first == "loop") {
      f.loops.push_back(line);
    } else if (first == "irreducible") {
      f.isIrreducible = true;
    } else {
      words >> second;
      const Word word = wordOf(first, second);
      f.text.append(reinterpret_cast<const char*>(&word.low), 8);
      f.text.append(reinterpret_cast<const char*>(&word.high), 8);
      f.instructions.push_back(line.substr(first.size() + second.size() + 2));
    }
  }
  return functions;
}

std::string lineOf(const Loop& loop, const std::vector<Block>& blocks) {
  std::string line = fmt::format("loop {:x} {}", blocks[loop.header].first * kInstructionBytes, loop.instructions);
  for (std::size_t n = 0; n < loop.blocks.size();) {
    std::size_t last = n;
    while (last + 1 < loop.blocks.size() && loop.blocks[last + 1] == loop.blocks[last] + 1) ++last;
    line += fmt::format(" {:x}-{:x}", blocks[loop.blocks[n]].first * kInstructionBytes,
                        blocks[loop.blocks[last]].end * kInstructionBytes);
    n = last + 1;
  }
  return line;
}

}  // namespace

TEST_CASE("sass, recorded: an instruction for each encoding that ptxas made, of each architecture") {
  std::ifstream in = open("words.txt");
  std::map<uint32_t, std::set<std::string>> mnemonics;
  uint32_t architecture = 0;
  Decoder decoder(75);
  for (std::string first, low; in >> first;) {
    if (first.starts_with("sm_")) {
      architecture = static_cast<uint32_t>(std::stoul(first.substr(3)));
      decoder = Decoder(architecture);
      continue;
    }
    std::string high, guard, mnemonic;
    in >> high >> guard >> mnemonic;
    const sass::Instruction i = decoder.decode(wordOf(first, high), 0);
    CAPTURE(architecture);
    CAPTURE(first);
    CHECK(mnemonicOf(i.opcode) == mnemonic);
    CHECK(guardOf(i.guard) == guard);
    mnemonics[architecture].insert(mnemonic);
  }
  CHECK(mnemonics.size() == 13);
  for (const auto& [number, names] : mnemonics) {
    CAPTURE(number);
    CHECK(names.size() >= 90);
  }
}

TEST_CASE("sass, recorded: instructions, targets and loops of functions") {
  const std::vector<Recorded> functions = readFunctions();
  CHECK(functions.size() >= 20);
  for (const Recorded& f : functions) {
    CAPTURE(f.name);
    CAPTURE(f.architecture);
    const std::vector<sass::Instruction> code = Decoder(f.architecture).decode(f.text);
    REQUIRE(code.size() == f.instructions.size());
    for (std::size_t n = 0; n < code.size(); ++n) {
      CAPTURE(n);
      const std::string target = code[n].target ? fmt::format("{:x}", *code[n].target) : "-";
      CHECK(fmt::format("{} {} {}", guardOf(code[n].guard), mnemonicOf(code[n].opcode), target) ==
            f.instructions[n]);
    }
    const ControlFlow flow(code, f.branches);
    std::vector<std::string> loops;
    bool isIrreducible = false;
    for (const Loop& loop : flow.loops()) {
      loops.push_back(lineOf(loop, flow.blocks()));
      isIrreducible |= loop.isIrreducible;
    }
    CHECK(isIrreducible == f.isIrreducible);
    if (f.isIrreducible) continue;
    std::vector<std::string> wanted = f.loops;
    std::sort(loops.begin(), loops.end());
    std::sort(wanted.begin(), wanted.end());
    CHECK(loops == wanted);
  }
}

TEST_CASE("sass, recorded: loops that end in a branch on a uniform predicate") {
  for (const Recorded& f : readFunctions()) {
    if (f.name != "attention" || f.architecture < 100) continue;
    CAPTURE(f.architecture);
    const std::vector<sass::Instruction> code = Decoder(f.architecture).decode(f.text);
    constexpr uint16_t kOnUniformPredicate = 0x1547;
    std::size_t backwards = 0;
    for (std::size_t n = 0; n < code.size(); ++n)
      backwards +=
          code[n].encoding == kOnUniformPredicate && code[n].target <= static_cast<int64_t>(n * kInstructionBytes);
    CHECK(backwards == 2);
    CHECK(ControlFlow(code).loops().size() == 3);
  }
}
