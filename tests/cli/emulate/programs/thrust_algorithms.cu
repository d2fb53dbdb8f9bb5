// Thrust: sorts by key, sums by key, transformed sums, and what is copied if.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

#include <algorithm>
#include <map>

#include "program.h"

struct Square {
  __host__ __device__ long long operator()(int x) const { return static_cast<long long>(x) * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

int main() {
  const int n = 500;
  Numbers numbers;
  std::vector<int> keys(n), values(n);
  for (int i = 0; i < n; ++i) keys[i] = static_cast<int>(numbers.below(40)), values[i] = static_cast<int>(numbers.below(1000));
  thrust::device_vector<int> k(keys.begin(), keys.end()), v(values.begin(), values.end()), outKeys(n), outSums(n);
  long long squares = 0;
  for (int x : values) squares += static_cast<long long>(x) * x;
  EXPECT(thrust::transform_reduce(v.begin(), v.end(), Square(), 0LL, thrust::plus<long long>()) == squares);
  thrust::sort_by_key(k.begin(), k.end(), v.begin());
  const auto ends = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), outKeys.begin(), outSums.begin());
  std::map<int, int> sums;
  for (int i = 0; i < n; ++i) sums[keys[i]] += values[i];
  EXPECT(ends.first - outKeys.begin() == static_cast<long>(sums.size()));
  int at = 0;
  for (const auto& [key, sum] : sums) {
    EXPECT(outKeys[at] == key && outSums[at] == sum);
    ++at;
  }
  thrust::sequence(v.begin(), v.end(), 3);
  thrust::inclusive_scan(v.begin(), v.end(), v.begin());
  EXPECT(v[n - 1] == n * 3 + n * (n - 1) / 2);
  const auto end = thrust::copy_if(v.begin(), v.end(), outSums.begin(), IsOdd());
  int odd = 0;
  for (int i = 0, sum = 0; i < n; ++i) odd += (sum += 3 + i) % 2;
  EXPECT(end - outSums.begin() == odd);
  return passed();
}
