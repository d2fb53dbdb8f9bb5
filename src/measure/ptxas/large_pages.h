// Large pages for the memory of ptxas.
//
// Of the time that ptxas takes for a small kernel, up to half is the system's: it touches some thousand pages for the first
// time, one after the other. glibc (2.35 and newer) asks for pages of 2 MiB, and for more of them at a time, where
// GLIBC_TUNABLES says so. That takes a tenth to a fifth of the time away and adds some 5 MB of memory; what ptxas writes stays
// the same. Where the system has no such pages, or ptxas another C library, nothing changes. A GLIBC_TUNABLES that is set
// already, empty or not, is the user's and stays. Declines where mayShapeHeap() (support/heap.h) says no.
#pragma once

#include <string>

namespace ptxopt::ptxas {

// NAME=VALUE for the environment of ptxas; empty: it stays as it is.
std::string largePagesForPtxas();

// Puts that into the environment of this process, which becomes ptxas or calls it and nothing else.
void useLargePagesForPtxas();

}  // namespace ptxopt::ptxas
