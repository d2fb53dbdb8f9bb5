// The alignment of two strings diagonal by diagonal, a knapsack, and all shortest paths in blocks.
#include <algorithm>

#include "program.h"

__global__ void alignment(const char* a, const char* b, int n, int m, int* best) {
  extern __shared__ int diagonals[];  // three of n + 1
  int *two = diagonals, *one = two + n + 1, *now = one + n + 1;
  int most = 0;
  for (int i = threadIdx.x; i < 3 * (n + 1); i += blockDim.x) diagonals[i] = 0;
  for (int d = 2; d <= n + m; ++d) {
    __syncthreads();
    for (int i = max(1, d - m) + threadIdx.x; i <= min(n, d - 1); i += blockDim.x) {
      const int j = d - i;
      int score = two[i - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
      score = max(score, max(one[i - 1], one[i]) - 4);
      now[i] = max(score, 0);
      most = max(most, now[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0 && d - m > 0) now[d - m - 1] = 0;
    int* const oldest = two;
    two = one, one = now, now = oldest;
  }
  atomicMax(best, most);
}

__global__ void knapsack(const int* from, int* to, int capacity, int weight, int value) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c <= capacity) to[c] = c >= weight ? max(from[c], from[c - weight] + value) : from[c];
}

__global__ void shortest(int* distance, int n, int k) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < n) distance[i * n + j] = min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
}

int main() {
  Numbers numbers;
  std::vector<char> a(60), b(85);
  for (char& c : a) c = "ACGT"[numbers.below(4)];
  for (char& c : b) c = "ACGT"[numbers.below(4)];
  std::copy(a.begin() + 10, a.begin() + 40, b.begin() + 20);
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  int* const best = zeros<int>(1);
  alignment<<<1, 64, 3 * (n + 1) * sizeof(int)>>>(onDevice(a), onDevice(b), n, m, best);
  LAUNCHED();
  std::vector<std::vector<int>> table(n + 1, std::vector<int>(m + 1));
  int most = 0;
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= m; ++j) {
      table[i][j] = std::max({0, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2), table[i - 1][j] - 4, table[i][j - 1] - 4});
      most = std::max(most, table[i][j]);
    }
  EXPECT(onHost(best, 1)[0] == most);

  const int capacity = 500;
  std::vector<int> values(capacity + 1);
  int *from = zeros<int>(capacity + 1), *to = zeros<int>(capacity + 1);
  for (int item = 0; item < 20; ++item) {
    const int weight = 5 + static_cast<int>(numbers.below(60)), value = static_cast<int>(numbers.below(100));
    knapsack<<<4, 128>>>(from, to, capacity, weight, value);
    std::swap(from, to);
    for (int c = capacity; c >= weight; --c) values[c] = std::max(values[c], values[c - weight] + value);
  }
  LAUNCHED();
  EXPECT(onHost(from, capacity + 1) == values);

  const int nodes = 24;
  std::vector<int> distance(nodes * nodes);
  for (int i = 0; i < nodes * nodes; ++i) distance[i] = i / nodes == i % nodes ? 0 : 1 + static_cast<int>(numbers.below(200));
  int* const device = onDevice(distance);
  for (int k = 0; k < nodes; ++k) shortest<<<dim3(3, 3), dim3(8, 8)>>>(device, nodes, k);
  for (int k = 0; k < nodes; ++k)
    for (int i = 0; i < nodes * nodes; ++i)
      distance[i] = std::min(distance[i], distance[i / nodes * nodes + k] + distance[k * nodes + i % nodes]);
  EXPECT(onHost(device, nodes * nodes) == distance);
  return passed();
}
