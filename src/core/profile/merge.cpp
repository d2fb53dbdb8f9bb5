// Algorithm: a class has a key: the block, which parameters' memory overlaps, and of each part its exact value, that it is a range, or
// roughly how it is aligned. Equal keys add up, and ranges grow to hold both. Where a part has many values, those that take little
// of the kernel's time become a range, whose classes then have equal keys.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "profile/profile.h"

namespace ptxopt::profile {
namespace {

constexpr std::size_t kMostValues = 16;  // of a part
constexpr std::size_t kFewValues = 4;    // kept also where there are too many classes
constexpr double kMuchTime = 1.0 / 8;    // of the kernel's: such a value is kept in any case
constexpr uint64_t kMostAlignment = 32;  // that an access asks for: classes do not differ by more
constexpr std::size_t kMostPending = 8 * kMostClasses;

using PartPlace = std::tuple<uint32_t, uint32_t, uint32_t>;
PartPlace placeOf(const ParameterPart& p) { return {p.parameter, p.offset, p.bytes}; }

enum class PartKind : uint8_t { Address, Exact, Range };
using PartKey = std::tuple<PartPlace, PartKind, int64_t>;
using ClassKey =
    std::tuple<std::array<uint32_t, 3>, bool, std::vector<std::pair<uint32_t, uint32_t>>, std::vector<PartKey>>;

// Parts that are ranges, also where they still have one value.
using Ranges = std::set<std::pair<PartPlace, int64_t>>;

PartKey keyOf(const ParameterPart& p, const Ranges& ranges) {
  if (p.isAddress)
    return {placeOf(p), PartKind::Address, static_cast<int64_t>(std::min(p.number.multiple, kMostAlignment))};
  const auto exact = p.number.exact();
  if (!exact || ranges.contains({placeOf(p), *exact})) return {placeOf(p), PartKind::Range, 0};
  return {placeOf(p), PartKind::Exact, *exact};
}

ClassKey keyOf(const LaunchClass& c, const Ranges& ranges) {
  std::vector<PartKey> parts;
  parts.reserve(c.parts.size());
  for (const ParameterPart& p : c.parts) parts.push_back(keyOf(p, ranges));
  return {c.block, c.isMemoryKnown, c.overlapping, std::move(parts)};
}

// The greatest common divisor of all; 0: all are 0.
uint64_t divisorOf(const NumberFact& n) {
  const auto exact = n.exact();
  if (!exact) return n.multiple;
  return *exact < 0 ? ~static_cast<uint64_t>(*exact) + 1 : static_cast<uint64_t>(*exact);
}

void widen(NumberFact& to, const NumberFact& by) {
  if (to == by) return;
  const uint64_t divisor = std::gcd(divisorOf(to), divisorOf(by));
  to.least = std::min(to.least, by.least);
  to.most = std::max(to.most, by.most);
  to.multiple = to.exact() || divisor == 0 || divisor > INT64_MAX ? 1 : divisor;
}

void join(LaunchClass& to, const LaunchClass& from) {
  to.launches += from.launches;
  to.time += from.time;
  for (std::size_t i = 0; i < to.grid.size(); ++i) widen(to.grid[i], from.grid[i]);
  for (std::size_t i = 0; i < to.parts.size(); ++i) {
    NumberFact& n = to.parts[i].number;
    if (to.parts[i].isAddress)
      n.multiple = std::min(n.multiple, from.parts[i].number.multiple);
    else
      widen(n, from.parts[i].number);
  }
  std::vector<uint32_t> written;
  std::ranges::set_union(to.written, from.written, std::back_inserter(written));
  to.written = std::move(written);
}

// Those with equal keys become one; in the order of the keys.
void joinEqual(std::vector<LaunchClass>& classes, const Ranges& ranges) {
  std::map<ClassKey, LaunchClass> byKey;
  for (LaunchClass& c : classes) {
    const auto [place, isNew] = byKey.try_emplace(keyOf(c, ranges));
    if (isNew)
      place->second = std::move(c);
    else
      join(place->second, c);
  }
  classes.clear();
  for (auto& [key, c] : byKey) classes.push_back(std::move(c));
}

// How much each exact value of each part weighs.
using Weights = std::map<PartPlace, std::map<int64_t, double>>;
Weights weightsOf(const std::vector<LaunchClass>& classes, bool isByTime) {
  Weights weights;
  for (const LaunchClass& c : classes)
    for (const ParameterPart& p : c.parts)
      if (const auto exact = p.number.exact(); exact && !p.isAddress)
        weights[placeOf(p)][*exact] += isByTime ? c.time : static_cast<double>(c.launches);
  return weights;
}

void makeRanges(std::vector<LaunchClass>& classes, bool isByTime, double all) {
  const Weights weights = weightsOf(classes, isByTime);
  std::vector<const Weights::value_type*> parts;
  for (const auto& part : weights) parts.push_back(&part);
  std::ranges::stable_sort(parts, std::ranges::greater(), [](const auto* p) { return p->second.size(); });
  Ranges ranges;
  for (const auto* part : parts) {
    const std::size_t values = part->second.size();
    if (values <= kMostValues && (classes.size() <= kMostClasses || values <= kFewValues)) break;
    for (const auto& [value, weight] : part->second)
      if (weight < kMuchTime * all) ranges.insert({part->first, value});
    joinEqual(classes, ranges);
  }
}

bool takesMore(const LaunchClass& a, const LaunchClass& b) {
  return a.time != b.time ? a.time > b.time : a.launches > b.launches;
}

void addLoops(std::vector<SeenLoop>& to, const std::vector<SeenLoop>& from) {
  for (const SeenLoop& l : from) {
    const auto known =
        std::ranges::find_if(to, [&](const SeenLoop& k) { return k.index == l.index && k.label == l.label; });
    if (known == to.end()) {
      to.push_back(l);
      continue;
    }
    known->entries += l.entries;
    known->iterations += l.iterations;
    if (known->place.empty()) known->place = l.place;
  }
  std::ranges::stable_sort(to, {}, &SeenLoop::index);
}

// What distinguishes kernels.
using KernelKey = std::tuple<std::string, std::string, std::vector<uint32_t>>;
KernelKey keyOf(const SeenKernel& k) { return {matchName(k.name), k.digest, k.parameterBytes}; }

void join(SeenKernel& to, SeenKernel from) {
  to.name = std::min(to.name, from.name);
  to.launches += from.launches;
  to.time += from.time;
  for (LaunchClass& c : from.classes) to.classes.push_back(std::move(c));
  addLoops(to.loops, from.loops);
}

}  // namespace

void boundClasses(SeenKernel& kernel) {
  joinEqual(kernel.classes, {});
  const bool isByTime = kernel.time > 0;
  makeRanges(kernel.classes, isByTime, isByTime ? kernel.time : static_cast<double>(kernel.launches));
  joinEqual(kernel.classes, {});  // a range of one value is that value again
  std::ranges::stable_sort(kernel.classes, takesMore);
  if (kernel.classes.size() > kMostClasses) kernel.classes.resize(kMostClasses);
}

void addLaunches(SeenKernel& kernel, LaunchClass launches) {
  kernel.launches += launches.launches;
  kernel.time += launches.time;
  kernel.classes.push_back(std::move(launches));
  if (kernel.classes.size() <= kMostPending) return;
  joinEqual(kernel.classes, {});
  if (kernel.classes.size() > kMostPending / 2) boundClasses(kernel);
}

void add(File& to, SeenKernel kernel) {
  const KernelKey key = keyOf(kernel);
  const auto known = std::ranges::find_if(to.kernels, [&](const SeenKernel& k) { return keyOf(k) == key; });
  if (known == to.kernels.end())
    to.kernels.push_back(std::move(kernel));
  else
    join(*known, std::move(kernel));
}

std::string merge(File& to, File from) {
  if (to.kernels.empty()) to.unit = from.unit;
  if (!from.kernels.empty() && to.unit != from.unit)
    return fmt::format("time is in {}, and in {} in another: these do not add up", spelling(from.unit),
                       spelling(to.unit));
  std::map<KernelKey, SeenKernel> kernels;
  for (File* const file : {&to, &from})
    for (SeenKernel& k : file->kernels) {
      const auto [place, isNew] = kernels.try_emplace(keyOf(k));
      if (isNew)
        place->second = std::move(k);
      else
        join(place->second, std::move(k));
    }
  to.kernels.clear();
  for (auto& [key, k] : kernels) to.kernels.push_back(std::move(k));
  order(to);
  return {};
}

void order(File& file) {
  for (SeenKernel& k : file.kernels) boundClasses(k);
  std::ranges::sort(file.kernels, [](const SeenKernel& a, const SeenKernel& b) {
    return a.time != b.time ? a.time > b.time : std::tie(a.name, a.digest) < std::tie(b.name, b.digest);
  });
}

}  // namespace ptxopt::profile
