// JSON is put together by hand, because the library to preload is to need nothing else. The file is opened for each
// line, and an exception loses the line but not the program.
#include "jit/log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <exception>

#include "jit/settings.h"
#include "support/descriptor.h"

namespace ptxopt::jit {
namespace {

// A line that cannot be written is lost.
void put(int to, const std::string& line) {
  [[maybe_unused]] const ssize_t written = ::write(to, line.data(), line.size());
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < ' ')
      out += ' ';
    else
      out += c;
  }
  return out + '"';
}

std::string seconds(double value) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.4f", value);
  return digits.data();
}

void append(const std::string& line) {
  const Settings& settings = Settings::get();
  if (settings.log.empty()) return;
  const Descriptor file(::open(settings.log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  put(file.get(), line);
}

const char* kindOf(const Image& image) {
  switch (image.kind) {
    case Image::Kind::Ptx: return "ptx";
    case Image::Kind::FatBinary: return "fat binary";
    case Image::Kind::Other: break;
  }
  return "other";
}

void write(const char* call, const Image& image, const Answer& answer, bool isUsed, const std::string& refusal) {
  const Settings& settings = Settings::get();
  if (settings.log.empty() && !settings.isVerbose) return;
  const int before = errno;
  const std::string module = image.kind == Image::Kind::Other ? "" : digestOf(image.bytes);
  std::string why = image.kind == Image::Kind::Other ? image.why : answer.why;
  if (!refusal.empty()) why = refusal + (why.empty() ? "" : "; " + why);
  const auto number = [](auto value) { return std::to_string(value); };
  if (!settings.log.empty()) {
    std::string line = "{\"process\":" + number(::getpid()) + ",\"call\":" + quoted(call) +
                       ",\"kind\":" + quoted(kindOf(image)) + ",\"module\":" + quoted(module) +
                       ",\"bytes\":" + number(image.bytes.size()) + ",\"kernels\":" + number(answer.kernels) +
                       ",\"changed\":" + number(answer.changed) +
                       ",\"used\":" + quoted(isUsed ? "optimized" : "original") +
                       ",\"from_cache\":" + (answer.isFromCache ? "true" : "false") +
                       ",\"seconds\":" + seconds(answer.seconds) + ",\"why\":" + quoted(why) + "}\n";
    append(line);
  }
  if (settings.isVerbose) {
    std::string line = "ptxopt jit: " + std::string(call) + ": ";
    if (image.kind == Image::Kind::Other) {
      line += "left as it is: " + why;
    } else {
      line += std::string(kindOf(image)) + " " + module + ": ";
      line +=
          isUsed ? number(answer.changed) + " of " + number(answer.kernels) + " kernels changed" : "left as it is";
      line += (answer.isFromCache ? ", from the cache, " : ", ") + seconds(answer.seconds) + " s";
      if (!why.empty()) line += ": " + why;
    }
    line += '\n';
    put(STDERR_FILENO, line);
  }
  errno = before;
}

}  // namespace

std::string digestOf(std::string_view bytes) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  return digits.data();
}

std::string refusalOf(int result) {
  return result == 0 ? "" : "the driver refuses the optimized text (error " + std::to_string(result) + ")";
}

bool note(const char* call, const Image& image, const Answer& answer, bool isUsed, const std::string& refusal) {
  try {
    write(call, image, answer, isUsed, refusal);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool noteLaunches(const KernelCounts& c) {
  try {
    const auto number = [](auto value) { return std::to_string(value); };
    std::string reasons;
    for (const auto& [why, count] : c.notCompared)
      reasons += (reasons.empty() ? "" : ",") + quoted(why) + ":" + number(count);
    append("{\"process\":" + number(::getpid()) + ",\"kernel\":" + quoted(c.name) +
           ",\"module\":" + quoted(c.module) + ",\"launches\":" + number(c.launches) +
           ",\"equal\":" + number(c.equal) + ",\"different\":" + number(c.different) +
           ",\"varying\":" + number(c.varying) + ",\"not_compared\":{" + reasons + "}}\n");
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void noteDifference(const KernelCounts& c, const std::string& where) {
  put(STDERR_FILENO, "ptxopt jit: " + c.name + " of module " + c.module + ": launch " + std::to_string(c.launches) +
                         " differs from that of the original: " + where +
                         "; the original is launched from now on\n");
}

}  // namespace ptxopt::jit
