// Bits of each instruction are divided by masks that depend on its form. The parts are hashed in order, and the
// operations a second time as a sum, which does not depend on their order.
#include "ptxas/code_digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <memory>

#include "sass/decode.h"

namespace ptxopt::ptxas {
namespace {

constexpr std::array<std::string_view, kCodeParts> kNames{"instructions", "order", "registers", "constants",
                                                          "scheduling"};

// Forms of operands, by bits 9 to 11: the second or third is an immediate or in a constant bank.
constexpr uint32_t kFirstConstantForm = 2, kLastConstantForm = 5;

constexpr uint64_t mask(unsigned first, unsigned last) {  // within a 64-bit word
  return (~uint64_t{0} >> (63 - last)) & (~uint64_t{0} << first);
}

// Which bits of an instruction belong to each part. Those that are in none of these are of the operation.
struct Masks {
  sass::Word registers, constants;
};

// The second 64-bit word: 64-71 a register, 72-80 and 91-104 modifiers, 81-90 predicates, 105-127 for the scheduler.
constexpr uint64_t kScheduling = mask(41, 63), kHighRegisters = mask(0, 7) | mask(17, 26);

Masks masksOf(sass::Word word, const sass::Instruction& i) {
  const uint32_t form = word.bits(9, 3);
  if (i.target.has_value()) {
    // sm_100 and newer have a part of the offset in bits 16 to 23.
    constexpr uint64_t kHighOffset = mask(0, 17);
    return {{mask(12, 15) | mask(24, 31), kHighRegisters & ~kHighOffset},
            {mask(16, 23) | mask(32, 63), kHighOffset}};
  }
  if (sass::pipeOf(i.opcode) == sass::Pipe::Memory) return {{mask(12, 39), kHighRegisters}, {mask(40, 63), 0}};
  if (form >= kFirstConstantForm && form <= kLastConstantForm)
    return {{mask(12, 31), kHighRegisters}, {mask(32, 63), 0}};
  return {{mask(12, 63), kHighRegisters}, {}};
}

sass::Word operator&(sass::Word a, sass::Word b) { return {a.low & b.low, a.high & b.high}; }

class Digest {
 public:
  Digest() { XXH64_reset(state_.get(), 0); }
  void add(sass::Word word) { XXH64_update(state_.get(), &word, sizeof word); }
  uint32_t value() const { return static_cast<uint32_t>(XXH64_digest(state_.get())); }

 private:
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state_{XXH64_createState(), XXH64_freeState};
};

}  // namespace

std::string_view name(CodePart part) { return kNames[static_cast<std::size_t>(part)]; }

std::string codeDigest(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

CodeParts codePartsOf(std::string_view text, uint32_t architecture) {
  const sass::Decoder decoder(architecture);
  std::array<Digest, kCodeParts> digests;
  const auto digestOf = [&](CodePart part) -> Digest& { return digests[static_cast<std::size_t>(part)]; };
  uint64_t all = 0;  // of a sum the order does not matter
  for (std::size_t at = 0; at + sass::kInstructionBytes <= text.size(); at += sass::kInstructionBytes) {
    sass::Word word;
    std::memcpy(&word.low, text.data() + at, sizeof word.low);
    std::memcpy(&word.high, text.data() + at + sizeof word.low, sizeof word.high);
    const auto [registers, constants] = masksOf(word, decoder.decode(word, static_cast<int64_t>(at)));
    const sass::Word scheduling{0, kScheduling};
    const sass::Word operation =
        word & sass::Word{~registers.low & ~constants.low, ~registers.high & ~constants.high & ~kScheduling};
    all += XXH64(&operation, sizeof operation, 0);
    digestOf(CodePart::Order).add(operation);
    digestOf(CodePart::Registers).add(word & registers);
    digestOf(CodePart::Constants).add(word & constants);
    digestOf(CodePart::Scheduling).add(word & scheduling);
  }
  CodeParts parts{};
  for (std::size_t p = 0; p < kCodeParts; ++p) parts[p] = digests[p].value();
  parts[static_cast<std::size_t>(CodePart::Instructions)] = static_cast<uint32_t>(XXH64(&all, sizeof all, 0));
  return parts;
}

std::vector<CodePart> differingParts(const CodeParts& before, const CodeParts& after) {
  std::vector<CodePart> parts;
  for (std::size_t p = 0; p < kCodeParts; ++p) {
    const auto part = static_cast<CodePart>(p);
    if (before[p] == after[p]) continue;
    parts.push_back(part);
    if (part == CodePart::Instructions || part == CodePart::Order) break;
  }
  return parts;
}

}  // namespace ptxopt::ptxas
