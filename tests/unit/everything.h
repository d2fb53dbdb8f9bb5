// Whether this process runs all unit tests: what the last one says about all others holds only then.
#pragma once

namespace ptxopt::testing {

extern bool runsEverything;  // no argument was given; main.cpp sets it

}  // namespace ptxopt::testing
