// Messages: everything that is written and is not the result goes through this logger, from any thread.
//
//     log::warn(log::kCache, "the folder is not used: others may write to it");
//     log::debug(log::kPtxas, [&] { return fmt::format("{}: {:.1f} ms", command, time); });
//
// A message has a level and a source, and goes to every sink that takes its level. The text that people read is
// `ptxopt: LEVEL: TEXT`, with the name of the program that the source belongs to; `place: error: ...` and what was
// asked for (tables, remarks) are written as they are. JSON is an object a line: time, level, source, message.
//
// One logger for the process, which has no sink at first: a library does not write. Programs call setStandardError().
// Sinks may be added at any time. spdlog does the work, in log.cpp only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace ptxopt::log {

// From what is said most often to what is said always. Asked: what the user asked for by an option of its own, such as
// a table or remarks, and what a program says when it is done.
enum class Level : uint8_t { Trace, Debug, Info, Warn, Error, Asked, Off };
inline constexpr Level kDefaultLevel = Level::Warn;
std::string_view name(Level level);  // "trace", ..., "off"
std::optional<Level> levelNamed(std::string_view name);
// The levels that a user may choose, for help and errors: "trace, debug, info, warn, error, off".
std::string levelNames();
// The level for that many -v: Warn, Info, Debug, Trace.
Level levelOf(unsigned verbosity);
// The level of $PTXOPT_LOG_LEVEL; kDefaultLevel where it names none.
Level levelOfEnvironment();

// The part of ptxopt that a message is from, and the program whose name is written before it.
struct Source {
  const char* name;
  const char* program;
};
inline constexpr Source kTool{"tool", "ptxopt"}, kPasses{"passes", "ptxopt"}, kAnalyses{"analyses", "ptxopt"},
    kGuard{"guard", "ptxopt"}, kPtxas{"ptxas", "ptxopt"}, kCache{"cache", "ptxopt"}, kDropIn{"drop-in", "ptxopt"},
    kNvcc{"nvcc", "ptxopt"}, kDiff{"diff", "ptxopt diff"}, kBaseline{"baseline", "ptxopt baseline"},
    kReduce{"reduce", "ptxopt reduce"}, kReport{"report", "ptxopt report"}, kRun{"run", "ptxopt run"},
    kEmulate{"emulate", "ptxopt emulate"}, kCapture{"capture", "ptxopt capture"};
inline constexpr const Source* kSources[] = {&kTool,   &kPasses, &kAnalyses, &kGuard,   &kPtxas,
                                             &kCache,  &kDropIn, &kNvcc,     &kDiff,    &kBaseline,
                                             &kReduce, &kReport, &kRun,      &kEmulate, &kCapture};

// Whether any sink takes this level: what is costly to say is asked first.
bool isEnabled(Level level);
// `PROGRAM: LEVEL: TEXT` and a line feed; of Info and Asked `PROGRAM: TEXT`, and of remarks `PROGRAM: remark: TEXT`.
void write(Level level, const Source& source, std::string_view text);
// Whole lines, as they are: what names a place of its own, tables. Nothing where there are none.
void writeLines(Level level, const Source& source, std::string_view lines);

// Lines for later: what is found out of several files at a time is said in their order.
struct Lines {
  Level level;
  const Source* source;
  std::string text;
};

inline void error(const Source& source, std::string_view text) { write(Level::Error, source, text); }
inline void warn(const Source& source, std::string_view text) { write(Level::Warn, source, text); }
inline void info(const Source& source, std::string_view text) { write(Level::Info, source, text); }
inline void asked(const Source& source, std::string_view text) { write(Level::Asked, source, text); }
void remark(const Source& source,
            std::string_view text);  // of level Warn: nothing is wrong, but not as one might think
// `makeText()` runs only where a sink takes the level.
template <typename MakeText>
requires std::is_invocable_r_v<std::string, MakeText>
void debug(const Source& source, MakeText&& makeText) {
  if (isEnabled(Level::Debug)) write(Level::Debug, source, makeText());
}
template <typename MakeText>
requires std::is_invocable_r_v<std::string, MakeText>
void trace(const Source& source, MakeText&& makeText) {
  if (isEnabled(Level::Trace)) write(Level::Trace, source, makeText());
}

enum class Format : uint8_t { Text, Json };
std::optional<Format> formatNamed(std::string_view name);  // "text", "json"

// What is done around a message on standard error: a progress line is taken away before and drawn again after.
struct Around {
  std::function<void()> before, after;
};

// The sink for standard error, instead of one that there was. A message is one write(2), so that lines of several processes
// do not mix. `hasColours`: "error:" and "warning:" of text are coloured. In text no line is a command to the service that
// runs a job (`::error file=...::`), whatever names of files and text of theirs it has.
void setStandardError(Level level, Format format = Format::Text, bool hasColours = false);
// For all that goes to standard error from then on; nothing ends it.
void setAround(Around around);
// Appends; false and why in `problem` where the file cannot be opened.
bool addFile(const std::string& path, Level level, Format format, std::string& problem);
// The callback of the process, instead of one that there was; none where it is empty. `text` is without what
// write() adds, and the last line feed.
//
// Any thread calls it, several at a time, and no lock of the logger is held meanwhile: it may wait for what another thread
// has that logs, too. What is logged inside a callback does not go to the callback. setCallback() returns when no other
// thread is in the callback that there was. After a fork() the child has the callback.
using Callback = std::function<void(Level, std::string_view source, std::string_view text)>;
void setCallback(Level level, Callback callback);
// Applies to the current callback; does not wait.
void setCallbackLevel(Level level);
// Takes all sinks and the callback away (for tests, and before others are added).
void removeSinks();

}  // namespace ptxopt::log
