// What a record may ask for: it may come from somebody else, and a few bytes of a zip file may stand for very many.
// docs/record.md states these limits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptxopt::record {

// Times the compressed size: what deflate makes of launches that are much alike is 120.
constexpr uint64_t kMostInflation = 250;
// record.json, and the JSON of one launch in a folder.
constexpr uint64_t kMostManifestBytes = uint64_t{256} << 20;
constexpr uint64_t kAlwaysManifestBytes = uint64_t{1} << 20;  // whatever the compressed size
constexpr unsigned kMostDepth = 16;                           // of objects and arrays in each other
constexpr std::size_t kMostLaunches = 1'000'000, kMostModules = 100'000;
constexpr std::size_t kMostValues = 1'000'000;  // of one launch, of all modules
// The memory of one launch, or one content. A command may be given more.
constexpr uint64_t kAlwaysContentBytes = uint64_t{64} << 20;
constexpr std::size_t kMostEntries = 10'000'000;  // of the zip file

}  // namespace ptxopt::record
