// Which kernels are compared where their names changed.
#include <doctest/doctest.h>

#include "diff/match.h"
#include "diff/pairing.h"

using namespace ptxopt;
using namespace ptxopt::diff;

namespace {

std::string counterpart(const char* rule, const char* name) {
  std::string error;
  const auto parsed = parsePair(rule, error);
  REQUIRE(parsed);
  return counterpartOf(*parsed, name).value_or("-");
}

std::vector<std::pair<std::size_t, std::size_t>> pairs(const std::vector<Unpaired>& before,
                                                       const std::vector<Unpaired>& after) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (const SimilarPair& p : similarPairs(before, after)) out.emplace_back(p.before, p.after);
  std::sort(out.begin(), out.end());
  return out;
}
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

Side sideOf(const std::vector<std::pair<std::string, std::vector<std::string>>>& files) {
  Side side;
  side.isOneFile = files.size() == 1;
  for (const auto& [file, names] : files) {
    Unit unit;
    unit.file = file;
    unit.measures.architecture = "sm_80";
    for (const std::string& name : names) {
      ptxas::FunctionMeasures f;
      f.name = name;
      f.isKernel = true;
      unit.measures.functions.push_back(f);
    }
    side.units.push_back(unit);
  }
  return side;
}

std::string matched(const Side& before, const Side& after, const MatchOptions& options) {
  std::string out;
  for (const Match& m : match(before, after, options).matches)
    out += (m.before ? m.before->name : "-") + std::string(":") + (m.after ? m.after->name : "-") + ":" +
           std::string(name(m.by)) + " ";
  return out;
}

}  // namespace

TEST_CASE("pairing: patterns") {
  CHECK(counterpart("a=b", "a") == "b");
  CHECK(counterpart("a=b", "ab") == "-");
  CHECK(counterpart("kern_cutlass_*=kern_*", "kern_cutlass_t") == "kern_t");
  CHECK(counterpart("*_v1_*=*_v2_*", "gemm_v1_f32") == "gemm_v2_f32");
  CHECK(counterpart("*_v1_*=*", "gemm_v1_f32") == "gemm");
  CHECK(counterpart("a*b*c=*|*", "abbc") == "|b");
  CHECK(counterpart("*x=*", "axbx") == "axb");
  CHECK(counterpart("*=*", "") == "");
  std::string error;
  for (const char* wrong : {"a", "=a", "a=", "a=*", "a**=b"}) {
    CHECK_FALSE(parsePair(wrong, error));
    CHECK(error.find(wrong) != std::string::npos);
  }
}

TEST_CASE("pairing: similar names") {
  CHECK(pairs({{"kern_cutlass_t", ""}}, {{"kern_t", ""}}) == Pairs{{0, 0}});
  // A template got an argument: each finds its own.
  CHECK(pairs({{"gemm<float, 128>", ""}, {"gemm<float, 64>", ""}},
              {{"gemm<float, 64, true>", ""}, {"gemm<float, 128, true>", ""}}) == Pairs{{0, 1}, {1, 0}});
  CHECK(pairs({{"softmax", ""}}, {{"layer_norm", ""}}).empty());
  CHECK(pairs({{"k1", ""}}, {{"k2", ""}}).empty());
}

TEST_CASE("pairing: nothing decides between two as near, but for their code") {
  const std::vector<Unpaired> two = {{"gemm<float, true>", "x"}, {"gemm<float, false>", "y"}};
  CHECK(pairs({{"gemm<float>", ""}}, two).empty());
  CHECK(pairs({{"gemm<float>", "y"}}, two) == Pairs{{0, 1}});
  CHECK(pairs({{"a_b_c_d", "x"}}, {{"a_e_f_g", "x"}}) == Pairs{{0, 0}});
  CHECK(pairs({{"a_b_c_d", "x"}}, {{"e_f_g_h", "x"}}).empty());
}

TEST_CASE("pairing: what the user gives comes first, then names, then similarity") {
  const Side before = sideOf({{"f", {"a", "gemm_f32", "k_old_x"}}}),
             after = sideOf({{"f", {"a", "gemm_f32_v2", "k_x", "z"}}});
  CHECK(matched(before, after, {}).find("similarity") == std::string::npos);
  CHECK(matched(before, after, {{}, true}) ==
        "a:a:name gemm_f32:gemm_f32_v2:similarity k_old_x:k_x:similarity -:z:name ");
  std::string error;
  const auto rule = parsePair("a=z", error), idle = parsePair("q*=z", error);
  CHECK(matched(before, after, {{*rule}, false}).find("a:z:given") != std::string::npos);
  CHECK(match(before, after, {{*rule, *idle}, true}).idle == std::vector<std::string>{"q*=z"});
  // Also where it moved into another file.
  CHECK(matched(sideOf({{"f", {"a"}}, {"g", {"b"}}}), sideOf({{"f", {"b2"}}, {"h", {"a2"}}}),
                {{*parsePair("*=*2", error)}, false})
            .find("-") == std::string::npos);
}
