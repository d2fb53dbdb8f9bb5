// While one thread looks at what a launch does, the calls of others that would change memory wait.
//
// Many pass at a time; who closes the gate waits until they are done, and is alone. A function of the driver that calls another one by its name is
// inside already. Where nothing asks for it (isRequested()), the gate costs nothing.
#pragma once

#include <chrono>

namespace ptxopt::interpose {

class Gate {
 public:
  // Whether this thread is in a call that has passed, or has closed the gate.
  static bool isInside();

  class Passage {
   public:
    Passage();
    Passage(const Passage&) = delete;
    Passage& operator=(const Passage&) = delete;
    ~Passage();

   private:
    bool counts_;
  };

  class Closed {
   public:
    explicit Closed(std::chrono::milliseconds patience);
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;
    ~Closed();
    // False: another thread stayed inside for as long.
    bool isClosed() const { return isClosed_; }

   private:
    bool isClosed_ = false;
  };
};

}  // namespace ptxopt::interpose
