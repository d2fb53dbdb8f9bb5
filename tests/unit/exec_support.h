// Running a piece of PTX in the interpreter and looking at what it stored.
//
//     ExecTest t(R"(... .visible .entry k(.param .u64 out, .param .u64 in) {...})");
//     t.buffer<uint32_t>("in", {1, 2, 3});                // buffers and scalars become the kernel's parameters in
//     t.zeros<uint32_t>("out", 32);                       // the order in which they are passed
//     t.run({"out", "in"}, {.grid = {1}, .block = {32}});
//     CHECK(t.values<uint32_t>("out") == ...);
//
// perLane() makes the usual kernel around a few instructions: see there.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "exec/launch.h"
#include "exec/machine.h"
#include "exec_rows.h"
#include "text/parse.h"

namespace ptxopt::exec {

class ExecTest {
 public:
  explicit ExecTest(std::string text) : text_(std::move(text)) {
    auto parsed = text::parse(text_);
    if (const auto* error = std::get_if<text::ParseError>(&parsed))
      throw std::runtime_error(text::render(*error, "<test>"));
    module_ = std::move(std::get<0>(parsed));
    machine_ = std::make_unique<Machine>(*module_);
  }

  Machine& machine() { return *machine_; }

  template <typename T>
  void buffer(const std::string& name, const std::vector<T>& values) {
    Allocation& a = machine_->memory().allocate(name, values.size() * sizeof(T));
    std::memcpy(a.data, values.data(), a.size);
    buffers_[name] = &a;
  }
  template <typename T>
  void zeros(const std::string& name, std::size_t count) {
    buffer<T>(name, std::vector<T>(count));
  }
  template <typename T>
  std::vector<T> values(const std::string& name) const {
    const Allocation& a = *buffers_.at(name);
    std::vector<T> v(a.size / sizeof(T));
    std::memcpy(v.data(), a.data, a.size);
    return v;
  }
  uint64_t address(const std::string& name) const { return buffers_.at(name)->base; }
  Allocation& allocation(const std::string& name) { return *buffers_.at(name); }

  using Argument = std::variant<const char*, uint32_t, int32_t, uint64_t, float, double>;
  struct Shape {
    Dim3 grid{}, block{}, cluster{};
    uint32_t dynamicShared = 0;
    unsigned jobs = 1;
    uint64_t firstCluster = 0;
    uint64_t stepLimit = 100'000'000;
    bool checkRaces = false, checkUninitialised = false, checkGlobalRaces = false, checkDivisions = false;
  };

  // Launches the kernel (by default the first) with buffers by name and scalars by value.
  void run(const std::vector<Argument>& arguments, const Shape& shape, const std::string& kernel = "") {
    const std::string name = kernel.empty() ? machine_->kernels().at(0) : kernel;
    const Program& program = machine_->kernel(name);
    LaunchConfig config;
    config.grid = shape.grid;
    config.block = shape.block;
    config.cluster = shape.cluster;
    config.dynamicShared = shape.dynamicShared;
    config.jobs = shape.jobs;
    config.firstCluster = shape.firstCluster;
    config.stepLimit = shape.stepLimit;
    config.checkRaces = shape.checkRaces;
    config.checkGlobalRaces = shape.checkGlobalRaces;
    config.checkDivisions = shape.checkDivisions;
    config.checkUninitialised = shape.checkUninitialised;
    config.parameters.resize(program.parameterBytes());
    if (arguments.size() != program.parameters().size()) throw std::runtime_error("wrong number of arguments");
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Placement& place = program.parameters()[i].place;
      std::visit(
          [&](const auto& v) {
            if constexpr (std::is_same_v<std::decay_t<decltype(v)>, const char*>) {
              const uint64_t a = address(v);
              std::memcpy(config.parameters.data() + place.offset, &a, 8);
            } else {
              if (sizeof v != place.bytes) throw std::runtime_error("argument of another size");
              std::memcpy(config.parameters.data() + place.offset, &v, sizeof v);
            }
          },
          arguments[i]);
    }
    if (shape.jobs == 1) config.observer = &executedRows();
    machine_->launch(name, config);
  }

 private:
  std::string text_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<Machine> machine_;
  std::map<std::string, Allocation*> buffers_;
};

// Runs `body` in one block of `threads` threads and returns what it left in %out. Thread t finds sources[k][t] in
// registers %a, %b, %c, %d, declared with the types given (their sizes must be those of the values). Registers
// %p<10> %h<10> %r<10> %f<10> %rd<10> %fd<10> are free for the body; so is %thread, the thread's number.
template <typename Out, typename In>
std::vector<Out> perLane(const std::string& outType,
                         const std::vector<std::pair<std::string, std::vector<In>>>& sources,
                         const std::string& body, const std::string& target = "sm_90a") {
  const std::size_t threads = sources.empty() ? 32 : sources.front().second.size();
  const auto memoryType = [](std::size_t bytes) { return "b" + std::to_string(bytes * 8); };
  std::string text = ".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 o";
  for (std::size_t i = 0; i < sources.size(); ++i) text += ", .param .u64 s" + std::to_string(i);
  text +=
      ")\n{\n.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %rd<10>;\n"
      ".reg .f64 %fd<10>; .reg .b32 %thread; .reg .b64 %at<4>;\n.reg ." +
      outType +
      " %out;\n"
      "mov.u32 %thread, %tid.x;\n";
  const char* names[] = {"%a", "%b", "%c", "%d"};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string n = names[i];
    text += ".reg ." + sources[i].first + " " + n + ";\nld.param.u64 %at0, [s" + std::to_string(i) +
            "];\nmad.wide.u32 %at0, %thread, " + std::to_string(sizeof(In)) + ", %at0;\nld.global." +
            memoryType(sizeof(In)) + " " + n + ", [%at0];\n";
  }
  text += body + "\nld.param.u64 %at0, [o];\nmad.wide.u32 %at0, %thread, " + std::to_string(sizeof(Out)) +
          ", %at0;\nst.global." + memoryType(sizeof(Out)) + " [%at0], %out;\nret;\n}\n";
  ExecTest t(text);
  t.zeros<Out>("o", threads);
  std::vector<ExecTest::Argument> arguments = {"o"};
  std::vector<std::string> keep;
  static const char* const kSources[] = {"s0", "s1", "s2", "s3"};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    t.buffer<In>(kSources[i], sources[i].second);
    arguments.emplace_back(kSources[i]);
  }
  ExecTest::Shape shape;
  shape.grid = {1};
  shape.block = {static_cast<uint32_t>(threads)};
  t.run(arguments, shape);
  return t.values<Out>("o");
}

}  // namespace ptxopt::exec
