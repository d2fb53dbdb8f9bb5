// Running launches on a GPU, recorded ones again and others that are given as records have them: with the memory that they had,
// at its addresses, before and after optimizing.
//
// For each launch:
//   1. Its memory is placed (fixed_memory.h). Variables of the module lie where the driver puts them, and get the recorded
//      contents there; a parameter that points into one is changed to point there.
//   2. Each text runs on the recorded memory. What it leaves is compared bit for bit: before with the record, after with
//      before. Before runs twice, and once more where after differs: where it differs from itself, the result is not
//      determined, and nothing is compared. So it goes on other inputs, where the launch has some.
//   3. Both are timed in turn (timing.h). All that a launch changes is restored before each sample, so that the first launch
//      of each does the work of the recorded one; restoring is not in the time. Samples of more than one launch begin after
//      a launch that is not counted: caches are as the kernel itself leaves them.
// A launch runs in a process of its own: after a kernel has failed a process can do nothing more on a device, and the
// addresses of one launch are free for the next.
//
// Refused, with the reason: textures; memory of `malloc` in kernels; managed variables, and other memory with two addresses;
// addresses of variables in memory, since variables lie elsewhere now; addresses that the driver does not give.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/driver.h"
#include "gpu/launch_memory.h"
#include "gpu/timing.h"
#include "ir/module.h"

namespace ptxopt::gpu {

struct ReplayOptions {
  std::string library;  // of the driver; empty: the usual one
  int device = 0;
  bool isTimed = true;
  unsigned limitSeconds = 600;  // of one launch, with all its repetitions
  TimingOptions timing;
};

// What the driver gets, PTX or machine code, of a module.
struct Image {
  std::string name;  // "before", "after"
  std::string bytes;
};

enum class Outcome : uint8_t {
  Equal,
  Different,     // an image from the first: detail; or the first from the record: fromRecord
  Undetermined,  // two runs of the first image differ
  Failed,        // detail: which image, and what the driver says
  Refused,       // it cannot be run here: detail
  NoDriver,
};
const char* nameOf(Outcome outcome);

struct Result {
  Outcome outcome = Outcome::Failed;
  std::string detail;
  // How the first image differs from the record, which is Different too: what was recorded in the interpreter may differ from
  // a GPU where PTX leaves that open.
  std::string fromRecord;
  bool hasRecord = false;  // of what the launch left: it was compared
  std::string failed;      // the image that did
  std::optional<Times> times;
};

// `module`: that of the kernel; its declarations are those of all images.
Result replayOnGpu(const GpuLaunch& launch, const Module& module, const std::vector<Image>& images,
                   const ReplayOptions& options);

// What there is to run on, found out in a process of its own, so that this one may still begin others. Throws NoDriver.
Device describeDevice(const ReplayOptions& options);

}  // namespace ptxopt::gpu
