// What `verify` says about kernels whose threads race, in one file or in both.
#include "verify/apart.h"
#include "verify_support.h"

namespace ptxopt::verify {

TEST_CASE("verify: a barrier that is gone, by the race that it leaves") {
  // Each thread writes its place and reads that of the one before: in the order of the warps that works by itself.
  const std::string write =
      "shl.b32 %r6, %r2, 2;\nmov.u32 %r7, tile;\nadd.s32 %r7, %r7, %r6;\nst.shared.u32 [%r7], %r5;\n";
  const std::string read =
      "setp.eq.u32 %p1, %r2, 0;\n@%p1 ret;\nld.shared.u32 %r8, [%r7+-4];\nst.global.u32 [%rd3], %r8;\n";
  CHECK(compare(write + "bar.sync 0;\n" + read, write + "bar.sync 0;\n" + read).verdict == Verdict::Equal);
  const KernelVerdict v = compare(write + "bar.sync 0;\n" + read, write + "bar.warp.sync -1;\n" + read);
  CHECK(v.verdict == Verdict::Different);
  CHECK(v.detail.find("data race") != std::string::npos);
  // Likewise in global memory.
  const auto exchange = [](const std::string& between) {
    return "st.global.u32 [%rd3], %r5;\n" + between +
           "setp.eq.u32 %p1, %r2, 0;\n@%p1 ret;\nld.global.u32 %r8, [%rd3+-4];\nst.global.u32 [%rd3+65536], %r8;\n";
  };
  CHECK(compare(exchange("bar.sync 0;\n"), exchange("bar.sync 0;\n")).verdict == Verdict::Equal);
  CHECK(compare(exchange("bar.sync 0;\n"), exchange("bar.warp.sync -1;\n")).verdict == Verdict::Different);
}

TEST_CASE("verify: a word of global memory that two threads write is not compared") {
  // Which thread comes last differs; with more words than threads none comes after another.
  const auto wrapped = [](const std::string& store) {
    return "max.u32 %r1, %r1, 1;\nrem.u32 %r6, %r5, %r1;\nmul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd4, %rd4, %rd1;\n" +
           store;
  };
  const std::string once = "st.global.u32 [%rd4], %r5;\n";
  const std::string twice =
      "and.b32 %r7, %r5, 1;\nsetp.eq.u32 %p1, %r7, 1;\n@%p1 st.global.u32 [%rd4], %r5;\n@!%p1 st.global.u32 "
      "[%rd4], %r5;\n";
  CHECK(compare(wrapped(once), wrapped(twice)).verdict != Verdict::Different);
  CHECK(compare(wrapped(once), wrapped("add.u32 %r5, %r5, 1;\n" + once)).verdict == Verdict::Different);
  // The same value is the same in every order.
  const auto flag = [](const std::string& value) { return "st.global.u32 [%rd1], " + value + ";\n"; };
  CHECK(compare(flag("5"), flag("5")).verdict == Verdict::Equal);
  CHECK(compare(flag("5"), flag("7")).verdict == Verdict::Different);
}

TEST_CASE("verify: a barrier that is gone in blocks of one warp") {
  const auto shift = [](const std::string& between) {
    return "shl.b32 %r6, %r2, 2;\nmov.u32 %r7, tile;\nadd.s32 %r7, %r7, %r6;\nst.shared.u32 [%r7], %r5;\n" +
           between +
           "setp.eq.u32 %p1, %r2, 0;\n@%p1 ret;\nld.shared.u32 %r8, [%r7+-4];\nst.global.u32 [%rd3], %r8;\n";
  };
  const auto text = [](const std::string& body) { return kernel(body, ".reqntid 32\n"); };
  const Parsed with(text(shift("bar.warp.sync -1;\n"))), without(text(shift("") + "bar.warp.sync -1;\n"));
  CHECK(verify(*with, *with, {}).at(0).verdict == Verdict::Equal);
  const KernelVerdict v = verify(*with, *without, {}).at(0);
  CHECK(v.verdict == Verdict::Different);
  CHECK(v.detail.find("only the second file has a data race") != std::string::npos);
}

TEST_CASE("verify: threads that all store to one place, by what one of them stores") {
  // The files differ where the thread's element is 77, and the one far behind it is not.
  const auto last = [](const std::string& value) {
    return "ld.global.u32 %r6, [%rd3];\nld.global.u32 %r7, [%rd3+65536];\nsetp.eq.u32 %p1, %r6, 77;\n"
           "setp.ne.and.u32 %p1, %r7, 77, %p1;\nmov.u32 %r8, 1;\n@%p1 mov.u32 %r8, " +
           value + ";\nadd.u32 %r8, %r8, %r6;\nst.global.u32 [%rd1+-4], %r8;\n";
  };
  CHECK(compare(last("2"), last("2")).verdict == Verdict::Equal);
  const KernelVerdict v = compare(last("2"), last("3"));
  CHECK(v.verdict == Verdict::Different);
  CHECK(v.detail.find("block (1,1,1)") != std::string::npos);
}

TEST_CASE("verify: inputs on which threads race less") {
  KernelUse use;
  use.fields.resize(2);
  use.fields[0].bytes = 8;
  use.fields[0].use = Field::Use::Pointer;
  Trial trial;
  trial.grid = {3, 2, 1};
  trial.block = {64, 2, 1};
  trial.cluster = {1, 1, 1};
  trial.fields.resize(2);
  trial.fields[0].isPointer = true;
  trial.fields[1].bits = 9;
  const TrialMemory::Writer writer{{5, 1, 0}, {1, 1, 0}};
  const auto trialsWith = [&](const ShapeLimits& limits, const VerifyOptions& options) {
    return apartTrials(trial, waysApart(use, options), writer, limits, options);
  };
  const auto all = trialsWith({}, {});
  REQUIRE(all.size() == 6);
  for (const Trial& t : all) CHECK(t.grid.count() == 1);
  CHECK((all[0].block == trial.block));
  CHECK(all[0].fields[0].contents.skip == 0);
  for (std::size_t k = 1; k <= 3; ++k) CHECK(all[k].block.count() == 1);
  CHECK(all[1].fields[0].contents.skip == 0);
  CHECK(all[2].fields[0].contents.skip == 64 + 5);
  CHECK(all[3].fields[0].contents.skip == (3 + 1) * 128 + 64 + 5);
  CHECK(all[4].fields[1].bits == 0);
  CHECK(all[5].fields[1].bits == 1);

  // One thread is none of a required block.
  ShapeLimits limits;
  limits.required = trial.block;
  for (const Trial& t : trialsWith(limits, {})) CHECK((t.block == trial.block));
  VerifyOptions options;
  options.grid = trial.grid;
  options.scalars["n"] = 9;
  use.fields[1].parameter = "n";
  for (const Trial& t : trialsWith({}, options)) {
    CHECK((t.grid == trial.grid));
    CHECK(t.fields[1].bits == 9);
  }
  options.block = trial.block;
  CHECK(trialsWith({}, options).empty());
}

TEST_CASE("verify: what the options fix stays where threads race") {
  const auto last = [](const std::string& value) { return "st.global.u32 [%rd1], " + value + ";\n"; };
  VerifyOptions options;
  options.grid = exec::Dim3{2, 1, 1};
  options.block = exec::Dim3{64, 1, 1};
  const KernelVerdict v = compare(last("%r5"), "add.u32 %r5, %r5, 1;\n" + last("%r5"), options);
  CHECK(v.verdict == Verdict::Inconclusive);
  CHECK(v.reason == "not determined");
}

}  // namespace ptxopt::verify
