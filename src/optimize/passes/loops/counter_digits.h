// Quotients and remainders of what a loop counts, as the digits of a counter.
//
// Of a counter x that goes up by s in each iteration, x / W and x % W need no division: the remainder grows by s % W,
// and by W less where it reaches W; the quotient grows by s / W, and by one more there. The quotient is a counter
// itself, so that x / W % H and x / W / H are further digits. (Sheldon, Lee, Greenwald, Amarasinghe, "Strength
// reduction of integer division and modulo operations", 2001; here the divisors are registers.)
// Right where x is never negative and does not wrap, and each divisor is above 0 and below 2^31.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/arithmetic/divide/division.h"
#include "passes/manager/pass.h"

namespace ptxopt {

// A dividend with a divisor.
struct CounterDigit {
  ExprId divisor;               // does not vary in the loop
  std::size_t above;            // whose quotient is divided, in CounterDigits::digits; kNone: the counter
  bool quotientIsRead = false;  // by an instruction, or by the next digit
  static constexpr std::size_t kNone = SIZE_MAX;
};

struct CounterDigits {
  ExprId counter;                    // a recurrence of the loop, of 32 bits
  ExitTest test;                     // that it goes on
  std::vector<CounterDigit> digits;  // each after that whose quotient it divides
  struct Use {
    std::size_t digit;
    bool isRemainder;
  };
  std::unordered_map<uint32_t, Use>
      uses;  // by InstrId: instructions that become a copy of a quotient or a remainder
};

class CounterDigitFinder {
 public:
  CounterDigitFinder(Function& f, PassContext& context);
  // Empty where `found` is set; else no-division (of integers of 32 bits by a register), counter (none of them divides what
  // the loop counts), or test (no test of the counter ends the loop).
  std::string_view find(LoopId l, std::optional<CounterDigits>& found);

 private:
  void findDivisions(LoopId l, std::vector<division::Division>& divisions) const;
  // The number of the digit that the division computes a part of; kNone where it divides something else.
  std::size_t digitOf(const division::Division& d, LoopId l, CounterDigits& c);
  void findSubtractions(LoopId l, CounterDigits& c);
  bool findTest(LoopId l, CounterDigits& c) const;
  InstrId makerOf(RegId r, InstrId id) const;
  ExprId divisorOf(const division::Division& d, LoopId l);

  Function& f_;
  const Module& module_;
  const Cfg& cfg_;
  const Loops& loops_;
  ScalarEvolution& evolution_;
  ScevExpressions& e_;
  ValueRanges& ranges_;
  const DominatorTree& dominators_;
  const SlotIndexes& slots_;
};

}  // namespace ptxopt
