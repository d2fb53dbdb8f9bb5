// Other threads may capture streams: what this one asks of the driver meanwhile is not to end that.
#pragma once

#include "interpose/real.h"

namespace ptxopt::interpose {

class Relaxed {
 public:
  Relaxed() { exchange(); }
  ~Relaxed() { exchange(); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  void exchange() {
    static auto* const call = reinterpret_cast<int (*)(int*)>(driverFunction("cuThreadExchangeStreamCaptureMode"));
    if (call != nullptr) call(&mode_);
  }
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
};

}  // namespace ptxopt::interpose
