// Smaller trials are listed in order of how much they simplify: clean memory first, then smaller grids and blocks, then
// simpler scalars and contents.
#include "verify/counterexample.h"

#include <fmt/format.h>

#include <bit>

namespace ptxopt::verify {
namespace {

std::string nameOf(const std::optional<TrialMemory::Writer>& writer) {
  if (!writer) return "nobody";
  return fmt::format("thread {} of block {}", toString(writer->thread), toString(writer->block));
}

}  // namespace

std::vector<Trial> smallerTrials(const Trial& t, const KernelUse& use, const ShapeLimits& limits,
                                 const VerifyOptions& options) {
  std::vector<Trial> list;
  const auto add = [&](auto&& change) {
    Trial s = t;
    change(s);
    list.push_back(std::move(s));
  };
  if (t.dirty) add([](Trial& s) { s.dirty = false; });
  const exec::Dim3 oneCluster = t.cluster;
  if (!(t.grid == oneCluster) && !options.grid)
    add([&](Trial& s) {
      s.grid = oneCluster;
      s.firstCluster = 0;
    });
  if (limits.required.x == 0 && !options.block) {
    for (const uint32_t x : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u})
      if (x < t.block.x) add([&](Trial& s) { s.block.x = x; });
    if (t.block.y > 1) add([&](Trial& s) { s.block.y = 1; });
    if (t.block.z > 1) add([&](Trial& s) { s.block.z = 1; });
  }
  for (std::size_t k = 0; k < t.fields.size(); ++k) {
    if (t.fields[k].isPointer) {
      if (t.fields[k].contents.skip != 0) add([&](Trial& s) { s.fields[k].contents.skip = 0; });
      if (t.fields[k].contents.kind != Contents::Kind::Small)
        add([&](Trial& s) { s.fields[k].contents.kind = Contents::Kind::Small; });
      continue;
    }
    if (use.fields[k].use == Field::Use::Handle || use.fields[k].isFloat ||
        options.scalars.contains(use.fields[k].parameter))
      continue;
    for (const uint64_t v : {uint64_t{0}, uint64_t{1}, uint64_t{2}, t.fields[k].bits / 2, t.fields[k].bits - 1})
      if (v < t.fields[k].bits) add([&](Trial& s) { s.fields[k].bits = v; });
  }
  return list;
}

std::string explain(const Trial& trial, const Difference& d, const KernelUse& use,
                    const std::optional<Comparison::Writers>& writers) {
  std::string text = d.where;
  if (!d.values.empty()) text += fmt::format(": {}", d.values);
  if (writers) {
    const std::string first = nameOf(writers->first), second = nameOf(writers->second);
    text += fmt::format("\n  written by {}", first);
    if (first != second) text += fmt::format(" in the first file, by {} in the second", second);
  }
  text += fmt::format("\n  grid {}, block {}", toString(trial.grid), toString(trial.block));
  if (trial.cluster.count() > 1) text += fmt::format(", cluster {}", toString(trial.cluster));
  if (trial.dynamicShared != 0) text += fmt::format(", {} bytes of dynamic shared memory", trial.dynamicShared);
  if (trial.firstCluster != 0) text += fmt::format(", only blocks from number {} on", trial.firstCluster);
  if (trial.dirty)
    text += fmt::format(", registers, shared memory and stacks full of {:#x} at first",
                        static_cast<unsigned>(kUnwritten));
  static constexpr const char* kKinds[] = {"small", "mixed",  "arbitrary", "special", "rising",   "tiny",    "wide",
                                           "few",   "coarse", "literal",   "scaled",  "shuffled", "constant"};
  for (std::size_t k = 0; k < trial.fields.size(); ++k) {
    const FieldValue& v = trial.fields[k];
    const Field& f = use.fields[k];
    if (f.use == Field::Use::Handle)
      text += fmt::format("\n  {} = a texture or surface", f.parameter);
    else if (v.isPointer)
      text += fmt::format("\n  {} = memory of {} {} values, seed {:#x}", f.parameter,
                          kKinds[static_cast<unsigned>(v.contents.kind)], info(v.contents.element).name,
                          v.contents.seed) +
              (v.contents.skip == 0 ? "" : fmt::format(", from number {} on", v.contents.skip));
    else if (f.isFloat && f.bytes == 4)
      text += fmt::format("\n  {} = {}", f.parameter, std::bit_cast<float>(static_cast<uint32_t>(v.bits)));
    else if (f.isFloat && f.bytes == 8)
      text += fmt::format("\n  {} = {}", f.parameter, std::bit_cast<double>(v.bits));
    else
      text += fmt::format("\n  {} = {}", f.parameter, v.bits);
  }
  return text;
}

}  // namespace ptxopt::verify
