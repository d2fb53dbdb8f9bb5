// What became of each module: a line of JSON in a file, or a line for people on standard error, where these are asked for. One
// write each, so that lines of several threads and processes do not mix, and a program that is killed has its lines.
#pragma once

#include <string>

#include "jit/optimizer.h"

namespace ptxopt::jit {

// `call`: the driver's function. `isUsed`: the driver took what was made of it; `refusal`: its error where it did not, otherwise 0.
void note(const char* call, const Image& image, const Answer& answer, bool isUsed, int refusal);

}  // namespace ptxopt::jit
