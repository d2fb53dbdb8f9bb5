// Device functions and calls of them.
#pragma once

#include <string>
#include <vector>

#include "body.h"

namespace kernels {

struct DeviceFunction {
  enum class Kind : uint8_t {
    Scalar,   // of class c
    Array,    // 16 bytes by value
    Pointer,  // generic, to 32 bytes that only the caller's thread uses
    Depth,    // u32: how deep the function may call itself
    None,     // no result
  };
  struct Value {
    Kind kind = Kind::Scalar;
    Class c = Class::I32;
  };
  std::string name;
  Value result;
  std::vector<Value> parameters;
  std::string table;  // "[table+8]": where its address lies, "" where in none
  std::string home;   // the region whose pointers direct calls give it; those through the table give any
};

// Adds a function to the file; it may call those that are there.
void addFunction(File& file);

// "(.param .b32 x, ...)" with these names; `names` empty: all are `_`.
std::string signature(const DeviceFunction& f, const std::string& result, const std::vector<std::string>& names,
                      const std::string& between);

// A call with these arguments, which `depth` precedes where the function wants one.
void emitCallOf(Body& body, const DeviceFunction& f, const std::string& depth, const std::string& pointer,
                bool byTable = false);

}  // namespace kernels
