// What reads and writes JSON. Its templates are compiled here, once, and not in each source that uses them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ptxopt {

// What we write: the members of an object keep their order. Finding one takes as long as there are members, and adding one may copy
// the others with all that they hold.
using Json = nlohmann::ordered_json;
// What others write: members are found by their names, in whatever number and depth they come.
using SortedJson = nlohmann::json;

// Throws nlohmann's parse_error.
Json parseJson(std::string_view text);
SortedJson parseSortedJson(std::string_view text);
// Returns a discarded value (is_discarded()) where the text is not JSON.
Json parseJsonOrDiscard(std::string_view text);
// The same where the text nests more deeply than kMostJsonDepth: what writes a value calls itself for each level.
SortedJson parseSortedJsonOrDiscard(std::string_view text);
constexpr int kMostJsonDepth = 256;
// For a file that anybody may have written: what nests too deeply is not JSON, before it takes memory. Throws nlohmann's
// parse_error, or std::length_error where it nests more deeply than `depth`.
Json parseBounded(std::string_view text, int depth);

// In one line, or with `indent` spaces for each level. What is not UTF-8 becomes U+FFFD.
std::string dumpJson(const Json& json, int indent = -1);
std::string dumpJson(const SortedJson& json, int indent = -1);

}  // namespace ptxopt
