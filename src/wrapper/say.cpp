#include "wrapper/say.h"

#include <fmt/format.h>
#include <unistd.h>

#include "support/atomic_file.h"

namespace ptxopt {

void say(std::string_view text) { writeAll(STDERR_FILENO, fmt::format("ptxopt: {}\n", text)); }

}  // namespace ptxopt
