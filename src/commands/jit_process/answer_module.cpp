// The request comes as KEY=VALUE words, the image as a descriptor to map, and the result goes out as lines, with the
// image in another descriptor. Limits on CPU time and an ignored SIGPIPE keep the process from outliving a library that
// has stopped waiting.
#include "jit_process/answer_module.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "jit/protocol.h"
#include "jit_process/optimize_image.h"
#include "ptxopt/ptxopt.h"
#include "support/atomic_file.h"
#include "support/environment.h"

namespace ptxopt::jit_process {
namespace {

constexpr rlim_t kMostSeconds = 600;  // of CPU time, unless the library waits longer

ImageRequest requestOf(std::span<char* const> words) {
  ImageRequest r;
  for (const std::string_view word : words) {
    const std::string key(word.substr(0, word.find('='))),
        value(word.substr(std::min(word.size(), key.size() + 1)));
    if (key == jit::kKind) r.isFatBinary = value == "fat";
    if (key == jit::kIsLinked) r.isLinked = value == "1";
    if (key == jit::kMostRegisters)
      r.mostRegisters = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    if (key == jit::kDiffers) r.differs = value;
    if (key == jit::kIsCompared) r.isCompared = value == "1";
    if (key == jit::kBudgetSeconds) r.budget = std::strtod(value.c_str(), nullptr);
    if (key != jit::kArchitectures || value.empty()) continue;
    for (const std::string& device : partsOf(value, ','))
      r.devices.push_back(static_cast<unsigned>(std::strtoul(device.c_str(), nullptr, 10)));
  }
  return r;
}

// The image as the library gave it.
class Mapped {
 public:
  Mapped() {
    struct stat status {};
    if (::fstat(jit::kImage, &status) != 0 || status.st_size <= 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, jit::kImage, 0);
    if (at != MAP_FAILED) data_ = static_cast<const char*>(at);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
  }
  std::string_view bytes() const { return data_ != nullptr ? std::string_view(data_, size_) : std::string_view(); }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

void say(const ImageAnswer& a) {
  constexpr const char* kUnchanged = "nothing in it changes";
  const bool isWritten = !a.isOptimized || writeAll(jit::kResult, a.image);
  const std::string text =
      fmt::format("{}\n{} {} {}\n{}\n{}\n{}\n", a.isOptimized && isWritten ? jit::kOptimized : jit::kSame,
                  a.kernels, a.changed, a.isFromCache ? 1 : 0,
                  !isWritten                        ? std::strerror(errno)
                  : !a.isOptimized && a.why.empty() ? kUnchanged
                                                    : a.why.c_str(),
                  a.ofAnyBlock, a.originals);
  writeAll(jit::kAnswer, text);
  ::close(jit::kAnswer);  // nobody is kept waiting
}

}  // namespace

int answerModule(std::span<char* const> words, const wrapper::WrapperOptions& options,
                 const std::string& settings) {
  // The library may have gone on without the result.
  ::signal(SIGPIPE, SIG_IGN);
  const ImageRequest request = requestOf(words);
  const auto seconds = std::max(kMostSeconds, static_cast<rlim_t>(request.budget));
  const rlimit time{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &time);
  ImageAnswer refused;
  const Mapped image;
  if (image.bytes().empty()) {
    refused.why = "there is no image";
  } else if (!options.mistake.empty()) {
    refused.why = options.mistake;
  } else if (!request.differs.empty()) {
    noteDifference(request.differs, image.bytes());
    return 0;
  } else {
    const KnownAnswer known = findAnswer(image.bytes(), request, options, settings);
    const auto sayWithKeys = [&](ImageAnswer answer) {
      if (!answer.originals.empty()) answer.originals += "\td " + keysOf(image.bytes(), request, options, settings);
      say(answer);
    };
    if (known.answer) return sayWithKeys(*known.answer), 0;
    if (known.isLate) {
      refused.why = "it took longer than the budget in an earlier run";
      say(refused);
    }
    const ImageAnswer made = optimizeImage(image.bytes(), request, options, known.key);
    if (!known.isLate) sayWithKeys(made);
    return 0;
  }
  say(refused);
  return static_cast<int>(Status::Usage);
}

}  // namespace ptxopt::jit_process
