// corpus: weight=heavy
// Thrust on device pointers.
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/functional.h>
#include <thrust/copy.h>
struct Square { __host__ __device__ double operator()(float x) const { return double(x) * x; } };
struct Pair { int key; float value; __host__ __device__ bool operator<(const Pair &o) const { return key < o.key || (key == o.key && value < o.value); } };
double squares(const float *p, int n) { return thrust::transform_reduce(thrust::device, p, p + n, Square(), 0.0, thrust::plus<double>()); }
void sort(Pair *p, int n) { thrust::sort(thrust::device, p, p + n); }
struct Even { __host__ __device__ bool operator()(int x) const { return x % 2 == 0; } };
int *keep(const int *p, int *o, int n) { return thrust::copy_if(thrust::device, p, p + n, o, Even()); }
