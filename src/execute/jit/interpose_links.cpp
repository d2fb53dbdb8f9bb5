// The driver's linker, as programs see it: each PTX that it is given is optimized as relocatable code.
#include <cstdint>
#include <memory>

#include "interpose/real.h"
#include "jit/devices.h"
#include "jit/file_contents.h"
#include "jit/image.h"
#include "jit/jit_options.h"
#include "jit/links.h"
#include "jit/log.h"
#include "jit/optimizer.h"

#pragma GCC diagnostic ignored "-Wmissing-declarations"

using namespace ptxopt::interpose;
using namespace ptxopt::jit;

extern "C" {
int cuLinkCreate_v2(unsigned count, int* options, void** values, void** linker);
int cuLinkAddData_v2(void* linker, int type, void* data, size_t size, const char* name, unsigned count,
                     int* options, void** values);
int cuLinkAddFile_v2(void* linker, int type, const char* path, unsigned count, int* options, void** values);
int cuLinkDestroy(void* linker);
}

namespace {

constexpr int kPtx = 1;  // CU_JIT_INPUT_PTX

LinkCalls linkCalls() {
  return {[](unsigned count, int* options, void** values, void** linker) {
            return call(REAL(cuLinkCreate_v2), count, options, values, linker);
          },
          [](void* linker) { return call(REAL(cuLinkDestroy), linker); }};
}

// What a call of cuLinkAddData has, as long as the linker may be asked again.
struct Input {
  std::string bytes, name;
  bool hasName = false;
  int type = 0;
  std::vector<int> options;
  std::vector<void*> values;

  int addTo(void* linker) {
    return call(REAL(cuLinkAddData_v2), linker, type, static_cast<void*>(bytes.data()), bytes.size(),
                hasName ? name.c_str() : nullptr, static_cast<unsigned>(options.size()), options.data(),
                values.data());
  }
};

std::shared_ptr<Input> inputOf(std::string bytes, int type, const char* name, unsigned count, const int* options,
                               void* const* values) {
  auto input = std::make_shared<Input>();
  input->bytes = std::move(bytes);
  input->type = type;
  input->hasName = name != nullptr;
  if (name != nullptr) input->name = name;
  if (options != nullptr && values != nullptr) {
    input->options.assign(options, options + count);
    input->values.assign(values, values + count);
  }
  return input;
}

// The same with what was made of its PTX, with as many zeros after it; nothing where there is nothing to try.
std::shared_ptr<Input> optimizedInput(const char* call, void* linker, const Input& input, Image& image,
                                      Answer& answer) {
  if (input.type != kPtx) return nullptr;
  const std::vector<unsigned> devices = devicesMeant();
  image = imageOf(input.bytes, devices);
  if (image.kind != Image::Kind::Ptx) {
    if (image.kind == Image::Kind::FatBinary) return nullptr;
    note(call, image, {}, false);
    return nullptr;
  }
  const Links::Before* const before = Links::get().optionsOf(linker);
  const auto ask = [&](auto question) {
    return question(static_cast<unsigned>(before->options.size()), before->options.data(), before->values.data());
  };
  if (before == nullptr)
    answer.why = "the linker was made in a way that is not followed";
  else if (ask(wantsPlainCode))
    answer.why = "the program asks for code that is not optimized";
  else
    answer = optimized({image, devices, true, ask(mostRegisters)});
  if (!answer.isOptimized) {
    note(call, image, answer, false);
    return nullptr;
  }
  auto made = std::make_shared<Input>(input);
  made->bytes = answer.image + std::string(input.bytes.size() - image.bytes.size(), '\0');
  return made;
}

// `addOriginal`: the program's call, with copies of what it gave.
int added(const char* call, void* linker, const std::shared_ptr<Input>& input, const AddOriginal& addOriginal) {
  std::shared_ptr<Input> made;
  Image image;
  Answer answer;
  try {
    made = optimizedInput(call, linker, *input, image, answer);
  } catch (const std::exception&) {
    made = nullptr;
  }
  int refusal = 0;
  const AddOriginal addOptimized = made == nullptr ? AddOriginal() : [&](void* to) { return made->addTo(to); };
  const int result = Links::get().add(linker, addOriginal, addOptimized, linkCalls(), refusal);
  if (made != nullptr) note(call, image, answer, refusal == 0, refusalOf(refusal));
  return result;
}

}  // namespace

INTERPOSED cuLinkCreate_v2(unsigned count, int* options, void** values, void** linker) {
  // What the buffers of the program have is known before the driver writes to them.
  Links::Before before;
  try {
    before = Links::before(count, options, values);
  } catch (const std::exception&) {
    return call(REAL(cuLinkCreate_v2), count, options, values, linker);
  }
  const int result = call(REAL(cuLinkCreate_v2), count, options, values, linker);
  if (result == 0 && linker != nullptr) Links::get().created(*linker, std::move(before), options, values);
  return result;
}
INTERPOSED cuLinkAddData_v2(void* linker, int type, void* data, size_t size, const char* name, unsigned count,
                            int* options, void** values) {
  const auto addGiven = [&] {
    return call(REAL(cuLinkAddData_v2), Links::get().current(linker), type, data, size, name, count, options,
                values);
  };
  if (data == nullptr) return addGiven();
  try {
    const auto input =
        inputOf(std::string(static_cast<const char*>(data), size), type, name, count, options, values);
    return added(__func__, linker, input, [input](void* to) { return input->addTo(to); });
  } catch (const std::exception&) {
    return addGiven();  // there is no memory for a copy
  }
}
INTERPOSED cuLinkAddFile_v2(void* linker, int type, const char* path, unsigned count, int* options, void** values) {
  const auto addGiven = [&] {
    return call(REAL(cuLinkAddFile_v2), Links::get().current(linker), type, path, count, options, values);
  };
  if (path == nullptr) return addGiven();
  try {
    std::optional<std::string> bytes = contentsOf(path);
    if (!bytes) return addGiven();
    const auto input = inputOf(std::move(*bytes), type, path, count, options, values);
    // The driver reads the file itself, as the program asks.
    const AddOriginal again = [input](void* to) {
      return call(REAL(cuLinkAddFile_v2), to, input->type, input->name.c_str(),
                  static_cast<unsigned>(input->options.size()), input->options.data(), input->values.data());
    };
    return added(__func__, linker, input, again);
  } catch (const std::exception&) {
    return addGiven();
  }
}
INTERPOSED cuLinkComplete(void* linker, void** image, size_t* size) {
  return Links::get().complete(
      linker, [&](void* to) { return call(REAL(cuLinkComplete), to, image, size); }, linkCalls());
}
INTERPOSED cuLinkDestroy(void* linker) { return Links::get().destroy(linker, linkCalls()); }
