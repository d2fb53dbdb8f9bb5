// What src/measure/timing decodes against what NVIDIA's disassembler printed of machine code by ptxas: tests/inputs/sass/operations.txt,
// which tests/codegen/sass/record.py writes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "sass/decode.h"
#include "timing/operation.h"

using namespace ptxopt;
using namespace ptxopt::timing;

namespace {

constexpr const char* kKinds[] = {
#define TARGET_KIND(name, text) #name,
#include "target/kinds.def"
};

std::string decoded(sass::Word word, const sass::Decoder& decoder, uint32_t architecture) {
  const sass::Instruction i = decoder.decode(word, 0);
  const Operation operation = operationOf(word, i, target::Target(architecture));
  std::string wait = "-";
  if (const auto counted = countedWaitOf(word, i))
    wait = fmt::format("{}:{}:{}", counted->scoreboard, counted->count, counted->empty);
  return fmt::format("{} {} {} {} {}", kKinds[static_cast<std::size_t>(operation.kind)], operation.bytes,
                     operation.isUniform ? "u" : "-", operation.repeats, wait);
}

}  // namespace

TEST_CASE("timing, recorded: bytes, addresses, forms, shapes and waits of what ptxas made, of each architecture") {
  std::ifstream in(std::string(PTXOPT_TESTS_DIR) + "/inputs/sass/operations.txt");
  REQUIRE(in.good());
  std::map<uint32_t, std::set<std::string>> kinds;
  uint32_t architecture = 0;
  sass::Decoder decoder(75);
  for (std::string first; in >> first;) {
    if (first.starts_with("sm_")) {
      architecture = static_cast<uint32_t>(std::stoul(first.substr(3)));
      decoder = sass::Decoder(architecture);
      continue;
    }
    std::string high, printed;
    in >> high >> std::ws;
    std::getline(in, printed);
    CAPTURE(architecture);
    CAPTURE(first);
    CHECK(decoded({std::stoull(first, nullptr, 16), std::stoull(high, nullptr, 16)}, decoder, architecture) ==
          printed);
    kinds[architecture].insert(printed.substr(0, printed.find(' ')));
  }
  CHECK(kinds.size() == 13);
  for (const auto& [number, names] : kinds) {
    CAPTURE(number);
    CHECK(names.size() >= 25);
  }
}

TEST_CASE("timing: DEPBAR's counts") {
  const auto waitOf = [](uint64_t low, uint64_t high) {
    const sass::Word word{low, high};
    return countedWaitOf(word, sass::Decoder(90).decode(word, 0));
  };
  const auto counted = waitOf(0x000081400000791a, 0x000fc80000000000);  // DEPBAR.LE SB0, 0x5
  REQUIRE(counted);
  CHECK(counted->scoreboard == 0);
  CHECK(counted->count == 5);
  CHECK(counted->empty == 0);
  const auto all = waitOf(0x0000003f0000791a, 0x000fc80000000000);  // DEPBAR {5,4,3,2,1,0}
  REQUIRE(all);
  CHECK(all->scoreboard == 0);
  CHECK(all->count == 0);
  CHECK(all->empty == 63);
  CHECK_FALSE(waitOf(0x0000000000007918, 0x000fc00000000000));  // NOP
}
