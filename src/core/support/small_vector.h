// A vector with room for one element in itself; more are in memory from a resource. For very many vectors that mostly
// have one element: these cost no allocation, and their element is where the vector is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>

namespace ptxopt {

template <typename T>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit SmallVector(std::pmr::memory_resource* memory) : memory_(memory), one_() {}
  SmallVector(SmallVector&& other) noexcept
      : memory_(other.memory_), size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, 1)) {
    if (isInline())
      one_ = other.one_;
    else
      many_ = other.many_;
  }
  // As with pmr containers the memory resource stays.
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other);
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return isInline() ? &one_ : many_; }
  T* data() { return isInline() ? &one_ : many_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T& operator[](std::size_t k) const { return data()[k]; }
  T& operator[](std::size_t k) { return data()[k]; }
  const T& front() const { return *data(); }
  const T& back() const { return data()[size_ - 1]; }
  T& back() { return data()[size_ - 1]; }
  operator std::span<const T>() const { return {data(), size_}; }

  void clear() { size_ = 0; }
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void push_back(const T& value) {
    const T copy = value;
    if (size_ == capacity_) grow(2 * std::size_t{capacity_});
    data()[size_++] = copy;
  }
  void assign(std::span<const T> values) {
    if (values.size() > capacity_) {
      size_ = 0;
      grow(values.size());
    }
    std::ranges::copy(values, data());
    size_ = static_cast<uint32_t>(values.size());
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::ranges::equal(a, b); }

 private:
  bool isInline() const { return capacity_ == 1; }
  void grow(std::size_t capacity) {
    T* const to = static_cast<T*>(memory_->allocate(capacity * sizeof(T), alignof(T)));
    std::copy_n(data(), size_, to);
    release();
    many_ = to;
    capacity_ = static_cast<uint32_t>(capacity);
  }
  void release() {
    if (!isInline()) memory_->deallocate(many_, capacity_ * sizeof(T), alignof(T));
  }

  std::pmr::memory_resource* memory_;
  uint32_t size_ = 0, capacity_ = 1;
  union {
    T one_;    // where the capacity is one
    T* many_;  // otherwise
  };
};

}  // namespace ptxopt
