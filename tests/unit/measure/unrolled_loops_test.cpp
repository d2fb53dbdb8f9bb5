// Which of two results of ptxas is better where it unrolled loops otherwise: what they cost for the same work.
#include <doctest/doctest.h>

#include "ptxas/compare.h"

using namespace ptxopt;

namespace {

ptxas::FunctionMeasures kernel(uint64_t spills, uint32_t warps, uint32_t instructions) {
  ptxas::FunctionMeasures f;
  f.isKernel = true;
  f.spillStores = spills;
  f.spillLoads = 0;
  f.warps = warps;
  f.instructions = instructions;
  return f;
}

}  // namespace

TEST_CASE("compare: loops that are unrolled otherwise, by what they do") {
  // A load and a store of 4 bytes in ten instructions are done so often in an iteration.
  const auto unrolled = [](double times, ptxas::ModelledTime::Cycles cycles) {
    return ptxas::ModelledTime::Loop{
        8, cycles, {.written = 4 * times, .read = 4 * times, .instructions = 4 + 6 * times}};
  };
  const auto timed = [](std::vector<ptxas::ModelledTime::Loop> inner, ptxas::ModelledTime::Cycles whole) {
    ptxas::FunctionMeasures f = kernel(0, 32, 100);
    f.time = ptxas::ModelledTime{"m", whole, {.instructions = 20}, std::move(inner)};
    for (const ptxas::ModelledTime::Loop& loop : f.time->inner) f.time->work.add(loop.work, loop.iterations);
    return f;
  };
  const auto by = [](const ptxas::FunctionMeasures& a, const ptxas::FunctionMeasures& b) {
    return compare(a, b, ptxas::GuardRule::Time);
  };
  const ptxas::FunctionMeasures once = timed({unrolled(1, {10, 20, 30})}, {100, 180, 260});
  const ptxas::FunctionMeasures fourTimes = timed({unrolled(4, {24, 48, 80})}, {220, 400, 660});
  CHECK(by(once, fourTimes).sign < 0);
  const ptxas::Comparison lost = by(fourTimes, once);
  CHECK(lost.sign > 0);
  CHECK(lost.by == ptxas::Measure::Cycles);
  CHECK(lost.text() == "L1 24.00 -> 40.00 in innermost loop 1, for the same work");
  // A run of `once` has 100, 180 and 260 cycles, 167 in the mean. Unrolled, two iterations do the same: 76, 112 and
  // 180.
  CHECK(value(once, ptxas::Measure::Cycles) == 167);
  CHECK(ptxas::cyclesForWorkOf(once, once) == 167);
  CHECK(ptxas::cyclesForWorkOf(once, fourTimes) == 115);
  // As long for the same work: the whole and what is executed say nothing, machine instructions do.
  ptxas::FunctionMeasures asLong = timed({unrolled(4, {40, 80, 120})}, {1, 1, 1});
  asLong.instructions = 104;
  CHECK(by(once, asLong).text() == "100 -> 104");
  // Half of the reads are gone, which is not half an iteration.
  ptxas::FunctionMeasures read = once;
  read.time->inner[0].work.read = 8;
  CHECK(by(read, once).sign == 0);
  // Two thirds of the reads are, and a third of the instructions: what is written is the same.
  ptxas::FunctionMeasures rows =
      timed({{8, {30, 60, 90}, {.written = 3, .read = 9, .instructions = 43}}}, {300, 600, 900});
  ptxas::FunctionMeasures rowsOnce =
      timed({{8, {20, 40, 60}, {.written = 3, .read = 3, .instructions = 31}}}, {200, 400, 600});
  CHECK(by(rows, rowsOnce).sign < 0);
  CHECK(by(rowsOnce, rows).sign > 0);
  // No whole number of iterations; fewer instructions for more work: not unrolled.
  ptxas::FunctionMeasures odd = fourTimes;
  odd.time->inner[0].work.written = odd.time->inner[0].work.read = 10;
  CHECK(by(once, odd).text() == "L1 10.00 -> 24.00 in innermost loop 1");
  odd.time->inner[0].work.written = odd.time->inner[0].work.read = 16;
  odd.time->inner[0].work.instructions = 5;
  CHECK(by(once, odd).sign > 0);
  // What is computed tells where nothing is written, and nothing where neither: warps and instructions do.
  for (double timing::Work::*const witness : {&timing::Work::computed, &timing::Work::read}) {
    ptxas::FunctionMeasures a = fourTimes, b = once;
    for (ptxas::FunctionMeasures* f : {&a, &b}) {
      timing::Work& work = f->time->inner[0].work;
      const double times = work.written / 4;
      work = {.instructions = work.instructions};
      work.*witness = times;
    }
    CHECK(by(a, b).by == ptxas::Measure::Cycles);
    CHECK(by(a, b).sign > 0);
    for (ptxas::FunctionMeasures* f : {&a, &b}) f->time->inner[0].work.*witness = 0;
    CHECK(by(a, b).sign == 0);
    CHECK(by(b, a).sign == 0);
    b.warps = 16;
    CHECK(by(a, b).by == ptxas::Measure::Warps);
  }
  // Variables that leave local memory are written and read no longer: iterations are taken as they are.
  ptxas::FunctionMeasures frame = fourTimes;
  frame.stack = 64;
  CHECK(by(frame, once).sign < 0);
  // A loop for four iterations and one for the rest became one.
  const ptxas::FunctionMeasures two =
      timed({unrolled(4, {24, 48, 80}), unrolled(1, {10, 20, 30})}, {300, 560, 900});
  const ptxas::Comparison merged = by(two, once);
  CHECK(merged.sign > 0);
  CHECK(merged.text() == "L1 272 -> 400 in innermost loops together, for the same work");
  CHECK(ptxas::cyclesForWorkOf(two, once) > value(two, ptxas::Measure::Cycles));
  // One loop became two: what they read and write tells that. The second one iterates one and a half times.
  CHECK(by(once, two).sign < 0);
  CHECK(by(once, two).text() == "L1 10.00 -> 6.18 in innermost loop 1, for the same work");
  const ptxas::FunctionMeasures slower = timed({unrolled(4, {41, 80, 120}), unrolled(1, {10, 20, 30})}, {1, 1, 1});
  CHECK(by(once, slower).text() == "L1 10.00 -> 10.24 in innermost loop 1, for the same work");
  CHECK(by(once, slower).sign > 0);
  // Of two loops the second one did.
  const ptxas::FunctionMeasures both = timed({unrolled(2, {9, 9, 9}), unrolled(1, {10, 20, 30})}, {1, 1, 1});
  const ptxas::FunctionMeasures three =
      timed({unrolled(2, {9, 9, 9}), unrolled(4, {24, 48, 80}), unrolled(1, {10, 20, 30})}, {1, 1, 1});
  CHECK(by(both, three).text() == "L1 10.00 -> 6.18 in innermost loop 2, for the same work");
  // Where it is not known which was made of which, nothing is better: what is read and what is written disagree, or the rest of
  // the iterations is in no loop.
  ptxas::FunctionMeasures unclear = two;
  unclear.time->inner[0].work.read = 20;
  CHECK(by(once, unclear).sign == 0);
  const ptxas::FunctionMeasures noRest = timed({unrolled(4, {24, 48, 80}), unrolled(2, {12, 24, 40})}, {1, 1, 1});
  CHECK(by(once, noRest).sign == 0);
  // Versions of the loop, one of which reads less: better if none costs more than the loop for the same work.
  ptxas::FunctionMeasures versions = timed({unrolled(4, {24, 48, 80}), unrolled(1, {10, 20, 30})}, {1, 1, 1});
  versions.time->inner[0].work.read = 12;
  CHECK(by(once, versions).text() == "L1 10.00 -> 6.00 in innermost loop 1, for the same work");
  CHECK(by(once, versions).sign < 0);
  versions.time->inner[1].cycles = {11, 20, 30};
  CHECK(by(once, versions).sign >= 0);
  // Two kinds of loops: each is compared with those that read and write as much, at least.
  const ptxas::FunctionMeasures kinds =
      timed({unrolled(1, {10, 20, 30}), ptxas::ModelledTime::Loop{8, {9, 9, 9}, {.written = 4, .instructions = 5}}},
            {1, 1, 1});
  ptxas::FunctionMeasures kindsAfter = kinds;
  kindsAfter.time->inner.insert(kindsAfter.time->inner.begin(), kinds.time->inner[0]);
  kindsAfter.time->inner[0].work.read = 2;
  kindsAfter.time->inner[0].cycles = {8, 15, 25};
  kindsAfter.time->work.add(kindsAfter.time->inner[0].work, 8);
  CHECK(by(kinds, kindsAfter).sign < 0);
  kindsAfter.time->inner[2].cycles = {9, 10, 9};
  CHECK(by(kinds, kindsAfter).sign >= 0);
  // Unrolled altogether on one side: 16 iterations do what it does.
  ptxas::FunctionMeasures straight = timed({}, {200, 360, 520});
  straight.time->work = {.written = 64, .read = 64, .instructions = 116};
  CHECK(by(straight, once).text() == "L1 200 -> 180, for the same work");
  CHECK(by(straight, once).sign < 0);
  CHECK(by(once, straight).sign > 0);
  ptxas::FunctionMeasures slow = once;
  slow.time->inner[0].cycles = {13, 20, 30};
  CHECK(by(straight, slow).text() == "L1 200 -> 208, for the same work");
  CHECK(ptxas::cyclesForWorkOf(straight, once) < value(straight, ptxas::Measure::Cycles));
  // The stores of its iterations went, and what is computed and read tells: 4 of each.
  const auto sum = [&](double times, double written, double outside) {
    ptxas::FunctionMeasures f = timed({}, {100, 200, 300});
    if (times != 0)
      f = timed({{8,
                  {50, 60, 70},
                  {.written = written, .read = 8 * times, .computed = times, .instructions = 9 * times}}},
                {410, 500, 600});
    f.time->work.add({.written = 4, .read = 8 * outside, .computed = outside, .instructions = 9 * outside}, 1);
    return f;
  };
  const ptxas::FunctionMeasures inLoop = sum(16, 64, 0), unrolledSum = sum(0, 0, 64);
  CHECK(ptxas::workMatchOf(inLoop, unrolledSum)->kind == timing::WorkMatch::Kind::Dissolved);
  CHECK(ptxas::workMatchOf(inLoop, unrolledSum)->dissolved.iterations == 4);
  CHECK(by(inLoop, unrolledSum).text() == "L1 210 -> 100, for the same work");
  // With fewer of them left than in one iteration, in a loop of as many copies, and of another number.
  CHECK(by(inLoop, sum(16, 4, 0)).sign == 0);
  CHECK(by(inLoop, sum(32, 4, 0)).text() == "L1 50.00 -> 25.00 in innermost loop 1, for the same work");
  // Each tells something else: nothing is known.
  ptxas::FunctionMeasures unlike = unrolledSum;
  unlike.time->work = {.written = 4, .read = 1024, .computed = 64, .instructions = 500};
  CHECK(ptxas::workMatchOf(inLoop, unlike)->kind == timing::WorkMatch::Kind::Together);
}
