// generate_kernel: random PTX kernels that are valid, end, and have no undefined behaviour, for runs before and
// after an optimization whose memory is compared bit for bit.
//
// The first lines of each file say how to launch it. Exit codes: 0 ok, 2 usage or I/O.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "kernel.h"

namespace {

int fail(const std::string& message) {
  fmt::print(stderr, "generate_kernel: error: {}\n", message);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes random PTX kernels that are valid, end, and have no undefined behaviour.");
  kernels::Options options;
  uint64_t count = 1;
  std::string out, arch = "sm_80", features;
  app.add_option("--seed", options.seed, "the first kernel's seed; the same seed gives the same kernel");
  app.add_option("--count", count, "this many kernels, of consecutive seeds (needs --out)");
  app.add_option("--out", out, "folder for the files SEED.ptx; without it the kernel goes to standard output");
  app.add_option("--arch", arch, "the .target");
  app.add_option(
      "--features", features,
      "NAME=PERCENT,... changes weights; with plain names among them, all others but arithmetic are left out");
  app.add_option("--size", options.size, "about this many statements; 0: drawn from the seed")
      ->check(CLI::Range(0, 100000));
  app.add_flag("--approximate", options.approximate,
               "also approximate functions and arithmetic that may be contracted");
  app.add_flag("--raw-nan", options.rawNan, "let the payloads of NaNs reach memory");
  app.add_flag("--undefined-reads", options.undefinedReads,
               "also read registers that nothing writes, where no result depends on them");
  app.add_flag("--plain-names", options.plainNames, "the same kernels without odd names");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  options.arch = kernels::parseArch(arch);
  if (options.arch == 0) return fail("not an architecture from sm_70 on: " + arch);
  std::string error;
  if (!features.empty() && !kernels::parseFeatures(features, options, error)) return fail(error);
  if (out.empty()) {
    if (count != 1) return fail("--count needs --out");
    const std::string text = kernels::generate(options);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : fail("cannot write");
  }
  std::error_code ignored;
  std::filesystem::create_directories(out, ignored);
  for (uint64_t i = 0; i < count; ++i, ++options.seed) {
    const std::string path = fmt::format("{}/{}.ptx", out, options.seed);
    std::ofstream file(path, std::ios::binary);
    file << kernels::generate(options);
    if (!file.flush()) return fail("cannot write " + path);
  }
  return 0;
}
