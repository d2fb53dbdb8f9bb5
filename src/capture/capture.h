// What is known of a program that is captured, and the launches that are recorded of it. One for the process.
//
// Before a launch that is wanted, all that the device does is waited for, and the memory that the launch can see is read:
// all, or what pointers lead to from its parameters and its module's variables on, word by word, as a collector of garbage
// would look for it. After it the same memory is read again. So a program is slowed down, and its streams follow each other
// while launches are recorded; what it computes stays the same.
//
// Not recorded, and counted with the reason: kernels without PTX; launches with more memory than was allowed, in streams that
// are captured into graphs, or of kernels that were not looked up by name. Graphs are launched unseen.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "capture/modules.h"
#include "capture/settings.h"
#include "record/folder.h"

namespace ptxopt::capture {

struct Launch {
  const void* function = nullptr;
  exec::Dim3 grid, block, cluster;
  uint32_t shared = 0;
  bool isCooperative = false;
  void* stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

struct DeviceRange {
  uint64_t size = 0;
  const char* name = "";
};

class Capture {
 public:
  static Capture& get();

  // Runs `launch`, which is the driver's call, and records it if it is wanted.
  int launched(const Launch& l, const std::function<int()>& launch);

  // What calls did. `body` runs with the state locked.
  template <typename F>
  void note(F&& body) {
    const std::lock_guard guard(lock_);
    body(*this);
  }
  Modules modules;
  std::map<uint64_t, DeviceRange> memory;  // by address
  uint64_t textures = 0;                   // texture and surface objects that are there

  // Makes the record of what was written, and says what there is. For the end of the process.
  void finish();

 private:
  Capture();
  bool begin(const Launch& l, record::RecordedLaunch& launch);
  // Entries, and their bytes, which have no digests yet.
  void addVariables(const KnownKernel& kernel, std::vector<record::RecordedMemory>& entries,
                    std::vector<std::string>& contents) const;
  bool addMemory(const record::RecordedLaunch& launch, std::vector<record::RecordedMemory>& entries,
                 std::vector<std::string>& contents) const;
  bool mayBeWanted(const Launch& l);  // without a reason where it is not
  bool isWanted(const Launch& l);
  void decline(const std::string& why) { ++declined_[why]; }
  void end(record::RecordedLaunch& launch);

  std::mutex lock_;       // of what is known
  std::mutex recording_;  // one launch at a time
  Settings settings_;
  std::string folder_;
  std::unique_ptr<record::FolderWriter> writer_;
  uint64_t matched_ = 0, recorded_ = 0;
  std::map<std::string, uint64_t> declined_;  // why, and how often
};

}  // namespace ptxopt::capture
