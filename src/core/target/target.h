// The targets that PTX is written for: what each has, can do, and costs. All of it is data: targets.def, capabilities.def,
// costs.def, and the tables of machine.h. Code asks a Target; nothing else compares the numbers of architectures.
//
// A name with another number than those of targets.def has what the newest target before it has, and one older than
// sm_75 what sm_75 has; a name without a number has no capabilities, and the costs and times of sm_75.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptxopt::target {

class Machine;

// 90 for `sm_90`, `sm_90a` and `compute_90`; none where the text does not name a target.
std::optional<uint32_t> numberOf(std::string_view name);
// Empty where `name` is a target that PTX has a name for, spelled as `sm_90a`; otherwise what is wrong with it.
std::string whyNoTarget(std::string_view name);

// Whether what is assembled for `built` runs on `machine`, as `sm_90a`; true where one of them is not a target's name.
bool runsOn(std::string_view built, std::string_view machine);

enum class Capability : uint8_t {
#define TARGET_CAPABILITY(name, first, last, text) name,
#include "target/capabilities.def"
};
inline constexpr std::size_t kCapabilities = 0
#define TARGET_CAPABILITY(name, first, last, text) +1
#include "target/capabilities.def"
    ;

// What an SM holds.
struct Limits {
  static constexpr uint32_t kThreadsPerWarp = 32;
  static constexpr uint32_t kMostThreadsPerBlock = 1024;
  static constexpr uint32_t kRegisters = 65536;  // of an SM, and the most of a block
  static constexpr uint32_t kRegisterUnit = 256;
  static constexpr uint32_t kParts = 4;
  static constexpr uint32_t kMostRegistersPerThread = 255;

  uint32_t number;   // of the target
  uint32_t code;     // the target whose machine code it has
  uint32_t figures;  // the target whose costs and times it has
  uint32_t mostWarps, mostBlocks;
  uint32_t sharedBytes, reservedSharedBytes, sharedUnit;
  uint32_t barriers;
  bool barriersLimit;
  uint32_t multiprocessors;  // of the largest product; 0: not known

  uint32_t mostThreads() const { return mostWarps * kThreadsPerWarp; }
  uint32_t mostSharedBytesPerBlock() const { return sharedBytes - reservedSharedBytes; }
};

// What 64-bit integer arithmetic costs in machine instructions.
//
// Up to sm_103, and on sm_110, an addition of 64 bits is two instructions, and a pointer that a loop advances by a
// constant is several, because the halves of the sum are not an aligned pair; a product of 32-bit numbers is one, with
// the addition that reads it. sm_107, 120 and 121 add, compare and choose 64 bits in one instruction (IADD.64), so
// that rewriting a step as a product gains nothing there.
struct Costs {
  uint32_t number;  // of the target
#define TARGET_COST(name, summary) double name;
#define TARGET_COSTS(number, ...)
#include "target/costs.def"
};

class Target {
 public:
  explicit Target(std::string_view name) : Target(numberOf(name).value_or(0)) {}
  explicit Target(uint32_t number);  // 90; 0: a name without a number

  // 110 for sm_101, an earlier name of sm_110.
  uint32_t number() const { return number_; }
  bool has(Capability c) const;
  // nullptr where no target of targets.def has the number: nobody knows what an SM of it holds.
  const Limits* limits() const { return limits_; }
  const Costs& costs() const { return *costs_; }
  // Its units and times.
  const Machine& machine() const;
  // The targets whose figures these are, and whose machine code it has.
  uint32_t figures() const { return figures_; }
  uint32_t encodings() const { return encodings_; }

 private:
  uint32_t number_;
  uint32_t figures_, encodings_;
  const Limits* limits_;
  const Costs* costs_;
};

// Those that have limits, and those that have costs, in the order of their numbers.
std::span<const Limits> targets();
std::span<const Costs> costs();

}  // namespace ptxopt::target
