// What capturing asks the driver itself.
#pragma once

#include <cstdint>
#include <string>

namespace ptxopt::capture {

// The architecture of the current device: 90.
unsigned architecture();
// Whether what a stream is given becomes a part of a graph.
bool isCapturing(void* stream);
// Until everything is done. False where something has failed.
bool waitForDevice();
bool readMemory(uint64_t address, uint64_t size, std::string& bytes);
// Where a variable of a module or library lies.
bool findVariable(const void* owner, bool isOfLibrary, const char* name, uint64_t& address, uint64_t& size);

}  // namespace ptxopt::capture
