// Memory for a program that optimizes a large text and ends.
//
// Of the CPU time for a text of 1 MB up to a third is the system's: some thousand pages are touched for the first time, one
// after the other, and large blocks that are freed are given back and asked for anew. With glibc the heap gets room for all at
// once, in pages of 2 MiB where the system has them for those who ask, and keeps what is freed. Only what is touched is memory.
// That is a setting of the process: for programs, not for the library. Declines for small texts, which need few pages, for very
// large ones, of which what is freed counts, and where the address space is limited (ulimit -v, -d).
#pragma once

#include <cstddef>

namespace ptxopt {

// Before the text, of so many bytes, is read.
void prepareHeap(std::size_t textBytes);

}  // namespace ptxopt
