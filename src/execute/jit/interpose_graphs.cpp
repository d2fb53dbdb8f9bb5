// The functions of the driver that make kernels nodes of graphs, where launches are compared: nodes are not compared, which is counted; a
// kernel that was found to differ becomes its original.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/gate.h"
#include "interpose/real.h"
#include "jit/compared_launch.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;
using namespace ptxopt::jit;

namespace {

// CUDA_KERNEL_NODE_PARAMS, and what version 2 has more.
struct KernelNode {
  void* function;
  unsigned sizes[7];
  void **parameters, **extra;
};
struct KernelNode2 {
  KernelNode node;
  void *kernel, *context;
};
// CUgraphNodeParams, with a kernel in it.
struct Node {
  int type, reserved[3];
  KernelNode2 kernel;
  char more[256 - 16 - sizeof(KernelNode2)];
};
static_assert(sizeof(Node) == 256);

void exchange(KernelNode& n) { n.function = inGraph(n.function); }
void exchange(KernelNode2& n) {
  exchange(n.node);
  n.kernel = inGraph(n.kernel);
}
void exchange(Node& n) {
  constexpr int kKernel = 0;
  if (n.type == kKernel) exchange(n.kernel);
}

// set(what is given for `node`)
template <typename Of, typename Set>
int with(const Of* node, Set&& set) {
  if (node == nullptr || !isRequested() || Gate::isInside()) return set(node);
  Of copy = *node;
  exchange(copy);
  return set(&copy);
}

}  // namespace

#define KERNEL_NODES(suffix, Of)                                                                               \
  INTERPOSED cuGraphAddKernelNode##suffix(void** node, void* graph, void* const* dependencies, size_t count,   \
                                          const Of* kernel) {                                                  \
    return with(kernel, [&](const Of* given) {                                                                 \
      return call(REAL(cuGraphAddKernelNode##suffix), node, graph, dependencies, count, given);                \
    });                                                                                                        \
  }                                                                                                            \
  INTERPOSED cuGraphKernelNodeSetParams##suffix(void* node, const Of* kernel) {                                \
    return with(kernel,                                                                                        \
                [&](const Of* given) { return call(REAL(cuGraphKernelNodeSetParams##suffix), node, given); }); \
  }                                                                                                            \
  INTERPOSED cuGraphExecKernelNodeSetParams##suffix(void* instance, void* node, const Of* kernel) {            \
    return with(kernel, [&](const Of* given) {                                                                 \
      return call(REAL(cuGraphExecKernelNodeSetParams##suffix), instance, node, given);                        \
    });                                                                                                        \
  }
KERNEL_NODES(, KernelNode)
KERNEL_NODES(_v2, KernelNode2)

// For other nodes the driver writes to what it is given.
INTERPOSED cuGraphAddNode(void** node, void* graph, void* const* dependencies, size_t count, Node* given) {
  const auto add = [&](const Node* of) {
    return call(REAL(cuGraphAddNode), node, graph, dependencies, count, const_cast<Node*>(of));
  };
  return given != nullptr && given->type != 0 ? add(given) : with<Node>(given, add);
}
INTERPOSED cuGraphAddNode_v2(void** node, void* graph, void* const* dependencies, const void* edges, size_t count,
                             Node* given) {
  const auto add = [&](const Node* of) {
    return call(REAL(cuGraphAddNode_v2), node, graph, dependencies, edges, count, const_cast<Node*>(of));
  };
  return given != nullptr && given->type != 0 ? add(given) : with<Node>(given, add);
}
INTERPOSED cuGraphNodeSetParams(void* node, Node* given) {
  return with<Node>(given,
                    [&](const Node* of) { return call(REAL(cuGraphNodeSetParams), node, const_cast<Node*>(of)); });
}
INTERPOSED cuGraphExecNodeSetParams(void* instance, void* node, Node* given) {
  return with<Node>(given, [&](const Node* of) {
    return call(REAL(cuGraphExecNodeSetParams), instance, node, const_cast<Node*>(of));
  });
}
