// What a graph holds, as the driver reports it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "capture/launch.h"

namespace ptxopt::capture {

// CUDA_KERNEL_NODE_PARAMS, version 2.
struct KernelNodeParameters {
  void* function;
  unsigned grid[3], block[3], shared;
  void** parameters;
  void** extra;
  void *kernel, *context;  // `kernel` where there is no function
};

// CUgraphNodeType
enum class NodeType : int { Kernel = 0, Copy = 1, Fill = 2, Empty = 5 };

struct GraphNode {
  void* handle = nullptr;
  NodeType type = NodeType::Empty;
  Launch launch;                     // of a kernel; its arguments are `arguments`
  std::vector<std::byte> arguments;  // as the kernel has them
  bool isWanted = false;
};

Launch launchOf(const KernelNodeParameters& p);
// The nodes, each after those that it depends on. `refusal`: why they cannot be run one by one.
std::vector<GraphNode> nodesOf(void* graph, std::string& refusal);
// For a kernel that was looked up unseen.
bool findOwner(const void* function, void*& module, std::string& name);
bool isModuleOf(const void* library, const void* module);

// The nodes of an instance, which are switched on and off: what is off does nothing. They end as they were.
class Switches {
 public:
  Switches(void* instance, const std::vector<GraphNode>& nodes);
  ~Switches();
  Switches(const Switches&) = delete;
  Switches& operator=(const Switches&) = delete;

  // The driver lets them be switched, and all of them are off.
  bool isReady() const { return isReady_; }
  bool wasOn(std::size_t i) const { return wasOn_[i]; }
  bool turn(std::size_t i, bool isOn);

 private:
  void* instance_;
  const std::vector<GraphNode>& nodes_;
  std::vector<bool> wasOn_;
  bool isReady_ = true;
};

}  // namespace ptxopt::capture
