// What ptxopt_details() returns (ptxopt_c.h lists the members).
#pragma once

#include <string>
#include <string_view>

#include "guard/guard.h"

namespace ptxopt::c_api {

std::string detailsJson(const guard::GuardedResult& done, std::string_view notOptimized);

}  // namespace ptxopt::c_api
