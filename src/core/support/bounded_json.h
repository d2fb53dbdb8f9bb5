// JSON of a file that anybody may have written: what nests too deeply is not JSON, before it takes memory.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace ptxopt {

// Throws nlohmann's parse_error, or std::length_error where it nests more deeply than `depth`.
inline nlohmann::ordered_json parseBounded(std::string_view text, int depth) {
  using Json = nlohmann::ordered_json;
  return Json::parse(text, [depth](int at, Json::parse_event_t, Json&) {
    if (at > depth) throw std::length_error("it nests too deeply");
    return true;
  });
}

}  // namespace ptxopt
