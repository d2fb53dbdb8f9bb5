#include "support/json.h"

#include <stdexcept>

namespace ptxopt {

Json parseJson(std::string_view text) { return Json::parse(text); }
SortedJson parseSortedJson(std::string_view text) { return SortedJson::parse(text); }

Json parseJsonOrDiscard(std::string_view text) { return Json::parse(text, nullptr, false); }
SortedJson parseSortedJsonOrDiscard(std::string_view text) { return SortedJson::parse(text, nullptr, false); }

Json parseBounded(std::string_view text, int depth) {
  return Json::parse(text, [depth](int at, Json::parse_event_t, Json&) {
    if (at > depth) throw std::length_error("it nests too deeply");
    return true;
  });
}

std::string dumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}
std::string dumpJson(const SortedJson& json, int indent) {
  return json.dump(indent, ' ', false, SortedJson::error_handler_t::replace);
}

}  // namespace ptxopt
