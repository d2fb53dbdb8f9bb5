// Profiles of launches: their file, merging them, finding a module's kernels in them (docs/profile.md).
//
// A profile is a histogram: by kernel, classes of launches with the same block and the same values. It has no addresses and
// no memory, and it is bounded: kMostClasses a kernel. What bounds cost is precision alone, since a profile is a hint.
// Everything is ordered, so that the same launches make the same file; as far as the bounds are not met, in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/launch_profile.h"
#include "ir/module.h"

namespace ptxopt::profile {

inline constexpr std::size_t kMostClasses = 32;  // of a kernel

enum class Unit : uint8_t { Instructions, Microseconds };
std::string_view spelling(Unit unit);

// A loop as the file has it.
struct SeenLoop {
  std::string label;   // at which it begins
  uint32_t index = 0;  // of that label among those of the kernel that something leads to, in the order of the text
  std::string place;   // FILE:LINE of its first instruction; empty: not known
  uint64_t entries = 0, iterations = 0;

  friend bool operator==(const SeenLoop&, const SeenLoop&) = default;
};

struct SeenKernel {
  std::string name;    // as the PTX had it
  std::string digest;  // digestOf() its text
  std::vector<uint32_t> parameterBytes;
  uint64_t launches = 0;
  double time = 0;
  std::vector<LaunchClass> classes;
  std::vector<SeenLoop> loops;

  friend bool operator==(const SeenKernel&, const SeenKernel&) = default;
};

struct File {
  Unit unit = Unit::Instructions;
  std::vector<SeenKernel> kernels;

  double time() const;  // of all kernels
};

// ---- the file's text ----

// Whether the text says that it is one.
bool isProfile(std::string_view json);
// The profile, or what is wrong, ready to print. `name` is that of the file.
std::variant<File, std::string> parse(std::string_view json, std::string_view name);
std::string write(const File& file);

// ---- merging ----

// Classes with the same key add up; then they are bounded. Values of a part that are too many become a range, but for those
// that take much of the kernel's time; after that, classes that take least time go. `launches` and `time` of kernels keep them.
void boundClasses(SeenKernel& kernel);
// Adds a class of launches, whose numbers are of that many launches and so much time. What many calls leave is to be
// bounded.
void addLaunches(SeenKernel& kernel, LaunchClass launches);
// Adds one kernel's launches to those that the file has.
void add(File& to, SeenKernel kernel);
// Adds all, and orders kernels by time. What is wrong, ready to print after the file's name: the units differ.
std::string merge(File& to, File from);
// The order of the file: by time, then by name and digest.
void order(File& file);

// ---- kernels of a module ----

// A name as the source has it, without the parts that hold a hash of the path of its file.
std::string matchName(std::string_view name);
// A digest of the function's text without what depends on its place and on debugging: comments, lines, its own name,
// names of labels.
std::string digestOf(const Module& module, const Function& f);
// The labels that something leads to, in the order of the text: SeenLoop::index counts them.
std::vector<LabelId> usedLabels(const Function& f);
// Bytes of each parameter.
std::vector<uint32_t> parameterBytes(const Module& module, const Function& f);

struct Match {
  uint64_t kernels = 0;                // of the module, that the profile has
  std::vector<std::string> unmatched;  // kernels of the profile that are not in the module, as the source has them
};
// Sets Module::profiles, and what they say of loops as Module::facts, where the user says nothing of these. What is
// wrong, ready to print; empty: nothing. Facts are read before. Functions for which `isUsed` is false get nothing.
std::string read(std::string_view json, std::string_view name, Module& module, Match* match = nullptr,
                 const std::function<bool(const Function&)>& isUsed = {});

}  // namespace ptxopt::profile
