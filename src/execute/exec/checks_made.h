// The checks, which checks.cpp puts together.
#pragma once

#include <memory>

#include "exec/checks.h"

namespace ptxopt::exec {

std::unique_ptr<Checks> makeUninitialisedCheck();                     // checks_uninit.cpp
std::unique_ptr<Checks> makeRaceCheck(bool inShared, bool inGlobal);  // checks_races.cpp
std::unique_ptr<Checks> makeDivisionCheck();                          // checks_divisions.cpp

}  // namespace ptxopt::exec
