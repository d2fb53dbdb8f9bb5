// Graphs as programs of the runtime make them: captured from streams, or node by node.
#include "emulate/graphs.h"

#include "emulate/runtime/copies.h"
#include "emulate/runtime/exported.h"

using namespace ptxopt::emulate;

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
  return answer(__func__, [&] { endGraph(graphAt(graph)); });
}
CUDA_ALSO(cudaGraphDestroy, cudaGraphExecDestroy)
CUDA_API(cudaGraphClone) int cudaGraphClone(void** clone, void* graph) {
  return answer(__func__, [&] { out(clone) = instanceOf(graphAt(graph)); });
}
CUDA_API(cudaGraphInstantiate) int cudaGraphInstantiate(void** executable, void* graph, ...) {
  return answer(__func__, [&] { out(executable) = instanceOf(graphAt(graph)); });
}
CUDA_ALSO(cudaGraphInstantiate, cudaGraphInstantiateWithFlags)
CUDA_API(cudaGraphUpload) int cudaGraphUpload(void* executable, void*) {
  return answer(__func__, [&] { graphAt(executable); });
}
CUDA_ALSO(cudaGraphUpload, cudaGraphUpload_ptsz)
CUDA_API(cudaGraphLaunch) int cudaGraphLaunch(void* executable, void* stream) {
  return answerLaunch(__func__, [&] {
    Graph& graph = graphAt(executable);
    State::get().enqueue(stream, NodeType::Child, [nodes = graph.nodes] { runGraph({nodes}); });
  });
}
CUDA_ALSO(cudaGraphLaunch, cudaGraphLaunch_ptsz)
CUDA_API(cudaGraphExecUpdate) int cudaGraphExecUpdate(void* executable, void* graph, void*) {
  return answer(__func__, [&] { updateInstance(graphAt(executable), graphAt(graph)); });
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
  return answer(__func__, [&] { out(node) = addKernel(graphAt(graph), after, count, callOf(out(p))); });
}
CUDA_API(cudaGraphAddMemcpyNode)
int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* after, size_t count, const Copy3D* copy) {
  return answer(__func__, [&] {
    out(node) = addNode(graphAt(graph), NodeType::Copy, after, count, [c = out(copy)] { copyBox(c); });
  });
}
CUDA_API(cudaGraphAddMemcpyNode1D)
int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* after, size_t count, void* to, const void* from,
                             size_t bytes, int kind) {
  return answer(__func__, [&] {
    out(node) = addNode(graphAt(graph), NodeType::Copy, after, count,
                        [=] { copyBytes(to, from, bytes, directionOf(kind)); });
  });
}
CUDA_API(cudaGraphAddMemsetNode)
int cudaGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t count, const MemsetParameters* p) {
  return answer(__func__, [&] {
    out(node) = addNode(graphAt(graph), NodeType::Fill, after, count,
                        [m = out(p)] { fill(m.to, m.pitch, m.value, m.elementBytes, m.width, m.height); });
  });
}
CUDA_API(cudaGraphAddHostNode)
int cudaGraphAddHostNode(void** node, void* graph, void* const* after, size_t count, const HostNodeParameters* p) {
  return answer(__func__, [&] {
    out(node) = addNode(graphAt(graph), NodeType::Host, after, count, [h = out(p)] { h.function(h.data); });
  });
}
CUDA_API(cudaGraphAddEmptyNode)
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, size_t count) {
  return answer(__func__, [&] { out(node) = addNode(graphAt(graph), NodeType::Empty, after, count, {}); });
}
CUDA_API(cudaGraphAddChildGraphNode)
int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after, size_t count, void* child) {
  return answer(__func__, [&] {
    out(node) = addNode(graphAt(graph), NodeType::Child, after, count,
                        [nodes = ordered(graphAt(child))] { runGraph({nodes}); });
  });
}
CUDA_API(cudaGraphKernelNodeSetParams) int cudaGraphKernelNodeSetParams(void* node, const KernelNodeParameters* p) {
  return answer(__func__, [&] { setCall(nodeAt(node), callOf(out(p))); });
}
CUDA_API(cudaGraphExecKernelNodeSetParams)
int cudaGraphExecKernelNodeSetParams(void* executable, void* node, const KernelNodeParameters* p) {
  return answer(__func__, [&] { setCall(ownNode(graphAt(executable), node), callOf(out(p))); });
}
CUDA_API(cudaGraphNodeSetEnabled)
int cudaGraphNodeSetEnabled(void* executable, void* node, unsigned isEnabled) {
  return answer(__func__, [&] {
    GraphNode& own = ownNode(graphAt(executable), node);
    need(canBeDisabled(own), Code::InvalidValue, "only kernels, copies and fills can be disabled");
    own.isEnabled = isEnabled != 0;
  });
}
CUDA_API(cudaGraphNodeGetEnabled)
int cudaGraphNodeGetEnabled(void* executable, void* node, unsigned* isEnabled) {
  return answer(__func__, [&] {
    const GraphNode& own = ownNode(graphAt(executable), node);
    need(canBeDisabled(own), Code::InvalidValue, "only kernels, copies and fills can be disabled");
    out(isEnabled) = own.isEnabled;
  });
}
