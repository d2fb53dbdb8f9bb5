// What the generator is asked for: size, architecture, features and their weights.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernels {

// The kinds of statement that can be weighted by name.
enum class Feature : uint8_t {
  Arithmetic,
  Floats,
  Halves,
  Convert,
  Predicates,
  Copies,
  Packs,
  Carry,
  Wide,
  Memory,
  Vectors,
  Local,
  Generic,
  Branches,
  Switch,
  Irreducible,
  Loops,
  Pointers,
  Guards,
  Exits,
  Scopes,
  Shared,
  Exchange,
  Warp,
  Atomics,
  Calls,
  Dead,
  Bits,         // registers of any type of the width in operations on bits
  Expressions,  // constant expressions, literals of other types, registers with a constant added
  Kept,         // addresses kept in memory and loaded again
  Sections,     // parts that one lane runs, and lanes that leave loops at different iterations
  Tables,       // functions called through tables
  Aggregates,   // vector registers as parameters of functions
  Names,        // odd ones
  kCount,
};
constexpr std::size_t kFeatures = static_cast<std::size_t>(Feature::kCount);

std::string_view name(Feature feature);

struct Options {
  uint64_t seed = 0;
  int size = 0;  // statements; 0: drawn from the seed
  int arch = 80;
  std::array<int, kFeatures> weight;  // percent of the usual weight
  bool swarm = true;                  // leave some features out of each kernel: rarer meetings of the others
  bool approximate = false;           // also .approx forms, and arithmetic that may be contracted
  bool rawNan = false;                // let the payloads of NaNs reach memory
  bool plainNames = false;            // no odd names; nothing else changes
  bool undefinedReads = false;        // also read registers that nothing defines, where no result depends on them

  Options() { weight.fill(100); }
  bool has(Feature feature) const { return weight[static_cast<std::size_t>(feature)] > 0; }
};

// `list` is NAME or NAME=PERCENT, separated by commas. Plain names leave out all other features but arithmetic.
// False, with a message, for a name that is not a feature.
bool parseFeatures(std::string_view list, Options& options, std::string& error);

// "sm_80" gives 80; 0 where the text is not an architecture.
int parseArch(std::string_view text);

}  // namespace kernels
