// Finding the clients (clients.def) and the settings that they get.
#pragma once

#include <string>
#include <vector>

#include "doctor/diagnosis.h"

namespace ptxopt::doctor {

// `self`: the path of this program; beside it is the drop-in ptxas. Without the last calls.
std::vector<ClientInfo> findClients(const std::string& self);

}  // namespace ptxopt::doctor
