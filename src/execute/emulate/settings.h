// What `ptxopt emulate` asks of the emulated library that it loads into the program, in one environment variable: JSON
// in PTXOPT_EMULATION. And what that library reports back: totals, in a file of a fixed layout, so that they are there
// even if the program is killed.
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt::emulate {

constexpr const char* kSettingsVariable = "PTXOPT_EMULATION";

struct Settings {
  std::string tool;                        // ptxopt, for optimize
  bool optimizes = false;                  // modules; else they run as they are
  std::string optimize;                    // with these options of ptxopt
  bool compare = false;                    // run each launch without and with, and compare
  unsigned architecture = 0;               // 90; 0: the newest that the program has PTX for
  unsigned jobs = 0;                       // blocks in parallel; 0: as many as there are cores
  uint64_t stepLimit = UINT64_MAX;         // warp instructions of a launch
  uint64_t memory = uint64_t{4} << 30;     // of the device, in bytes
  uint64_t heap = uint64_t{8} << 20;       // of malloc in kernels, in bytes
  std::string keep;                        // a folder for the PTX of the program, as it was and optimized
  std::string totals;                      // the file
  bool verbose = false;                    // a line for each launch
  bool checksRaces = false;                // a race is a fault
  bool isLenient = false;                  // what kernels read outside of all memory is zeros
  bool profiles = false;                   // count what the threads of each kernel execute, and how fast
  std::string profileFolder;               // where profiles of launches are written, one a process
  std::string recordFolder, recordKernel;  // where launches are recorded, and the one kernel that is recorded
  uint64_t recordMost = UINT64_MAX;        // how many
  int parent = 0;                          // the process of ptxopt, with which the program is to end
  // For tests of what measures times: a clock that each warp instruction advances by a microsecond, and by how much of
  // them times are off, differently each time.
  bool countsTime = false;
  double noise = 0;
  int devices = 1;  // 0: there is a driver and no device
};

std::string toJson(const Settings& settings);
// Throws std::runtime_error with what is wrong.
Settings readSettings(const std::string& json);

struct Totals {
  uint64_t launches = 0, failed = 0;  // that ran
  uint64_t refused = 0;               // that never ran: a shape that the device does not take, an unknown kernel
  uint64_t strayReads = 0;            // with Settings::isLenient
  double seconds = 0;                 // in which the launches ran
  uint64_t compared = 0, different = 0;
  uint64_t modules = 0, changedModules = 0, notOptimized = 0;
  uint64_t notKept = 0;  // modules that Settings::keep is without
  uint64_t missing = 0;  // calls of what the emulated libraries do not have
};

}  // namespace ptxopt::emulate
