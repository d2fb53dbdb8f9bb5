// The fixed parts of the pages, made of src/commands/report/page/ and diff_page/ by cmake/pages.cmake: the frame, the style and
// the scripts. A page asks the network for nothing. `</` would end its elements: neither style nor scripts have it.
//
// page/occupancy.js computes what target/occupancy.cpp does, for the reader's own block size: the test of the
// page compares the two.
#pragma once

#include <string>
#include <string_view>

#include "support/json.h"

namespace ptxopt::report {

struct Page {
  std::string_view beforeData, afterData;
};
Page reportPage();
Page diffPage();

// The page with its data, in which `<` is an escape, so that no text can end the element. What is not UTF-8 is replaced.
std::string pageWith(const Page& page, const Json& data);

}  // namespace ptxopt::report
