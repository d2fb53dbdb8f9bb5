// Sinks of descriptors write each message by one call, as text or as JSON. The callback is kept outside of spdlog,
// whose lock it must not hold: calls are counted, and a callback is replaced only when none of its calls runs.
#include "support/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/sinks/dist_sink.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>

#include "support/descriptor.h"
#include "support/json.h"

namespace ptxopt::log {
namespace {

using spdlog::details::log_msg;

constexpr std::array<std::string_view, 7> kNames{"trace", "debug", "info", "warn", "error", "asked", "off"};

// spdlog's levels are in the same order.
spdlog::level::level_enum toSpdlog(Level level) { return static_cast<spdlog::level::level_enum>(level); }
Level fromSpdlog(spdlog::level::level_enum level) { return static_cast<Level>(level); }
static_assert(SPDLOG_LEVEL_TRACE == static_cast<int>(Level::Trace) &&
              SPDLOG_LEVEL_OFF == static_cast<int>(Level::Off));

// The word for it in text.
std::string_view said(Level level) {
  switch (level) {
    case Level::Trace: return "trace: ";
    case Level::Debug: return "debug: ";
    case Level::Warn: return "warning: ";
    case Level::Error: return "error: ";
    default: return "";
  }
}

// The place of a message is its program, where that is to be written: spdlog has no other field of ours.
std::string_view programOf(const log_msg& m) { return m.source.filename == nullptr ? "" : m.source.filename; }
std::string_view viewOf(spdlog::string_view_t text) { return {text.data(), text.size()}; }

std::string coloured(std::string text, Level level) {
  const bool isError = level == Level::Error;
  const std::string_view mark = isError ? "error:" : "warning:";
  const std::size_t at = isError || level == Level::Warn ? text.find(mark) : std::string::npos;
  if (at == std::string::npos) return text;
  text.insert(at + mark.size(), "\x1b[0m");
  text.insert(at, isError ? "\x1b[1m\x1b[31m" : "\x1b[33m");
  return text;
}

std::string textOf(const log_msg& m) {
  std::string out;
  if (const std::string_view program = programOf(m); !program.empty())
    out.append(program).append(": ").append(said(fromSpdlog(m.level)));
  out.append(viewOf(m.payload));
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

// Without what is there for people's eyes: the last line feed, and the program, which the source says.
std::string_view withoutFrame(std::string_view text) {
  constexpr std::string_view kProgram = "ptxopt: ";
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.starts_with(kProgram)) text.remove_prefix(kProgram.size());
  return text;
}

std::string jsonOf(const log_msg& m) {
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::seconds;
  const auto since = m.time.time_since_epoch();
  const std::time_t time = duration_cast<seconds>(since).count();
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 32> date{};
  const std::size_t n = std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  const std::string_view text = withoutFrame(viewOf(m.payload));
  const Json line = {{"time", fmt::format("{}.{:03}Z", std::string_view(date.data(), n),
                                          duration_cast<milliseconds>(since).count() % 1000)},
                     {"level", name(fromSpdlog(m.level))},
                     {"source", viewOf(m.logger_name)},
                     {"message", text}};
  return dumpJson(line) + '\n';
}

// GitHub looks at lines that begin with `::` or `##[`, blanks not counted; GitLab and others have none that matter here.
std::string withoutCommands(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);  // npos + 1 is 0: the rest
    const std::string_view whole = line.empty() ? text : line;
    const std::size_t at = std::min(whole.find_first_not_of(" \t\r"), whole.size());
    const std::string_view rest = whole.substr(at);
    out += whole.substr(0, at);
    const bool isCommand = rest.starts_with("::") || rest.starts_with("##[");
    out += isCommand ? fmt::format("\\x{:02x}{}", rest.front(), rest.substr(1)) : std::string(rest);
    text.remove_prefix(whole.size());
  }
  return out;
}

// To a descriptor, a message a write: at the end of a file that is open for appending, lines of processes do not mix.
class DescriptorSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  DescriptorSink(int descriptor, bool isOwned, Format format, bool hasColours)
      : owned_(isOwned ? descriptor : -1), descriptor_(descriptor), format_(format), hasColours_(hasColours) {}
  void setAround(Around around) {
    const std::scoped_lock lock(mutex_);
    around_ = std::move(around);
  }

 protected:
  void sink_it_(const log_msg& m) override {
    std::string line = format_ == Format::Json ? jsonOf(m) : textOf(m);
    if (format_ == Format::Text && !owned_.isOpen()) line = withoutCommands(line);
    if (hasColours_) line = coloured(std::move(line), fromSpdlog(m.level));
    if (around_.before) around_.before();
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) break;  // nobody can be informed
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (around_.after) around_.after();
  }
  void flush_() override {}

 private:
  const Descriptor owned_;
  const int descriptor_;
  const Format format_;
  const bool hasColours_;
  Around around_;
};

// The callback is not a sink of spdlog, which holds a lock while it calls one.
struct Listener {
  const Callback callback;
  std::atomic<unsigned> calls = 0;  // that run now
};
thread_local const Listener* calling = nullptr;  // by this thread, which is inside the callback

// A call that runs, also where the callback throws.
class Call {
 public:
  explicit Call(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) { calling = listener_.get(); }
  ~Call() {
    calling = nullptr;
    --listener_->calls;
    listener_->calls.notify_all();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  const std::shared_ptr<Listener> listener_;
};

// All sinks. Never destroyed: what runs at the end of the process may still log.
struct Root {
  spdlog::sinks::dist_sink_mt sinks;
  std::atomic<Level> least{Level::Off};  // that a sink takes
  std::atomic<Level> heard{Level::Off};  // that the callback takes
  std::mutex mutex;
  std::shared_ptr<DescriptorSink> standardError;
  std::shared_ptr<Listener> listener;
};
Root& root() {
  static Root* const root = new Root;
  return *root;
}

void add(std::shared_ptr<spdlog::sinks::sink> sink, Level level) {
  sink->set_level(toSpdlog(level));
  const std::scoped_lock lock(root().mutex);
  root().sinks.add_sink(std::move(sink));
  Level least = Level::Off;
  for (const auto& there : root().sinks.sinks()) least = std::min(least, fromSpdlog(there->level()));
  root().least = least;
}

void callBack(Level level, const Source& source, std::string_view text) {
  if (calling != nullptr) return;
  std::shared_ptr<Listener> listener;
  {
    const std::scoped_lock lock(root().mutex);
    listener = root().listener;
    if (listener == nullptr) return;
    ++listener->calls;
  }
  const Call call(listener);
  listener->callback(level, source.name, withoutFrame(text));
}

void send(Level level, const Source& source, const char* program, std::string_view text) {
  if (level >= root().least.load(std::memory_order_relaxed))
    root().sinks.log(log_msg(spdlog::source_loc{program, 0, nullptr}, source.name, toSpdlog(level),
                             spdlog::string_view_t(text.data(), text.size())));
  if (level >= root().heard.load(std::memory_order_relaxed)) callBack(level, source, text);
}

// A child has the thread alone that called fork(): the calls of the others never end there.
void prepareForForks() {
  [[maybe_unused]] static const int once =
      ::pthread_atfork([] { root().mutex.lock(); }, [] { root().mutex.unlock(); },
                       [] {
                         if (Listener* const l = root().listener.get(); l != nullptr)
                           l->calls = calling == l ? 1 : 0;
                         root().mutex.unlock();
                       });
}

}  // namespace

std::string_view name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<Level> levelNamed(std::string_view name) {
  const auto at = std::ranges::find(kNames, name);
  const auto level = static_cast<Level>(at - kNames.begin());
  return at == kNames.end() || level == Level::Asked ? std::nullopt : std::optional(level);
}

std::string levelNames() {
  std::string all;
  for (const std::string_view level : kNames)
    if (level != name(Level::Asked)) all.append(all.empty() ? "" : ", ").append(level);
  return all;
}

Level levelOf(unsigned verbosity) {
  return static_cast<Level>(static_cast<unsigned>(kDefaultLevel) -
                            std::min(verbosity, static_cast<unsigned>(kDefaultLevel)));
}

Level levelOfEnvironment() {
  const char* const value = std::getenv("PTXOPT_LOG_LEVEL");
  return value == nullptr ? kDefaultLevel : levelNamed(value).value_or(kDefaultLevel);
}

bool isEnabled(Level level) {
  return level >= root().least.load(std::memory_order_relaxed) ||
         level >= root().heard.load(std::memory_order_relaxed);
}

void write(Level level, const Source& source, std::string_view text) { send(level, source, source.program, text); }

void writeLines(Level level, const Source& source, std::string_view lines) {
  if (!lines.empty()) send(level, source, nullptr, lines);
}

void remark(const Source& source, std::string_view text) {
  writeLines(Level::Warn, source, fmt::format("{}: remark: {}\n", source.program, text));
}

std::optional<Format> formatNamed(std::string_view name) {
  if (name == "text") return Format::Text;
  if (name == "json") return Format::Json;
  return std::nullopt;
}

void setStandardError(Level level, Format format, bool hasColours) {
  auto sink = std::make_shared<DescriptorSink>(STDERR_FILENO, false, format, hasColours);
  if (root().standardError) root().sinks.remove_sink(root().standardError);
  root().standardError = sink;
  add(std::move(sink), level);
}

void setAround(Around around) {
  if (root().standardError) root().standardError->setAround(std::move(around));
}

bool addFile(const std::string& path, Level level, Format format, std::string& problem) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    problem = fmt::format("cannot write '{}': {}", path, std::strerror(errno));
    return false;
  }
  add(std::make_shared<DescriptorSink>(file, true, format, false), level);
  return true;
}

void setCallback(Level level, Callback callback) {
  prepareForForks();
  std::shared_ptr<Listener> listener = callback ? std::make_shared<Listener>(std::move(callback)) : nullptr;
  {
    const std::scoped_lock lock(root().mutex);
    root().heard = listener ? level : Level::Off;
    listener.swap(root().listener);
  }
  if (listener == nullptr) return;
  // One that replaces itself is not waited for.
  const unsigned own = calling == listener.get() ? 1 : 0;
  for (unsigned calls = listener->calls; calls > own; calls = listener->calls) listener->calls.wait(calls);
}

void setCallbackLevel(Level level) {
  const std::scoped_lock lock(root().mutex);
  if (root().listener) root().heard = level;
}

void removeSinks() {
  setCallback(Level::Off, nullptr);
  const std::scoped_lock lock(root().mutex);
  root().sinks.set_sinks({});
  root().standardError.reset();
  root().least = Level::Off;
}

}  // namespace ptxopt::log
