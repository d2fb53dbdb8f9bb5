// Options::decline and FunctionOptions::decline: which loops and blocks each pass is not to change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "passes/manager/declined_blocks.h"
#include "ptxopt/ptxopt.h"

namespace ptxopt {

class DeclineRequests {
 public:
  // What is wrong with the options, in words; empty: nothing. They must live as long as this.
  std::string read(const Options& options);
  // Finds the labels in the module. What is wrong, in words.
  std::string resolve(const Module& module);

  std::vector<DeclinedLabel> of(const Function& f, const PassInfo& pass) const;

 private:
  struct Request {
    const PassInfo* pass = nullptr;
    std::string_view spelled, label;
    std::string_view source;    // the function whose text has the label; empty: any
    std::string_view function;  // that the pass works on; empty: any
    DeclinedLabel found = {};
    uint32_t in = UINT32_MAX;  // the number of `function`
  };

  std::string add(std::string_view spelled, std::string_view function);

  std::vector<Request> requests_;
};

}  // namespace ptxopt
