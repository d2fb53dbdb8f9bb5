// What `ptxas -v` says of each function, read from its messages.
//
// The lines that count look the same from CUDA 11 to 13:
//     ptxas info    : Compiling entry function 'NAME' for 'sm_80'
//     ptxas info    : Function properties for NAME
//         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//     ptxas info    : Used 20 registers, used 1 barriers, 2176 bytes smem, 372 bytes cmem[0]
// Everything else is passed over. A `.func` that ptxas compiles for itself has the middle two only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace ptxopt::ptxas {

struct PtxasCounts {
  std::optional<uint64_t> registers;  // of kernels only
  uint64_t barriers = 0;
  uint64_t stack = 0, spillStores = 0, spillLoads = 0;  // bytes
  uint64_t shared = 0;                                  // bytes, static
};

// By function, as mangled in the PTX.
std::map<std::string, PtxasCounts, std::less<>> readPtxasVerbose(std::string_view text);

}  // namespace ptxopt::ptxas
