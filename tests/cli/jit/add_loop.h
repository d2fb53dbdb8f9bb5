// The rest of a kernel: each of the words at %rd1 becomes n / 3 more, n times.
#pragma once

#define ADD_LOOP                   \
  "  ld.param.u32 %r1, [n];\n"     \
  "  mov.u32 %r2, %tid.x;\n"       \
  "  mul.wide.u32 %rd2, %r2, 4;\n" \
  "  add.s64 %rd3, %rd1, %rd2;\n"  \
  "  mov.u32 %r4, 0;\n"            \
  "again:\n"                       \
  "  div.u32 %r6, %r1, 3;\n"       \
  "  ld.global.u32 %r3, [%rd3];\n" \
  "  add.u32 %r3, %r3, %r6;\n"     \
  "  st.global.u32 [%rd3], %r3;\n" \
  "  add.u32 %r4, %r4, 1;\n"       \
  "  setp.lt.u32 %p1, %r4, %r1;\n" \
  "  @%p1 bra again;\n"            \
  "  ret;\n"                       \
  "}\n"
