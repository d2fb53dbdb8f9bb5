// Prints what src/measure/sass decodes, for compare.py and table.py.
//
//   dump_sass FILE.cubin...    of each function `function NAME`, a line for each instruction and one for each loop
//   dump_sass --raw NUMBER     the words of standard input, two hexadecimal numbers a line, as code of sm_NUMBER
//
// An instruction: place in bytes, encoding, guard or `-`, mnemonic, target or `-`, and a `?` where control may go on
// after a branch; then what it asks of a machine: `;`, kind, bytes of a thread, `u` for an address that all threads share,
// repeats, and of DEPBAR scoreboard:count:empty; `;`, stall, scoreboard set until results are written. A loop: `loop`, place of its header, depth, number of instructions, `irreducible` or `natural`, and the
// stretches of code in it. Numbers are hexadecimal but for depth and number of instructions.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "ptxas/cubin.h"
#include "sass/control_flow.h"
#include "sass/decode.h"
#include "timing/operation.h"

namespace {

using namespace ptxopt;

std::string guardOf(sass::Predicate guard) {
  if (guard.isAlways()) return "-";
  return fmt::format("@{}P{}", guard.negated ? "!" : "",
                     guard.number == sass::Predicate::kTrue ? "T" : std::to_string(guard.number));
}

constexpr const char* kKinds[] = {
#define TARGET_KIND(name, text) #name,
#include "target/kinds.def"
};

std::string operationOf(sass::Word word, const sass::Instruction& i, uint32_t architecture) {
  const timing::Operation operation = timing::operationOf(word, i, target::Target(architecture));
  std::string wait = "-";
  if (const auto counted = timing::countedWaitOf(word, i))
    wait = fmt::format("{}:{}:{}", counted->scoreboard, counted->count, counted->empty);
  return fmt::format("{} {} {} {} {}", kKinds[static_cast<std::size_t>(operation.kind)], operation.bytes,
                     operation.isUniform ? "u" : "-", operation.repeats, wait);
}

std::string lineOf(sass::Word word, const sass::Instruction& i, uint32_t architecture, std::size_t at) {
  std::string target = "-";
  if (i.target) target = *i.target < 0 ? fmt::format("-{:x}", -*i.target) : fmt::format("{:x}", *i.target);
  return fmt::format("{:04x} {:04x} {} {} {}{} ; {} ; {} {}\n", at, i.encoding, guardOf(i.guard),
                     mnemonicOf(i.opcode), target, i.isConditional ? " ?" : "", operationOf(word, i, architecture),
                     i.control.stall, i.control.writeScoreboard);
}

std::string lineOf(const sass::Loop& loop, const std::vector<sass::Block>& blocks) {
  std::string line = fmt::format("loop {:x} {} {} {}", blocks[loop.header].first * sass::kInstructionBytes,
                                 loop.depth, loop.instructions, loop.isIrreducible ? "irreducible" : "natural");
  for (std::size_t n = 0; n < loop.blocks.size();) {
    std::size_t last = n;
    while (last + 1 < loop.blocks.size() && loop.blocks[last + 1] == loop.blocks[last] + 1) ++last;
    line += fmt::format(" {:x}-{:x}", blocks[loop.blocks[n]].first * sass::kInstructionBytes,
                        blocks[loop.blocks[last]].end * sass::kInstructionBytes);
    n = last + 1;
  }
  return line + "\n";
}

void print(uint32_t architecture, std::string_view text, std::span<const sass::IndirectBranch> branches) {
  const std::vector<sass::Instruction> code = sass::Decoder(architecture).decode(text);
  std::string out;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t at = i * sass::kInstructionBytes;
    sass::Word word;
    std::memcpy(&word, text.data() + at, sizeof word);
    out += lineOf(word, code[i], architecture, at);
  }
  const sass::ControlFlow flow(code, branches);
  for (const sass::Loop& loop : flow.loops()) out += lineOf(loop, flow.blocks());
  std::cout << out;
}

int printRaw(uint32_t architecture) {
  std::string text;
  sass::Word word;
  std::cin >> std::hex;
  while (std::cin >> word.low >> word.high) {
    text.append(reinterpret_cast<const char*>(&word.low), 8);
    text.append(reinterpret_cast<const char*>(&word.high), 8);
  }
  print(architecture, text, {});
  return 0;
}

int printCubin(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto code = ptxas::readCubinCode(bytes);
  if (const auto* error = std::get_if<ptxas::CubinError>(&code)) {
    std::cerr << path << ": " << error->message << "\n";
    return 1;
  }
  const auto& cubin = std::get<ptxas::CubinCode>(code);
  for (const ptxas::FunctionCode& f : cubin.functions) {
    std::cout << "function " << f.name << "\n";
    print(cubin.architecture, f.text, f.branches);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  if (argc == 3 && std::string(argv[1]) == "--raw") return printRaw(static_cast<uint32_t>(std::atoi(argv[2])));
  for (int i = 1; i < argc; ++i)
    if (const int status = printCubin(argv[i]); status != 0) return status;
  return argc > 1 ? 0 : 2;
}
