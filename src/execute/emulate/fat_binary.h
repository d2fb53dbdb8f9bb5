// Fat binaries (container/fat_binary.h) as they lie in the memory of a program, whose words are believed, and the PTX in them
// that a device takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "container/fat_binary.h"

namespace ptxopt::emulate {

using container::FatEntry;

// The entries of the container at `data`, whose header says how long it is. Throws Failure(InvalidKernelImage).
std::vector<FatEntry> fatEntries(const void* data);
// How many bytes the container takes.
uint64_t fatSize(const void* data);
// The text or code of an entry. Throws Failure(InvalidKernelImage).
std::string unpacked(const FatEntry& entry);

// The newest architecture that the container, or one that it was linked from, has PTX for; 0: for none.
unsigned newestPtx(const void* container, std::span<const void* const> linked);
// The PTX of a container for a device: the newest that it takes. For relocatable code, the PTX of the files that it was
// linked from, linked (link/link.h); files without PTX have no part in it. Throws Failure where there is none.
std::string ptxOf(const void* container, std::span<const void* const> linked, unsigned architecture);
// PTX texts as one. Throws Failure(InvalidPtx).
std::string linkedText(std::span<const std::string> texts);

// What __cudaRegisterFatBinary gets: a word that says what it is, a version, and where the container is. nullptr where
// that is something else.
const void* containerOf(const void* wrapper);
// Relocatable code (nvcc -rdc=true): the containers of the files that were linked, with their PTX. None for others.
std::vector<const void*> linkedContainersOf(const void* wrapper);

}  // namespace ptxopt::emulate
