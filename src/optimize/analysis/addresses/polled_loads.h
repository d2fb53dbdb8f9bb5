// Loads by which a loop may wait for somebody else.
//
// What:       a loop polls if it is left, or goes on, by a comparison in it of nothing but what was there before the loop and what
//             it loads from the same place again. Nothing that the loop computes can change how that comes out; a loop that is not
//             endless waits for another thread, another grid or the host. Its loads of global memory from the same place in each
//             iteration are polled, all of them: what decides may come through shared memory.
// Why:        as weak loads these are data races, and what they read no program may rely on. Programs do, and it works as long
//             as each iteration loads, and what is read after the loop is. Who says that nobody writes that takes it away.
// Algorithm:  backward from the guards of the loop's exits, through what computes them, to loads, values of before the loop, and
//             what differs from iteration to iteration: a phi that depends on itself, a load from elsewhere, a clock.
//             `and` and `or` of predicates are several comparisons.
// Cost:       each value once for each loop around it and each exit.
#pragma once

#include <vector>

#include "analysis/manager/analyses.h"

namespace ptxopt {

// By InstrId.
std::vector<bool> findPolledLoads(const Module& module, const Function& f, Analyses& analyses);

}  // namespace ptxopt
