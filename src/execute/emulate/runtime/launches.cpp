// Launches, attributes of kernels, occupancy.
#include "emulate/runtime/abi.h"
#include "emulate/runtime/exported.h"

#include <vector>

#include "analysis/machine/kernel_needs.h"
#include "analysis/manager/analyses.h"
#include "emulate/properties.h"
#include "target/occupancy.h"

using namespace ptxopt::emulate;
namespace target = ptxopt::target;

namespace {

// What <<<...>>> leaves for the call that follows, which launches.
struct Pushed {
  Shape3 grid, block;
  size_t shared;
  void* stream;
};
thread_local std::vector<Pushed> pushed;

ptxopt::exec::Dim3 shapeOf(const Shape3& s) { return {s.x, s.y, s.z}; }

void enqueueLaunch(const void* function, const LaunchShape& shape, void** arguments, void* stream) {
  State& s = State::get();
  s.enqueue(stream, s.call(function, shape, arguments));
}

LaunchShape shapeOf(const Shape3& grid, const Shape3& block, size_t shared) {
  need(shared <= UINT32_MAX, Code::InvalidValue, "too much shared memory");
  return {shapeOf(grid), shapeOf(block), {}, static_cast<uint32_t>(shared), false};
}

int blocksOf(const void* function, int threads, size_t dynamicShared) {
  State& s = State::get();
  const Kernel& kernel = s.kernel(function);
  const ptxopt::Module& module = kernel.program().module();
  const ptxopt::Function& f = kernel.program().kernel();
  need(threads > 0, Code::InvalidValue, "a block without threads");
  const target::Limits* const a = target::Target(s.architecture()).limits();
  if (a == nullptr || threads > static_cast<int>(target::Limits::kMostThreadsPerBlock)) return 0;
  ptxopt::Analyses analyses(module, f);
  target::BlockNeeds block = ptxopt::kernelNeeds(module, f).block(analyses.plainRegisters());
  block.threads = static_cast<uint32_t>(threads);
  block.sharedBytes += dynamicShared;
  return static_cast<int>(target::occupancy(*a, block).blocks);
}

// A cooperative grid has to be there at one time.
void needResident(const void* function, const LaunchShape& shape) {
  const int blocks = blocksOf(function, static_cast<int>(shape.block.count()), shape.shared);
  need(shape.grid.count() <= static_cast<uint64_t>(blocks) * kMultiprocessors, Code::CooperativeLaunchTooLarge,
       "more blocks than the device holds");
}

}  // namespace

CUDA_API(__cudaPushCallConfiguration)
unsigned __cudaPushCallConfiguration(Shape3 grid, Shape3 block, size_t shared, void* stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}
CUDA_API(__cudaPopCallConfiguration)
int __cudaPopCallConfiguration(Shape3* grid, Shape3* block, size_t* shared, void** stream) {
  // Where it fails, what <<<...>>> stands for does not call the launch.
  return answerLaunch(__func__, [&] {
    need(!pushed.empty(), Code::MissingConfiguration, "nothing was pushed");
    const Pushed p = pushed.back();
    pushed.pop_back();
    *grid = p.grid;
    *block = p.block;
    *shared = p.shared;
    *stream = p.stream;
  });
}

CUDA_API(cudaLaunchKernel)
int cudaLaunchKernel(const void* function, Shape3 grid, Shape3 block, void** arguments, size_t shared,
                     void* stream) {
  return answerLaunch(__func__, [&] { enqueueLaunch(function, shapeOf(grid, block, shared), arguments, stream); });
}
CUDA_ALSO(cudaLaunchKernel, cudaLaunchKernel_ptsz)
CUDA_ALSO(cudaLaunchKernel, __cudaLaunchKernel)
CUDA_ALSO(cudaLaunchKernel, __cudaLaunchKernel_ptsz)

CUDA_API(cudaLaunchCooperativeKernel)
int cudaLaunchCooperativeKernel(const void* function, Shape3 grid, Shape3 block, void** arguments, size_t shared,
                                void* stream) {
  return answerLaunch(__func__, [&] {
    LaunchShape shape = shapeOf(grid, block, shared);
    shape.isCooperative = true;
    needResident(function, shape);
    enqueueLaunch(function, shape, arguments, stream);
  });
}
CUDA_ALSO(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz)

CUDA_API(cudaLaunchKernelExC)
int cudaLaunchKernelExC(const LaunchDescription* launch, const void* function, void** arguments) {
  return answerLaunch(__func__, [&] {
    const LaunchDescription& l = out(launch);
    LaunchShape shape = shapeOf({l.grid[0], l.grid[1], l.grid[2]}, {l.block[0], l.block[1], l.block[2]}, l.shared);
    constexpr int kCooperative = 2, kCluster = 4;
    for (unsigned i = 0; i < l.count; ++i) {
      const LaunchAttribute& a = l.attributes[i];
      if (a.id == kCooperative) shape.isCooperative = a.value.flag != 0;
      if (a.id == kCluster) shape.cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
      // The others are about when and where it runs, not what it does.
    }
    if (shape.isCooperative) needResident(function, shape);
    enqueueLaunch(function, shape, arguments, l.stream);
  });
}
CUDA_ALSO(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz)

// ---- kernels ----

CUDA_API(cudaGetKernel) int cudaGetKernel(void** handle, const void* function) {
  return answer(__func__, [&] {
    State& s = State::get();
    const auto found = s.kernels.find(function);
    need(found != s.kernels.end(), Code::InvalidDeviceFunction, "no kernel was registered at this address");
    out(handle) = const_cast<void*>(function);
  });
}
CUDA_ALSO(cudaGetKernel, __cudaGetKernel)
CUDA_ALSO(cudaGetKernel, cudaGetFuncBySymbol)
CUDA_API(cudaFuncGetName) int cudaFuncGetName(const char** name, const void* function) {
  return answer(__func__, [&] { out(name) = State::get().kernel(function).name.c_str(); });
}
CUDA_API(cudaFuncGetAttributes) int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  return answer(__func__, [&] {
    State& s = State::get();
    const Kernel& kernel = s.kernel(function);
    const ptxopt::Module& module = kernel.program().module();
    const ptxopt::Function& f = kernel.program().kernel();
    ptxopt::Analyses analyses(module, f);
    FunctionAttributes& a = out(attributes);
    a = {};
    a.sharedBytes = kernel.program().staticShared();
    a.localBytes = kernel.program().entry().stackBytes;
    a.maxThreadsPerBlock =
        static_cast<int>(ptxopt::kernelNeeds(module, f).threads.value_or(target::Limits::kMostThreadsPerBlock));
    a.registers = static_cast<int>(analyses.plainRegisters());
    a.ptxVersion = a.binaryVersion = static_cast<int>(s.architecture());
    a.maxDynamicSharedBytes = static_cast<int>(kernel.mostDynamicShared);
    a.clusterWidth = static_cast<int>(kernel.cluster.x);
    a.clusterHeight = static_cast<int>(kernel.cluster.y);
    a.clusterDepth = static_cast<int>(kernel.cluster.z);
    a.allowsLargeClusters = kernel.allowsLargeClusters;
  });
}
CUDA_API(cudaFuncSetAttribute) int cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return answer(__func__, [&] {
    State& s = State::get();
    Kernel& kernel = s.kernel(function);
    constexpr int kDynamicShared = 8, kCarveout = 9, kWidth = 11, kHeight = 12, kDepth = 13, kLargeClusters = 14;
    const int most = deviceAttribute(97, s.architecture());
    switch (attribute) {
      case kDynamicShared:
        need(value >= 0 && value + static_cast<int>(kernel.program().staticShared()) <= most, Code::InvalidValue,
             "more shared memory than a block can have");
        kernel.mostDynamicShared = static_cast<uint32_t>(value);
        break;
      case kWidth: kernel.cluster.x = static_cast<uint32_t>(value); break;
      case kHeight: kernel.cluster.y = static_cast<uint32_t>(value); break;
      case kDepth: kernel.cluster.z = static_cast<uint32_t>(value); break;
      case kLargeClusters: kernel.allowsLargeClusters = value != 0; break;
      default: need(attribute >= kCarveout && attribute <= 15, Code::InvalidValue, "no such attribute");
    }
  });
}
CUDA_API(cudaFuncSetCacheConfig) int cudaFuncSetCacheConfig(const void* function, int) {
  return answer(__func__, [&] { State::get().kernel(function); });
}
CUDA_ALSO(cudaFuncSetCacheConfig, cudaFuncSetSharedMemConfig)

// ---- occupancy ----

CUDA_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, size_t shared) {
  return answer(__func__, [&] { out(blocks) = blocksOf(function, threads, shared); });
}
CUDA_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                           size_t shared, unsigned) {
  return answer(__func__, [&] { out(blocks) = blocksOf(function, threads, shared); });
}
CUDA_API(cudaOccupancyAvailableDynamicSMemPerBlock)
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int) {
  return answer(__func__, [&] {
    State& s = State::get();
    need(blocks > 0, Code::InvalidValue, "no blocks");
    const size_t all = static_cast<size_t>(deviceAttribute(81, s.architecture())) / static_cast<size_t>(blocks);
    const size_t taken =
        s.kernel(function).program().staticShared() + static_cast<size_t>(deviceAttribute(111, s.architecture()));
    out(bytes) = all > taken ? all - taken : 0;
  });
}
CUDA_API(cudaOccupancyMaxActiveClusters)
int cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const LaunchDescription* launch) {
  return answer(__func__, [&] {
    const LaunchDescription& l = out(launch);
    uint64_t size = 1;
    for (unsigned i = 0; i < l.count; ++i)
      if (l.attributes[i].id == 4)
        size = uint64_t{l.attributes[i].value.cluster.x} * l.attributes[i].value.cluster.y *
               l.attributes[i].value.cluster.z;
    const int blocks = blocksOf(function, static_cast<int>(l.block[0] * l.block[1] * l.block[2]), l.shared);
    out(clusters) =
        static_cast<int>(static_cast<uint64_t>(blocks) * kMultiprocessors / std::max<uint64_t>(size, 1));
  });
}
CUDA_API(cudaOccupancyMaxPotentialClusterSize)
int cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const LaunchDescription*) {
  return answer(__func__, [&] { out(size) = State::get().kernel(function).allowsLargeClusters ? 16 : 8; });
}
