// Graphs: captured from streams, or made node by node. A graph that is launched runs its nodes at once, one after the other,
// in an order that their dependencies allow.
#include "emulate/runtime/copies.h"
#include "emulate/runtime/exported.h"

#include <algorithm>
#include <set>

using namespace ptxopt::emulate;

namespace {

std::set<Graph*>& graphs() {
  static auto* const all = new std::set<Graph*>;
  return *all;
}

Graph& graphAt(void* handle) {
  need(graphs().contains(static_cast<Graph*>(handle)), Code::InvalidResourceHandle, "no such graph");
  return *static_cast<Graph*>(handle);
}

Graph* newGraph() {
  auto* const graph = new Graph;
  graphs().insert(graph);
  return graph;
}

GraphNode* add(Graph& graph, NodeType type, void* const* after, size_t count, std::function<void()> work) {
  auto node = std::make_shared<GraphNode>();
  node->type = type;
  node->work = std::move(work);
  for (size_t i = 0; i < count; ++i) node->after.push_back(static_cast<GraphNode*>(after[i]));
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().get();
}

// The nodes, each after those that it depends on. Throws where some depend on each other.
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

void runGraph(const Graph& graph) {
  for (const auto& node : graph.nodes)
    if (node->isEnabled && node->work) node->work();
}

// A copy, with its nodes in order; what is instantiated does not change with its graph.
Graph* instance(const Graph& graph) {
  Graph* const made = newGraph();
  made->nodes = ordered(graph);
  return made;
}

std::function<void()> launchOf(const KernelNodeParameters& p) {
  State& s = State::get();
  Kernel& kernel = s.kernel(p.function);
  const LaunchShape shape{{p.grid.x, p.grid.y, p.grid.z}, {p.block.x, p.block.y, p.block.z}, {}, p.shared, false};
  return
      [&kernel, shape, bytes = packArguments(kernel, p.arguments)] { State::get().launch(kernel, shape, bytes); };
}

GraphNode& nodeAt(void* handle) {
  need(handle != nullptr, Code::InvalidValue, "no node");
  return *static_cast<GraphNode*>(handle);
}

}  // namespace

// ---- capture ----

CUDA_API(cudaStreamBeginCapture) int cudaStreamBeginCapture(void* handle, int) {
  return answer(__func__, [&] {
    Stream* const stream = State::get().stream(handle);
    need(stream != nullptr, Code::StreamCaptureUnsupported, "the default stream cannot be captured");
    need(stream->captured == nullptr, Code::IllegalState, "the stream is captured already");
    stream->captured = newGraph();
    stream->beganCapture = true;
  });
}
CUDA_ALSO(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz)
CUDA_API(cudaStreamEndCapture) int cudaStreamEndCapture(void* handle, void** graph) {
  return answer(__func__, [&] {
    State& s = State::get();
    Stream* const stream = s.stream(handle);
    need(stream != nullptr && stream->captured != nullptr, Code::IllegalState, "the stream is not captured");
    need(stream->beganCapture, Code::StreamCaptureUnmatched, "another stream began the capture");
    Graph* const captured = stream->captured;
    for (Stream* other : s.streams)
      if (other->captured == captured) other->captured = nullptr;
    for (Event* event : s.events)
      if (event->captured == captured) event->captured = nullptr;
    stream->beganCapture = false;
    out(graph) = captured;
  });
}
CUDA_ALSO(cudaStreamEndCapture, cudaStreamEndCapture_ptsz)
CUDA_API(cudaStreamIsCapturing) int cudaStreamIsCapturing(void* handle, int* status) {
  return answer(__func__, [&] {
    const Stream* const stream = State::get().stream(handle);
    out(status) = stream != nullptr && stream->captured != nullptr;
  });
}
CUDA_ALSO(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz)
CUDA_API(cudaThreadExchangeStreamCaptureMode) int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return answer(__func__, [&] { out(mode) = 0; });
}

// ---- graphs ----

CUDA_API(cudaGraphCreate) int cudaGraphCreate(void** graph, unsigned) {
  return answer(__func__, [&] { out(graph) = newGraph(); });
}
CUDA_API(cudaGraphDestroy) int cudaGraphDestroy(void* graph) {
  return answer(__func__, [&] {
    Graph* const g = &graphAt(graph);
    graphs().erase(g);
    delete g;
  });
}
CUDA_ALSO(cudaGraphDestroy, cudaGraphExecDestroy)
CUDA_API(cudaGraphClone) int cudaGraphClone(void** clone, void* graph) {
  return answer(__func__, [&] { out(clone) = instance(graphAt(graph)); });
}
CUDA_API(cudaGraphInstantiate) int cudaGraphInstantiate(void** executable, void* graph, ...) {
  return answer(__func__, [&] { out(executable) = instance(graphAt(graph)); });
}
CUDA_ALSO(cudaGraphInstantiate, cudaGraphInstantiateWithFlags)
CUDA_API(cudaGraphUpload) int cudaGraphUpload(void* executable, void*) {
  return answer(__func__, [&] { graphAt(executable); });
}
CUDA_ALSO(cudaGraphUpload, cudaGraphUpload_ptsz)
CUDA_API(cudaGraphLaunch) int cudaGraphLaunch(void* executable, void* stream) {
  return answer(__func__, [&] {
    Graph& graph = graphAt(executable);
    State::get().enqueue(stream, NodeType::Child, [nodes = graph.nodes] { runGraph({nodes}); });
  });
}
CUDA_ALSO(cudaGraphLaunch, cudaGraphLaunch_ptsz)
CUDA_API(cudaGraphExecUpdate) int cudaGraphExecUpdate(void* executable, void* graph, void*) {
  return answer(__func__, [&] { graphAt(executable).nodes = ordered(graphAt(graph)); });
}
CUDA_API(cudaGraphGetNodes) int cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return answer(__func__, [&] {
    const Graph& g = graphAt(graph);
    if (nodes != nullptr)
      for (size_t i = 0; i < std::min(out(count), g.nodes.size()); ++i) nodes[i] = g.nodes[i].get();
    out(count) = g.nodes.size();
  });
}
CUDA_API(cudaGraphNodeGetType) int cudaGraphNodeGetType(void* node, int* type) {
  return answer(__func__, [&] { out(type) = static_cast<int>(nodeAt(node).type); });
}

namespace {
int addDependencies(const char* call, void* graph, void* const* from, void* const* to, size_t count) {
  return answer(call, [&] {
    graphAt(graph);
    for (size_t i = 0; i < count; ++i) nodeAt(to[i]).after.push_back(&nodeAt(from[i]));
  });
}
}  // namespace

CUDA_API_12(cudaGraphAddDependencies12, cudaGraphAddDependencies)
int cudaGraphAddDependencies12(void* graph, void* const* from, void* const* to, size_t count) {
  return addDependencies("cudaGraphAddDependencies", graph, from, to, count);
}
// The data of edges says when a node may begin: that is always later here.
CUDA_API_13(cudaGraphAddDependencies13, cudaGraphAddDependencies)
int cudaGraphAddDependencies13(void* graph, void* const* from, void* const* to, const void*, size_t count) {
  return addDependencies("cudaGraphAddDependencies", graph, from, to, count);
}
CUDA_ALSO(cudaGraphAddDependencies13, cudaGraphAddDependencies_v2)

// ---- nodes ----

CUDA_API(cudaGraphAddKernelNode)
int cudaGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                           const KernelNodeParameters* p) {
  return answer(__func__,
                [&] { out(node) = add(graphAt(graph), NodeType::Kernel, after, count, launchOf(out(p))); });
}
CUDA_API(cudaGraphAddMemcpyNode)
int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* after, size_t count, const Copy3D* copy) {
  return answer(__func__, [&] {
    out(node) = add(graphAt(graph), NodeType::Copy, after, count, [c = out(copy)] { copyBox(c); });
  });
}
CUDA_API(cudaGraphAddMemcpyNode1D)
int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* after, size_t count, void* to, const void* from,
                             size_t bytes, int kind) {
  return answer(__func__, [&] {
    out(node) =
        add(graphAt(graph), NodeType::Copy, after, count, [=] { copyBytes(to, from, bytes, directionOf(kind)); });
  });
}
CUDA_API(cudaGraphAddMemsetNode)
int cudaGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t count, const MemsetParameters* p) {
  return answer(__func__, [&] {
    out(node) = add(graphAt(graph), NodeType::Fill, after, count,
                    [m = out(p)] { fill(m.to, m.pitch, m.value, m.elementBytes, m.width, m.height); });
  });
}
CUDA_API(cudaGraphAddHostNode)
int cudaGraphAddHostNode(void** node, void* graph, void* const* after, size_t count, const HostNodeParameters* p) {
  return answer(__func__, [&] {
    out(node) = add(graphAt(graph), NodeType::Host, after, count, [h = out(p)] { h.function(h.data); });
  });
}
CUDA_API(cudaGraphAddEmptyNode)
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, size_t count) {
  return answer(__func__, [&] { out(node) = add(graphAt(graph), NodeType::Empty, after, count, {}); });
}
CUDA_API(cudaGraphAddChildGraphNode)
int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after, size_t count, void* child) {
  return answer(__func__, [&] {
    out(node) = add(graphAt(graph), NodeType::Child, after, count,
                    [nodes = ordered(graphAt(child))] { runGraph({nodes}); });
  });
}
CUDA_API(cudaGraphKernelNodeSetParams) int cudaGraphKernelNodeSetParams(void* node, const KernelNodeParameters* p) {
  return answer(__func__, [&] { nodeAt(node).work = launchOf(out(p)); });
}
// An instance shares its nodes with its graph.
CUDA_API(cudaGraphExecKernelNodeSetParams)
int cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParameters* p) {
  return answer(__func__, [&] {
    graphAt(executable);
    nodeAt(node).work = launchOf(out(p));
  });
}
