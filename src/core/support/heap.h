// Memory for a program that optimizes a large text and ends.
//
// Of the CPU time for a text of 1 MB up to a third is the system's: some thousand pages are touched for the first time,
// one after the other, and large blocks that are freed are given back and asked for anew. With glibc the heap gets room
// for all at once, in pages of 2 MiB where the system has them for those who ask, and keeps what is freed. Only what is
// touched is memory: -O2 of 20 MB took 121 MB instead of 117.
// That is a setting of the process: for programs, not for the library. Declines for small texts, which need few pages,
// for very large ones, where what is freed counts, and where mayShapeHeap() says no.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ptxopt {

// Before the text, of that many bytes, is read. Once in a process; no other thread may run.
void prepareHeap(std::size_t textBytes);
// The same for files. What is not a regular file does not count.
void prepareHeap(std::span<const std::string> paths);

// Whether nobody else has: the address space is not limited (ulimit -v, -d), where a heap that grows in larger steps
// would meet the limit earlier, and the environment does not set glibc's malloc (GLIBC_TUNABLES, MALLOC_TOP_PAD_ and the like).
bool mayShapeHeap();

}  // namespace ptxopt
