#include "exec/checks.h"

#include "exec/checks_made.h"
#include "exec/machine.h"

namespace ptxopt::exec {

namespace {

class BothChecks final : public Checks {
 public:
  BothChecks(std::unique_ptr<Checks> first, std::unique_ptr<Checks> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void newFrame(Frame& frame) override {
    first_->newFrame(frame);
    second_->newFrame(frame);
  }
  void copied(Warp& warp, unsigned lane, const ParameterPlace& to, Frame& toFrame, const ParameterPlace& from,
              Frame& fromFrame) override {
    first_->copied(warp, lane, to, toFrame, from, fromFrame);
    second_->copied(warp, lane, to, toFrame, from, fromFrame);
  }
  void before(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    first_->before(warp, routine, op, active);
    second_->before(warp, routine, op, active);
  }
  void after(Warp& warp, const Routine& routine, const Op& op, Mask active) override {
    first_->after(warp, routine, op, active);
    second_->after(warp, routine, op, active);
  }
  void global(Warp& warp, unsigned lane, Allocation& allocation, uint64_t offset, unsigned bytes,
              Access access) override {
    first_->global(warp, lane, allocation, offset, bytes, access);
    second_->global(warp, lane, allocation, offset, bytes, access);
  }
  void shared(Warp& warp, unsigned lane, Block& owner, uint32_t offset, unsigned bytes, Access access) override {
    first_->shared(warp, lane, owner, offset, bytes, access);
    second_->shared(warp, lane, owner, offset, bytes, access);
  }
  void local(Warp& warp, unsigned lane, uint32_t offset, unsigned bytes, Access access) override {
    first_->local(warp, lane, offset, bytes, access);
    second_->local(warp, lane, offset, bytes, access);
  }
  void barrier(Block& block, const std::vector<uint32_t>& threads) override {
    first_->barrier(block, threads);
    second_->barrier(block, threads);
  }

 private:
  std::unique_ptr<Checks> first_, second_;
};

}  // namespace

std::unique_ptr<Checks> makeChecks(const LaunchConfig& config) {
  if (config.checkUninitialised && config.checkRaces)
    return std::make_unique<BothChecks>(makeUninitialisedCheck(), makeRaceCheck());
  if (config.checkUninitialised) return makeUninitialisedCheck();
  if (config.checkRaces) return makeRaceCheck();
  return nullptr;
}

}  // namespace ptxopt::exec
