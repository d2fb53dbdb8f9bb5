#include "passes/loops/versioning/run_time_checks.h"

#include <algorithm>

namespace ptxopt {

void RunTimeChecks::add(const RunTimeCheck& check, bool isKnown, bool holds) {
  if (isKnown)
    isNever_ |= holds != check.mustHold;
  else if (std::ranges::find(all_, check) == all_.end())
    all_.push_back(check);
}

void RunTimeChecks::less(ExprId a, ExprId b, bool isSigned, bool mustHold) {
  const bool isKnown = e_.isConstant(a) && e_.isConstant(b);
  const uint64_t left = e_[a].constant, right = e_[b].constant;
  const bool holds = isSigned ? static_cast<int64_t>(left) < static_cast<int64_t>(right) : left < right;
  add({isSigned ? RunTimeCheck::Kind::LessSigned : RunTimeCheck::Kind::LessUnsigned, a, b, mustHold}, isKnown,
      holds);
}

void RunTimeChecks::multiple(ExprId a, uint64_t of) {
  add({RunTimeCheck::Kind::Multiple, a, e_.constant(of, 64), true}, e_.isConstant(a), e_[a].constant % of == 0);
}

void RunTimeChecks::add(const RunTimeChecks& others) {
  isNever_ |= others.isNever_;
  for (const RunTimeCheck& check : others.all_) add(check, false, false);
}

}  // namespace ptxopt
