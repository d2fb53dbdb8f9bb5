// The memory that a pointer leads to is made when it is first touched: a page gets its contents from the trial's seed,
// and the pointers of its slots. Pages that only one of two runs wrote are known by a flag of each page.
#include <algorithm>
#include <cstring>
#include <new>

#include "exec/block.h"
#include "exec/launch.h"
#include "exec/texture.h"
#include "verify/values.h"

namespace ptxopt::verify {

namespace {

// Memory that pointers in modules' variables and heaps lead to.
constexpr uint64_t kApart = uint64_t{1} << 40;
// Facts may say that pointers are aligned.
constexpr uint64_t kAlignment = uint64_t{2} << 20;
// The pieces of memory that the entries of a table point to, and how many there are before they come again.
constexpr int64_t kPiece = TrialMemory::kChunk, kPieces = 1024;
constexpr uint64_t kFirstHandle = 0x5000'0000'0000;

int64_t floorMod(int64_t a, int64_t b) { return (a % b + b) % b; }

}  // namespace

TrialMemory::TrialMemory(exec::Machine& machine, const KernelUse& use, const Trial& trial, const TrialMemory* known)
    : machine_(machine), use_(use), trial_(trial), known_(known), base_(use.fields.size()) {
  uint32_t bytes = 0;
  for (const Field& f : use.fields)
    if (f.place == Field::Place::Parameter) bytes = std::max(bytes, f.offset + f.bytes);
  parameters_.resize(bytes);
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    if (!trial.fields[k].isPointer || use.fields[k].place == Field::Place::Variable) continue;
    auto region = std::make_unique<Region>();
    region->field = k;
    exec::Allocation& a =
        machine.memory().reserve(use.fields[k].parameter, kBelow + kAbove, regions_.empty() ? kApart : kAlignment);
    region->allocation = &a;
    base_[k] = a.base + kBelow;
    a.watched = true;
    Region* const r = region.get();
    a.watch = [this, r](const exec::Warp& w, unsigned lane, uint64_t offset, unsigned size, exec::Access access) {
      return touch(*r, w, lane, offset, size, access);
    };
    regions_.push_back(std::move(region));
  }
  bindImages();
  for (std::size_t k = 0; k < use.fields.size(); ++k) {
    const Field& f = use.fields[k];
    const uint64_t bits = trial.fields[k].bits + base_[k];
    if (f.place == Field::Place::Variable) fillVariable(k);
    if (f.place == Field::Place::Parameter)
      std::memcpy(parameters_.data() + f.offset, &bits, std::min<std::size_t>(8, f.bytes));
  }
}

TrialMemory::~TrialMemory() {
  // The last first: then their addresses are free again.
  for (auto r = regions_.rbegin(); r != regions_.rend(); ++r) machine_.memory().release(*(*r)->allocation);
  for (const uint64_t handle : handles_) machine_.textures.erase(handle);
}

void TrialMemory::fillVariable(std::size_t field) {
  exec::Allocation* const a = machine_.variable(use_.fields[field].parameter);
  if (a == nullptr) return;
  const bool isFilled =
      a->readOnly && std::all_of(a->data, a->data + a->size, [](std::byte b) { return b == std::byte{0}; });
  std::vector<std::byte> page(kPage);
  for (uint64_t at = 0; at < a->size && isFilled; at += kPage) {
    trial_.fields[field].contents.fillPage(static_cast<int64_t>(at), page.data());
    std::memcpy(a->data + at, page.data(), std::min<uint64_t>(kPage, a->size - at));
  }
  putPointers(field, 0, a->data, a->size);
}

void TrialMemory::fillPage(std::size_t field, int64_t offset, std::byte* page) const {
  trial_.fields[field].contents.fillPage(offset, page);
  putPointers(field, offset, page, kPage);
}

const std::byte* TrialMemory::knownPage(std::size_t field, int64_t offset) const {
  if (known_ == nullptr) return nullptr;
  for (const auto& region : known_->regions_) {
    if (region->field != field) continue;
    const auto page = region->pages.find(offset);
    return page == region->pages.end() || page->second.isWritten ? nullptr : page->second.data;
  }
  return nullptr;
}

// Into the bytes at `offset` from where a field's pointer points.
void TrialMemory::putPointers(std::size_t holder, int64_t offset, std::byte* to, uint64_t bytes) const {
  const bool isPiece = use_.fields[holder].place == Field::Place::Memory;
  const int64_t piece = isPiece ? (offset - floorMod(offset, kPiece)) / kPiece : 0;
  const int64_t first = offset - piece * kPiece, end = first + static_cast<int64_t>(bytes);
  for (const Slot& s : use_.slots) {
    if (s.holder != holder || base_[s.target] == 0) continue;
    const auto stride = static_cast<int64_t>(s.stride);
    int64_t at = s.at;
    if (stride != 0 && at < first) at += (first - at + stride - 1) / stride * stride;
    if (stride != 0 && at > first) at -= (at - first) / stride * stride;
    for (; at >= first && at + 8 <= end; at += stride) {
      const int64_t entry = stride == 0 ? 0 : (at - s.at) / stride;
      uint64_t pointer = base_[s.target] + static_cast<uint64_t>(floorMod(entry + 37 * piece, kPieces) * kPiece);
      if (s.target <= s.holder) {  // a list
        const int64_t next = floorMod(entry + piece + 1, kPieces);
        pointer = next % 5 == 0 ? 0 : base_[s.target] + static_cast<uint64_t>(next * kPiece);
      }
      std::memcpy(to + (at - first), &pointer, sizeof pointer);
      if (stride == 0) break;
    }
  }
}

void TrialMemory::bindImages() {
  for (std::size_t k = 0; k < use_.images.size(); ++k) {
    const Image& image = use_.images[k];
    uint64_t state = mix(trial_.imageSeed, k);
    const auto random = [&](uint64_t below) { return (state = mix(state)) % below; };
    auto b = std::make_shared<exec::TextureBinding>();
    const bool isSurface = image.kind == Image::Kind::Surface;
    b->kind = isSurface ? exec::TextureBinding::Kind::Surface : exec::TextureBinding::Kind::Texture;
    const unsigned side = image.isCube ? 16 : 16u << random(4);
    b->width = image.dimensions == 1 ? 4096 : side;
    b->height = image.dimensions == 1 ? 1 : image.isCube ? side : static_cast<unsigned>(1 + random(64));
    b->depth = image.dimensions == 3 ? static_cast<unsigned>(1 + random(16)) : 1;
    b->layers = (image.isCube ? 6 : 1) * (image.isArray ? static_cast<unsigned>(1 + random(4)) : 1);
    b->channels = isSurface ? 1 : 4;
    b->format = image.type == ScalarType::s32   ? exec::TexelFormat::Signed32
                : image.type == ScalarType::u32 ? exec::TexelFormat::Unsigned32
                                                : exec::TexelFormat::Float;
    const bool isPlain = isSurface || image.byTexels || image.isCube;
    b->isLinearMemory = image.byTexels && image.dimensions == 1;
    b->normalized = !isPlain && random(2) == 0;
    if (!isPlain && image.type == ScalarType::f32 && random(2) == 0) b->filter = exec::FilterMode::Linear;
    static constexpr exec::AddressMode kModes[] = {exec::AddressMode::Clamp, exec::AddressMode::Wrap,
                                                   exec::AddressMode::Mirror, exec::AddressMode::Border};
    b->address.fill(kModes[isPlain ? 0 : random(4)]);
    b->allocate();
    Contents contents;
    contents.element = image.type;
    contents.kind = random(3) == 0 ? Contents::Kind::Mixed : Contents::Kind::Small;
    contents.seed = state;
    std::vector<std::byte> page(kPage);
    const uint64_t all = b->slicePitch * b->depth * b->layers;
    for (uint64_t at = 0; at < all; at += kPage) {
      contents.fillPage(static_cast<int64_t>(at), page.data());
      std::memcpy(b->data + at, page.data(), std::min<uint64_t>(kPage, all - at));
    }
    uint64_t handle = kFirstHandle + 64 * k;
    if (!image.variable.empty()) {
      const exec::Allocation* const variable = machine_.variable(image.variable);
      if (variable == nullptr) {
        images_.push_back(nullptr);
        continue;
      }
      handle = variable->base;
    } else {
      base_[image.field] = handle;
    }
    machine_.textures[handle] = b;
    handles_.push_back(handle);
    images_.push_back(std::move(b));
  }
}

// Where the bytes from `first` to `last` lie, in a chunk that is there or is made.
std::byte* TrialMemory::place(Region& region, unsigned lane, int64_t first, int64_t last) {
  const int64_t begin = first - floorMod(first + kChunk / 2, kChunk);
  if (last - begin >= kChunk)
    throw exec::LaneFault{exec::FaultKind::NoMemory, lane,
                          "a copy across the end of a piece of memory; pieces have 4 MiB"};
  try {
    const auto at = region.chunks.lower_bound(begin);
    if (at != region.chunks.end() && at->first == begin) return at->second.data() + (first - begin);
    return region.chunks.try_emplace(at, begin, static_cast<uint64_t>(kChunk))->second.data() + (first - begin);
  } catch (const std::bad_alloc&) {
    throw exec::LaneFault{exec::FaultKind::NoMemory, lane, "there is no memory left for what the kernel touches"};
  }
}

std::byte* TrialMemory::touch(Region& region, const exec::Warp& warp, unsigned lane, uint64_t offset,
                              unsigned bytes, exec::Access access) {
  const auto first = static_cast<int64_t>(offset - kBelow);
  const int64_t last = first + static_cast<int64_t>(bytes) - 1;
  constexpr auto kSize = static_cast<int64_t>(kPage);
  const auto pageOf = [](int64_t at) { return at & ~(kSize - 1); };
  const bool writes = access != exec::Access::Read;
  const bool isWatched = region.field == watchedField_;
  if (pageOf(first) == region.lastPage && pageOf(last) == region.lastPage && (!writes || region.last.isWritten) &&
      !isWatched)
    return region.last.data + (first - region.lastPage);
  std::byte* const result = place(region, lane, first, last);
  for (int64_t page = pageOf(first); page <= last; page += kSize) {
    const auto [at, isNew] = region.pages.try_emplace(page);
    Region::Page& touched = at->second;
    if (isNew) {
      if (++pages_ > kMostPages)
        throw exec::LaneFault{exec::FaultKind::OutOfBounds, lane, "the kernel touches more than 64 MB"};
      touched.data = result + (page - first);
      if (const std::byte* same = knownPage(region.field, page))
        std::memcpy(touched.data, same, kPage);
      else
        fillPage(region.field, page, touched.data);
    }
    touched.isWritten = touched.isWritten || writes;
    region.lastPage = page;
    region.last = touched;
  }
  if (!isWatched)
    region.allocation->quiet = {kBelow + static_cast<uint64_t>(region.lastPage), kPage, region.last.isWritten,
                                region.last.data};
  if (writes && isWatched && first <= watchedOffset_ && watchedOffset_ <= last) {
    auto& w = const_cast<exec::Warp&>(warp);
    lastWriter_ = Writer{positionIn(w.block().launch().config().block, warp.threadIndex(lane)), w.block().id()};
  }
  return result;
}

}  // namespace ptxopt::verify
