#include "tool/options/cache_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "ptxas/cache.h"
#include "support/environment.h"
#include "tool/files.h"
#include "tool/options/config.h"
#include "tool/options/wrapper_options.h"
#include "tool/revision.h"

namespace ptxopt::tool {

std::string settingsDigest(const wrapper::WrapperOptions& options) {
  std::string all;
  for (const char* const variable : {"PTXOPT_OPTIONS", "PTXOPT_GUARD", "PTXOPT_GUARD_RULE", "PTXOPT_GUARD_TRIES"})
    all += fmt::format("{}={}\n", variable, environmentValue(variable));
  for (const std::string* const text : {&options.optimizer.facts, &options.optimizer.profile})
    all += ptxas::Cache::key(*text) + '\n';
  return ptxas::Cache::key(all);
}

std::string compilerCacheKey() {
  userConfig();  // which sets the variables
  std::string all = fmt::format("{}\n{}\n", versionText(), settingsDigest(readWrapperOptions()));
  FileText self;
  if (std::string ignored; readFile("/proc/self/exe", self, ignored)) all += ptxas::Cache::key(self) + '\n';
  for (const char* const variable : {"PTXOPT_PTXAS", "PTXAS"}) {
    const std::string program = environmentValue(variable);
    struct stat status {};
    if (program.empty() || ::stat(program.c_str(), &status) != 0) continue;
    all += fmt::format("{} {} {}\n", program, status.st_size, status.st_mtim.tv_sec);
  }
  return "ptxopt-" + ptxas::Cache::key(all);
}

}  // namespace ptxopt::tool
