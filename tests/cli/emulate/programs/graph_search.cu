// Distances in a graph: by a queue of each level, and by relaxing edges that have lengths. Managed memory.
#include <algorithm>
#include <queue>

#include "program.h"

__global__ void expand(const int* first, const int* edges, const int* queue, int count, int* next, int* nextCount, int* level,
                       int depth) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int node = queue[i];
  for (int e = first[node]; e < first[node + 1]; ++e)
    if (atomicCAS(&level[edges[e]], -1, depth) == -1) next[atomicAdd(nextCount, 1)] = edges[e];
}

__global__ void relax(const int* first, const int* edges, const unsigned* lengths, unsigned* distance, int nodes, bool* changed) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || distance[node] == ~0u) return;
  for (int e = first[node]; e < first[node + 1]; ++e) {
    const unsigned d = distance[node] + lengths[e];
    if (atomicMin(&distance[edges[e]], d) > d) *changed = true;
  }
}

template <typename T>
T* managed(size_t count) {
  T* p;
  CUDA(cudaMallocManaged(&p, count * sizeof(T)));
  return p;
}

int main() {
  const int nodes = 600, degree = 4;
  Numbers numbers;
  int *first = managed<int>(nodes + 1), *edges = managed<int>(nodes * degree), *level = managed<int>(nodes);
  int *queue = managed<int>(nodes), *next = managed<int>(nodes), *count = managed<int>(1);
  unsigned *lengths = managed<unsigned>(nodes * degree), *distance = managed<unsigned>(nodes);
  bool* const changed = managed<bool>(1);
  for (int i = 0; i <= nodes; ++i) first[i] = i * degree;
  for (int i = 0; i < nodes * degree; ++i) {
    edges[i] = (i / degree / 2 + static_cast<int>(numbers.below(nodes / 3))) % nodes;
    lengths[i] = 1 + numbers.below(50);
  }
  std::fill(level, level + nodes, -1);
  level[0] = queue[0] = 0;
  for (int size = 1, depth = 1; size > 0; ++depth) {
    *count = 0;
    expand<<<(size + 63) / 64, 64>>>(first, edges, queue, size, next, count, level, depth);
    CUDA(cudaDeviceSynchronize());
    size = *count;
    std::swap(queue, next);
  }
  std::vector<int> levels(nodes, -1);
  std::queue<int> open;
  open.push(0);
  levels[0] = 0;
  for (; !open.empty(); open.pop())
    for (int e = first[open.front()]; e < first[open.front() + 1]; ++e)
      if (levels[edges[e]] < 0) levels[edges[e]] = levels[open.front()] + 1, open.push(edges[e]);
  EXPECT(std::equal(levels.begin(), levels.end(), level));

  std::fill(distance, distance + nodes, ~0u);
  distance[0] = 0;
  do {
    *changed = false;
    relax<<<(nodes + 127) / 128, 128>>>(first, edges, lengths, distance, nodes, changed);
    CUDA(cudaDeviceSynchronize());
  } while (*changed);
  for (int i = 0; i < nodes; ++i)
    for (int e = first[i]; distance[i] != ~0u && e < first[i + 1]; ++e) EXPECT(distance[edges[e]] <= distance[i] + lengths[e]);
  for (int i = 0; i < nodes; ++i) EXPECT((distance[i] == ~0u) == (levels[i] < 0));
  CUDA(cudaFree(first));
  return passed();
}
