// A vector with one element in itself: what it holds, and what it asks of its memory.
#include "support/small_vector.h"

#include <doctest/doctest.h>

#include <vector>

using namespace ptxopt;

namespace {

class Counting : public std::pmr::memory_resource {
 public:
  std::size_t blocks = 0, bytes = 0, made = 0;  // that are out now; ever

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    ++blocks, ++made;
    bytes += size;
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* p, std::size_t size, std::size_t alignment) override {
    --blocks;
    bytes -= size;
    std::pmr::new_delete_resource()->deallocate(p, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

std::vector<int> contents(const SmallVector<int>& v) { return {v.begin(), v.end()}; }

}  // namespace

TEST_CASE("small vector: one element takes no memory") {
  Counting memory;
  {
    SmallVector<int> v(&memory);
    CHECK(v.empty());
    v.reserve(1);
    v.push_back(7);
    v.clear();
    v.push_back(8);
    CHECK(contents(v) == std::vector<int>{8});
    CHECK(memory.made == 0);
    for (int k = 0; k < 100; ++k) v.push_back(v.back() + 1);  // of the vector itself
    CHECK(v.size() == 101);
    CHECK(v.back() == 108);
    CHECK(memory.blocks == 1);
    v.clear();
    v.push_back(3);  // stays where it is
    CHECK(contents(v) == std::vector<int>{3});
    CHECK(memory.blocks == 1);
  }
  CHECK(memory.blocks == 0);
  CHECK(memory.bytes == 0);
}

TEST_CASE("small vector: assigned and moved") {
  Counting memory, other;
  {
    SmallVector<int> one(&memory), many(&memory), to(&other);
    one.push_back(1);
    many.assign(std::vector<int>{1, 2, 3});
    to = many;
    CHECK(to == many);
    CHECK(other.blocks == 1);
    to = one;
    CHECK(contents(to) == std::vector<int>{1});
    SmallVector<int>& itself = to;
    to = itself;
    CHECK(contents(to) == std::vector<int>{1});
    const SmallVector<int> movedOne(std::move(one)), movedMany(std::move(many));
    CHECK(contents(movedOne) == std::vector<int>{1});
    CHECK(contents(movedMany) == std::vector<int>{1, 2, 3});
    one.push_back(5);   // NOLINT(bugprone-use-after-move): what was moved from is empty
    many.push_back(6);  // NOLINT(bugprone-use-after-move)
    CHECK(contents(one) == std::vector<int>{5});
    CHECK(contents(many) == std::vector<int>{6});
    CHECK(memory.blocks == 1);
  }
  CHECK(memory.blocks == 0);
  CHECK(other.blocks == 0);
}
