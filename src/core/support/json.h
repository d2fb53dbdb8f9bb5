// JSON: one type, and what reads and writes it. nlohmann's own are templates, which each source file would compile anew.
//
// Objects keep the order in which their members were written.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace ptxopt {

using Json = nlohmann::ordered_json;

// Throws nlohmann's parse_error.
Json parseJson(std::string_view text);
// What is not JSON is discarded: Json::is_discarded().
Json parseJsonOrDiscard(std::string_view text);
// For a file that anybody may have written: what nests too deeply is not JSON, before it takes memory. Throws nlohmann's
// parse_error, or std::length_error where it nests more deeply than `depth`.
Json parseBounded(std::string_view text, int depth);

// In one line, or with `indent` spaces for each level. What is not UTF-8 becomes U+FFFD.
std::string dumpJson(const Json& json, int indent = -1);

}  // namespace ptxopt
