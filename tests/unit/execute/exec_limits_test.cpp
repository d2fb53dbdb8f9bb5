// The limits on how long a launch may run.
#include <doctest/doctest.h>

#include "exec_support.h"

namespace ptxopt::exec {

TEST_CASE("exec limits: a launch in which no block ends any more is stopped, one of many blocks is not") {
  const std::string loop =
      "\tmov.u32 %r3, 0;\nL:\tadd.u32 %r3, %r3, 1;\n\tsetp.ne.u32 %p1, %r3, %r4;\n\t@%p1 bra L;\n";
  const auto stepsOf = [&](const std::string& iterations, uint32_t blocks, unsigned jobs) {
    ExecTest t(std::string(".version 8.6\n.target sm_100a\n.address_size 64\n") +
               ".visible .entry k()\n{\n\t.reg .pred %p1;\n\t.reg .b32 %r<5>;\n\tmov.u32 %r1, %ctaid.x;\n" +
               iterations + loop + "\tret;\n}\n");
    LaunchConfig config;
    config.grid = {blocks};
    config.block = {32};
    config.jobs = jobs;
    config.idleLimit = 100'000;
    t.machine().launch("k", config);
    return t.machine().lastSteps();
  };
  for (const unsigned jobs : {1u, 3u}) {
    CHECK(stepsOf("\tmov.u32 %r4, 20000;\n", 50, jobs) > 1'000'000);
    // The tenth block runs on and on: 0 is never met before 2^32 iterations.
    CHECK_THROWS_WITH_AS(
        stepsOf("\tmov.u32 %r4, 20000;\n\tsetp.eq.u32 %p1, %r1, 10;\n\t@%p1 mov.u32 %r4, 0;\n", 50, jobs),
        doctest::Contains("--max-steps"), ExecError);
  }
  LaunchConfig config;
  config.limitSteps(7);
  CHECK(config.stepLimit == 7);
  CHECK(config.idleLimit == UINT64_MAX);
  config.limitSteps(UINT64_MAX);
  CHECK(config.idleLimit == kUsualIdleLimit);
}

}  // namespace ptxopt::exec
