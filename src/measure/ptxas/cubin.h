// Reading the figures of a cubin: the 64-bit ELF file that ptxas writes.
//
// Functions are the symbols of type FUNC that have a .text section of their own; kernels are marked by a bit of
// st_other. Registers and frames stand in .nv.info, the threads of a block and barriers in .nv.info.NAME, shared
// memory is the size of .nv.shared.NAME (from sm_90 on without the 1 KiB at its beginning that is the system's),
// constants that of .nv.constant0.NAME. A function that ptxas put into the section of the kernel that calls it
// counts there. Instructions of sm_70 and newer are counted; the figures of spills are not in the file. Where indirect
// branches go stands in .nv.info.NAME. Errors: not an ELF file, not one for NVIDIA's machines, cut off in the middle.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptxas/line_table.h"
#include "ptxas/measures.h"
#include "sass/control_flow.h"

namespace ptxopt::ptxas {

struct CubinError {
  std::string message;
};

// By kernel, as it is launched; of others nothing is known.
using LaunchSizes = std::map<std::string, LaunchSize, std::less<>>;

std::variant<Measures, CubinError> readCubin(std::string_view bytes, const LaunchSizes& launches = {});

// What a cubin is of, without figures: it is not decoded.
struct CubinNames {
  std::string architecture;          // "sm_90a"
  std::vector<std::string> kernels;  // by name, in order
};
std::variant<CubinNames, CubinError> readCubinNames(std::string_view bytes);

// The machine code of a function that has a section of its own.
struct FunctionCode {
  std::string name;
  std::string_view text;  // into the bytes that were read
  std::vector<sass::IndirectBranch> branches;
  std::vector<LineRow> lines;  // of the PTX, where ptxas had -lineinfo; else none
};
struct CubinCode {
  uint32_t architecture = 0;  // the number of sm_NUMBER
  std::vector<FunctionCode> functions;
};

std::variant<CubinCode, CubinError> readCubinCode(std::string_view bytes);
// "V13.0.88", as a note in the file says; empty where there is none.
std::string ptxasVersionOfCubin(std::string_view bytes);
// Whether it begins like an ELF file.
bool isElf(std::string_view bytes);

}  // namespace ptxopt::ptxas
