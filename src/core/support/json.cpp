#include "support/json.h"

#include <stdexcept>

namespace ptxopt {
namespace {

template <typename J>
J parsedWithin(std::string_view text, int depth) {
  return J::parse(text, [depth](int at, typename J::parse_event_t, J&) {
    if (at > depth) throw std::length_error("it nests too deeply");
    return true;
  });
}

}  // namespace

Json parseJson(std::string_view text) { return Json::parse(text); }
SortedJson parseSortedJson(std::string_view text) { return SortedJson::parse(text); }

Json parseJsonOrDiscard(std::string_view text) { return Json::parse(text, nullptr, false); }
SortedJson parseSortedJsonOrDiscard(std::string_view text) {
  try {
    return parsedWithin<SortedJson>(text, kMostJsonDepth);
  } catch (const SortedJson::parse_error&) {
    return SortedJson::value_t::discarded;
  } catch (const std::length_error&) {
    return SortedJson::value_t::discarded;
  }
}

Json parseBounded(std::string_view text, int depth) { return parsedWithin<Json>(text, depth); }

std::string dumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}
std::string dumpJson(const SortedJson& json, int indent) {
  return json.dump(indent, ' ', false, SortedJson::error_handler_t::replace);
}

}  // namespace ptxopt
