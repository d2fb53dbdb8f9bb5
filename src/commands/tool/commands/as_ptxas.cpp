// Options are read from the configuration and the environment, since the command line is ptxas's own. Whatever fails in
// the optimizer ends in a call of the real ptxas with unchanged arguments; SIGPIPE and SIGXFSZ become errors of
// write().
#include "tool/commands/as_ptxas.h"

#include <fmt/format.h>
#include <signal.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptxopt/ptxopt.h"
#include "support/environment.h"
#include "support/log.h"
#include "tool/options/cache_key.h"
#include "tool/options/config.h"
#include "tool/options/environment.h"
#include "tool/options/wrapper_options.h"
#include "tool/revision.h"
#include "tool/terminal/messages.h"
#include "wrapper/child.h"
#include "wrapper/client.h"
#include "wrapper/drop_in.h"
#include "wrapper/real_ptxas.h"

namespace ptxopt::tool {
namespace {

constexpr std::string_view kReal = "--real";

// Takes `--real PATH` from the front. False where the path is missing.
bool takeReal(std::vector<std::string>& arguments, std::string& real) {
  if (arguments.empty() || !arguments.front().starts_with(kReal)) return true;
  const std::string first = arguments.front();
  if (first == kReal) {
    if (arguments.size() < 2) return false;
    real = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  } else if (first.starts_with("--real=")) {
    real = first.substr(kReal.size() + 1);
    arguments.erase(arguments.begin());
  }
  return true;
}

// Another ptxopt, and other options, make other code.
std::string versionLine(const wrapper::WrapperOptions& options) {
  return fmt::format("{}, options {}", versionText(), settingsDigest(options).substr(0, 8));
}

wrapper::WrapperOptions readOptions(const wrapper::Client& client) {
  const Config& config = userConfig();
  wrapper::WrapperOptions options;
  if (wrapper::isCalledByOurselves()) {
    options.leavesAlone = true;
    return options;
  }
  options = readWrapperOptions();
  if (!config.mistakes.empty() && options.mistake.empty()) options.mistake = config.mistakes.front();
  options.warnings = environmentWarnings();
  options.client = client;
  options.log = environmentValue("PTXOPT_LOG");
  if (client.isKeyedByVersion) options.versionLine = versionLine(options);
  return options;
}

extern "C" void passOver(int) {}

// What ends a program that writes where it cannot, and is an error of write() to this one. A program that takes its place, or is
// started, has these signals as they were.
void surviveWriting() {
  struct sigaction action {};
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    action.sa_handler = passOver;
    action.sa_flags = SA_RESTART;
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

int optimizeAndCall(const std::string& calledAs, const std::string& real,
                    const std::vector<std::string>& arguments) {
  const wrapper::Client client =
      wrapper::isCalledByOurselves() ? wrapper::Client() : wrapper::callingClient(calledAs);
  wrapper::WrapperOptions options = readOptions(client);
  // As for the variables that name one.
  if (std::string wrong = ptxas::whyNoProgram("PTXOPT_OPTIONS: --ptxas", options.ptxas);
      !options.ptxas.empty() && !wrong.empty()) {
    options.warnings.push_back(std::move(wrong) + "; passed over");
    options.ptxas.clear();
  }
  const bool isFirst = !real.empty();
  const ptxas::PtxasCandidates candidates =
      wrapper::realPtxas(isFirst ? real : options.ptxas, isFirst ? "--real" : "PTXOPT_OPTIONS", calledAs, client);
  if (candidates.all.empty()) {
    for (const std::string& warning : options.warnings) log::warn(log::kTool, warning);
    for (const std::string& wrong : candidates.wrong) log::warn(log::kTool, ptxas::insteadOf(wrong, {}));
    return fail(Status::Usage, "there is no ptxas: set PTXOPT_PTXAS, CUDA_HOME or PATH");
  }
  return fail(Status::Usage, wrapper::runDropIn(candidates, arguments, options));
}

// The first ptxas there is, with these arguments. Returns why there is none.
std::string callPlain(const std::string& calledAs, const std::string& real,
                      const std::vector<std::string>& arguments) {
  const ptxas::PtxasCandidates candidates = wrapper::realPtxas(real, "--real", calledAs, wrapper::Client());
  if (candidates.all.empty()) return "there is no ptxas";
  std::vector<std::string> words{candidates.all.front().path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  wrapper::noteCalled(words.front());
  return words.front() + ": " + wrapper::become(words);
}

}  // namespace

int runAsPtxas(int argc, char** argv) {
  const std::string calledAs = argv[0];
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string real, why;
  if (!takeReal(arguments, real)) return fail(Status::Usage, "--real without the path of a ptxas");
  surviveWriting();
  try {
    return optimizeAndCall(calledAs, real, arguments);
  } catch (const std::bad_alloc&) {
    why = "out of memory";
  } catch (const std::exception& e) {
    why = e.what();
  }
  log::warn(log::kDropIn, why + wrapper::kNotOptimized);
  return fail(Status::Usage, callPlain(calledAs, real, arguments));
}

}  // namespace ptxopt::tool
