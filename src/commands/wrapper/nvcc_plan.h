// What `nvcc --dryrun` says that nvcc would do.
//
// Each line begins with `#$ `: settings of variables (`#$ PATH=...`) and commands as for a shell. Two plans for the
// same work differ in the names of temporary files, which hold the id of the process and, with --threads, numbers
// of threads, and then also in the order of commands.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::wrapper {

// How the names of nvcc's temporary files begin.
inline constexpr std::string_view kNvccTemporary = "tmpxft_";

struct NvccPlan {
  std::map<std::string, std::string> variables;  // the last setting of each
  std::vector<std::string> commands;

  bool runsPtxas() const;
  // Whether code is kept in a form that is not PTX, or made from it by the linker: PTX never comes by.
  bool optimizesWhenLinking() const;
  // The PTX file that comes out, where no ptxas gets it: -ptx. Empty: there is none.
  std::string ptxAskedFor() const;
  // Whether ptxas gets a file of cicc's that stays: -keep.
  bool keepsPtx() const;
  // The variables but these, and the commands, in an order and with names that do not differ from run to run;
  // `from`, a folder, is taken for `to`.
  std::string comparable(const std::vector<std::string>& without, const std::string& from,
                         const std::string& to) const;
};

NvccPlan readNvccPlan(std::string_view text);

}  // namespace ptxopt::wrapper
