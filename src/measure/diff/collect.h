// What there is to compare: a PTX file, a cubin, a built file (container/built_file.h), a folder with any number of
// these, or a baseline.
//
// In folders, PTX files and cubins are found by .ptx and .cubin, built files by what is in them, at any depth; those
// without device code are passed over, and links to folders are not followed. A single file is known by what is in it.
// Standard input is "-".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "container/built_file.h"
#include "diff/measurements.h"
#include "support/file_bytes.h"

namespace ptxopt::diff {

struct Source {
  std::string file;                 // as Unit::file
  std::string path;                 // to open
  std::optional<std::string> text;  // of what can be read only once
  std::string error;                // what is wrong with a built file
  std::shared_ptr<const FileBytes> built;
  std::optional<container::Module> module;  // of `built`
};

struct Collected {
  Side side;  // of a baseline with its units, otherwise without
  bool isBaseline = false;
  std::vector<Source> sources;  // by file
};

// False, with the reason in `error`, where something cannot be read or a baseline is not one. An empty folder is not an
// error here.
bool collect(const std::string& path, Collected& collected, std::string& error);
// Adds what `path` holds to what is there: false also when two files would have the same name.
bool collectMore(const std::string& path, Collected& collected, std::string& error);

// The bytes of a file; "-" is standard input.
bool readBytes(const std::string& path, std::string& bytes, std::string& error);

}  // namespace ptxopt::diff
