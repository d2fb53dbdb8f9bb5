#include "passes/util/missed_remarks.h"

#include <fmt/format.h>

namespace ptxopt {

void MissedRemarks::tell(PassContext& context, std::string_view what, std::string_view form) const {
  for (const auto& [reason, n] : counts_)
    context.decline(reason, fmt::format("{}{}{} {}{}", form, form.empty() ? "" : ": ", n, what, n == 1 ? "" : "s"));
}

}  // namespace ptxopt
