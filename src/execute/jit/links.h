// What the driver's linker was given (cuLink*), so that it can be given the originals where it does not take what was
// made of them.
//
// The program's handle is that of the first linker, whichever is used. When it refuses an optimized input, or cannot
// complete with some, another one is made with the options that the program gave, and gets the originals in their
// order: what it says then is what the program gets. The program's buffers have by then what they had when the linker
// was made.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace ptxopt::jit {

// Adds an original to a linker: its call, with copies of its arguments.
using AddOriginal = std::function<int(void* linker)>;
// How the driver makes and ends linkers.
struct LinkCalls {
  std::function<int(unsigned, int*, void**, void**)> create;
  std::function<int(void*)> destroy;
};

class Links {
 public:
  static Links& get();

  // The options of a linker before it is made.
  struct Before {
    std::vector<int> options;
    std::vector<void*> values;
    std::map<unsigned, std::string> logs;  // what the buffers have, by their places
  };
  static Before before(unsigned count, int* options, void** values);
  // `options` and `values` are the program's own: where the driver writes to them they stay; otherwise the program may have freed them
  // since, and copies are used.
  void created(void* handle, Before before, int* options, void** values);
  // What the driver calls it now.
  void* current(void* handle);
  // nullptr: it was made in a way that is not followed.
  const Before* optionsOf(void* handle);
  // Adds an input; `addOptimized`: not empty where there is something to try first. `refusal`: what the driver said of that.
  int add(void* handle, const AddOriginal& addOriginal, const AddOriginal& addOptimized, const LinkCalls& calls,
          int& refusal);
  int complete(void* handle, const std::function<int(void*)>& call, const LinkCalls& calls);
  int destroy(void* handle, const LinkCalls& calls);

 private:
  struct Link {
    void* current = nullptr;
    Before before;
    int* options = nullptr;  // the program's; nullptr: those of `before` are used
    void** values = nullptr;
    std::vector<AddOriginal> inputs;
    bool hasOptimized = false;
    std::vector<void*> replaced;  // linkers that are not used any more
  };
  Link* find(void* handle);
  // With the originals. False where the driver makes none; then all stays as it was.
  static bool startAgain(Link& link, const LinkCalls& calls, int& result);

  std::mutex mutex_;
  std::map<void*, Link> links_;
};

}  // namespace ptxopt::jit
