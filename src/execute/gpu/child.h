// Doing something in a process of its own, whose result is JSON.
#pragma once

#include <functional>
#include <string>

#include "support/json.h"

namespace ptxopt::gpu {

// What the body, which does not throw, answered; where the process ended without a result or took too long, null, with
// how it ended in `error`. What it prints is lost. The caller has one thread. Files that the body reads it has to open
// itself.
SortedJson inChild(const std::function<SortedJson()>& body, unsigned limitSeconds, std::string& error);

}  // namespace ptxopt::gpu
