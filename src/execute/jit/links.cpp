// Each linker keeps the calls that add its inputs, so that they can be made again on another one. Replaced linkers are
// destroyed with the last.
#include "jit/links.h"

#include <algorithm>
#include <cstring>

#include "jit/jit_options.h"

namespace ptxopt::jit {

Links& Links::get() {
  static auto* const links = new Links;  // never ended: programs call in until the very end
  return *links;
}

Links::Before Links::before(unsigned count, int* options, void** values) {
  if (options == nullptr || values == nullptr) return {};
  Before before;
  before.options.assign(options, options + count);
  before.values.assign(values, values + count);
  before.logs = JitOptions(count, options, values).logs();
  return before;
}

void Links::created(void* handle, Before before, int* options, void** values) {
  const std::lock_guard guard(mutex_);
  Link& link = links_[handle] = {};
  link.current = handle;
  link.before = std::move(before);
  if (!hasOutputs(static_cast<unsigned>(link.before.options.size()), options)) return;
  link.options = options;
  link.values = values;
}

// A linker is used by one thread at a time, and its entry stays where it is until it is destroyed.
Links::Link* Links::find(void* handle) {
  const std::lock_guard guard(mutex_);
  const auto found = links_.find(handle);
  return found != links_.end() ? &found->second : nullptr;
}

void* Links::current(void* handle) {
  const Link* const link = find(handle);
  return link != nullptr ? link->current : handle;
}

const Links::Before* Links::optionsOf(void* handle) {
  const Link* const link = find(handle);
  return link != nullptr ? &link->before : nullptr;
}

bool Links::startAgain(Link& link, const LinkCalls& calls, int& result) {
  Before& before = link.before;
  for (const auto& [place, bytes] : before.logs) std::memcpy(before.values[place], bytes.data(), bytes.size());
  if (link.values != nullptr) std::copy(before.values.begin(), before.values.end(), link.values);
  link.replaced.reserve(link.replaced.size() + 1);
  void* made = nullptr;
  int* const options = link.options != nullptr ? link.options : before.options.data();
  void** const values = link.values != nullptr ? link.values : before.values.data();
  if (calls.create(static_cast<unsigned>(before.options.size()), options, values, &made) != 0) return false;
  link.replaced.push_back(link.current);
  link.current = made;
  link.hasOptimized = false;
  result = 0;
  for (const AddOriginal& add : link.inputs) result = add(made);
  return true;
}

int Links::add(void* handle, const AddOriginal& addOriginal, const AddOriginal& addOptimized,
               const LinkCalls& calls, int& refusal) {
  Link* const link = find(handle);
  if (link == nullptr) return addOriginal(handle);
  link->inputs.push_back(addOriginal);  // before anything is added: it may throw
  if (!addOptimized) return addOriginal(link->current);
  const int result = addOptimized(link->current);
  if (result == 0) {
    link->hasOptimized = true;
    return result;
  }
  refusal = result;
  int again = result;
  return startAgain(*link, calls, again) ? again : addOriginal(link->current);
}

int Links::complete(void* handle, const std::function<int(void*)>& call, const LinkCalls& calls) {
  Link* const link = find(handle);
  if (link == nullptr) return call(handle);
  const int result = call(link->current);
  int again = 0;
  if (result == 0 || !link->hasOptimized || !startAgain(*link, calls, again)) return result;
  return call(link->current);
}

int Links::destroy(void* handle, const LinkCalls& calls) {
  Link link;
  {
    const std::lock_guard guard(mutex_);
    const auto found = links_.find(handle);
    if (found == links_.end()) return calls.destroy(handle);
    link = std::move(found->second);
    links_.erase(found);
  }
  for (void* const old : link.replaced) calls.destroy(old);
  return calls.destroy(link.current);
}

}  // namespace ptxopt::jit
