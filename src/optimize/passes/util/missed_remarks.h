// Why a pass left things as they were: reasons are counted, and each is reported once.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "passes/manager/pass.h"

namespace ptxopt {

class MissedRemarks {
 public:
  void add(std::string_view reason) { ++counts_[reason]; }
  // `form`: where a pass writes several, which one.
  void tell(PassContext& context, std::string_view what, std::string_view form = {}) const;

 private:
  std::map<std::string_view, uint64_t> counts_;
};

}  // namespace ptxopt
