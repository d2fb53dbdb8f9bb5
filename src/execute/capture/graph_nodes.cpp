// Functions of the driver are found by name at run time and called with plain types, so that no header of CUDA is
// needed. Switches turn all nodes of an instance off and restore them when they end.
#include "capture/graph_nodes.h"

#include <algorithm>
#include <map>

#include "interpose/real.h"

namespace ptxopt::capture {
namespace {

// Calls a function of the driver by its name: false where there is none, or it fails.
template <typename... Arguments>
bool succeeds(const char* name, Arguments... arguments) {
  auto* const f = reinterpret_cast<int (*)(Arguments...)>(interpose::driverFunction(name));
  return f != nullptr && f(arguments...) == 0;
}

// For CUgraphNodeType.
const char* nameOf(int type) {
  constexpr const char* kNames[] = {"a kernel",
                                    "a copy",
                                    "a fill",
                                    "a call of the host",
                                    "a child graph",
                                    "an empty node",
                                    "a wait for an event",
                                    "a record of an event",
                                    "a signal",
                                    "a wait for a signal",
                                    "an allocation",
                                    "a free",
                                    "operations on memory",
                                    "a condition"};
  return type >= 0 && static_cast<std::size_t>(type) < std::size(kNames) ? kNames[type]
                                                                         : "a node of an unknown kind";
}

bool canBeSwitched(const GraphNode& node) { return node.type != NodeType::Empty; }

bool readKernel(GraphNode& node) {
  KernelNodeParameters p{};
  if (!succeeds("cuGraphKernelNodeGetParams_v2", node.handle, &p)) return false;
  node.launch = launchOf(p);
  constexpr int kCooperative = 2, kCluster = 4;
  unsigned value[16] = {};  // CUlaunchAttributeValue
  if (succeeds("cuGraphKernelNodeGetAttribute", node.handle, kCooperative, &value[0]))
    node.launch.isCooperative = value[0] != 0;
  std::fill_n(value, std::size(value), 0u);
  if (succeeds("cuGraphKernelNodeGetAttribute", node.handle, kCluster, &value[0]) && value[0] != 0)
    node.launch.cluster = {value[0], value[1], value[2]};
  return true;
}

}  // namespace

Launch launchOf(const KernelNodeParameters& p) {
  Launch l;
  l.function = p.function != nullptr ? p.function : p.kernel;
  l.grid = {p.grid[0], p.grid[1], p.grid[2]};
  l.block = {p.block[0], p.block[1], p.block[2]};
  l.shared = p.shared;
  l.parameters = p.parameters;
  l.extra = p.extra;
  return l;
}

std::vector<GraphNode> nodesOf(void* graph, std::string& refusal) {
  void** const nothing = nullptr;
  std::size_t count = 0, edges = 0;
  refusal = "whose nodes the driver does not tell";
  if (!succeeds("cuGraphGetNodes", graph, nothing, &count)) return {};
  std::vector<void*> handles(count);
  if (!succeeds("cuGraphGetNodes", graph, handles.data(), &count)) return {};
  if (!succeeds("cuGraphGetEdges", graph, nothing, nothing, &edges)) return {};
  std::vector<void*> from(edges), to(edges);
  if (edges != 0 && !succeeds("cuGraphGetEdges", graph, from.data(), to.data(), &edges)) return {};
  refusal.clear();

  std::map<void*, std::vector<void*>> after;
  std::map<void*, std::size_t> waitsFor;
  for (std::size_t i = 0; i < edges; ++i) {
    after[from[i]].push_back(to[i]);
    ++waitsFor[to[i]];
  }
  std::vector<void*> order;
  for (void* handle : handles)
    if (waitsFor[handle] == 0) order.push_back(handle);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (void* next : after[order[i]])
      if (--waitsFor[next] == 0) order.push_back(next);

  std::vector<GraphNode> nodes;
  for (void* handle : order) {
    GraphNode& node = nodes.emplace_back();
    node.handle = handle;
    int type = -1;
    const bool isReported = succeeds("cuGraphNodeGetType", handle, &type);
    node.type = static_cast<NodeType>(type);
    const bool isFollowed = node.type == NodeType::Kernel || node.type == NodeType::Copy ||
                            node.type == NodeType::Fill || node.type == NodeType::Empty;
    if (!isReported || !isFollowed) refusal = std::string("with ") + nameOf(type);
    if (node.type == NodeType::Kernel && !readKernel(node)) refusal = "whose kernels the driver does not tell";
  }
  return nodes;
}

bool findOwner(const void* function, void*& module, std::string& name) {
  const char* text = nullptr;
  if (!succeeds("cuFuncGetModule", &module, function) || !succeeds("cuFuncGetName", &text, function)) return false;
  name = text;
  return true;
}

bool isModuleOf(const void* library, const void* module) {
  void* found = nullptr;
  return succeeds("cuLibraryGetModule", &found, library) && found == module;
}

Switches::Switches(void* instance, const std::vector<GraphNode>& nodes)
    : instance_(instance), nodes_(nodes), wasOn_(nodes.size()) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!canBeSwitched(nodes[i])) continue;
    unsigned isOn = 0;
    isReady_ = isReady_ && succeeds("cuGraphNodeGetEnabled", instance, nodes[i].handle, &isOn);
    wasOn_[i] = isOn != 0;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) isReady_ = isReady_ && turn(i, false);
}

Switches::~Switches() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) turn(i, wasOn_[i]);
}

bool Switches::turn(std::size_t i, bool isOn) {
  if (!canBeSwitched(nodes_[i]) || !wasOn_[i]) return true;
  return succeeds("cuGraphNodeSetEnabled", instance_, nodes_[i].handle, static_cast<unsigned>(isOn));
}

}  // namespace ptxopt::capture
