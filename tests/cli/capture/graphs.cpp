// Graphs of the driver, for tests of the library that captures:  graphs CASE
//
// The graph adds 1, multiplies by 3, and adds 4. It is launched twice.
#include "kernels.h"

extern "C" {
int cuStreamBeginCapture_v2(void*, int);
int cuStreamEndCapture(void*, void**);
int cuGraphCreate(void**, unsigned);
int cuGraphDestroy(void*);
int cuGraphExecDestroy(void*);
int cuGraphInstantiateWithFlags(void**, void*, unsigned long long);
int cuGraphLaunch(void*, void*);
int cuGraphExecUpdate_v2(void*, void*, void*);
int cuGraphAddKernelNode_v2(void**, void*, void* const*, size_t, const void*);
int cuGraphExecKernelNodeSetParams_v2(void*, void*, const void*);
int cuGraphKernelNodeSetParams_v2(void*, const void*);
int cuGraphAddMemsetNode(void**, void*, void* const*, size_t, const void*, void*);
int cuGraphAddHostNode(void**, void*, void* const*, size_t, const void*);
int cuGraphAddEmptyNode(void**, void*, void* const*, size_t);
int cuGraphAddChildGraphNode(void**, void*, void* const*, size_t, void*);
int cuGraphNodeSetEnabled(void*, void*, unsigned);
int cuGraphNodeGetEnabled(void*, void*, unsigned*);
}

namespace {

struct KernelNode {
  void* function;
  unsigned grid[3], block[3], shared;
  void** parameters;
  void** extra;
  void *kernel, *context;
};
struct FillNode {
  uint64_t to;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};
struct HostNode {
  void (*function)(void*);
  void* data;
};

uint64_t data;
void *add, *multiply, *stream;
int calls;

struct Arguments {
  uint64_t data;
  uint32_t n;
  void* places[2];
  KernelNode node;

  Arguments(void* function, uint32_t value) : data(::data), n(value), places{&data, &n} {
    node = {function, {1, 1, 1}, {kThreads, 1, 1}, 0, places, nullptr, nullptr, nullptr};
  }
};

struct Nodes {
  void *first, *second, *third;
};

// In the other order than they run in.
void* built(Nodes& nodes, uint32_t sum) {
  void* graph = nullptr;
  void* empty = nullptr;
  MUST(cuGraphCreate(&graph, 0));
  Arguments one(add, 1), three(multiply, 3), four(add, sum);
  MUST(cuGraphAddKernelNode_v2(&nodes.first, graph, nullptr, 0, &one.node));
  MUST(cuGraphAddEmptyNode(&empty, graph, &nodes.first, 1));
  MUST(cuGraphAddKernelNode_v2(&nodes.second, graph, &empty, 1, &three.node));
  MUST(cuGraphAddKernelNode_v2(&nodes.third, graph, &nodes.second, 1, &four.node));
  one.n = three.n = four.n = 1000;  // nodes have copies
  return graph;
}

void launch(void* function, uint32_t n) {
  Arguments a(function, n);
  MUST(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, stream, a.places, nullptr));
}

void* captured() {
  void* graph = nullptr;
  MUST(cuStreamBeginCapture_v2(stream, 0));
  launch(add, 1);
  launch(multiply, 3);
  launch(add, 4);
  MUST(cuStreamEndCapture(stream, &graph));
  return graph;
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  data = words();
  void *module = nullptr, *graph = nullptr, *other = nullptr, *executable = nullptr, *more = nullptr;
  Nodes nodes{}, others{};
  const std::string text = kHead + kernel("add", "add.u32") + kernel("multiply", "mul.lo.u32");
  MUST(cuStreamCreate(&stream, 0));
  if (what == "enumerated") {
    void* kernels[2];
    MUST(cuLibraryLoadData(&module, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    MUST(cuLibraryEnumerateKernels(kernels, 2, module));
    add = kernels[0], multiply = kernels[1];
  } else {
    MUST(cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr));
    MUST(cuModuleGetFunction(&add, module, "add"));
    MUST(cuModuleGetFunction(&multiply, module, "multiply"));
  }
  graph = what == "captured" || what == "enumerated" ? captured() : built(nodes, 4);
  const HostNode host{[](void*) { ++calls; }, nullptr};
  if (what == "host") MUST(cuGraphAddHostNode(&more, graph, &nodes.third, 1, &host));
  if (what == "child") {
    other = built(others, 5);
    MUST(cuGraphAddChildGraphNode(&more, graph, &nodes.third, 1, other));
  }
  const FillNode fill{data, 0, 2, 4, kThreads, 1};
  if (what == "filled") MUST(cuGraphAddMemsetNode(&more, graph, &nodes.third, 1, &fill, nullptr));
  MUST(cuGraphInstantiateWithFlags(&executable, graph, 0));
  const Arguments seven(add, 7), eight(add, 8);
  if (what == "changed") {
    MUST(cuGraphExecKernelNodeSetParams_v2(executable, nodes.third, &seven.node));
    MUST(cuGraphKernelNodeSetParams_v2(nodes.third, &eight.node));  // which the instance does not see
  }
  if (what == "updated") {
    other = built(others, 7);
    MUST(cuGraphExecUpdate_v2(executable, other, nullptr));
    MUST(cuGraphDestroy(other));
  }
  if (what == "disabled") MUST(cuGraphNodeSetEnabled(executable, nodes.third, 0));
  if (what == "captured" || what == "updated") MUST(cuGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) MUST(cuGraphLaunch(executable, stream));
  MUST(cuStreamSynchronize(stream));
  if (what == "disabled") {
    unsigned first = 0, third = 1;
    MUST(cuGraphNodeGetEnabled(executable, nodes.first, &first));
    MUST(cuGraphNodeGetEnabled(executable, nodes.third, &third));
    if (first != 1 || third != 0) return std::puts("nodes are on or off as they were not before"), 1;
  }
  MUST(cuGraphExecDestroy(executable));
  if (what == "host" && calls != 2) return std::printf("%d calls of the host\n", calls), 1;
  // (x + 1) * 3 + a, twice.
  if (what == "changed" || what == "updated") return ends(data, 9, 40);
  if (what == "disabled") return ends(data, 9, 12);
  if (what == "filled") return ends(data, 0, 2);
  if (what == "child") return ends(data, 81, 290);
  return ends(data, 9, 28);
}
