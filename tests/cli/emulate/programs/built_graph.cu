// A graph made node by node: filling, a kernel, a copy, a call of the host, a child; its edges added later; a node changed.
#include "program.h"

__global__ void fill(int* data, int n, int from) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += from + i;
}

void CUDART_CB half(void* data) {
  int* const values = static_cast<int*>(data);
  for (int i = 0; i < 100; ++i) values[i] /= 2;
}

int main() {
  int n = 100, from = 10;
  int* data;
  CUDA(cudaMalloc(&data, n * sizeof(int)));
  std::vector<int> result(n);
  cudaGraph_t graph, child;
  CUDA(cudaGraphCreate(&graph, 0));
  CUDA(cudaGraphCreate(&child, 0));
  cudaGraphNode_t cleared, filled, copied, halved, empty, inner, childNode;

  cudaMemsetParams clear{};
  clear.dst = data;
  clear.elementSize = 4;
  clear.value = 4;
  clear.width = n;
  clear.height = 1;
  cudaKernelNodeParams kernel{};
  void* arguments[] = {&data, &n, &from};
  kernel.func = reinterpret_cast<void*>(fill);
  kernel.gridDim = dim3(4);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = arguments;
  cudaHostNodeParams host{};
  host.fn = half;
  host.userData = result.data();
  CUDA(cudaGraphAddHostNode(&halved, graph, nullptr, 0, &host));
  CUDA(cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, result.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  CUDA(cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &clear));
  CUDA(cudaGraphAddKernelNode(&filled, graph, &cleared, 1, &kernel));
  from = 1000;  // what the node has is a copy
  CUDA(cudaGraphAddEmptyNode(&empty, graph, &filled, 1));
  CUDA(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
  CUDA(cudaGraphAddChildGraphNode(&childNode, graph, &empty, 1, child));
  const cudaGraphNode_t before[] = {childNode, copied}, after[] = {copied, halved};
#if CUDART_VERSION >= 13000
  CUDA(cudaGraphAddDependencies(graph, before, after, nullptr, 2));
#else
  CUDA(cudaGraphAddDependencies(graph, before, after, 2));
#endif
  cudaGraphNodeType type;
  CUDA(cudaGraphNodeGetType(cleared, &type));
  EXPECT(type == cudaGraphNodeTypeMemset);
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(result[i] == (4 + 10 + i + 1000 + i) / 2);

  // Of an instance: the graph, and other instances, stay as they are.
  unsigned isOn = 0;
  CUDA(cudaGraphNodeSetEnabled(executable, filled, 0));
  CUDA(cudaGraphNodeGetEnabled(executable, filled, &isOn));
  EXPECT(isOn == 0);
  CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(result[i] == (4 + 1000 + i) / 2);
  CUDA(cudaGraphNodeSetEnabled(executable, filled, 1));
  EXPECT(cudaGraphNodeSetEnabled(executable, halved, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  from = 20;
  CUDA(cudaGraphExecKernelNodeSetParams(executable, filled, &kernel));
  CUDA(cudaGraphLaunch(executable, nullptr));
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(result[i] == (4 + 20 + i + 1000 + i) / 2);
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  return passed();
}
