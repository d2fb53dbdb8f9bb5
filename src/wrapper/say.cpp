#include "wrapper/say.h"

#include <fmt/format.h>
#include <unistd.h>

#include "wrapper/io.h"

namespace ptxopt {

void say(std::string_view text) { writeBytes(STDERR_FILENO, fmt::format("ptxopt: {}\n", text)); }

}  // namespace ptxopt
