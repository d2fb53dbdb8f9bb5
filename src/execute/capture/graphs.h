// The graphs that a program has instantiated, with what their kernels were given.
//
// The nodes of its graph show what an instance does: they have to stay. A graph that the program destroys while it has
// instances is destroyed with the last of them. Arguments are read when a graph is instantiated, or a node of its
// instance changed: a graph may change later, its instances do not.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/graph_nodes.h"

namespace ptxopt::capture {

struct GraphInstance {
  void* graph = nullptr;
  std::vector<GraphNode> nodes;  // in order
  std::string refusal;           // why they cannot be run one by one
};

// Not safe to call from several threads at a time.
class Graphs {
 public:
  // Completes a node of a kernel: its arguments, and whether it is wanted.
  using Complete = std::function<void(GraphNode&)>;

  void add(const void* instance, void* graph, const Complete& complete);
  void change(const void* instance, const void* node, const Launch& launch, const Complete& complete);
  // It does what another graph does, which has the same nodes.
  void update(const void* instance, void* graph, const Complete& complete);
  // A node is gone, which its instances may be asked for no more.
  void dropNode(const void* node);
  // The graph to destroy now, if the program did before; or nullptr.
  void* remove(const void* instance);
  // Whether the graph has instances. It is to be destroyed later then.
  bool keeps(void* graph);
  // nullptr: it was not made in a way that is followed.
  const GraphInstance* find(const void* instance) const;

 private:
  std::map<const void*, GraphInstance> instances_;
  std::set<void*> destroyed_;  // by the program
};

}  // namespace ptxopt::capture
