#include "report/page.h"

namespace ptxopt::report {

std::string pageWith(const Page& page, const Json& data) {
  const std::string text = dumpJson(data);
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
