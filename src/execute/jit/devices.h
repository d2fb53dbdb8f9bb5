// The devices that code is for, by their architectures.
#pragma once

#include <vector>

namespace ptxopt::jit {

// That of the current context; without one, those of all devices, each once. None where the driver does not say.
std::vector<unsigned> devicesMeant();

}  // namespace ptxopt::jit
