// What the library to preload (src/execute/jit) and the process that optimizes for it (src/commands/jit_process) say to each other.
//
// The library runs `TOOL jit --module KEY=VALUE...` with three descriptors: the image, an empty file for what is made of it, and a
// pipe for the answer, which ends with the process. No answer, or none in time, means that the image is used as it is.
// The words are those of Request. The answer is lines:
//     optimized | same
//     the number of kernels, of those that changed, 1 where it came from the cache
//     why it is the same, or what was kept, in a line; may be empty
//     the kernels that changed and whose blocks may have any number of threads, with blanks between them
//     where launches are compared, records with tabs between them:
//         k NAME OFFSET+BYTES,... WHY   a kernel that stands there a second time, as it was, with its parameters; why it is not compared
//         v NAME                        a variable of the module that functions use
//         w NAME                        another one
//         d KEYS                        what to say where a launch of it differs
//         h                             functions take memory from the heap of the device
// Where a launch differed, the library runs `TOOL jit --module differs=KEYS` with the name of the kernel instead of the image, and
// waits for no answer: the module is used as it is in later runs.
#pragma once

namespace ptxopt::jit {

constexpr int kImage = 3, kResult = 4, kAnswer = 5;  // descriptors
constexpr const char* kModuleWord = "--module";

// Words of the request.
constexpr const char* kKind = "kind";                // ptx or fat
constexpr const char* kArchitectures = "devices";    // of the devices that may run it: 80,90
constexpr const char* kIsLinked = "linked";          // 1: an input of the linker
constexpr const char* kMostRegisters = "registers";  // CU_JIT_MAX_REGISTERS
constexpr const char* kBudgetSeconds = "budget";     // how long is waited for it
constexpr const char* kIsCompared = "compared";      // 1: kernels that change are to be there as they were, too
constexpr const char* kDiffers = "differs";          // KEYS: launches of what was made differed
constexpr const char* kOptimized = "optimized";      // of the answer
constexpr const char* kSame = "same";

// What says to the library how it works; ptxopt jit sets them.
constexpr const char* kToolVariable = "PTXOPT_JIT_TOOL";
constexpr const char* kBudgetVariable = "PTXOPT_JIT_BUDGET";
constexpr const char* kLogVariable = "PTXOPT_JIT_LOG";
constexpr const char* kVerboseVariable = "PTXOPT_JIT_VERBOSE";
constexpr const char* kCompareVariable = "PTXOPT_JIT_COMPARE";  // LAUNCHES,MIB,SECONDS

constexpr double kUsualBudget = 2;  // seconds

// After the name of a kernel: the kernel as it was.
constexpr const char* kOriginalSuffix = "$ptxopt_original";

}  // namespace ptxopt::jit
