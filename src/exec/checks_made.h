// The two checks, which checks.cpp puts together.
#pragma once

#include <memory>

#include "exec/checks.h"

namespace ptxopt::exec {

std::unique_ptr<Checks> makeUninitialisedCheck();  // checks_uninit.cpp
std::unique_ptr<Checks> makeRaceCheck();           // checks_races.cpp

}  // namespace ptxopt::exec
