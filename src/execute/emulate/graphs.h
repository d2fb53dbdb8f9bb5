// Graphs: captured from streams, or made node by node. A graph that is launched runs its nodes at once, one after the other,
// in an order that their dependencies allow.
//
// An instance has copies of the nodes: what is changed in it, or disabled, is not in its graph, and the other way
// around.
#pragma once

#include "emulate/runtime/abi.h"
#include "emulate/state.h"

namespace ptxopt::emulate {

// Each throws Failure where there is no such graph or node.
Graph& graphAt(void* handle);
GraphNode& nodeAt(void* handle);
GraphNode& ownNode(Graph& instance, void* node);

Graph* newGraph();
void endGraph(Graph& graph);
GraphNode* addNode(Graph& graph, NodeType type, void* const* after, size_t count, std::function<void()> work);
GraphNode* addKernel(Graph& graph, void* const* after, size_t count, KernelCall call);
void setCall(GraphNode& node, KernelCall call);
KernelCall callOf(const KernelNodeParameters& parameters);
bool canBeDisabled(const GraphNode& node);

// The nodes, each after those that it depends on. Throws where some depend on each other.
std::vector<std::shared_ptr<GraphNode>> ordered(const Graph& graph);
// A copy, with its nodes in order.
Graph* instanceOf(const Graph& graph);
// The instance does what the graph does, which has the same nodes. Throws Failure where it has others.
void updateInstance(Graph& instance, const Graph& graph);
void runGraph(const Graph& graph);

}  // namespace ptxopt::emulate
