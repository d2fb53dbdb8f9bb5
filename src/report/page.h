// The fixed parts of the report's page: its style and its program. Neither asks the network for anything, and
// both are written so that no `</` stands in them.
#pragma once

#include <string_view>

namespace ptxopt::report {

std::string_view pageStyle();
std::string_view pageBody();

// The parts of the program, in the order that they must have in the page.
std::string_view occupancyScript();
std::string_view chartScript();
std::string_view listingScript();
std::string_view mainScript();

}  // namespace ptxopt::report
