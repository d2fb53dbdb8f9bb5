// What became of each module: a line of JSON in a file, or a line for people on standard error, where these are asked for. One
// write each, so that lines of several threads and processes do not mix, and a program that is killed has its lines.
#pragma once

#include <string>
#include <string_view>

#include "jit/kernel_counts.h"
#include "jit/optimizer.h"

namespace ptxopt::jit {

// `call`: the driver's function. `isUsed`: the program has what was made of it; `refusal`: why not, beside what the answer says.
// Nothing is thrown: false where there was no memory for it.
bool note(const char* call, const Image& image, const Answer& answer, bool isUsed, const std::string& refusal = {});
// At the end: what became of the launches of a kernel. False where there was no memory for it.
bool noteLaunches(const KernelCounts& counts);
// A launch of a kernel, the last one, differs from that of the original, there. This is said on standard error whatever is asked for.
void noteDifference(const KernelCounts& counts, const std::string& where);
// By which a module is known: of its bytes.
std::string digestOf(std::string_view bytes);
// A message for what the driver returned; empty: nothing is wrong.
std::string refusalOf(int result);

}  // namespace ptxopt::jit
