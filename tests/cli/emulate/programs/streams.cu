// Streams that wait for each other, events, calls of the host in their order, pinned memory, memory of a pool.
#include <string>

#include "program.h"

__global__ void scale(int* data, int n, int factor, int add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + add;
}

struct Note {
  std::string* log;
  char letter;
};
void CUDART_CB note(void* data) {
  const auto* const n = static_cast<Note*>(data);
  *n->log += n->letter;
}
void CUDART_CB noteStatus(cudaStream_t, cudaError_t status, void* data) {
  *static_cast<std::string*>(data) += status == cudaSuccess ? 's' : 'f';
}

int main() {
  constexpr int kStreams = 3, kCount = 400;
  int least, greatest;
  CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t streams[kStreams];
  CUDA(cudaStreamCreate(&streams[0]));
  CUDA(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithPriority(&streams[2], cudaStreamDefault, greatest));
  int priority;
  unsigned flags;
  CUDA(cudaStreamGetPriority(streams[2], &priority));
  CUDA(cudaStreamGetFlags(streams[1], &flags));
  EXPECT(priority == greatest && flags == cudaStreamNonBlocking);

  int *host, *device[kStreams];
  CUDA(cudaMallocHost(&host, kStreams * kCount * sizeof(int)));
  for (int i = 0; i < kStreams * kCount; ++i) host[i] = i;
  std::string log;
  Note notes[kStreams] = {{&log, 'a'}, {&log, 'b'}, {&log, 'c'}};
  cudaEvent_t done[kStreams], timed;
  CUDA(cudaEventCreate(&timed));
  for (int s = 0; s < kStreams; ++s) {
    CUDA(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    CUDA(cudaMallocAsync(&device[s], kCount * sizeof(int), streams[s]));
    CUDA(cudaMemcpyAsync(device[s], host + s * kCount, kCount * sizeof(int), cudaMemcpyHostToDevice, streams[s]));
    if (s > 0) CUDA(cudaStreamWaitEvent(streams[s], done[s - 1], 0));
    scale<<<4, 128, 0, streams[s]>>>(device[s], kCount, 3, s);
    CUDA(cudaLaunchHostFunc(streams[s], note, &notes[s]));
    CUDA(cudaMemcpyAsync(host + s * kCount, device[s], kCount * sizeof(int), cudaMemcpyDeviceToHost, streams[s]));
    CUDA(cudaEventRecord(done[s], streams[s]));
  }
  CUDA(cudaStreamAddCallback(streams[2], noteStatus, &log, 0));
  CUDA(cudaEventRecord(timed, streams[2]));
  CUDA(cudaEventSynchronize(timed));
  for (cudaStream_t s : streams) CUDA(cudaStreamSynchronize(s));
  for (cudaEvent_t e : done) EXPECT(cudaEventQuery(e) == cudaSuccess);
  EXPECT(log == "abcs");
  float milliseconds;
  EXPECT(cudaEventElapsedTime(&milliseconds, timed, timed) == cudaSuccess && milliseconds == 0);
  for (int i = 0; i < kStreams * kCount; ++i) EXPECT(host[i] == i * 3 + i / kCount);
  for (int s = 0; s < kStreams; ++s) {
    CUDA(cudaFreeAsync(device[s], streams[s]));
    CUDA(cudaStreamDestroy(streams[s]));
    CUDA(cudaEventDestroy(done[s]));
  }
  EXPECT(cudaStreamQuery(cudaStreamPerThread) == cudaSuccess);
  cudaMemPool_t pool;
  CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ull;
  CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void* fromPool;
  CUDA(cudaMallocFromPoolAsync(&fromPool, 100, pool, nullptr));
  CUDA(cudaFreeAsync(fromPool, nullptr));
  CUDA(cudaMemPoolTrimTo(pool, 0));
  CUDA(cudaFreeHost(host));
  return passed();
}
