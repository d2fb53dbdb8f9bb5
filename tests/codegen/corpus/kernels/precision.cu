// corpus: flags="-use_fast_math -maxrregcount=64"
// Fast mathematics: .approx and .ftz forms.
extern "C" __global__ void fast(float *o, const float *p) {
  float x = p[threadIdx.x], y = p[threadIdx.x + 32], s, c;
  sincosf(x, &s, &c);
  o[0] = s; o[1] = c; o[2] = powf(x, y); o[3] = logf(x); o[4] = expf(y); o[5] = sqrtf(x); o[6] = x / y; o[7] = tanf(x); o[8] = rsqrtf(y);
  o[9] = exp2f(x); o[10] = log10f(y); o[11] = x * y + s - c; o[12] = fmaxf(x, y); o[13] = x < y ? x : y; o[14] = float(int(x)); o[15] = tanhf(y);
}
