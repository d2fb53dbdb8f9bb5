// One check is used as it is; several are held by AllChecks, which hands each event on to all of them in order.
#include "exec/checks.h"

#include <vector>

#include "exec/checks_made.h"
#include "exec/machine.h"

namespace ptxopt::exec {

namespace {

// Several checks, each called for everything.
class AllChecks final : public Checks {
 public:
  explicit AllChecks(std::vector<std::unique_ptr<Checks>> checks) : checks_(std::move(checks)) {}

  void newFrame(Frame& frame) override {
    for (const auto& c : checks_) c->newFrame(frame);
  }
  void copied(Warp& warp, unsigned lane, const ParameterPlace& to, Frame& toFrame, const ParameterPlace& from,
              Frame& fromFrame) override {
    for (const auto& c : checks_) c->copied(warp, lane, to, toFrame, from, fromFrame);
  }
  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    for (const auto& c : checks_) c->before(warp, routine, op, active);
  }
  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    for (const auto& c : checks_) c->after(warp, routine, op, active);
  }
  void global(Warp& warp, unsigned lane, Allocation& allocation, uint64_t offset, std::byte* data, unsigned bytes,
              Access access) override {
    for (const auto& c : checks_) c->global(warp, lane, allocation, offset, data, bytes, access);
  }
  void shared(Warp& warp, unsigned lane, Block& owner, uint32_t offset, unsigned bytes, Access access) override {
    for (const auto& c : checks_) c->shared(warp, lane, owner, offset, bytes, access);
  }
  void local(Warp& warp, unsigned lane, uint32_t offset, unsigned bytes, Access access) override {
    for (const auto& c : checks_) c->local(warp, lane, offset, bytes, access);
  }
  void barrier(Block& block, const std::vector<uint32_t>& threads) override {
    for (const auto& c : checks_) c->barrier(block, threads);
  }

 private:
  std::vector<std::unique_ptr<Checks>> checks_;
};

}  // namespace

std::unique_ptr<Checks> makeChecks(const LaunchConfig& config) {
  std::vector<std::unique_ptr<Checks>> checks;
  if (config.checkUninitialised) checks.push_back(makeUninitialisedCheck());
  if (config.checkRaces || config.checkGlobalRaces)
    checks.push_back(makeRaceCheck(config.checkRaces, config.checkGlobalRaces));
  if (config.checkDivisions) checks.push_back(makeDivisionCheck());
  if (checks.empty()) return nullptr;
  if (checks.size() == 1) return std::move(checks.front());
  return std::make_unique<AllChecks>(std::move(checks));
}

}  // namespace ptxopt::exec
