// Pointers of which the compiler does not see where they lead.

struct Batch {
  const float* a;
  const float* b;
  float* c;
  int rows, columns, depth;
};

// Products of matrices that lie anywhere: the pointers come from memory.
extern "C" __global__ void gemm_of_pointers(const float* const* a, const float* const* b, float* const* c, int n) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || column >= n) return;
  const float *x = a[blockIdx.z], *y = b[blockIdx.z];
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += x[row * n + k] * y[k * n + column];
  c[blockIdx.z][row * n + column] = sum;
}

// The same, with sizes and pointers in a structure in memory, as task queues have them.
extern "C" __global__ void gemm_of_tasks(const Batch* tasks) {
  const Batch task = tasks[blockIdx.z];
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < task.rows; row += gridDim.y * blockDim.y)
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < task.columns;
         column += gridDim.x * blockDim.x) {
      float sum = 0.0f;
      for (int k = 0; k < task.depth; ++k) sum += task.a[row * task.depth + k] * task.b[k * task.columns + column];
      task.c[row * task.columns + column] = sum;
    }
}

// A structure of pointers by value.
extern "C" __global__ void gemm_by_value(Batch task) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= task.rows || column >= task.columns) return;
  float sum = 0.0f;
  for (int k = 0; k < task.depth; ++k) sum += task.a[row * task.depth + k] * task.b[k * task.columns + column];
  task.c[row * task.columns + column] = sum;
}

// A function of its own that sorts what it gets.
__noinline__ __device__ static void insertion_sort(float* values, int count) {
  for (int i = 1; i < count; ++i) {
    const float value = values[i];
    int j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
}
extern "C" __global__ void sort_rows(float* rows, int count, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) insertion_sort(rows + static_cast<size_t>(i) * width, width);
}

// A function called for global and for shared memory.
__noinline__ __device__ static float sum_of(const float* values, int count, int step) {
  float sum = 0.0f;
  for (int i = 0; i < count; i += step) sum += values[i];
  return sum;
}
extern "C" __global__ void sum_columns(const float* in, float* out, int rows, int columns) {
  __shared__ float partial[256];
  const int column = blockIdx.x;
  partial[threadIdx.x] =
      sum_of(in + threadIdx.x * columns + column, (rows - threadIdx.x) * columns, blockDim.x * columns);
  __syncthreads();
  if (threadIdx.x == 0) out[column] = sum_of(partial, blockDim.x, 1);
}

// Shared memory when the row fits, else global.
extern "C" __global__ void smooth_rows(const float* in, float* out, float* scratch, int width, int iterations) {
  __shared__ float tile[1024];
  float* row = width <= 1024 ? tile : scratch + static_cast<size_t>(blockIdx.x) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = in[static_cast<size_t>(blockIdx.x) * width + i];
  __syncthreads();
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 1 + 2 * threadIdx.x + iteration % 2; i < width - 1; i += 2 * blockDim.x)
      row[i] = 0.25f * row[i - 1] + 0.5f * row[i] + 0.25f * row[i + 1];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[static_cast<size_t>(blockIdx.x) * width + i] = row[i];
}

// A list through memory.
struct Node {
  Node* next;
  float value;
};
extern "C" __global__ void sum_lists(Node* const* heads, float* sums, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (const Node* node = heads[i]; node; node = node->next) sum += node->value;
  sums[i] = sum;
}
