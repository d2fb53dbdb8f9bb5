// In what two machine codes differ, and their alignment.
#include <doctest/doctest.h>

#include <cstring>

#include "diff/show_code.h"
#include "ptxas/code_digest.h"

using namespace ptxopt;
using ptxas::CodePart;

namespace {

struct Words {
  uint64_t low, high;
};
// Of sm_90: IMAD.WIDE.U32 R2, R5, 0x4, R2; LDG.E R0, [R2.64]; IMAD R5, R0, R5, 0x1; EXIT.
constexpr Words kWide{0x0000000405027825, 0x002fca00078e0002}, kLoad{0x0000000402007981, 0x000ea8000c1e1900},
    kMultiply{0x0000000500057224, 0x000fe400078e0205}, kExit{0x000000000000794d, 0x000fea0003800000};

std::string bytes(std::initializer_list<Words> words) {
  std::string out;
  for (const Words& w : words) {
    char raw[16];
    std::memcpy(raw, &w.low, 8);
    std::memcpy(raw + 8, &w.high, 8);
    out.append(raw, sizeof raw);
  }
  return out;
}

std::vector<CodePart> differing(std::initializer_list<Words> a, std::initializer_list<Words> b) {
  return ptxas::differingParts(ptxas::codePartsOf(bytes(a), 90), ptxas::codePartsOf(bytes(b), 90));
}
using Parts = std::vector<CodePart>;

std::string aligned(std::initializer_list<Words> a, std::initializer_list<Words> b, bool withScheduling = false) {
  return diff::alignedCode(diff::codeLinesOf(bytes(a), 90, withScheduling),
                           diff::codeLinesOf(bytes(b), 90, withScheduling));
}

Words with(Words w, uint64_t low, uint64_t high = 0) { return {w.low ^ low, w.high ^ high}; }

}  // namespace

TEST_CASE("machine code: in what it differs") {
  CHECK(differing({kWide, kLoad, kExit}, {kWide, kLoad, kExit}) == Parts{});
  CHECK(differing({kWide, kExit}, {kWide, kLoad, kExit}) == Parts{CodePart::Instructions});
  CHECK(differing({kWide, kLoad, kExit}, {kLoad, kWide, kExit}) == Parts{CodePart::Order});
  CHECK(differing({kWide, kExit}, {with(kWide, uint64_t{3} << 32), kExit}) == Parts{CodePart::Constants});
  CHECK(differing({kLoad}, {with(kLoad, uint64_t{8} << 40)}) == Parts{CodePart::Constants});
  CHECK(differing({kMultiply}, {with(kMultiply, uint64_t{1} << 32)}) == Parts{CodePart::Registers});
  CHECK(differing({kWide}, {with(kWide, uint64_t{1} << 16)}) == Parts{CodePart::Registers});
  CHECK(differing({kWide}, {with(kWide, 0, uint64_t{1} << 42)}) == Parts{CodePart::Scheduling});
  CHECK(differing({kWide}, {with(kWide, uint64_t{1} << 24, uint64_t{1} << 42)}) ==
        Parts{CodePart::Registers, CodePart::Scheduling});
  CHECK(differing({kLoad}, {with(kLoad, 0, uint64_t{1} << 9)}) == Parts{CodePart::Instructions});  // a modifier
}

TEST_CASE("machine code: no bit is of no part") {
  for (const Words& w : {kWide, kLoad, kMultiply, kExit, Words{0xfffffffc00fc7947, 0x000fc0000383ffff}})
    for (unsigned bit = 0; bit < 128; ++bit)
      CHECK_MESSAGE(
          !differing({w}, {with(w, bit < 64 ? uint64_t{1} << bit : 0, bit < 64 ? 0 : uint64_t{1} << (bit - 64))})
               .empty(),
          bit);
}

TEST_CASE("machine code: both sides aligned") {
  CHECK(aligned({kWide, kExit}, {kWide, kExit}) == "    ...\n");
  CHECK(aligned({kWide, kExit}, {with(kWide, uint64_t{3} << 32), kExit}) ==
        "  - 0000      IMAD                       02 05 00000004 02 000078e00\n"
        "  + 0000      IMAD                       02 05 00000007 02 000078e00\n"
        "    0010      EXIT                       00 00 00000000 00 000038000\n");
  // What was inserted is alone.
  const std::string inserted = aligned({kWide, kExit}, {kWide, kLoad, kExit});
  CHECK(inserted.find("  - ") == std::string::npos);
  CHECK(inserted.find("  + 0010      LDG ") != std::string::npos);
  CHECK(inserted.find("    0020      EXIT ") != std::string::npos);
  CHECK(aligned({with(kWide, uint64_t{0x7000} ^ uint64_t{0x8000}), kExit}, {kExit}).find("  - 0000 @!P0 IMAD ") ==
        0);
  // Scheduling counts only where nothing else differs.
  CHECK(aligned({kWide}, {with(kWide, 0, uint64_t{1} << 42)}) == "    ...\n");
  CHECK(aligned({kWide}, {with(kWide, 0, uint64_t{1} << 42)}, true).find("  + 0000 ") != std::string::npos);
  CHECK(aligned({}, {kExit}).starts_with("  + 0000 "));
}
