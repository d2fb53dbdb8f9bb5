// Lists and trees from malloc in kernels, assertions that hold, and what kernels print.
#include <cassert>

#include "program.h"

struct Node {
  int key;
  Node *left, *right, *next;
};

__global__ void lists(Node** heads, const int* lengths) {
  const int t = threadIdx.x;
  Node* head = nullptr;
  for (int i = 0; i < lengths[t]; ++i) {
    auto* const n = static_cast<Node*>(malloc(sizeof(Node)));
    assert(n != nullptr);
    n->key = t * 100 + i;
    n->next = head;
    head = n;
  }
  heads[t] = head;
}
__global__ void sums(Node** heads, int* out) {
  int sum = 0;
  for (Node* n = heads[threadIdx.x]; n != nullptr;) {
    Node* const next = n->next;
    sum += n->key;
    free(n);
    n = next;
  }
  out[threadIdx.x] = sum;
}

// Each thread sorts its keys by a tree of its own.
__global__ void tree(const int* keys, int n, int* out) {
  const int* const mine = keys + blockIdx.x * n;
  Node* root = nullptr;
  for (int i = 0; i < n; ++i) {
    Node** place = &root;
    while (*place != nullptr) place = mine[i] < (*place)->key ? &(*place)->left : &(*place)->right;
    *place = new Node{mine[i], nullptr, nullptr, nullptr};
  }
  Node* stack[64];
  int depth = 0, at = 0;
  for (Node* node = root; node != nullptr || depth > 0;) {
    while (node != nullptr) stack[depth++] = node, node = node->left;
    node = stack[--depth];
    out[blockIdx.x * n + at++] = node->key;
    node = node->right;
  }
  assert(at == n);
}

__global__ void print(const char* text) {
  printf("thread %d of %u: %5.2f %s %llx%%\n", threadIdx.x, blockDim.x, threadIdx.x * 0.5, threadIdx.x == 0 ? "first" : "other",
         0x123456789abcdefull);
  (void)text;
}

int main() {
  std::vector<int> lengths(32);
  for (int i = 0; i < 32; ++i) lengths[i] = i % 7;
  Node** heads;
  CUDA(cudaMalloc(&heads, 32 * sizeof(Node*)));
  int* const out = zeros<int>(64);
  lists<<<1, 32>>>(heads, onDevice(lengths));
  sums<<<1, 32>>>(heads, out);
  LAUNCHED();
  const auto s = onHost(out, 32);
  for (int t = 0; t < 32; ++t) EXPECT(s[t] == t * 100 * lengths[t] + lengths[t] * (lengths[t] - 1) / 2);
  Numbers numbers;
  std::vector<int> keys(60);
  for (int& k : keys) k = static_cast<int>(numbers.below(1000));
  tree<<<3, 1>>>(onDevice(keys), 20, out);
  LAUNCHED();
  const auto sorted = onHost(out, 60);
  for (int i = 0; i < 60; ++i) EXPECT(i % 20 == 0 || sorted[i - 1] <= sorted[i]);
  size_t heap;
  CUDA(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
  EXPECT(heap >= 1 << 20);
  print<<<1, 2>>>(nullptr);
  return passed();
}
