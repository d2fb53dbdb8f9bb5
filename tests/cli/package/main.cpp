// Optimizes a kernel with a dead instruction: exit code 0 when that one is gone and the others are not.
#include <ptxopt/ptxopt.h>
#include <iostream>

constexpr std::string_view kKernel = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry answer(.param .u64 out)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, 42;
	mul.lo.s32 %r2, %r1, 1234567;
	st.global.u32 [%rd1], %r1;
	ret;
}
)";

int main() {
  const ptxopt::Result result = ptxopt::optimize(kKernel);
  if (result.status != ptxopt::Status::Ok) {
    std::cerr << result.error;
    return 1;
  }
  std::cout << "ptxopt " << ptxopt::version() << '\n' << result.output;
  const auto has = [&](std::string_view text) { return result.output.find(text) != std::string::npos; };
  return !has("mul.lo.s32") && has("st.global.u32") && result.instructionsAfter < result.instructions ? 0 : 1;
}
