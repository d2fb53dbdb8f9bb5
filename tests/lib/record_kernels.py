"""Kernels of more than one test of launch records: one that follows an address of a variable, one that fails."""

SUM = """.visible .entry sum() {
  .reg .b64 %rd<5>; .reg .b32 %r<5>;
  ld.global.u64 %rd1, [last];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  atom.global.add.u32 %r4, [total], %r3;
  ret;
}
"""
FAILS = """.visible .entry fails() {
  .reg .b64 %rd<5>;
  mov.u64 %rd1, 16;
  st.global.u64 [%rd1], %rd1;
  ret;
}
"""
