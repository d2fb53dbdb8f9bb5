// Built files: what compilers and linkers make with device code in it.
//
// That are ELF files (programs, shared libraries, objects), archives of objects, bare fat binaries, and cubins. The
// first bytes of a file show what it is. In ELF files fat binaries lie one after the other in .nv_fatbin; those of
// relocatable device code (nvcc -rdc=true), which is linked at build time or by the driver, in __nv_relfatbin. An ELF
// file for NVIDIA's machines is a cubin itself. Modules point into the bytes that were read.
// Declines: 32-bit and big-endian ELF files, and thin archives, whose members are files of their own. Cost: linear in
// sections, members and entries; only their heads are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "container/fat_binary.h"

namespace ptxopt::container {

struct Module {
  FatEntry entry;              // of a cubin: uncompressed machine code, without `whole`
  std::string member;          // of an archive; else empty. The second of a name is NAME#2
  unsigned number = 0;         // of its fat binary or cubin in the file, from 1
  bool isRelocatable = false;  // of __nv_relfatbin
  bool isObject = false;       // of a file that is yet to be linked
  std::string_view fat;        // the fat binary that it lies in; empty: it is a cubin
  std::size_t place = 0;       // of the entry in that, from 0
};

// Whether the file that begins so is one of them. The first 8 bytes decide.
bool isBuilt(std::string_view beginning);

// The PTX and machine code in it, in the order of the file; none: there is no device code. A message says the place.
OrBroken<std::vector<Module>> modulesOf(std::string_view bytes);

// The text or code of a module.
OrBroken<std::string> contentsOf(const Module& module);

// "foo.o: machine code 2 for sm_80", for messages.
std::string nameOf(const Module& module);

}  // namespace ptxopt::container
