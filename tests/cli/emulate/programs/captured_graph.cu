// A graph captured from two streams, launched again and again; then another captured and put in its place.
#include "program.h"

__global__ void twice(int* data) { data[threadIdx.x] *= 2; }
__global__ void add(const int* a, const int* b, int* sum, int more) { sum[threadIdx.x] += a[threadIdx.x] + b[threadIdx.x] + more; }

int main() {
  constexpr int kCount = 96;
  std::vector<int> ones(kCount, 1), twos(kCount, 2);
  int *a = onDevice(ones), *b = onDevice(twos), *sum = zeros<int>(kCount);
  cudaStream_t first, second;
  CUDA(cudaStreamCreate(&first));
  CUDA(cudaStreamCreate(&second));
  cudaEvent_t fork, join;
  CUDA(cudaEventCreate(&fork));
  CUDA(cudaEventCreate(&join));
  const auto capture = [&](int more) {
    CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, first));
    CUDA(cudaStreamWaitEvent(second, fork, 0));
    twice<<<1, kCount, 0, first>>>(a);
    twice<<<1, kCount, 0, second>>>(b);
    CUDA(cudaEventRecord(join, second));
    CUDA(cudaStreamWaitEvent(first, join, 0));
    cudaStreamCaptureStatus status;
    CUDA(cudaStreamIsCapturing(second, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    add<<<1, kCount, 0, first>>>(a, b, sum, more);
    cudaGraph_t graph;
    CUDA(cudaStreamEndCapture(first, &graph));
    return graph;
  };
  const cudaGraph_t graph = capture(0), other = capture(100);
  size_t count = 0;
  CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 3);
  EXPECT(onHost(a, kCount) == ones);  // capturing runs nothing
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphUpload(executable, first));
  for (int i = 0; i < 3; ++i) CUDA(cudaGraphLaunch(executable, first));
  CUDA(cudaStreamSynchronize(first));
  EXPECT(onHost(sum, kCount)[5] == 6 + 12 + 24);
  cudaGraphExecUpdateResultInfo info{};
  CUDA(cudaGraphExecUpdate(executable, other, &info));
  CUDA(cudaGraphLaunch(executable, second));
  CUDA(cudaStreamSynchronize(second));
  EXPECT(onHost(sum, kCount)[95] == 42 + 48 + 100);
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphDestroy(other));
  return passed();
}
