// ptxopt-ptxas: the drop-in ptxas alone. It is called once for each file of a build, so that it is linked to start
// quickly (cmake/drop_in.cmake).
#include <new>

#include "ptxopt/ptxopt.h"
#include "tool/commands/as_ptxas.h"
#include "tool/terminal/messages.h"

int main(int argc, char** argv) {
  using namespace ptxopt;
  try {
    return tool::runAsPtxas(argc, argv);
  } catch (const std::bad_alloc&) {
    return tool::fail(Status::Usage, "out of memory");
  } catch (const std::exception& e) {
    return tool::fail(Status::Internal, e.what());
  }
}
