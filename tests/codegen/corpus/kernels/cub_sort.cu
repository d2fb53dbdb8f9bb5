// corpus: weight=heavy flags="--extended-lambda"
// CUB's device radix sort and histogram.
#include <cub/cub.cuh>
void *t; size_t n;
void sort(unsigned *a, unsigned *b) { cub::DeviceRadixSort::SortKeys(t, n, a, b, 1000); }
void pairs(double *a, double *b, int *v, int *w) { cub::DeviceRadixSort::SortPairsDescending(t, n, a, b, v, w, 1000); }
void merge(float *k, short *v) { cub::DeviceMergeSort::SortPairs(t, n, k, v, 1000, [] __device__(float a, float b) { return a < b; }); }
void segments(int *a, int *b, const int *from) { cub::DeviceSegmentedReduce::Max(t, n, a, b, 10, from, from + 1); }
void histogram(const unsigned char *s, int *h) { cub::DeviceHistogram::HistogramEven(t, n, s, h, 257, 0, 256, 1000); }
