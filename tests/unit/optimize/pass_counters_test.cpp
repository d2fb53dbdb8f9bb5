#include "passes/manager/pass_counters.h"

#include <doctest/doctest.h>

#include <string>

namespace ptxopt {
namespace {

TEST_CASE("pass counters: in the order of the names, whatever comes first") {
  PassCounters counters;
  counters["steps"] += 2;
  counters["dead"] += 1;
  counters["unit"];
  counters["steps"] += 3;
  std::string all;
  for (const auto& [name, n] : counters) all += std::string(name) + "=" + std::to_string(n) + " ";
  CHECK(all == "dead=1 steps=5 unit=0 ");
  CHECK(counters.at("steps") == 5);
  CHECK_THROWS_AS(counters.at("step"), std::out_of_range);
  CHECK_THROWS_AS(counters.at("z"), std::out_of_range);
}

}  // namespace
}  // namespace ptxopt
