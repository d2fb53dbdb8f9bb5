// Objects made on the device and called through their base, tables of functions, a lambda as an argument, recursion.
#include "program.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
  __device__ virtual int corners() const { return 4; }
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Triangle : Shape {
  int base, height;
  __device__ Triangle(int b, int h) : base(b), height(h) {}
  __device__ int area() const override { return base * height / 2; }
  __device__ int corners() const override { return 3; }
};

__global__ void make(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 3 == 0)
    shapes[i] = new Triangle(i, 6);
  else
    shapes[i] = new Square(i);
}
__global__ void measure(Shape* const* shapes, int n, int* areas, int* corners) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  areas[i] = shapes[i]->area();
  atomicAdd(corners, shapes[i]->corners());
}
__global__ void destroy(Shape** shapes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) delete shapes[i];
}

using Function = int (*)(int);
__device__ int increased(int x) { return x + 1; }
__device__ int squared(int x) { return x * x; }
__device__ __noinline__ int fibonacci(int x) { return x < 2 ? x : fibonacci(x - 1) + fibonacci(x - 2); }
__device__ Function functions[] = {increased, squared, fibonacci};

__global__ void call(Function f, int* out) {
  const int i = threadIdx.x;
  out[i] = functions[i % 3](i % 12);
  out[32 + i] = f(i);
}
__device__ Function chosen = squared;

template <typename F>
__global__ void apply(int* data, F f) {
  data[threadIdx.x] = f(data[threadIdx.x], static_cast<int>(threadIdx.x));
}

int main() {
  const int n = 90;
  Shape** shapes;
  CUDA(cudaMalloc(&shapes, n * sizeof(Shape*)));
  int *areas = zeros<int>(n), *corners = zeros<int>(1);
  make<<<3, 32>>>(shapes, n);
  measure<<<2, 64>>>(shapes, n, areas, corners);
  destroy<<<3, 32>>>(shapes, n);
  LAUNCHED();
  const auto a = onHost(areas, n);
  for (int i = 0; i < n; ++i) EXPECT(a[i] == (i % 3 == 0 ? i * 3 : i * i));
  EXPECT(onHost(corners, 1)[0] == n / 3 * (3 + 4 + 4));
  int* const out = zeros<int>(64);
  Function f;
  CUDA(cudaMemcpyFromSymbol(&f, chosen, sizeof f));
  call<<<1, 32>>>(f, out);
  LAUNCHED();
  const auto o = onHost(out, 64);
  const int numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (int i = 0; i < 32; ++i) {
    const int x = i % 12;
    EXPECT(o[i] == (i % 3 == 0 ? x + 1 : i % 3 == 1 ? x * x : numbers[x]) && o[32 + i] == i * i);
  }
  const int factor = 3;
  apply<<<1, 32>>>(out, [=] __device__(int x, int i) { return x * factor - i; });
  LAUNCHED();
  EXPECT(onHost(out, 32)[4] == o[4] * 3 - 4);
  return passed();
}
