// Graphs as programs of the driver make them. Those of the runtime do the work; here are the driver's parameters of
// kernels, and what it reports of a graph: nodes, edges, and what a kernel node launches.
#include "emulate/graphs.h"

#include <algorithm>

#include "emulate/driver/driver.h"

using namespace ptxopt::emulate;

extern "C" {
int cudaStreamBeginCapture(void* handle, int mode);
int cudaStreamEndCapture(void* handle, void** graph);
int cudaThreadExchangeStreamCaptureMode(int* mode);
int cudaGraphCreate(void** graph, unsigned flags);
int cudaGraphDestroy(void* graph);
int cudaGraphClone(void** clone, void* graph);
int cudaGraphInstantiate(void** executable, void* graph, ...);
int cudaGraphUpload(void* executable, void* stream);
int cudaGraphLaunch(void* executable, void* stream);
int cudaGraphExecUpdate(void* executable, void* graph, void* result);
int cudaGraphGetNodes(void* graph, void** nodes, size_t* count);
int cudaGraphNodeGetType(void* node, int* type);
int cudaGraphAddDependencies13(void* graph, void* const* from, void* const* to, const void* edges, size_t count);
int cudaGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t count, const MemsetParameters* p);
int cudaGraphAddHostNode(void** node, void* graph, void* const* after, size_t count, const HostNodeParameters* p);
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* after, size_t count);
int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after, size_t count, void* child);
int cudaGraphNodeSetEnabled(void* executable, void* node, unsigned isEnabled);
int cudaGraphNodeGetEnabled(void* executable, void* node, unsigned* isEnabled);
}

namespace {

// CUDA_KERNEL_NODE_PARAMS, version 2.
struct DriverKernelNode {
  KernelNodeParameters base;
  void *kernel, *context;  // `kernel` where there is no function
};
// CUDA_GRAPH_INSTANTIATE_PARAMS
struct InstantiateParameters {
  uint64_t flags;
  void *stream, *failed;
  int result;
};

KernelCall callOf(const DriverKernelNode& p) {
  KernelNodeParameters base = p.base;
  if (base.function == nullptr) base.function = p.kernel;
  need(base.extra == nullptr, Code::NotSupported, "arguments of a node in one piece");
  return ptxopt::emulate::callOf(base);
}

const KernelCall& callAt(void* node) {
  const auto& call = nodeAt(node).call;
  need(call != nullptr, Code::InvalidValue, "it is not a kernel");
  return *call;
}

// Where the arguments of a node lie, one after the other.
void** placesOf(GraphNode& node, const KernelCall& call) {
  node.places.clear();
  for (const auto& parameter : call.kernel->program().parameters())
    node.places.push_back(const_cast<std::byte*>(call.arguments.data()) + parameter.place.offset);
  return node.places.data();
}

}  // namespace

// ---- capture ----

CUDA_DRIVER_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  return byRuntime(cudaStreamBeginCapture, stream, mode);
}
CUDA_DRIVER_API int cuStreamEndCapture(void* stream, void** graph) {
  return byRuntime(cudaStreamEndCapture, stream, graph);
}
CUDA_DRIVER_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return byRuntime(cudaThreadExchangeStreamCaptureMode, mode);
}

// ---- graphs ----

CUDA_DRIVER_API int cuGraphCreate(void** graph, unsigned flags) { return byRuntime(cudaGraphCreate, graph, flags); }
CUDA_DRIVER_API int cuGraphDestroy(void* graph) { return byRuntime(cudaGraphDestroy, graph); }
CUDA_DRIVER_API int cuGraphExecDestroy(void* executable) { return byRuntime(cudaGraphDestroy, executable); }
CUDA_DRIVER_API int cuGraphClone(void** clone, void* graph) { return byRuntime(cudaGraphClone, clone, graph); }
CUDA_DRIVER_API int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return byRuntime([](void** e, void* g) { return cudaGraphInstantiate(e, g, 0); }, executable, graph);
}
CUDA_DRIVER_API int cuGraphInstantiateWithParams(void** executable, void* graph, InstantiateParameters* p) {
  const int result = cuGraphInstantiateWithFlags(executable, graph, 0);
  constexpr int kSuccess = 0, kError = 1;
  if (p != nullptr) p->result = result == 0 ? kSuccess : kError;
  return result;
}
CUDA_DRIVER_API int cuGraphUpload(void* executable, void* stream) {
  return byRuntime(cudaGraphUpload, executable, stream);
}
CUDA_DRIVER_API int cuGraphLaunch(void* executable, void* stream) {
  return byRuntime(cudaGraphLaunch, executable, stream);
}
CUDA_DRIVER_API int cuGraphExecUpdate_v2(void* executable, void* graph, void* result) {
  return byRuntime(cudaGraphExecUpdate, executable, graph, result);
}
CUDA_DRIVER_API int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return byRuntime(cudaGraphGetNodes, graph, nodes, count);
}
CUDA_DRIVER_API int cuGraphGetEdges(void* graph, void** from, void** to, size_t* count) {
  return answerDriver(__func__, [&] {
    size_t found = 0;
    for (const auto& node : graphAt(graph).nodes)
      for (GraphNode* before : node->after) {
        if (from != nullptr && to != nullptr && found < out(count)) {
          from[found] = before;
          to[found] = node.get();
        }
        ++found;
      }
    out(count) = from == nullptr || to == nullptr ? found : std::min(found, *count);
  });
}
CUDA_DRIVER_API
int cuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to, const void* edges, size_t count) {
  return byRuntime(cudaGraphAddDependencies13, graph, from, to, edges, count);
}

// ---- nodes ----

CUDA_DRIVER_API int cuGraphNodeGetType(void* node, int* type) {
  return byRuntime(cudaGraphNodeGetType, node, type);
}
CUDA_DRIVER_API int cuGraphNodeSetEnabled(void* executable, void* node, unsigned isEnabled) {
  return byRuntime(cudaGraphNodeSetEnabled, executable, node, isEnabled);
}
CUDA_DRIVER_API int cuGraphNodeGetEnabled(void* executable, void* node, unsigned* isEnabled) {
  return byRuntime(cudaGraphNodeGetEnabled, executable, node, isEnabled);
}
CUDA_DRIVER_API int cuGraphAddMemsetNode(void** node, void* graph, void* const* after, size_t count,
                                         const MemsetParameters* p, void*) {
  return byRuntime(cudaGraphAddMemsetNode, node, graph, after, count, p);
}
CUDA_DRIVER_API int cuGraphAddHostNode(void** node, void* graph, void* const* after, size_t count,
                                       const HostNodeParameters* p) {
  return byRuntime(cudaGraphAddHostNode, node, graph, after, count, p);
}
CUDA_DRIVER_API int cuGraphAddEmptyNode(void** node, void* graph, void* const* after, size_t count) {
  return byRuntime(cudaGraphAddEmptyNode, node, graph, after, count);
}
CUDA_DRIVER_API int cuGraphAddChildGraphNode(void** node, void* graph, void* const* after, size_t count,
                                             void* child) {
  return byRuntime(cudaGraphAddChildGraphNode, node, graph, after, count, child);
}

// ---- kernels ----

CUDA_DRIVER_API int cuGraphAddKernelNode_v2(void** node, void* graph, void* const* after, size_t count,
                                            const DriverKernelNode* p) {
  return answerDriver(__func__, [&] { out(node) = addKernel(graphAt(graph), after, count, callOf(out(p))); });
}
CUDA_DRIVER_API int cuGraphKernelNodeGetParams_v2(void* node, DriverKernelNode* p) {
  return answerDriver(__func__, [&] {
    const KernelCall& call = callAt(node);
    const LaunchShape& s = call.shape;
    out(p) = {{call.function,
               {s.grid.x, s.grid.y, s.grid.z},
               {s.block.x, s.block.y, s.block.z},
               s.shared,
               placesOf(nodeAt(node), call),
               nullptr},
              nullptr,
              nullptr};
  });
}
CUDA_DRIVER_API int cuGraphKernelNodeSetParams_v2(void* node, const DriverKernelNode* p) {
  return answerDriver(__func__, [&] { setCall(nodeAt(node), callOf(out(p))); });
}
CUDA_DRIVER_API int cuGraphExecKernelNodeSetParams_v2(void* executable, void* node, const DriverKernelNode* p) {
  return answerDriver(__func__, [&] { setCall(ownNode(graphAt(executable), node), callOf(out(p))); });
}
CUDA_DRIVER_API int cuGraphKernelNodeGetAttribute(void* node, int attribute, void* value) {
  return answerDriver(__func__, [&] {
    const LaunchShape& shape = callAt(node).shape;
    auto* const numbers = &out(static_cast<unsigned*>(value));
    constexpr int kCooperative = 2, kCluster = 4;
    need(attribute == kCooperative || attribute == kCluster, Code::NotSupported,
         "an attribute of nodes that the emulated driver does not have");
    if (attribute == kCooperative) {
      *numbers = shape.isCooperative;
    } else {
      const unsigned cluster[] = {shape.cluster.x, shape.cluster.y, shape.cluster.z};
      std::copy_n(cluster, 3, numbers);
    }
  });
}
