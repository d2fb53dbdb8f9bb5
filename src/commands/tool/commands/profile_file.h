// Files of profiles (docs/profile.md) on a command line.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace ptxopt::tool {

// False with the reason in `error`.
bool readProfile(const std::string& path, profile::File& file, std::string& error);
// Why a profile cannot be written there: something else is. Empty where nothing or a profile is.
std::string whyNotWritten(const std::string& path);
// False with the reason in `error`.
bool writeProfile(const std::string& path, const profile::File& file, std::string& error);
// Adds those of a folder, *.json. False with the reason in `error`.
bool mergeFolder(const std::string& folder, profile::File& file, std::string& error);

}  // namespace ptxopt::tool
