// The functions of the driver that make and launch graphs, and those that link.
#include <fstream>
#include <iterator>

#include "capture/device.h"
#include "capture/interpose.h"

using namespace ptxopt::capture;

namespace {

void noteInstance(int result, void* const* instance, void* graph) {
  if (result != 0 || instance == nullptr) return;
  Capture::get().note([&](Capture& c) {
    if (c.wantsMore()) c.graphs.add(*instance, graph, [&](GraphNode& node) { c.complete(node); });
  });
}

void noteChange(int result, void* instance, void* node, const KernelNodeParameters& p) {
  if (result != 0) return;
  Capture::get().note(
      [&](Capture& c) { c.graphs.change(instance, node, launchOf(p), [&](GraphNode& n) { c.complete(n); }); });
}

void noteUpdate(int result, void* instance, void* graph) {
  if (result != 0) return;
  Capture::get().note(
      [&](Capture& c) { c.graphs.update(instance, graph, [&](GraphNode& node) { c.complete(node); }); });
}

// CUgraphNodeParams
struct NodeParameters {
  int type, reserved[3];
  KernelNodeParameters kernel;  // one of several
};

// What version 1 has of it.
KernelNodeParameters ofVersion1(const KernelNodeParameters& p) {
  return {p.function,
          {p.grid[0], p.grid[1], p.grid[2]},
          {p.block[0], p.block[1], p.block[2]},
          p.shared,
          p.parameters,
          p.extra,
          nullptr,
          nullptr};
}

}  // namespace

// ---- graphs ----

CAPTURED cuGraphInstantiate(void** instance, void* graph, void** node, char* log, size_t size) {
  const int result = call(REAL(cuGraphInstantiate), instance, graph, node, log, size);
  noteInstance(result, instance, graph);
  return result;
}
CAPTURED cuGraphInstantiate_v2(void** instance, void* graph, void** node, char* log, size_t size) {
  const int result = call(REAL(cuGraphInstantiate_v2), instance, graph, node, log, size);
  noteInstance(result, instance, graph);
  return result;
}
CAPTURED cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long flags) {
  const int result = call(REAL(cuGraphInstantiateWithFlags), instance, graph, flags);
  noteInstance(result, instance, graph);
  return result;
}
CAPTURED cuGraphExecKernelNodeSetParams(void* instance, void* node, const KernelNodeParameters* p) {
  const int result = call(REAL(cuGraphExecKernelNodeSetParams), instance, node, p);
  if (p != nullptr) noteChange(result, instance, node, ofVersion1(*p));
  return result;
}
CAPTURED cuGraphExecKernelNodeSetParams_v2(void* instance, void* node, const KernelNodeParameters* p) {
  const int result = call(REAL(cuGraphExecKernelNodeSetParams_v2), instance, node, p);
  if (p != nullptr) noteChange(result, instance, node, *p);
  return result;
}
CAPTURED cuGraphExecNodeSetParams(void* instance, void* node, NodeParameters* p) {
  const int result = call(REAL(cuGraphExecNodeSetParams), instance, node, p);
  if (p != nullptr && static_cast<NodeType>(p->type) == NodeType::Kernel)
    noteChange(result, instance, node, p->kernel);
  return result;
}
CAPTURED cuGraphExecUpdate(void* instance, void* graph, void** node, int* updated) {
  const int result = call(REAL(cuGraphExecUpdate), instance, graph, node, updated);
  noteUpdate(result, instance, graph);
  return result;
}
CAPTURED cuGraphExecUpdate_v2(void* instance, void* graph, void* information) {
  const int result = call(REAL(cuGraphExecUpdate_v2), instance, graph, information);
  noteUpdate(result, instance, graph);
  return result;
}
CAPTURED cuGraphDestroyNode(void* node) {
  Capture::get().note([&](Capture& c) { c.graphs.dropNode(node); });
  return call(REAL(cuGraphDestroyNode), node);
}
CAPTURED cuGraphDestroy(void* graph) {
  bool isKept = false;
  Capture::get().note([&](Capture& c) { isKept = c.graphs.keeps(graph); });
  return isKept ? 0 : call(REAL(cuGraphDestroy), graph);
}
CAPTURED cuGraphExecDestroy(void* instance) {
  void* graph = nullptr;
  Capture::get().note([&](Capture& c) { graph = c.graphs.remove(instance); });
  const int result = call(REAL(cuGraphExecDestroy), instance);
  if (graph != nullptr) call(REAL(cuGraphDestroy), graph);
  return result;
}
#define CAPTURED_GRAPHS(suffix)                                                                               \
  CAPTURED cuGraphInstantiateWithParams##suffix(void** instance, void* graph, void* parameters) {             \
    const int result = call(REAL(cuGraphInstantiateWithParams##suffix), instance, graph, parameters);         \
    noteInstance(result, instance, graph);                                                                    \
    return result;                                                                                            \
  }                                                                                                           \
  CAPTURED cuGraphLaunch##suffix(void* instance, void* stream) {                                              \
    return Capture::get().launchedGraph(instance, stream,                                                     \
                                        [&] { return call(REAL(cuGraphLaunch##suffix), instance, stream); }); \
  }
CAPTURED_GRAPHS()
CAPTURED_GRAPHS(_ptsz)

// ---- linking ----

CAPTURED cuLinkAddData_v2(void* state, int type, void* data, size_t size, const char* name, unsigned count,
                          int* options, void** values) {
  const int result = call(REAL(cuLinkAddData_v2), state, type, data, size, name, count, options, values);
  if (result == 0 && data != nullptr)
    Capture::get().note([&](Capture& c) {
      c.modules.links.add(state, type, {static_cast<const char*>(data), size}, architecture());
    });
  return result;
}
CAPTURED cuLinkAddFile_v2(void* state, int type, const char* path, unsigned count, int* options, void** values) {
  const int result = call(REAL(cuLinkAddFile_v2), state, type, path, count, options, values);
  if (result != 0 || path == nullptr) return result;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  Capture::get().note([&](Capture& c) { c.modules.links.add(state, type, bytes, architecture()); });
  return result;
}
CAPTURED cuLinkComplete(void* state, void** image, size_t* size) {
  size_t own = 0;
  size_t* const place = size != nullptr ? size : &own;
  const int result = call(REAL(cuLinkComplete), state, image, place);
  if (result == 0 && image != nullptr)
    Capture::get().note([&](Capture& c) { c.modules.links.complete(state, *image, *place); });
  return result;
}
CAPTURED cuLinkDestroy(void* state) {
  Capture::get().note([&](Capture& c) { c.modules.links.remove(state); });
  return call(REAL(cuLinkDestroy), state);
}
