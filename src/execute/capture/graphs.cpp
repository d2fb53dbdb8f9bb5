// Instances are kept by their handle, with a copy of their nodes. An update is taken over where types and functions of
// all nodes are the same in order; otherwise the instance is refused with the reason.
#include "capture/graphs.h"

#include <algorithm>

namespace ptxopt::capture {
namespace {

void completeAll(GraphInstance& instance, const Graphs::Complete& complete) {
  for (GraphNode& node : instance.nodes)
    if (node.type == NodeType::Kernel) complete(node);
}

}  // namespace

void Graphs::add(const void* instance, void* graph, const Complete& complete) {
  GraphInstance& made = instances_[instance];
  made = {};
  made.graph = graph;
  made.nodes = nodesOf(graph, made.refusal);
  completeAll(made, complete);
}

void Graphs::change(const void* instance, const void* node, const Launch& launch, const Complete& complete) {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return;
  for (GraphNode& own : found->second.nodes) {
    if (own.handle != node) continue;
    const Launch before = own.launch;
    own.launch = launch;  // its attributes stay
    own.launch.cluster = before.cluster;
    own.launch.isCooperative = before.isCooperative;
    complete(own);
  }
}

void Graphs::update(const void* instance, void* graph, const Complete& complete) {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return;
  GraphInstance& own = found->second;
  std::string refusal;
  std::vector<GraphNode> nodes = nodesOf(graph, refusal);
  const auto isSame = [](const GraphNode& a, const GraphNode& b) {
    return a.type == b.type && a.launch.function == b.launch.function;
  };
  if (!refusal.empty() || !std::equal(nodes.begin(), nodes.end(), own.nodes.begin(), own.nodes.end(), isSame)) {
    own.refusal = "that was updated with another one";
    return;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].handle = own.nodes[i].handle;
  own.nodes = std::move(nodes);
  completeAll(own, complete);
}

void Graphs::dropNode(const void* node) {
  for (auto& [handle, instance] : instances_)
    if (std::any_of(instance.nodes.begin(), instance.nodes.end(),
                    [&](const GraphNode& n) { return n.handle == node; }))
      instance.refusal = "one of its nodes was destroyed";
}

bool Graphs::keeps(void* graph) {
  const bool isUsed = std::any_of(instances_.begin(), instances_.end(),
                                  [&](const auto& instance) { return instance.second.graph == graph; });
  if (isUsed) destroyed_.insert(graph);
  return isUsed;
}

void* Graphs::remove(const void* instance) {
  const auto found = instances_.find(instance);
  if (found == instances_.end()) return nullptr;
  void* const graph = found->second.graph;
  instances_.erase(found);
  if (!destroyed_.contains(graph)) return nullptr;
  if (keeps(graph)) return nullptr;
  destroyed_.erase(graph);
  return graph;
}

const GraphInstance* Graphs::find(const void* instance) const {
  const auto found = instances_.find(instance);
  return found != instances_.end() ? &found->second : nullptr;
}

}  // namespace ptxopt::capture
