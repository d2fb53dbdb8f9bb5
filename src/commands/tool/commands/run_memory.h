// The buffers of `ptxopt run`, and the arguments that name them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/machine.h"
#include "tool/commands/run_values.h"

namespace ptxopt::tool {

// Everything throws RunError, or ExecError where a kernel cannot be run.
class RunMemory {
 public:
  RunMemory(exec::Machine& machine, uint64_t seed) : machine_(machine), seed_(seed) {}

  // "x=buf:f32:16:iota"
  void declare(const std::string& text);
  // The parameters' bytes for arguments as the command line has them, which are checked against the kernel's.
  std::vector<std::byte> parameters(const std::string& kernel, const std::vector<exec::KernelParameter>& wanted,
                                    const std::vector<std::string>& arguments);

  struct View {
    ScalarType type = ScalarType::b8;
    exec::Allocation* allocation = nullptr;
    bool isRandom = false;
  };
  // A buffer, or a variable of the module.
  View find(const std::string& name) const;
  const std::map<std::string, View>& buffers() const { return buffers_; }
  // Where the parameters' bytes have addresses, and at what address the buffer or variable begins.
  struct Pointer {
    std::size_t at;
    uint64_t base;
  };
  const std::vector<Pointer>& pointers() const { return pointers_; }
  // Those that bytes:@FILE and buf:TYPE:@FILE named.
  const std::vector<std::string>& files() const { return files_; }

 private:
  struct Argument {
    enum class Kind { Scalar, Bytes, Address } kind = Kind::Scalar;
    ScalarType type = ScalarType::b64;
    std::vector<std::byte> bytes;
    uint64_t base = 0;  // of an address: of its buffer or variable
  };
  std::vector<std::byte> fileBytes(const std::string& path);
  uint64_t makeBuffer(const std::string& name, const std::string& spec);
  Argument argument(const std::string& text, std::size_t number);
  static void check(const exec::KernelParameter& parameter, const Argument& argument, const std::string& where);

  exec::Machine& machine_;
  uint64_t seed_;
  std::map<std::string, View> buffers_;
  std::vector<std::string> files_;
  std::vector<Pointer> pointers_;
};

}  // namespace ptxopt::tool
