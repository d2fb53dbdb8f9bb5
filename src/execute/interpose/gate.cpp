// A counter of those inside and a flag that the gate is wanted are guarded by one mutex and condition. The depth of
// each thread makes nested passages free. Closing gives up after a given time.
#include "interpose/gate.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>

#include "interpose/real.h"

namespace ptxopt::interpose {
namespace {

thread_local unsigned depth = 0;

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned inside = 0;    // calls that passed
  bool isWanted = false;  // who closes it waits for them, or has it: nobody else passes
};
State& state() {
  static auto* const all = new State;  // never ended: programs call in until the very end
  return *all;
}

void setWanted(bool is) {
  {
    const std::lock_guard guard(state().mutex);
    state().isWanted = is;
  }
  state().changed.notify_all();
}

}  // namespace

bool Gate::isInside() { return depth != 0; }

Gate::Passage::Passage() : counts_(isRequested()) {
  static const bool isFollowed = counts_ && ::pthread_atfork(nullptr, nullptr, endRequest) == 0;
  static_cast<void>(isFollowed);
  if (!counts_ || depth++ != 0) return;
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return !s.isWanted; });
  ++s.inside;
}

Gate::Passage::~Passage() {
  if (!counts_ || --depth != 0) return;
  {
    const std::lock_guard guard(state().mutex);
    --state().inside;
  }
  state().changed.notify_all();
}

Gate::Closed::Closed(std::chrono::milliseconds patience) {
  State& s = state();
  const auto end = std::chrono::system_clock::now() + patience;
  {
    std::unique_lock lock(s.mutex);
    if (!s.changed.wait_until(lock, end, [&] { return !s.isWanted; })) return;
    s.isWanted = true;
    isClosed_ = s.changed.wait_until(lock, end, [&] { return s.inside == 0; });
  }
  if (isClosed_)
    ++depth;
  else
    setWanted(false);
}

Gate::Closed::~Closed() {
  if (!isClosed_) return;
  --depth;
  setWanted(false);
}

}  // namespace ptxopt::interpose
