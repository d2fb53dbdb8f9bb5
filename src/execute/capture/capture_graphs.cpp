// Graphs that are launched, one wanted kernel after the other.
#include <algorithm>

#include "capture/capture.h"
#include "capture/device.h"
#include "exec/error.h"

namespace ptxopt::capture {

void Capture::complete(GraphNode& node) {
  const KnownKernel* known = modules.kernel(node.launch.function);
  void* module = nullptr;
  std::string name;
  if (known == nullptr && findOwner(node.launch.function, module, name))
    known = modules.addFound(node.launch.function, module, name, isModuleOf);
  // One that is not known, or has no PTX, is declined by its launch.
  node.isWanted = known == nullptr || settings_.wants(known->name);
  node.arguments.clear();
  if (known == nullptr || !node.isWanted) return;
  known->ptx->parse(architecture());
  const Function* const kernel =
      known->ptx->module != nullptr ? kernelNamed(*known->ptx->module, known->name) : nullptr;
  std::string error;
  try {
    if (kernel != nullptr) node.arguments = packed(*known->ptx->module, *kernel, node.launch, error);
  } catch (const exec::ExecError&) {
    // begin() comes to the same, and says so.
  }
}

std::vector<GraphNode> Capture::nodesToRecord(const void* instance, void* stream) {
  const std::lock_guard guard(lock_);
  if (recorded_ >= settings_.most || isCapturing(stream)) return {};
  const GraphInstance* const found = graphs.find(instance);
  if (found == nullptr) {
    decline("by a graph that was not instantiated in a way that is followed");
    return {};
  }
  const bool isWanted =
      std::any_of(found->nodes.begin(), found->nodes.end(), [](const GraphNode& n) { return n.isWanted; });
  if (!found->refusal.empty() && (isWanted || found->nodes.empty())) decline("by a graph " + found->refusal);
  return isWanted && found->refusal.empty() ? found->nodes : std::vector<GraphNode>();
}

int Capture::launchedGraph(void* instance, void* stream, const std::function<int()>& launch) {
  std::vector<GraphNode> nodes = nodesToRecord(instance, stream);
  if (nodes.empty()) return launch();
  const std::lock_guard one(launching_);
  {
    Switches switches(instance, nodes);
    if (switches.isReady()) return launchNodes(nodes, switches, stream, launch);
  }
  note([](Capture& c) { c.decline("by a graph whose nodes the driver does not switch off"); });
  return launch();
}

int Capture::launchNodes(std::vector<GraphNode>& nodes, Switches& switches, void* stream,
                         const std::function<int()>& launch) {
  // What is on at a time: one wanted kernel, or all that comes until the next one.
  const auto isAlone = [&](std::size_t i) { return nodes[i].isWanted && switches.wasOn(i); };
  int result = 0;
  for (std::size_t i = 0, end = 0; i < nodes.size() && result == 0; i = end) {
    end = i + 1;
    while (!isAlone(i) && end < nodes.size() && !isAlone(end)) ++end;
    for (std::size_t on = i; on < end; ++on) switches.turn(on, true);
    if (isAlone(i)) {
      Launch l = nodes[i].launch;
      l.stream = stream;
      l.parameters = nullptr;
      std::size_t size = nodes[i].arguments.size();
      void* extra[] = {reinterpret_cast<void*>(1), nodes[i].arguments.data(), reinterpret_cast<void*>(2), &size,
                       nullptr};
      l.extra = extra;
      result = launched(l, launch);
    } else {
      result = launch();
    }
    for (std::size_t on = i; on < end; ++on) switches.turn(on, false);
  }
  return result;
}

}  // namespace ptxopt::capture
