// The pipeline and what stands between passes: names of runs, skipping, kept analyses.
#include "passes/manager/pipeline.h"

#include <algorithm>

#include "ptxopt/ptxopt.h"
#include "random_function.h"
#include "support.h"

using namespace ptxopt;
using namespace ptxopt::testing;

namespace {

using Names = std::vector<std::string>;

std::string steps(const PipelineChoice& choice, const Names& also = {}) {
  std::string error, names;
  for (const Step& s : makePipeline(choice, also, error)) {
    CHECK(s.pass != nullptr);
    names += s.name + " ";
  }
  return error.empty() ? names : error;
}

}  // namespace

TEST_CASE("pipeline: levels") {
  CHECK(steps({.level = 0}) == "");
  CHECK(steps({.level = 1}) == "local-dce dce@1 ");
  CHECK(steps({.level = 2}) ==
        "local-dce dce@1 inline-calls version-kernels apply-facts sroa uniformize-broadcasts infer-address-space "
        "read-only-loads "
        "lsr-divisions "
        "cssa-coalesce "
        "register-coalescer "
        "cross-type-coalescer divide licm-slow-ops wide-multiply local-cse version-loops slsr "
        "lsr runtime-unroll dce@2 widen-accesses schedule-loads loop-forms join-versions ");
  CHECK(levelOf(*findPass("dce")) == 1);
  CHECK(levelOf(*findPass("rename-webs")) == kOnRequest);
}

TEST_CASE("pipeline: a pass means all its runs, pass@n one") {
  const Names all{"dce"}, second{"dce@2"}, once{"local-dce@1"};
  CHECK(steps({.skip = all}) ==
        "local-dce inline-calls version-kernels apply-facts sroa uniformize-broadcasts infer-address-space "
        "read-only-loads "
        "lsr-divisions "
        "cssa-coalesce "
        "register-coalescer "
        "cross-type-coalescer "
        "divide licm-slow-ops wide-multiply local-cse version-loops slsr lsr runtime-unroll "
        "widen-accesses "
        "schedule-loads loop-forms join-versions ");
  CHECK(steps({.skip = second}) ==
        "local-dce dce@1 inline-calls version-kernels apply-facts sroa uniformize-broadcasts infer-address-space "
        "read-only-loads "
        "lsr-divisions "
        "cssa-coalesce "
        "register-coalescer "
        "cross-type-coalescer divide licm-slow-ops wide-multiply local-cse version-loops slsr "
        "lsr runtime-unroll widen-accesses schedule-loads loop-forms join-versions ");
  CHECK(steps({.level = 1, .skip = second}) == "local-dce dce@1 ");
  CHECK(steps({.level = 1, .skip = once}) == "dce@1 ");
  const Names chosen{"dce@2", "rename-webs", "dce", "rename-webs"}, last{"rename-webs@2"};
  CHECK(steps({.passes = &chosen}) == "dce@2 rename-webs@1 dce rename-webs@2 ");
  CHECK(steps({.passes = &chosen, .skip = last}) == "dce@2 rename-webs@1 dce ");
  CHECK(steps({.passes = &chosen, .skip = all}) == "rename-webs@1 rename-webs@2 ");
}

TEST_CASE("pipeline: a run that is named with its number is as in the pipeline") {
  const Names chosen{"local-dce@1", "inline-calls@1", "lsr-divisions@1", "lsr-divisions", "lsr@1", "inline-calls"};
  std::string error;
  std::vector<StepKind> kinds;
  for (const Step& s : makePipeline({.passes = &chosen}, {}, error)) kinds.push_back(s.kind);
  CHECK(error.empty());
  CHECK(kinds == std::vector{StepKind::Cleanup, StepKind::Optimize, StepKind::ManyIterations, StepKind::Optimize,
                             StepKind::Optimize, StepKind::Optimize});
}

TEST_CASE("pipeline: names that are none") {
  const auto skip = [](const std::string& name) {
    const Names names{name};
    const std::string a = steps({.skip = names}), b = steps({}, names);
    CHECK(a == b);
    return a;
  };
  CHECK(skip("nope") == "there is no pass 'nope'");
  CHECK(skip("nope@1") == "there is no pass 'nope'");
  CHECK(skip("") == "there is no pass ''");
  for (const char* name : {"dce@5", "dce@0", "dce@", "dce@-1", "dce@2x", "dce@1@2"})
    CHECK(skip(name) == "there is no '" + std::string(name) + "': the pipeline runs dce 2 times");
  const Names once{"rename-webs"}, second{"rename-webs@2"};
  CHECK(steps({.passes = &once, .skip = second}) ==
        "there is no 'rename-webs@2': the pipeline runs rename-webs 0 times");
  CHECK(steps({.passes = &second}) == "there is no 'rename-webs@2': the pipeline runs rename-webs 0 times");
}

TEST_CASE("pipeline: dce is skipped until another pass changes something") {
  const std::string text = kernel(
      "mov.u32 %r1, 5;\nmov.u32 %r1, 6;\nst.global.u32 [0], %r1;\nadd.s32 %r1, %r1, 1;\n"
      "st.global.u32 [0], %r1;\nret;\n");
  const auto ran = [&](const Names& passes) {
    std::string marks;
    const Result r = optimize(text, {.passes = passes, .verifyEach = true, .verifyAnalyses = true});
    REQUIRE(r.status == Status::Ok);
    for (const PassSummary& p : r.passes)
      marks += p.skippedFunctions != 0 ? 's' : p.changedFunctions != 0 ? 'c' : '-';
    return marks;
  };
  CHECK(ran({"dce", "dce", "dce"}) == "css");
  CHECK(ran({"dce", "rename-webs", "dce", "rename-webs", "dce@2"}) == "cc--s");
  CHECK(ran({"local-dce", "dce", "dce"}) == "c-s");
}

TEST_CASE("dce: a second run finds nothing, also where addresses of labels die") {
  for (const char* body : {// The address is dead, and with it the block.
                           "mov.u64 %rd1, L;\nret;\nL:\nst.global.u32 [0], 1;\nret;\n",
                           // It is taken in a block that goes, and in one that goes because of that.
                           "ret;\nL:\nmov.u64 %rd1, M;\nst.global.u64 [0], %rd1;\nret;\nM:\nmov.u64 %rd1, N;\n"
                           "st.global.u64 [0], %rd1;\nret;\nN:\nst.global.u32 [0], 1;\nret;\n"}) {
    const Parsed p(kernel(body));
    Function& f = p.function();
    Knobs knobs;
    Analyses analyses(*p, f, livenessLimits(knobs));
    PassReport report;
    PassContext context{*p, knobs, analyses, moduleFacts(*p, knobs), report};
    CHECK(dce(f, context));
    analyses.invalidate();
    CHECK_FALSE(dce(f, context));
    std::size_t n = 0;
    for (const InstrId id : f) n += f[id].isInstruction();
    CHECK(n == 1);
  }
}

TEST_CASE("analyses: what is kept is compared with what the function is") {
  const Parsed p(kernel("mov.u32 %r1, 5;\nL:\nst.global.u32 [0], %r1;\nadd.s32 %r1, %r1, 1;\n@%p1 bra L;\nret;\n"));
  Function& f = p.function();
  Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  CHECK(analyses.stale() == "");
  analyses.liveness(Liveness::Strength::Plain);
  CHECK(analyses.stale() == "");
  // A pass that lies: it says that all holds, but the store is another register's.
  const InstrId store = p.at(1);
  for (Operand& o : f.operandsOf(f[store]))
    if (o.isRegister()) o.payload = f.makeRegister(ScalarType::b32).value;
  CHECK(analyses.stale() != "");
  analyses.invalidate(kControlFlow);
  CHECK(analyses.stale() == "");
  analyses.liveness(Liveness::Strength::Needed);
  CHECK(analyses.stale() == "");
  f.erase(p.at(0));
  CHECK(analyses.stale() == "control-flow graph");
}

TEST_CASE("analyses: liveness does not outlast a change before which nobody asked for the graph") {
  const Parsed p(
      kernel("mov.u32 %r1, 5;\nmov.u32 %r2, 7;\nL:\nst.global.u32 [0], %r1;\nadd.s32 %r1, %r1, 1;\n"
             "@%p1 bra L;\nret;\n"));
  Function& f = p.function();
  Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  analyses.liveness(Liveness::Strength::Plain);
  analyses.invalidate(AnalysisSet{AnalysisId::PlainLiveness});
  // Another pass has the loop store the other register.
  const RegId other = f.operandsOf(f[p.at(1)])[0].reg();
  for (Operand& o : f.operandsOf(f[p.at(2)]))
    if (o.isRegister()) o.payload = other.value;
  analyses.invalidate();
  Analyses anew(*p, f, livenessLimits(knobs));
  CHECK(analyses.liveness(Liveness::Strength::Plain) == anew.liveness(Liveness::Strength::Plain));
}

TEST_CASE("analyses: sparse liveness is compared with what the function is, not with itself") {
  const Parsed p(
      kernel("mov.u32 %r1, %tid.x;\nmov.u32 %r2, %laneid;\nL:\nst.global.u32 [0], %r1;\nst.global.u32 [0], %r2;\n"
             "@%p1 bra L;\nst.global.u32 [0], %r1;\nret;\n"));
  Function& f = p.function();
  Analyses analyses(*p, f, {.form = Liveness::Form::Sparse});
  REQUIRE(analyses.liveness(Liveness::Strength::Plain).solver() == Liveness::Solver::Sparse);
  CHECK(analyses.stale() == "");
  // The same registers are global, but after the loop the other one is read.
  for (Operand& o : f.operandsOf(f[p.at(5)]))
    if (o.isRegister()) o.payload = f.operandsOf(f[p.at(1)])[0].payload;
  CHECK(analyses.stale() == "liveness");
}

TEST_CASE("analyses: uniform values have their own file, as long as they are uniform") {
  const Parsed p(
      kernel("mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 5;\nbra L;\nL:\nst.global.u32 [0], %r1;\n"
             "st.global.u32 [0], %r2;\nret;\n"));
  Function& f = p.function();
  Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  const RegId first = f.operandsOf(f[p.at(0)])[0].reg();
  CHECK(analyses.registerFiles().of(first) == RegisterFile::Uniform);
  const Liveness& liveness = analyses.liveness(Liveness::Strength::Plain);
  std::size_t live = 0;
  liveness.forEachLiveIn(BlockId(1u), [&](RegId reg) {
    ++live;
    CHECK(analyses.registerFiles().of(reg) == RegisterFile::Uniform);
  });
  CHECK(live == 2);
  CHECK(analyses.stale() == "");
  // Now it has two definitions.
  f.operandsOf(f[p.at(1)])[0].payload = first.value;
  CHECK(analyses.stale() == "register files");
  analyses.invalidate(kControlFlow);
  CHECK(analyses.registerFiles().of(first) == RegisterFile::Data);
}

TEST_CASE("analyses: the intervals go with the dominators that they refer to, and hold while these stay") {
  const Parsed p(kernel("mov.u32 %r1, 5;\nL:\nst.global.u32 [0], %r1;\nadd.s32 %r1, %r1, 1;\n@%p1 bra L;\nret;\n"));
  Function& f = p.function();
  Knobs knobs;
  Analyses analyses(*p, f, livenessLimits(knobs));
  for (const AnalysisSet preserved : {kControlFlow, kNoAnalyses, kControlFlow}) {
    analyses.liveIntervals();
    analyses.makeAll();
    CHECK(analyses.stale() == "");
    analyses.invalidate(preserved);
    CHECK(analyses.stale() == "");
  }
  static_assert(!std::is_copy_constructible_v<Analyses> && !std::is_move_constructible_v<Analyses>);
}

TEST_CASE("passes: the table is in the order of the pipeline, then by name") {
  std::vector<std::string_view> first, onRequest;
  std::string error;
  for (const Step& step : makePipeline({}, {}, error))
    if (std::ranges::find(first, step.pass->name) == first.end()) first.push_back(step.pass->name);
  for (const PassInfo& pass : passTable())
    if (levelOf(pass) == kOnRequest) onRequest.push_back(pass.name);
  CHECK(std::ranges::is_sorted(onRequest));
  first.insert(first.end(), onRequest.begin(), onRequest.end());
  CHECK(std::ranges::equal(passTable(), first, {}, &PassInfo::name));
}

TEST_CASE("passes: no analysis is named that comes with another one") {
  for (const PassInfo& pass : passTable()) {
    CAPTURE(pass.name);
    for (std::size_t k = 0; k < kAnalyses; ++k) {
      const auto id = static_cast<AnalysisId>(k);
      if (!pass.asks.has(id)) continue;
      AnalysisSet others;
      for (std::size_t n = 0; n < kAnalyses; ++n)
        if (n != k && pass.asks.has(static_cast<AnalysisId>(n))) others.insert(static_cast<AnalysisId>(n));
      CAPTURE(name(id));
      CHECK_FALSE(withUses(others).has(id));
    }
  }
}

TEST_CASE("passes: what asks(...) lacks is named by as few ids as there can be") {
  using enum AnalysisId;
  CHECK(idsToAdd(withUses({LoopNest, Spaces}), {}) == "LoopNest, Spaces");
  CHECK(idsToAdd(withUses({LoopNest, Spaces}), {Intervals}) == "LoopNest, Spaces");
  CHECK(idsToAdd(withUses({LoopNest, Spaces}), {Evolution}) == "Spaces");
  CHECK(idsToAdd({ControlFlow}, {}) == "ControlFlow");
  CHECK(idsToAdd(withUses({Slots}), {Intervals}).empty());
}

TEST_CASE("optimize: kept analyses hold after every pass, on random functions") {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string text = randomFunction(seed);
    CAPTURE(text);
    const Options options{.passes = Names{"local-dce", "dce", "rename-webs", "dce"},
                          .verifyEach = true,
                          .verifyAnalyses = true,
                          .warnUninitialised = true};
    const Result r = optimize(text, options);
    REQUIRE_MESSAGE(r.status == Status::Ok, r.error);
    // fast-compile: the same text and the same remarks.
    Options fast = options;
    fast.knobs["fast-compile"] = 1;
    const Result same = optimize(text, fast);
    CHECK(same.output == r.output);
    CHECK(same.remarks.size() == r.remarks.size());
  }
}
