// Texture and surface objects in every shape.
extern "C" __global__ void fetches(float4 *o, cudaTextureObject_t t, float x, float y, float z, int i) {
  o[0] = tex1D<float4>(t, x); o[1] = tex2D<float4>(t, x, y); o[2] = tex3D<float4>(t, x, y, z); o[3] = tex1Dfetch<float4>(t, i);
  o[4] = tex2DLayered<float4>(t, x, y, i); o[5] = texCubemap<float4>(t, x, y, z); o[6] = tex2DLod<float4>(t, x, y, z);
  o[7] = tex2DGrad<float4>(t, x, y, make_float2(x, y), make_float2(y, x)); o[8] = tex2Dgather<float4>(t, x, y, 2);
  o[9].x = tex2D<float>(t, x, y); o[9].y = tex1D<unsigned char>(t, x); o[9].z = tex3D<short2>(t, x, y, z).y; o[10] = texCubemapLayered<float4>(t, x, y, z, i);
  bool resident; o[11] = tex2D<float4>(t, x, y, &resident); o[12].x = resident;
}
extern "C" __global__ void surfaces(cudaSurfaceObject_t s, cudaSurfaceObject_t d, int x, int y, int z) {
  surf1Dwrite(surf1Dread<float>(s, x * 4), d, y * 4);
  surf2Dwrite(surf2Dread<uchar4>(s, x * 4, y), d, y * 4, x, cudaBoundaryModeClamp);
  surf3Dwrite(surf3Dread<int2>(s, x * 8, y, z), d, y * 8, x, z, cudaBoundaryModeZero);
  surf2DLayeredwrite(surf2DLayeredread<float4>(s, x * 16, y, z), d, x * 16, y, z);
  surf2Dwrite((unsigned short)5, d, x * 2, y); surf2Dwrite(7ull, d, x * 8, y); surfCubemapwrite(1.5f, d, x * 4, y, 3);
}
extern "C" __global__ void raw(int *o, unsigned long long t, int x) {
  int a, b, c, d;
  asm volatile("tex.1d.v4.s32.s32 {%0, _, %1, _}, [%2, {%3}];" : "=r"(a), "=r"(b) : "l"(t), "r"(x));
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(c) : "l"(t));
  asm volatile("suld.b.2d.b32.trap %0, [%1, {%2, %2}];" : "=r"(d) : "l"(t), "r"(x));
  asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(t), "r"(x), "r"(a));
  asm volatile("sust.b.2d.v2.b32.clamp [%0, {%1, %2}], {%1, %2};" ::"l"(t), "r"(x), "r"(a));
  o[0] = a + b + c + d;
}
