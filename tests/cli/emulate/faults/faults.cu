// What goes wrong, by the name of the case; after each, the errors that the program saw, one a line.
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstring>

__device__ int variable;
__global__ void store(int* p, int at) { p[at] = 7; }
__global__ void storeAt(char* p) { *reinterpret_cast<int*>(p + 1) = 7; }
__global__ void asserts(int* p) { assert(p == nullptr && "it is not"); }
__global__ void says(int* p) {
  printf("said %d\n", p[1] / 3);
  __trap();
}
__global__ void traps() { __trap(); }
__global__ void endless(volatile int* p) {
  while (*p == 0) {
  }
}
__global__ void __launch_bounds__(64) bounded(int* p) { p[threadIdx.x] = 1; }
__global__ void shared(int* p) {
  extern __shared__ int values[];
  values[threadIdx.x] = *p;
  *p = values[0];
}
// The first threads of two warps write what all threads then read.
__global__ void races(int* p) {
  __shared__ int last;
  if (threadIdx.x % 32 == 0) last = static_cast<int>(threadIdx.x);
  __syncthreads();
  p[threadIdx.x] = last;
}
__global__ void racesInGlobal(int* p) { p[(threadIdx.x + 1) % 64] = p[threadIdx.x] + 1; }
__global__ void reads(const int* from, int* to) { *to = 5 + *from; }
__global__ void readsFour(const int4* from, int4* to) { to[0] = from[1]; }
__global__ void adds(int* p) { atomicAdd(p, 1); }
void notAKernel() {}

void say(const char* what, cudaError_t e) { std::printf("%s %s\n", what, cudaGetErrorName(e)); }
void sayLaunch() {
  say("launch", cudaGetLastError());
  say("wait", cudaDeviceSynchronize());
}

int main(int count, char** words) {
  const char* const name = count > 1 ? words[1] : "";
  const auto is = [&](const char* n) { return std::strcmp(name, n) == 0; };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (is("exit")) return 5;
  if (is("kill")) std::raise(SIGKILL);
  int* p = nullptr;
  cudaMalloc(&p, 64 * sizeof(int));
  cudaMemset(p, 0, 64 * sizeof(int));
  if (is("bounds")) store<<<1, 1>>>(p, 64), sayLaunch();
  if (is("null")) store<<<1, 1>>>(nullptr, 0), sayLaunch();
  if (is("misaligned")) storeAt<<<1, 1>>>(reinterpret_cast<char*>(p)), sayLaunch();
  if (is("assert")) asserts<<<1, 1>>>(p), sayLaunch();
  if (is("trap")) traps<<<1, 1>>>(), sayLaunch();
  if (is("endless")) endless<<<1, 1>>>(p), sayLaunch();
  if (is("race")) races<<<1, 64>>>(p), sayLaunch();
  if (is("global race")) racesInGlobal<<<1, 64>>>(p), sayLaunch();
  if (is("before") || is("behind") || is("partly") || is("atomic")) {
    int values[4] = {};
    int* buffer;
    const bool isPartly = is("partly");
    cudaMalloc(&buffer, isPartly ? 24 : 4096);
    cudaMemset(buffer, 1, isPartly ? 24 : 4096);
    if (isPartly)
      readsFour<<<1, 1>>>(reinterpret_cast<int4*>(buffer), reinterpret_cast<int4*>(p)), sayLaunch();
    else if (is("atomic"))
      adds<<<1, 1>>>(buffer + 1024), sayLaunch();
    else
      reads<<<1, 1>>>(is("before") ? buffer - 2 : buffer + 1024, p), sayLaunch();
    if (cudaMemcpy(values, p, sizeof values, cudaMemcpyDeviceToHost) == cudaSuccess)
      std::printf("%x %x %x %x\n", values[0], values[1], values[2], values[3]);
  }
  if (is("after")) {  // a launch after one that failed
    store<<<1, 1>>>(p, 64), sayLaunch();
    store<<<1, 1>>>(p, 0), sayLaunch();
  }
  if (is("freed")) {
    cudaFree(p);
    store<<<1, 1>>>(p, 0), sayLaunch();
  }
  if (is("twice")) say("free", cudaFree(p)), say("free", cudaFree(p));
  if (is("inside")) say("free", cudaFree(p + 1));
  if (is("host")) p[0] = 1;
  if (is("copy")) say("copy", cudaMemcpy(p + 60, p, 20, cudaMemcpyDeviceToDevice));
  if (is("symbol")) {
    static int ours;
    say("symbol", cudaMemcpyToSymbol(reinterpret_cast<const void*>(&ours), &count, sizeof count));
  }
  if (is("heap")) say("limit", cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t{100} << 20) - 1));
  if (is("kernel")) {
    void* arguments[] = {&p};
    say("kernel", cudaLaunchKernel(reinterpret_cast<const void*>(notAKernel), dim3(1), dim3(1), arguments, 0, nullptr));
  }
  if (is("shape")) {
    store<<<1, 2048>>>(p, 0), sayLaunch();
    store<<<0, 1>>>(p, 0), sayLaunch();
    bounded<<<1, 65>>>(p), sayLaunch();
    shared<<<1, 1, (48 << 10) + 4>>>(p), sayLaunch();
    store<<<1, 1>>>(p, 0), sayLaunch();
  }
  if (is("wraps")) {  // sizes whose products are small modulo 2^64
    constexpr size_t kHalf = size_t{1} << 63;
    void* more = p;
    size_t pitch;
    store<<<1, dim3(2147549185u, 4294836226u, 2)>>>(p, 0), sayLaunch();
    say("copy", cudaMemcpy2D(p, kHalf, p, kHalf, 4, 3, cudaMemcpyDeviceToDevice));
    say("set", cudaMemset2D(p, kHalf, 0, 4, 3));
    say("pitch", cudaMallocPitch(&more, &pitch, size_t{1} << 40, size_t{1} << 24));
    say("pitch", cudaMallocPitch(&more, &pitch, ~size_t{0}, 1));
    cudaMemcpy3DParms box = {};
    box.srcPtr = box.dstPtr = make_cudaPitchedPtr(p, kHalf, 4, 2);
    box.extent = make_cudaExtent(4, 1, 3);
    box.kind = cudaMemcpyDeviceToDevice;
    say("box", cudaMemcpy3D(&box));
    say("error", cudaGetLastError());
    store<<<1, 1>>>(p, 0), sayLaunch();
  }
  if (is("cluster")) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 0, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1), config.attrs = &attribute, config.numAttrs = 1;
    say("zero", cudaLaunchKernelEx(&config, store, p, 0));
    attribute.val.clusterDim.x = 1u << 31, attribute.val.clusterDim.y = 1u << 31, attribute.val.clusterDim.z = 4;
    say("huge", cudaLaunchKernelEx(&config, store, p, 0));
    cudaGetLastError();
    store<<<1, 1>>>(p, 0), sayLaunch();
  }
  if (is("says")) says<<<1, 1>>>(p), sayLaunch();
  if (is("stays")) {
    store<<<1, 1>>>(p, 1 << 20), sayLaunch();
    void* more;
    say("more", cudaMalloc(&more, 16));
    say("again", cudaGetLastError());
    say("reset", cudaDeviceReset());
    say("last", cudaGetLastError());
  }
  if (is("missing")) {
    cudaIpcMemHandle_t handle;
    say("first", cudaIpcGetMemHandle(&handle, p));
    say("second", cudaIpcGetMemHandle(&handle, p));
  }
  if (is("plain")) {
    int value = 0;
    store<<<1, 1>>>(p, 3), sayLaunch();
    say("copy", cudaMemcpy(&value, p + 3, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("%d\n", value);
  }
  return 0;
}
