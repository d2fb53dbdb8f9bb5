// Inputs for a kernel: launch shapes, scalars, and memory that comes into being where it is touched.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/machine.h"
#include "verify/fields.h"

namespace ptxopt::verify {

// What memory holds before anybody writes: a function of a seed and the place.
struct Contents {
  // Small: integers from 0 to 15, floats from -1 to 1. Mixed: all magnitudes, mostly small. Any: any bits.
  // Special: limits, zeros, infinities, NaNs. Rising: in order, as offsets into other arrays are; floats, too.
  // Tiny: floats near the smallest normal one; integers as Small. Wide: every power of two alike, up to the 40th of
  // floats and the width of integers. Few: one to three values, each of one of the other kinds. Coarse: floats of few
  // bits, whose sums, products and quotients are exact or ties; integers as Small. Literal: what the kernel compares
  // with, and what lies next to it, among mixed ones. Scaled: below a power of two, which differs from array to array;
  // floats of all bits, in some arrays none negative. Shuffled: each number once, neighbors in another order, as
  // indices that are all different. Same: one value, mostly a zero.
  enum class Kind : uint8_t {
    Small,
    Mixed,
    Any,
    Special,
    Rising,
    Tiny,
    Wide,
    Few,
    Coarse,
    Literal,
    Scaled,
    Shuffled,
    Same
  } kind = Kind::Small;
  ScalarType element = ScalarType::u32;
  uint64_t seed = 0;
  const Literals* literals = nullptr;  // of the kernel, for Literal
  uint64_t skip = 0;                   // elements: where the pointer points lies the one of this number
  // Writes the bytes of [offset, offset + 4096), a page; offset counts from where the pointer points.
  void fillPage(int64_t offset, std::byte* page) const;
};

// The value of one field in one trial.
struct FieldValue {
  bool isPointer = false;
  uint64_t bits = 0;
  Contents contents;  // of what a pointer points to
};

struct Trial {
  exec::Dim3 grid, block, cluster;
  uint64_t firstCluster = 0;  // LaunchConfig::firstCluster: of grids whose far end alone is run
  uint32_t dynamicShared = 0;
  bool dirty = false;  // registers, shared memory and stacks hold kUnwritten, not zeros, until they are written
  std::vector<FieldValue> fields;  // parallel to KernelUse::fields
  uint64_t imageSeed = 0;          // of what textures and surfaces are and hold
};

// Limits that a kernel's directives set.
struct ShapeLimits {
  exec::Dim3 required{0, 0, 0};  // .reqntid; 0: none
  uint64_t most = 1024;          // threads, .maxntid
  exec::Dim3 cluster;
};
ShapeLimits shapeLimits(const Module& module, const Function& kernel);

// Blocks that kernels are commonly written for, within the limits.
std::vector<exec::Dim3> commonBlocks(const KernelUse& use, const ShapeLimits& limits);

// Trial `number` of a series; the same numbers and seed give the same trial. Early ones are plain, later ones
// stranger. The block is one of `blocks`, unless that is empty.
Trial makeTrial(const KernelUse& use, const ShapeLimits& limits, uint64_t seed, unsigned number,
                const std::vector<exec::Dim3>& blocks = {});

// A trial like another one, which the kernel ran: other contents, a scalar a little larger or smaller or equal to
// another, another grid. The block stays.
Trial nearTrial(const Trial& other, const KernelUse& use, uint64_t seed, unsigned number);

// Arrays of the same type hold the same, for what compares them, or takes one from the other.
void makeAlike(Trial& t);
// Arrays of floats, and some of the others, hold one value each: sums and products are what one of zeros or ones is.
void makeConstant(Trial& t, uint64_t seed);

// The memory that the pointers of one trial lead to in one machine: pages of 4 KB filled when first touched, from 8 GB
// below the pointer to 24 GB above it: the product of an unsigned index of 32 bits and 4 bytes stays inside. It lies
// at the same addresses in every machine, so that stored pointers can be compared. The host's address space is taken by
// the chunk, for chunks that are touched: a kernel may have thousands of parameters that may be pointers.
//
// Pointers that lie in memory (KernelUse::slots) are filled in with it: each entry of a table points to a piece of its
// own of what the slot's target stands for. Where a list leads to its own kind every fifth pointer is null. Constants
// of the module that the host would give have contents too, and textures and surfaces are bound.
class TrialMemory {
 public:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kBelow = uint64_t{8} << 30, kAbove = uint64_t{24} << 30;
  static constexpr std::size_t kMostPages = 16384;  // 64 MB
  // Begins between two pieces that entries of tables point to (trial_memory.cpp), and around where the pointer points.
  static constexpr int64_t kChunk = int64_t{4} << 20;

  // `known`: of another launch of the same trial, whose pages that it did not write need not be filled again.
  TrialMemory(exec::Machine& machine, const KernelUse& use, const Trial& trial, const TrialMemory* known = nullptr);
  ~TrialMemory();
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;

  // The launch's parameters.
  const std::vector<std::byte>& parameters() const { return parameters_; }

  struct Region {
    std::size_t field = 0;
    exec::Allocation* allocation = nullptr;
    struct Page {
      std::byte* data = nullptr;
      bool isWritten = false;
    };
    std::map<int64_t, Page> pages;  // by the offset from the pointer
    std::map<int64_t, exec::MappedPages> chunks;
    int64_t lastPage = INT64_MIN;  // the page that was touched last, if it needs nothing more: no page otherwise
    Page last;                     // that one
  };
  const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }
  // What a page of the memory that a field's pointer leads to holds at first.
  void fillPage(std::size_t field, int64_t offset, std::byte* page) const;
  // Textures and surfaces, by KernelUse::images.
  const std::vector<std::shared_ptr<exec::TextureBinding>>& images() const { return images_; }
  struct Writer {
    exec::Dim3 thread, block;
  };
  // Watches one byte: who wrote it last. `field` is its region's.
  void watchByte(std::size_t field, int64_t offset) {
    watchedField_ = field;
    watchedOffset_ = offset;
  }
  const std::optional<Writer>& lastWriter() const { return lastWriter_; }

 private:
  // Returns where the bytes lie.
  std::byte* touch(Region& region, const exec::Warp& warp, unsigned lane, uint64_t offset, unsigned bytes,
                   exec::Access access);
  static std::byte* place(Region& region, unsigned lane, int64_t first, int64_t last);
  void fillVariable(std::size_t field);
  // A page that the other launch filled and did not write, or nullptr.
  const std::byte* knownPage(std::size_t field, int64_t offset) const;
  void putPointers(std::size_t holder, int64_t offset, std::byte* at, uint64_t bytes) const;
  void bindImages();

  exec::Machine& machine_;
  const KernelUse& use_;
  const Trial trial_;
  const TrialMemory* const known_;
  std::vector<uint64_t> base_;  // by field: where its pointer points, 0: nowhere
  std::vector<std::byte> parameters_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::shared_ptr<exec::TextureBinding>> images_;
  std::vector<uint64_t> handles_;
  std::size_t pages_ = 0;
  std::size_t watchedField_ = SIZE_MAX;
  int64_t watchedOffset_ = 0;
  std::optional<Writer> lastWriter_;
};

}  // namespace ptxopt::verify
