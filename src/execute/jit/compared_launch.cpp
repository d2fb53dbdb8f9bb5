// The order of steps: close the gate, wait for the device, copy all reachable memory, run the original, undo it, run
// the optimized kernel, compare. On a difference the launch is undone and the original runs again.
#include "jit/compared_launch.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "interpose/allocations.h"
#include "interpose/gate.h"
#include "interpose/relaxed.h"
#include "jit/compared_kernels.h"
#include "jit/driver.h"
#include "jit/log.h"
#include "jit/memory_image.h"
#include "jit/optimizer.h"
#include "jit/settings.h"

namespace ptxopt::jit {
namespace {

using interpose::Allocations;
using interpose::Gate;

std::atomic<int> captures{0};

// How often the device, or another thread, was waited for in vain. A program in which that is so is not held up for each kernel.
std::atomic<unsigned> vainWaits{0};
constexpr unsigned kMostVainWaits = 3;

std::chrono::milliseconds patience() {
  return std::chrono::milliseconds(static_cast<long>(1000 * std::min(Settings::get().compare.seconds, 1e6)));
}

void* currentContext() {
  static auto* const call = driver<int(void**)>("cuCtxGetCurrent");
  void* context = nullptr;
  return call != nullptr && call(&context) == 0 ? context : nullptr;
}

// What the driver answers when all is done; none: it is not in time. Another thread waits, since the driver gives no end to it.
std::optional<int> waitForDevice() {
  static auto* const synchronize = driver<int()>("cuCtxSynchronize");
  static auto* const setCurrent = driver<int(void*)>("cuCtxSetCurrent");
  if (synchronize == nullptr || setCurrent == nullptr) return std::nullopt;
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<int> result;
  };
  const auto wait = std::make_shared<Wait>();
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &before);  // no handler of the program runs in it
  std::thread thread;
  try {
    thread = std::thread([wait, context = currentContext()] {
      const int result = setCurrent(context) != 0 ? -1 : synchronize();
      const std::lock_guard guard(wait->mutex);
      wait->result = result;
      wait->changed.notify_all();
    });
  } catch (const std::system_error&) {
    thread = {};  // the system gives none
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!thread.joinable()) return std::nullopt;
  std::unique_lock lock(wait->mutex);
  const bool isDone = wait->changed.wait_until(lock, std::chrono::system_clock::now() + patience(),
                                               [&] { return wait->result.has_value(); });
  lock.unlock();
  if (isDone)
    thread.join();
  else
    thread.detach();
  if (!isDone) ++vainWaits;
  return isDone ? wait->result : std::nullopt;
}

// ---- what a launch can reach ----

bool variablePlace(const ComparedModule& module, const std::string& name, MemoryImage::Range& range) {
  using Find = int(uint64_t*, size_t*, void*, const char*);
  static auto* const ofModule = driver<Find>("cuModuleGetGlobal_v2");
  static auto* const ofLibrary = driver<Find>("cuLibraryGetGlobal");
  static auto* const managed = driver<Find>("cuLibraryGetManaged");
  size_t size = 0;
  const auto ask = [&](Find* find) {
    return find != nullptr && find(&range.address, &size, module.handle, name.c_str()) == 0;
  };
  const bool isFound = module.isLibrary ? ask(ofLibrary) || ask(managed) : ask(ofModule);
  range.size = size;
  range.name = name;
  return isFound;
}

// The words that parameters hold, at every place where an address may stand.
std::vector<uint64_t> wordsOf(const Launch& l, const std::vector<Parameter>& parameters) {
  std::vector<uint64_t> words;
  const auto add = [&](const void* from, std::size_t bytes) {
    constexpr std::size_t kStep = 4;  // a structure may be packed
    for (std::size_t at = 0; at + sizeof(uint64_t) <= bytes; at += kStep) {
      uint64_t word;
      std::memcpy(&word, static_cast<const char*>(from) + at, sizeof word);
      words.push_back(word);
    }
  };
  if (l.extra != nullptr) {
    constexpr uintptr_t kEnd = 0, kPointer = 1, kSize = 2;
    const void* from = nullptr;
    std::size_t size = 0;
    for (void* const* extra = l.extra; reinterpret_cast<uintptr_t>(*extra) != kEnd; extra += 2) {
      if (reinterpret_cast<uintptr_t>(extra[0]) == kPointer) from = extra[1];
      if (reinterpret_cast<uintptr_t>(extra[0]) == kSize) std::memcpy(&size, extra[1], sizeof size);
    }
    if (from != nullptr) add(from, size);
  } else if (l.parameters != nullptr) {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (l.parameters[i] != nullptr) add(l.parameters[i], parameters[i].bytes);
  }
  return words;
}

// Whether the driver knows an address.
bool isOfDriver(uint64_t address) {
  constexpr int kMemoryType = 2;
  static auto* const ask = driver<int(void*, int, uint64_t)>("cuPointerGetAttribute");
  unsigned type = 0;
  return ask != nullptr && ask(&type, kMemoryType, address) == 0;
}

// Whether the device may use memory that the program has not from the driver.
bool isPageableUsed() {
  constexpr int kPageableAccess = 88;
  static auto* const current = driver<int(int*)>("cuCtxGetDevice");
  static auto* const attribute = driver<int(int*, int, int)>("cuDeviceGetAttribute");
  int device = 0, is = 0;
  return current != nullptr && attribute != nullptr && current(&device) == 0 &&
         attribute(&is, kPageableAccess, device) == 0 && is != 0;
}

bool isReadable(uint64_t address) {
  char byte;
  iovec to{&byte, 1}, from{reinterpret_cast<void*>(address), 1};
  return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == 1;
}

// What a launch can reach, to be read. Empty, or why it cannot be compared.
std::string placesOf(const Launch& l, const ComparedKernel& kernel, std::vector<MemoryImage::Range>& ranges,
                     Allocations::Map& others) {
  void* const context = currentContext();
  uint64_t bytes = 0;
  Allocations::Map own = Allocations::get().with([](const auto& map) { return map; });
  for (auto at = own.begin(); at != own.end();) {
    const bool isOwn = !at->second.isOfHost && at->second.context == context;
    if (isOwn) ranges.push_back({at->first, at->second.size, at->second.name, {}});
    bytes += isOwn ? at->second.size : 0;
    const auto here = at++;
    if (!isOwn) others.insert(own.extract(here));
  }
  for (const GlobalVariable& v : kernel.module->variables) {
    MemoryImage::Range range;
    if (variablePlace(*kernel.module, v.name, range)) {
      own[range.address] = {range.size, "", false, context};
      bytes += range.size;
      ranges.push_back(std::move(range));
    } else if (v.isUsed) {
      return "the driver does not say where " + v.name + " lies";
    }
  }
  if (bytes > Settings::get().compare.mib << 20)
    return "there is more memory than " + std::to_string(Settings::get().compare.mib) + " MiB";
  const bool isPageable = isPageableUsed();
  for (const uint64_t word : wordsOf(l, kernel.parameters)) {
    // What is right after the end of memory may be meant as its end.
    if (word == 0 || holderOf(own, word) != own.end() || holderOf(own, word - 1) != own.end()) continue;
    if (holderOf(others, word) != others.end()) return "it reaches memory of the host, or of another context";
    if (isOfDriver(word)) return "it reaches memory that was not followed";
    if (isPageable && isReadable(word)) return "it reaches memory of the host";
  }
  return {};
}

// Addresses in what was read that lead to memory that was not.
bool leadsElsewhere(const MemoryImage& image, const Allocations::Map& others) {
  if (others.empty()) return false;
  const uint64_t begin = others.begin()->first, end = others.rbegin()->first + others.rbegin()->second.size;
  for (const MemoryImage::Range& r : image.ranges())
    for (std::size_t at = 0; at + sizeof(uint64_t) <= r.bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, r.bytes.data() + at, sizeof word);
      if (word >= begin && word < end && holderOf(others, word) != others.end()) return true;
    }
  return false;
}

// ---- both ways ----

constexpr const char* kNotDone = "the device is not done in time";
constexpr const char* kNotDoneBefore = "the device, or another thread, was often not done in time";

class Comparison {
 public:
  Comparison(const ComparedHandle& handle, const Launch& l, const LaunchFunction& launch)
      : kernel_(*handle.kernel), original_(handle.original), l_(l), launch_(launch) {}

  // The result of the launch, as the program gets it.
  int run() {
    try {
      return runBoth();
    } catch (const std::exception&) {
      // There is no memory for it. Nothing between undoing a launch and the next one throws.
      if (!isLaunched_) return launch_(l_.function);
      giveUp("there is not enough memory for copies");
      return 0;
    }
  }

 private:
  int runBoth() {
    if (std::string why = prepare(); !why.empty()) return once(std::move(why));
    MemoryBlocks expected, found, again;
    const int result = launch_(original_);
    isLaunched_ = result == 0;
    if (result != 0) return once("the original is not launched (error " + std::to_string(result) + ")");
    std::optional<int> end = waitForDevice();
    if (end != 0) return giveUp(end), result;
    if (!image_.changes(expected) || !image_.restore(expected)) return giveUp("memory cannot be copied"), result;
    if (const int refused = launch_(l_.function); refused != 0) {
      // The original was launched, and is again.
      giveUp("the optimized kernel is not launched (error " + std::to_string(refused) + ")", true);
      return launch_(original_);
    }
    end = waitForDevice();
    if (end != 0) return giveUp(end), end.value_or(0);
    if (!image_.changes(found)) return giveUp("memory cannot be copied"), result;
    if (expected == found) return count(&KernelCounts::equal), result;
    if (!image_.restore(found)) return giveUp("memory cannot be copied"), result;
    const int last = launch_(original_);
    end = waitForDevice();
    if (last != 0 || end != 0) return giveUp(end), last;
    if (!image_.changes(again)) return giveUp("memory cannot be copied"), last;
    if (again != expected) return count(&KernelCounts::varying), last;
    differ(image_.firstDifference(expected, found));
    return last;
  }
  std::string prepare() {
    if (const std::optional<int> end = waitForDevice(); end != 0) {
      giveUp(end, false);
      return end ? "after a call that failed" : kNotDone;
    }
    std::vector<MemoryImage::Range> ranges;
    Allocations::Map others;
    if (std::string why = placesOf(l_, kernel_, ranges, others); !why.empty()) return why;
    if (!image_.read(std::move(ranges))) return "there is memory that cannot be read";
    if (leadsElsewhere(image_, others)) return "memory leads to memory of the host, or of another context";
    return {};
  }
  int once(std::string why) {
    ComparedKernels::get().locked([&] { ++kernel_.counts.notCompared[std::move(why)]; });
    return launch_(l_.function);
  }
  void count(unsigned long KernelCounts::*of) {
    ComparedKernels::get().locked([&] { ++(kernel_.counts.*of); });
  }
  void giveUp(std::string why, bool isOriginalUsed = false) {
    ComparedKernels::get().locked([&] {
      ++kernel_.counts.notCompared[std::move(why)];
      kernel_.isGivenUp = true;
      kernel_.isOriginalUsed |= isOriginalUsed;
    });
  }
  void giveUp(std::optional<int> end, bool isCounted = true) {
    if (isCounted) return giveUp(end ? "it failed (error " + std::to_string(*end) + ")" : std::string(kNotDone));
    ComparedKernels::get().locked([&] { kernel_.isGivenUp = true; });
  }
  void differ(const std::string& where) {
    KernelCounts counts;
    ComparedKernels::get().locked([&] {
      ++kernel_.counts.different;
      kernel_.isOriginalUsed = true;
      counts = kernel_.counts;
    });
    noteDifference(counts, where);
    tellDifference(kernel_.module->keys, counts.name);
  }

  ComparedKernel& kernel_;
  void* original_;
  const Launch& l_;
  const LaunchFunction& launch_;
  MemoryImage image_;
  bool isLaunched_ = false;
};

bool isChosen(unsigned long launch) {
  return launch <= Settings::get().compare.launches || (launch & (launch - 1)) == 0;
}

bool isCaptured(void* stream) {
  static auto* const call = driver<int(void*, int*)>("cuStreamIsCapturing");
  int status = 0;
  // It refuses to say of a default stream that must not be used now.
  return captures != 0 || (call != nullptr && (call(stream, &status) != 0 || status != 0));
}

// What is to be launched. Counts the launch.
enum class Way { Optimized, Original, Both };
Way wayOf(ComparedKernel& kernel, const Launch& l) {
  const bool usesHeap = ComparedKernels::get().usesHeap();
  return ComparedKernels::get().locked([&] {
    const unsigned long launch = ++kernel.counts.launches;
    if (kernel.isOriginalUsed) return Way::Original;
    if (!isChosen(launch) || kernel.isGivenUp) return Way::Optimized;
    const char* const why = !kernel.refusal.empty()       ? kernel.refusal.c_str()
                            : isCaptured(l.stream)        ? "a stream is being captured"
                            : l.hasEvents                 ? "its launch has events"
                            : vainWaits >= kMostVainWaits ? kNotDoneBefore
                            : usesHeap                    ? "a module takes memory from the heap of the device"
                                                          : nullptr;
    if (why == nullptr) return Way::Both;
    ++kernel.counts.notCompared[why];
    return Way::Optimized;
  });
}

int launchedBothWays(const ComparedHandle& handle, const Launch& l, const LaunchFunction& launch) {
  const Gate::Closed gate(patience());
  const interpose::Relaxed relaxed;
  if (gate.isClosed()) return Comparison(handle, l, launch).run();
  ++vainWaits;
  ComparedKernels::get().locked([&] {
    ++handle.kernel->counts.notCompared["another thread is in a call of the driver"];
    handle.kernel->isGivenUp = true;
  });
  const Gate::Passage passage;
  return launch(l.function);
}

}  // namespace

void noteCapture(bool begins) {
  if (begins)
    ++captures;
  else if (captures > 0)
    --captures;
}

void* inGraph(void* kernel) {
  const ComparedHandle handle = kernel != nullptr ? ComparedKernels::get().find(kernel) : ComparedHandle();
  if (handle.kernel == nullptr) return kernel;
  return ComparedKernels::get().locked([&] {
    if (handle.kernel->isOriginalUsed) return handle.original;
    ++handle.kernel->counts.notCompared["it is a node of a graph"];
    return kernel;
  });
}

int launched(const Launch& l, const LaunchFunction& launch) {
  if (!interpose::isRequested() || Gate::isInside()) return launch(l.function);
  const ComparedHandle handle = ComparedKernels::get().find(l.function);
  const Way way = handle.kernel != nullptr ? wayOf(*handle.kernel, l) : Way::Optimized;
  if (way == Way::Both) return launchedBothWays(handle, l, launch);
  const Gate::Passage passage;
  return launch(way == Way::Original ? handle.original : l.function);
}

}  // namespace ptxopt::jit
