// What a program has asked of CUDA so far: modules, kernels and variables that were registered, memory, streams,
// events, textures. One for the whole process; its users hold its lock.
//
// Streams run what they are given at once, so that everything is done when a call returns: an order that CUDA allows.
// What a stream that is captured is given becomes a node of a graph instead.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "emulate/launch.h"

namespace ptxopt::emulate {

struct Graph;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  Graph* captured = nullptr;
  bool beganCapture = false;
};

struct Event {
  bool isRecorded = false;
  double milliseconds = 0;    // State::now()
  Graph* captured = nullptr;  // recorded in a stream that is captured
};

// cudaGraphNodeType
enum class NodeType : int { Kernel = 0, Copy = 1, Fill = 2, Host = 3, Child = 4, Empty = 5, Free = 11 };

// A launch with the arguments that it was given, which what a graph launches later keeps.
struct KernelCall {
  const void* function = nullptr;  // the handle of the kernel
  Kernel* kernel = nullptr;
  LaunchShape shape;
  std::vector<std::byte> arguments;

  void run() const;
};

struct GraphNode {
  NodeType type = NodeType::Empty;
  std::function<void()> work;
  std::shared_ptr<const KernelCall> call;  // of a kernel
  std::vector<void*> places;               // of its arguments, for programs that ask
  std::vector<GraphNode*> after;
  bool isEnabled = true;
};

struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;
  std::map<const GraphNode*, GraphNode*>
      own;  // of an instance: its nodes, by those of the graph that it was made of
};

// A fat binary that the program registered, or a module that it loaded.
struct Registered {
  const void* container = nullptr;
  std::vector<const void*> linked;  // containers of relocatable code that it was linked from
  std::string text;                 // where it is PTX itself
  std::unique_ptr<LoadedModule> loaded;
  unsigned number = 0;
};

struct RegisteredKernel {
  Registered* owner = nullptr;
  std::unique_ptr<char> key;  // of one that no function of the host stands for: an address that nobody else has
  Kernel kernel;              // its module is set when it is first used
};

struct RegisteredVariable {
  Registered* owner = nullptr;
  std::string name;
  uint64_t size = 0;
  void** managed = nullptr;  // where the program looks for the address of a managed one
  bool isPlaced = false;     // ... which was written there
};

class State {
 public:
  static State& get();  // made on first use, and never ended: programs call in until the very end

  std::recursive_mutex lock;
  Settings settings;
  Memory memory;
  Launcher launcher;
  std::vector<std::unique_ptr<Registered>> modules;
  // By the address of the host's function, or of their own key: that is their handle, too.
  std::map<const void*, RegisteredKernel> kernels;
  std::map<const void*, RegisteredVariable> variables;
  std::set<Stream*> streams;
  std::set<Event*> events;

  // The architecture of the device: 80.
  unsigned architecture();
  LoadedModule& loaded(Registered& module);
  // A kernel by its handle. Throws Failure.
  Kernel& kernel(const void* symbol);
  exec::Allocation& variable(const void* symbol);
  void placeManaged();

  // Streams: 0, 1 and 2 stand for the default ones.
  Stream* stream(void* handle);  // nullptr for a default one; throws Failure for none
  Event& event(void* handle);
  // Runs it, or notes it where the stream is captured.
  void enqueue(void* stream, NodeType type, std::function<void()> work);
  void enqueue(void* stream, KernelCall call);

  // The error that a kernel left the device with: every call answers it from then on.
  Code harm = Code::Success;
  // For a kernel by its handle. Throws Failure.
  KernelCall call(const void* function, const LaunchShape& shape, void* const* arguments);
  void launch(Kernel& kernel, const LaunchShape& shape, const std::vector<std::byte>& arguments);
  void writeTotals();

  // What events note, and the time between two of them, with the noise that was asked for.
  double now() const;
  double between(const Event& from, const Event& to);

 private:
  State();
  unsigned architecture_ = 0;
  uint64_t measured_ = 0;  // times
};

// What runs in it: `body` with the lock held. Its Failure is the result, and the last error of this thread.
int answer(const char* call, const std::function<void()>& body);
// The same for a call that launches: one that was refused is counted, so that its program cannot pass over it in silence.
int answerLaunch(const char* call, const std::function<void()>& body);
// The same for calls that return a result even after a kernel has failed.
int answerAnyway(const char* call, const std::function<void()>& body);
int& lastError();

}  // namespace ptxopt::emulate
