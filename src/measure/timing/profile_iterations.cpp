// Blocks of the PTX in each loop are counted with their copies. The loops that hold most copies of a block each get an
// equal share of its count divided by warps and copies. A loop takes the largest such number.
#include "timing/profile_iterations.h"

#include <algorithm>

#include "support/json.h"
#include "timing/copies.h"
#include "timing/kernel_time.h"

namespace ptxopt::timing {
namespace {

// A block of the PTX whose instructions are in a loop of machine code.
struct Body {
  uint32_t loop = 0;
  uint32_t block = 0;   // its first line
  uint32_t copies = 0;  // of it in the loop
};

using Counts = std::map<uint32_t, uint64_t>;

// First line of the block of PTX that holds the line; 0: of none that was come to.
uint32_t blockAt(const Counts& counts, uint32_t line) {
  const auto after = counts.upper_bound(line);
  return line == 0 || after == counts.begin() ? 0 : std::prev(after)->first;
}

class IterationFinder {
 public:
  IterationFinder(const TimedCode& code, const Counts& counts, const std::function<uint32_t(uint64_t)>& lineAt)
      : code_(code), counts_(counts), lineAt_(lineAt) {}

  // The iterations of each loop, by a warp in a run; -1: not known.
  std::vector<double> find() const {
    const auto& loops = code_.flow.loops();
    std::vector<double> iterations(loops.size(), -1);
    std::vector<uint32_t> loopOf(code_.flow.blocks().size(), Region::kNone);
    for (uint32_t l = 0; l < loops.size(); ++l)
      for (const uint32_t b : loops[l].blocks) loopOf[b] = l;
    std::vector<Body> bodies;
    for (uint32_t l = 0; l < loops.size(); ++l) addBodies(l, loopOf, bodies);
    // The first block of a function is come to once by each warp.
    const double warps = static_cast<double>(std::max<uint64_t>(1, counts_.begin()->second));
    for (const Body& body : bodies) {
      uint32_t most = 0, alike = 0;
      for (const Body& other : bodies)
        if (other.block == body.block) most = std::max(most, other.copies);
      for (const Body& other : bodies) alike += other.block == body.block && other.copies == most;
      if (body.copies != most) continue;
      const double here = static_cast<double>(counts_.at(body.block)) / warps / most / alike;
      iterations[body.loop] = std::max(iterations[body.loop], here);
    }
    return iterations;
  }

 private:
  void addBodies(uint32_t loop, const std::vector<uint32_t>& loopOf, std::vector<Body>& bodies) const {
    std::map<uint32_t, Copies> copies;                       // by block
    std::map<uint32_t, std::map<uint32_t, uint32_t>> lines;  // instructions, by block and line
    for (const uint32_t b : code_.flow.loops()[loop].blocks) {
      if (loopOf[b] != loop) continue;
      const sass::Block& block = code_.flow.blocks()[b];
      for (uint32_t i = block.first; i < block.end; ++i) {
        const uint32_t line = lineAt_(uint64_t{i} * sass::kInstructionBytes);
        const uint32_t of = blockAt(counts_, line);
        if (of == 0) continue;
        copies[of].add(line, code_.operations[i]);
        ++lines[of][line];
      }
    }
    for (const auto& [block, its] : copies) {
      uint32_t count = its.count();
      if (count == 0)  // nothing shows it: no line has less than one for each
        count = std::ranges::min_element(lines[block], {}, [](const auto& l) { return l.second; })->second;
      bodies.push_back({loop, block, count});
    }
  }

  const TimedCode& code_;
  const Counts& counts_;
  const std::function<uint32_t(uint64_t)>& lineAt_;
};

}  // namespace

std::optional<ProfileCounts> readProfile(std::string_view text, std::string& error) {
  try {
    ProfileCounts profile;
    const auto json = parseSortedJson(text);
    for (const auto& block : json.at("blocks"))
      profile.blocks[block.at("function").get<std::string>()][block.at("line").get<uint32_t>()] =
          block.at("entered").at("warps").get<uint64_t>();
    return profile;
  } catch (const SortedJson::exception& wrong) {
    error = wrong.what();
    return std::nullopt;
  }
}

IterationsOf profiledIterations(const TimedCode& code, const ProfileCounts& profile, std::string_view function,
                                const std::function<uint32_t(uint64_t)>& lineAt) {
  const auto counts = profile.blocks.find(function);
  if (counts == profile.blocks.end() || counts->second.empty()) return sameIterations(kAssumedIterations);
  return [iterations = IterationFinder(code, counts->second, lineAt).find()](uint32_t loop, double entries) {
    return Iterations{iterations[loop] < 0 ? entries : iterations[loop], IterationsFrom::Profiled};
  };
}

CountOf profiledCounts(const TimedCode& code, const ProfileCounts& profile, std::string_view function,
                       const std::function<uint32_t(uint64_t)>& lineAt) {
  const auto found = profile.blocks.find(function);
  if (found == profile.blocks.end()) return {};
  std::vector<std::optional<BlockCount>> counts;
  for (const sass::Block& block : code.flow.blocks()) {
    std::optional<BlockCount>& count = counts.emplace_back();
    for (uint32_t i = block.first; i < block.end && !count; ++i)
      if (const uint32_t of = blockAt(found->second, lineAt(uint64_t{i} * sass::kInstructionBytes)); of != 0)
        count = BlockCount{of, static_cast<double>(found->second.at(of))};
  }
  return [counts = std::move(counts)](uint32_t block) { return counts[block]; };
}

}  // namespace ptxopt::timing
