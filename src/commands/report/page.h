// The fixed parts of the report's page, made of src/commands/report/page/ by cmake/report_page.cmake: the frame, the style and
// the scripts. The page asks the network for nothing. `</` would end its elements: neither style nor scripts have it.
//
// page/occupancy.js computes what target/occupancy.cpp does, for the reader's own block size: the test of the
// page compares the two.
#pragma once

#include <string_view>

namespace ptxopt::report {

std::string_view pageBeforeData();
std::string_view pageAfterData();

}  // namespace ptxopt::report
