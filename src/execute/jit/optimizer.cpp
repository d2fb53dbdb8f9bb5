// The image, the result and the reply travel by memory files and a pipe. An intermediate child, made by clone() with
// CLONE_VM, closes all other descriptors, spawns ptxopt in a session of its own, and ends.
#include "jit/optimizer.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "jit/protocol.h"
#include "jit/settings.h"
#include "support/descriptor.h"

namespace ptxopt::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostAnswer = std::size_t{4} << 20;

// Above those that the other process gets them as.
Descriptor high(int descriptor) {
  constexpr int kFirst = 16;
  const Descriptor low(descriptor);
  return Descriptor(descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirst));
}

bool writeAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(to, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::vector<char*> pointersTo(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Ours, but for what makes the dynamic linker load libraries into the other process.
std::vector<char*> environmentOf() {
  std::vector<char*> out;
  for (char* const* at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (!entry.starts_with("LD_PRELOAD=") && !entry.starts_with("LD_AUDIT=")) out.push_back(*at);
  }
  out.push_back(nullptr);
  return out;
}

// ---- processes that go on ----

// Whether a process of ours still works: not whether it has gone, and nobody has asked for how it ended.
bool isAtWork(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return false;
  const std::size_t name = line.rfind(") ");
  return name != std::string::npos && line[name + 2] != 'Z' && line[name + 2] != 'X';
}

// Those that were not waited for to the end. They are few, so that a program with many modules is not left with as many processes.
class LateProcesses {
 public:
  static LateProcesses& get() {
    static auto* const all = new LateProcesses;  // never ended: programs call in until the very end
    return *all;
  }
  bool areMany() {
    constexpr std::size_t kMost = 2;
    const std::lock_guard guard(mutex_);
    std::erase_if(processes_, [](pid_t p) { return !isAtWork(p); });
    return processes_.size() >= kMost;
  }
  void add(pid_t process) {
    const std::lock_guard guard(mutex_);
    processes_.push_back(process);
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> processes_;
};

int closeFrom(int first) {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return 0;
#endif
  const long most = ::sysconf(_SC_OPEN_MAX);
  constexpr long kMostTried = 65536;
  if (most < 0 || most > kMostTried) return EMFILE;
  for (int i = first; i < most; ++i) ::close(i);
  return 0;
}

struct Start {
  std::array<std::pair<int, int>, 3> descriptors;  // ours, and what the other process has them as
  const char* program;
  char* const* arguments;
  char* const* environment;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  pid_t process = 0;
  int error = 0;
};

// In a child with our memory, while we wait. Its descriptors are copies: what the program has open is closed here, and those for the other
// process, which lie above, are in their places before that.
int startAndEnd(void* data) {
  auto& s = *static_cast<Start*>(data);
  for (const auto& [from, to] : s.descriptors)
    if (::dup2(from, to) < 0) s.error = errno;
  if (s.error == 0) s.error = closeFrom(kAnswer + 1);
  if (s.error != 0) ::_exit(0);
  s.error = ::posix_spawn(&s.process, s.program, &s.actions, &s.attributes, s.arguments, s.environment);
  ::_exit(0);
}

// Starts it as nobody's child. An errno, or 0.
int startDetached(Start& s) {
  constexpr std::size_t kStack = 256 * 1024;
  void* const stack =
      ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return errno;
  // No handler of the program runs in a child that has its memory.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);
  // No signal reports its end (the low byte of the flags), and only __WCLONE waits for it.
  const pid_t child =
      ::clone(startAndEnd, static_cast<char*>(stack) + kStack, CLONE_VM | CLONE_VFORK, static_cast<void*>(&s));
  const int error = child < 0 ? errno : 0;
  while (child > 0 && ::waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, kStack);
  return error != 0 ? error : s.error;
}

int start(std::vector<std::string> words, int image, int result, int answer, pid_t& process) {
  Start s{};
  const std::vector<char*> arguments = pointersTo(words), environment = environmentOf();
  s.descriptors = {{{image, kImage}, {result, kResult}, {answer, kAnswer}}};
  s.program = arguments.front();
  s.arguments = arguments.data();
  s.environment = environment.data();
  posix_spawn_file_actions_init(&s.actions);
  posix_spawnattr_init(&s.attributes);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&s.actions, stream, "/dev/null", O_RDWR, 0);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&s.attributes, &none);
  posix_spawnattr_setsigdefault(&s.attributes, &all);
  // A session of its own: what a terminal sends to the program is not for it.
  posix_spawnattr_setflags(&s.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int error = startDetached(s);
  posix_spawn_file_actions_destroy(&s.actions);
  posix_spawnattr_destroy(&s.attributes);
  process = s.process;
  return error;
}

// All until the other end is closed. False where the time is over first.
bool readUntil(int from, Clock::time_point end, std::string& said) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waited{from, POLLIN, 0};
    constexpr long kMost = 1000;
    const int ready = ::poll(&waited, 1, static_cast<int>(std::min<long>(left, kMost)));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return true;
    char buffer[4096];
    const ssize_t n = ::read(from, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || said.size() > kMostAnswer) return true;
    said.append(buffer, static_cast<std::size_t>(n));
  }
}

std::string nextLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  std::string line(text.substr(0, end));
  text.remove_prefix(end + 1);
  return line;
}

std::string contentsOf(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size <= 0) return {};
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    at += static_cast<std::size_t>(n);
  }
  return bytes;
}

std::vector<std::string> wordsOf(const Request& r, const Settings& settings) {
  const auto word = [](const char* key, const std::string& value) { return std::string(key) + '=' + value; };
  std::string devices;
  for (const unsigned d : r.devices) devices += (devices.empty() ? "" : ",") + std::to_string(d);
  return {settings.tool,
          "jit",
          kModuleWord,
          word(kKind, r.image.kind == Image::Kind::FatBinary ? "fat" : "ptx"),
          word(kArchitectures, devices),
          word(kIsLinked, r.isLinked ? "1" : "0"),
          word(kMostRegisters, std::to_string(r.mostRegisters)),
          word(kIsCompared, settings.compare.launches != 0 ? "1" : "0"),
          word(kBudgetSeconds, std::to_string(settings.budget))};
}

Answer ask(const Request& request, Clock::time_point begin) {
  Answer answer;
  const auto refuse = [&](std::string why) {
    answer.isOptimized = false;
    answer.why = std::move(why);
    return answer;
  };
  const Settings& settings = Settings::get();
  if (LateProcesses::get().areMany()) return refuse("others that took longer than the budget are being optimized");
  if (settings.tool.empty()) return refuse("there is no ptxopt beside the library; PTXOPT_JIT_TOOL names it");
  const Descriptor image = high(::memfd_create("ptxopt-image", MFD_CLOEXEC));
  const Descriptor result = high(::memfd_create("ptxopt-result", MFD_CLOEXEC));
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return refuse(std::strerror(errno));
  const Descriptor answers(ends[0]);
  Descriptor other = high(ends[1]);
  if (image.get() < 0 || result.get() < 0 || other.get() < 0 || !writeAll(image.get(), request.image.bytes))
    return refuse(std::strerror(errno));
  pid_t process = 0;
  const int error = start(wordsOf(request, settings), image.get(), result.get(), other.get(), process);
  other.close();
  if (error != 0) return refuse(settings.tool + ": " + std::strerror(error));
  std::string said;
  const auto budget =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(settings.budget, 1e6)));
  if (!readUntil(answers.get(), begin + budget, said)) {
    LateProcesses::get().add(process);
    return refuse("it took longer than the budget");
  }
  std::string_view rest = said;
  const std::string verdict = nextLine(rest), counts = nextLine(rest);
  unsigned isFromCache = 0;
  if (std::sscanf(counts.c_str(), "%u %u %u", &answer.kernels, &answer.changed, &isFromCache) != 3)
    return refuse("the optimizer ended without a result");
  answer.isFromCache = isFromCache != 0;
  answer.why = nextLine(rest);
  std::istringstream names(nextLine(rest));
  for (std::string name; names >> name;) answer.ofAnyBlock.push_back(name);
  answer.originals = nextLine(rest);
  if (verdict != kOptimized) return answer;
  answer.image = contentsOf(result.get());
  if (answer.image.empty()) return refuse("the optimizer made nothing");
  answer.isOptimized = true;
  return answer;
}

}  // namespace

bool tellDifference(const std::string& keys, const std::string& kernel) {
  try {
    const Descriptor name = high(::memfd_create("ptxopt-kernel", MFD_CLOEXEC));
    if (keys.empty() || name.get() < 0 || !writeAll(name.get(), kernel)) return false;
    pid_t process = 0;
    // It has no other end to answer to.
    return start({Settings::get().tool, "jit", kModuleWord, std::string(kDiffers) + '=' + keys}, name.get(),
                 name.get(), name.get(), process) == 0;
  } catch (const std::exception&) {
    return false;
  }
}

Answer optimized(const Request& request) {
  const auto begin = Clock::now();
  Answer answer;
  if (Settings::get().budget <= 0)
    answer.why = "the budget is zero";
  else
    answer = ask(request, begin);
  answer.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return answer;
}

}  // namespace ptxopt::jit
