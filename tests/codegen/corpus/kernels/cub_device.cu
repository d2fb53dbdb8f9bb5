// corpus: weight=heavy
// CUB's device algorithms: the host calls instantiate the kernels.
#include <cub/cub.cuh>
void *t; size_t n;
void reduce(float *f, const float *in, double *d) { cub::DeviceReduce::Sum(t, n, in, f, 1000); cub::DeviceReduce::ArgMin(t, n, d, (cub::KeyValuePair<int, double> *)f, 99); }
void scan(int *o, const int *in) { cub::DeviceScan::ExclusiveSum(t, n, in, o, 1000); }
void scan_by_key(int *k, double *v) { cub::DeviceScan::InclusiveSumByKey(t, n, k, v, v, 1000); }
void partition(long long *o, const long long *in, const char *flags, int *count) { cub::DevicePartition::Flagged(t, n, in, flags, o, count, 1000); }
void encode(const float *in, float *o, int *lengths, int *count) { cub::DeviceRunLengthEncode::Encode(t, n, in, o, lengths, count, 1000); }
void select(short *o, const short *in, int *count) { cub::DeviceSelect::Unique(t, n, in, o, count, 1000); }
