// What is known of a program that is captured, and the launches that are recorded of it. One for the process.
//
// Before a launch that is wanted, all that the device does is waited for, and the memory that the launch can see is
// read: all, or what pointers lead to from its parameters and its module's variables on, word by word, as a collector
// of garbage would look for it. After it the same memory is read again. So a program is slowed down, and its streams
// follow each other while launches are recorded; what it computes stays the same.
//
// A graph is launched once for each of its kernels that is wanted, with all its other nodes switched off, and for what
// lies between them: so a kernel of it is recorded as any other. What a stream is given while it is captured is not a
// launch yet.
//
// Not recorded, and counted with the reason: kernels without PTX, by their names; launches with more memory than was
// allowed, and of kernels that were not looked up by name; graphs with nodes that cannot be switched off.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "capture/graphs.h"
#include "capture/modules.h"
#include "capture/profiler.h"
#include "capture/settings.h"
#include "record/folder.h"

namespace ptxopt::capture {

class Capture {
 public:
  static Capture& get();

  // Runs `launch`, which is the driver's call, and records it if it is wanted.
  int launched(const Launch& l, const std::function<int()>& launch);
  // The same for a graph.
  int launchedGraph(void* instance, void* stream, const std::function<int()>& launch);

  // What calls did. `body` runs with the state locked.
  template <typename F>
  void note(F&& body) {
    const std::lock_guard guard(lock_);
    body(*this);
  }
  bool wantsMore() const { return recorded_ < settings_.most; }
  Modules modules;
  Graphs graphs;
  uint64_t textures = 0;  // texture and surface objects that are there

  // For a node of a graph: its arguments, and whether it is wanted. For note().
  void complete(GraphNode& node);

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
  // The nodes to run one by one; none: the graph is launched as it is.
  std::vector<GraphNode> nodesToRecord(const void* instance, void* stream);
  int launchNodes(std::vector<GraphNode>& nodes, Switches& switches, void* stream,
                  const std::function<int()>& launch);
  bool isWanted(const Launch& l);
  // Records it if it is wanted.
  int recorded(const Launch& l, const std::function<int()>& launch);
  // Adds it to the profile if it is wanted.
  int profiled(const Launch& l, const std::function<int()>& launch);
  bool mayBeProfiled(const Launch& l);
  void decline(const std::string& why) { ++declined_[why]; }
  void end(record::RecordedLaunch& launch);
  void makeFolder();

  std::mutex lock_;       // of what is known
  std::mutex recording_;  // one launch at a time
  std::mutex launching_;  // one graph at a time
  std::mutex timing_;     // one launch at a time
  Settings settings_;
  std::string folder_;
  std::unique_ptr<record::FolderWriter> writer_;
  uint64_t matched_ = 0, recorded_ = 0;
  Profiler profiler_;
  std::map<std::string, uint64_t> declined_;  // why, and how often
};

}  // namespace ptxopt::capture
