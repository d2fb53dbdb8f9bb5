// Small kernels for the tests of `verify`.
#pragma once

#include <string>

#include "support.h"
#include "verify/verify.h"

namespace ptxopt::verify {

using ptxopt::testing::kHeader;
using ptxopt::testing::Parsed;

// A kernel around these instructions: %r1 is n, %r2 the thread, %r5 its number in the grid, %rd1 is p, %rd3 the thread's word
// of it.
inline std::string kernel(const std::string& body, const std::string& directives = "") {
  return kHeader + ".visible .entry k(.param .u64 p, .param .u32 n)\n" + directives + "{\n" +
         "\t.reg .pred %p<9>;\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<20>;\n\t.reg .f32 %f<9>;\n"
         "\t.shared .align 4 .b8 tile[4096];\n"
         "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\n"
         "mov.u32 %r4, %ntid.x;\nmad.lo.s32 %r5, %r3, %r4, %r2;\nmul.wide.u32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, "
         "%rd2;\n" +
         body + "ret;\n}\n";
}

inline KernelVerdict compare(const std::string& a, const std::string& b, VerifyOptions options = {}) {
  const Parsed x(kernel(a)), y(kernel(b));
  return verify(*x, *y, options).at(0);
}

}  // namespace ptxopt::verify
