// What ptxopt_details() returns (ptxopt_c.h lists the members).
#pragma once

#include <string>

#include "guard/guard.h"

namespace ptxopt::c_api {

std::string detailsJson(const GuardedResult& done);

}  // namespace ptxopt::c_api
