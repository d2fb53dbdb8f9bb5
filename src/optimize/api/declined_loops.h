// Loops that passes leave alone on request: `--decline=PASS@LABEL`, or PASS@FUNCTION:LABEL where several functions have the label.
//
// A label means the loop that begins with it when the pass comes to it. What another pass has taken apart by then is not
// there to be left alone.
// Errors, in words: what has another form, a pass that there is not, one that does not take loops one by one, a label that the text
// does not have or that no loop of it begins with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "passes/manager/pass.h"

namespace ptxopt {

struct DeclinedLoop {
  const PassInfo* pass = nullptr;
  std::string function;  // empty: all
  std::string label;
};

// One of the error and the result is empty, if anything was given.
std::vector<DeclinedLoop> declinedLoopsOf(const std::vector<std::string>& given, std::string& error);

// Empty: a loop of the text begins with each label.
std::string whyNotIn(const Module& module, const std::vector<DeclinedLoop>& declined);

// The labels for a pass and a function.
std::vector<std::string_view> declinedIn(const std::vector<DeclinedLoop>& declined, const PassInfo& pass,
                                         std::string_view function);

}  // namespace ptxopt
