// Launch records: what kernels were launched with, to run them again without the program: in the interpreter, with other PTX,
// on a GPU.
//
// A record is a zip file, version 1, which any zip tool reads:
//     record.json   {"format": "ptxopt launch record", "version": 1, "modules": [...], "launches": [...]}
//     NAME          contents: PTX, and the bytes of buffers, each called by the digest of its bytes (XXH3, 128 bits, hex),
//                   so that what did not change from launch to launch is there once
// A module is {"name", "text": DIGEST}. A launch is {"kernel", "module": INDEX, "grid", "block", "cluster": [x, y, z],
// "shared": BYTES, "parameters": HEX, "environment": {"1": ...}, "heap": {"size", "used": [[offset, size], ...]}, "memory":
// [...]}; an entry of memory is {"name", "address", "size", "readOnly", "variable": whether it is one of the module,
// "alias": the address of an earlier entry that has the same bytes, or 0, "before": DIGEST, "after": DIGEST or ""}. Zip keeps a checksum of each content; the digest is checked as well.
//
// "bindings" are textures, surfaces and samplers: {"handle", "kind", "size": [width, height, depth, layers], "channels",
// "format", "pitch": [row, slice], "linear", "address": [...], "filter", "normalized", "border", "texels": where they lie}. An
// array has no address on a device; in a record it is an entry of memory at an address that is nobody's (kFirstArray).
//
// A launch with textures that could not be recorded is marked {"textures": true} and cannot be run again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exec/shape.h"

namespace ptxopt::record {

struct RecordError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr int kFormatVersion = 1;

struct RecordedModule {
  std::string name, text;  // text: a digest
};

struct RecordedMemory {
  std::string name;
  uint64_t address = 0, size = 0;
  bool isReadOnly = false, isVariable = false;
  uint64_t aliasOf = 0;       // the address of an entry before it whose bytes are these, too: a managed variable
  std::string before, after;  // digests; no `after`: it was not kept
};

// As exec::TextureBinding has it, with numbers for its enumerations.
struct RecordedTexture {
  uint64_t handle = 0;
  unsigned kind = 0;
  std::array<unsigned, 4> size{1, 1, 1, 1};
  unsigned channels = 1, format = 0;
  std::array<uint64_t, 2> pitch{};
  bool isLinear = false;
  std::array<unsigned, 3> addressModes{};
  unsigned filter = 0;
  bool isNormalized = false;
  std::array<float, 4> border{};
  uint64_t texels = 0;  // an address in RecordedLaunch::memory
};
constexpr uint64_t kFirstArray = 0x0000'6F00'0000'0000;

struct RecordedLaunch {
  std::string kernel;
  uint64_t module = 0;  // index
  exec::Dim3 grid, block, cluster;
  uint32_t shared = 0;
  std::vector<std::byte> parameters;
  std::map<unsigned, uint32_t> environment;  // %envregN, where not 0
  uint64_t heapSize = 0;
  std::vector<std::pair<uint64_t, uint64_t>> heapUsed;  // offset and size
  bool hasTextures = false;                             // that were not recorded
  std::vector<RecordedTexture> textures;
  std::vector<RecordedMemory> memory;  // by address
};

// Where a cooperative launch has its barrier, in memory of its own that the driver gives it; 0: it is none.
uint64_t workspaceOf(const RecordedLaunch& launch);

struct Record {
  std::vector<RecordedModule> modules;
  std::vector<RecordedLaunch> launches;
};

// 32 hexadecimal digits.
std::string digestOf(std::string_view bytes);
bool isDigest(std::string_view name);

std::string toJson(const Record& record);
std::string toJson(const RecordedLaunch& launch);
std::string toJson(const std::vector<RecordedModule>& modules);
// Within the limits of record/limits.h, whatever the text; a launch is read at a time. Throws RecordError.
Record recordOfJson(std::string_view json);
RecordedLaunch launchOfJson(std::string_view json);
std::vector<RecordedModule> modulesOfJson(std::string_view json);

}  // namespace ptxopt::record
