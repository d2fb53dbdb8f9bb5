// Nodes are ordered when an instance is made: those whose predecessors are done are appended until all are. Launching
// runs the nodes' closures in that order; an update replaces the closures.
#include "emulate/graphs.h"

#include <algorithm>
#include <set>

namespace ptxopt::emulate {
namespace {

std::set<Graph*>& graphs() {
  static auto* const all = new std::set<Graph*>;
  return *all;
}

}  // namespace

Graph& graphAt(void* handle) {
  need(graphs().contains(static_cast<Graph*>(handle)), Code::InvalidResourceHandle, "no such graph");
  return *static_cast<Graph*>(handle);
}

GraphNode& nodeAt(void* handle) {
  need(handle != nullptr, Code::InvalidValue, "no node");
  return *static_cast<GraphNode*>(handle);
}

GraphNode& ownNode(Graph& instance, void* node) {
  const auto found = instance.own.find(static_cast<GraphNode*>(node));
  need(found != instance.own.end(), Code::InvalidValue, "no node of the graph that this one was made of");
  return *found->second;
}

Graph* newGraph() {
  auto* const graph = new Graph;
  graphs().insert(graph);
  return graph;
}

void endGraph(Graph& graph) {
  graphs().erase(&graph);
  delete &graph;
}

GraphNode* addNode(Graph& graph, NodeType type, void* const* after, size_t count, std::function<void()> work) {
  auto node = std::make_shared<GraphNode>();
  node->type = type;
  node->work = std::move(work);
  for (size_t i = 0; i < count; ++i) node->after.push_back(&nodeAt(after[i]));
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

void setCall(GraphNode& node, KernelCall call) {
  node.call = std::make_shared<const KernelCall>(std::move(call));
  node.work = [kept = node.call] { kept->run(); };
}

GraphNode* addKernel(Graph& graph, void* const* after, size_t count, KernelCall call) {
  GraphNode* const node = addNode(graph, NodeType::Kernel, after, count, {});
  setCall(*node, std::move(call));
  return node;
}

KernelCall callOf(const KernelNodeParameters& p) {
  const LaunchShape shape{{p.grid.x, p.grid.y, p.grid.z}, {p.block.x, p.block.y, p.block.z}, {}, p.shared, false};
  return State::get().call(p.function, shape, p.arguments);
}

bool canBeDisabled(const GraphNode& node) {
  return node.type == NodeType::Kernel || node.type == NodeType::Copy || node.type == NodeType::Fill;
}

std::vector<std::shared_ptr<GraphNode>> ordered(const Graph& graph) {
  std::vector<std::shared_ptr<GraphNode>> order;
  std::set<const GraphNode*> done;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get())) continue;
      if (!std::all_of(node->after.begin(), node->after.end(), [&](GraphNode* n) { return done.contains(n); }))
        continue;
      done.insert(node.get());
      order.push_back(node);
    }
    need(order.size() != before, Code::InvalidValue, "nodes of the graph depend on each other");
  }
  return order;
}

Graph* instanceOf(const Graph& graph) {
  const auto order = ordered(graph);
  Graph* const made = newGraph();
  for (const auto& node : order) {
    made->nodes.push_back(std::make_shared<GraphNode>(*node));
    GraphNode& own = *made->nodes.back();
    for (GraphNode*& before : own.after) before = made->own.at(before);
    made->own[node.get()] = &own;
  }
  return made;
}

void updateInstance(Graph& instance, const Graph& graph) {
  const auto order = ordered(graph);
  const auto isSame = [](const auto& a, const auto& b) { return a->type == b->type; };
  need(std::equal(order.begin(), order.end(), instance.nodes.begin(), instance.nodes.end(), isSame),
       Code::GraphExecUpdateFailure, "the graph has other nodes");
  for (std::size_t i = 0; i < order.size(); ++i) {
    instance.nodes[i]->work = order[i]->work;
    instance.nodes[i]->call = order[i]->call;
  }
}

void runGraph(const Graph& graph) {
  for (const auto& node : graph.nodes)
    if (node->isEnabled && node->work) node->work();
}

}  // namespace ptxopt::emulate
