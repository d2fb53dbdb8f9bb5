// What is tested before a loop: comparisons of 64-bit expressions, which must all hold.
//
// What numbers already tell is not kept. `isNever` where one of them cannot come out so.
#pragma once

#include <vector>

#include "analysis/values/scalar_evolution.h"

namespace ptxopt {

struct RunTimeCheck {
  enum class Kind : uint8_t { LessSigned, LessUnsigned, Multiple };
  Kind kind = Kind::LessSigned;
  ExprId left, right;    // Multiple: `left` is one of `right`, a constant power of two
  bool mustHold = true;  // else it must not
  friend bool operator==(const RunTimeCheck&, const RunTimeCheck&) = default;
};

class RunTimeChecks {
 public:
  explicit RunTimeChecks(ScevExpressions& e) : e_(e) {}

  void less(ExprId a, ExprId b, bool isSigned, bool mustHold = true);
  void multiple(ExprId a, uint64_t of);
  void add(const RunTimeChecks& others);

  std::span<const RunTimeCheck> all() const { return all_; }
  bool isNever() const { return isNever_; }

 private:
  void add(const RunTimeCheck& check, bool isKnown, bool holds);

  ScevExpressions& e_;
  std::vector<RunTimeCheck> all_;
  bool isNever_ = false;
};

}  // namespace ptxopt
