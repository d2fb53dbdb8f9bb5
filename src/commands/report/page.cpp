#include "report/page.h"

namespace ptxopt::report {

std::string pageWith(const Page& page, const nlohmann::ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string out(page.beforeData);
  out.reserve(out.size() + text.size() + text.size() / 64 + page.afterData.size());
  // `<` is in strings only.
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out += page.afterData;
}

}  // namespace ptxopt::report
