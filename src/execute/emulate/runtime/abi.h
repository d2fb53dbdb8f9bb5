// The structures of the CUDA runtime's interface, as programs built with CUDA 12 and 13 lay them out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptxopt::emulate {

// cudaDeviceProp. CUDA 13 dropped some fields and put others at its end.
struct DeviceProperties13 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  int maxTexture1D, maxTexture1DMipmap, maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3];
  int maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, eccEnabled, pciBusId, pciDeviceId, pciDomainId, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupId, hostNativeAtomicSupported;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRdmaSupported;
  unsigned gpuDirectRdmaFlushWritesOptions;
  int gpuDirectRdmaWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceId, gpuPciSubsystemId;
  int hostNumaMultinodeIpcSupported, reserved[56];
};

struct DeviceProperties12 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, eccEnabled, pciBusId, pciDeviceId, pciDomainId, tccDriver, asyncEngineCount;
  int unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupId, hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRdmaSupported;
  unsigned gpuDirectRdmaFlushWritesOptions;
  int gpuDirectRdmaWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
  int reserved[63];
};

struct FunctionAttributes {
  size_t sharedBytes, constBytes, localBytes;
  int maxThreadsPerBlock, registers, ptxVersion, binaryVersion, cacheModeCa, maxDynamicSharedBytes;
  int preferredSharedCarveout, clusterMustBeSet, clusterWidth, clusterHeight, clusterDepth;
  int clusterSchedulingPolicy, allowsLargeClusters, reserved[16];
};

// What CUDA 12 and 13 have in common; 13 has reserved fields after it.
struct PointerAttributes {
  int type, device;
  void *devicePointer, *hostPointer;
};

struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct PitchedPointer {
  void* address;
  size_t pitch, width, height;
};
struct ChannelFormat {
  int bits[4];
  int kind;
};
struct Copy3D {
  void* fromArray;
  Position fromPosition;
  PitchedPointer from;
  void* toArray;
  Position toPosition;
  PitchedPointer to;
  Extent extent;
  int kind;
};

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
struct LaunchDescription {
  unsigned grid[3], block[3];
  size_t shared;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned count;
};

// dim3, passed by value.
struct Shape3 {
  unsigned x, y, z;
};

struct ResourceDescription {
  int type;
  union {
    void* array;
    struct {
      void* address;
      ChannelFormat format;
      size_t bytes;
    } linear;
    struct {
      void* address;
      ChannelFormat format;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
};
struct TextureDescription {
  int address[3], filter, read, srgb;
  float border[4];
  int normalized;
  unsigned maxAnisotropy;
  int mipmapFilter;
  float levelBias, minLevel, maxLevel;
  int disableTrilinear, seamlessCube;
};

struct KernelNodeParameters {
  const void* function;
  Shape3 grid, block;
  unsigned shared;
  void **arguments, **extra;
};
struct MemsetParameters {
  void* to;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};
struct HostNodeParameters {
  void (*function)(void*);
  void* data;
};

}  // namespace ptxopt::emulate
