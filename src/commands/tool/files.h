// Reading whole files, and writing them so that they appear whole or not at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxopt::tool {

// The bytes of a file. (Not a std::string, which would fill the memory before the file does.)
struct FileText {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  operator std::string_view() const { return {data.get(), size}; }
};

// Reads `path`, or standard input for "-". On failure returns false with the reason in `error`.
bool readFile(const std::string& path, FileText& text, std::string& error);

// Why what is there cannot be replaced by a result: it is not a regular file. Empty where it is one, or nothing.
std::string whyNotReplaceable(const std::string& path);

// A file of a command line: what it is there, and its name. "-" and no name at all are not files.
struct NamedFile {
  std::string_view what;
  std::string path;
};

// Why an output would destroy what is to be read: it is one of the inputs, by whatever name. Empty: it is none of them. An
// output that is to replace its input is not among those that a command gives.
std::string whyOneFile(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs);

struct OutputFile {
  std::string path;  // "-" is standard output
  std::string_view text;
};

// Writes all of them or, on failure, none, with the reason in `error`. Regular files are written beside their
// places and renamed when all went well, so that a failure leaves existing files as they were; owner, mode and
// attributes stay. Links are followed; a file with several names keeps them: it is written over, after a copy was made
// beside it. What cannot be renamed into place, standard output, a device or a pipe, is written after the others are
// ready; a pipe that nobody reads within ten seconds is an error.
bool writeFiles(const std::vector<OutputFile>& files, std::string& error);

}  // namespace ptxopt::tool
