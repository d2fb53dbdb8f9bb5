#include "device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exec/observer.h"
#include "text/parse.h"

namespace stand_in {
namespace exec = ptxopt::exec;
namespace {

constexpr uint64_t kGap = 64u << 10;          // between allocations, so that an access beyond one is noticed
constexpr uint64_t kMostSteps = 200'000'000;  // of a launch
constexpr uint32_t kMostShared = 163u << 10;  // of a block

struct Row {
  int number;
  const char *name, *text;
};
constexpr Row kRows[] = {
#define STAND_IN_RESULT(id, number, name, text) {number, name, text},
#include "results.def"
};

const Row* rowOf(int result) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.number == result; });
  return row != std::end(kRows) ? row : nullptr;
}

class Steps final : public exec::Observer {
 public:
  void op(exec::Warp&, const exec::Routine&, const exec::Op&, exec::Mask, exec::Mask active) override {
    if (active != 0) ++count;
  }
  uint64_t count = 0;
};

Result resultOf(exec::FaultKind kind) {
  using Kind = exec::FaultKind;
  switch (kind) {
    case Kind::OutOfBounds:
    case Kind::ReadOnly: return Result::IllegalAddress;
    case Kind::Misaligned: return Result::MisalignedAddress;
    case Kind::Assertion: return Result::Assert;
    case Kind::StepLimit:
    case Kind::Deadlock: return Result::Timeout;
    case Kind::Unsupported: return Result::NotSupported;
    case Kind::BadLaunch: return Result::InvalidValue;
    default: return Result::LaunchFailed;
  }
}

// The device's memory, as a machine sees it during one launch.
class Attached {
 public:
  Attached(exec::GlobalMemory& memory, std::map<uint64_t, std::vector<std::byte>>& buffers) : memory_(memory) {
    for (auto& [address, bytes] : buffers) attached_.push_back(&memory.attach("device memory", address, bytes));
  }
  ~Attached() {
    for (auto i = attached_.rbegin(); i != attached_.rend(); ++i) memory_.release(**i);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  exec::GlobalMemory& memory_;
  std::vector<exec::Allocation*> attached_;
};

// From -1 to 1, another one for each number.
double noiseOf(uint64_t number) {
  uint64_t x = (number + 1) * 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

}  // namespace

const char* nameOf(int result) {
  const Row* const row = rowOf(result);
  return row != nullptr ? row->name : nullptr;
}

const char* textOf(int result) {
  const Row* const row = rowOf(result);
  return row != nullptr ? row->text : nullptr;
}

Settings Settings::fromEnvironment() {
  Settings s;
  if (const char* devices = std::getenv("PTXOPT_STAND_IN_DEVICES")) s.devices = std::atoi(devices);
  if (const char* capability = std::getenv("PTXOPT_STAND_IN_CAPABILITY")) {
    char* end = nullptr;
    s.major = static_cast<int>(std::strtol(capability, &end, 10));
    s.minor = *end == '.' ? std::atoi(end + 1) : 0;
  }
  if (const char* noise = std::getenv("PTXOPT_STAND_IN_NOISE")) s.noise = std::atof(noise);
  s.log = std::getenv("PTXOPT_STAND_IN_LOG") != nullptr;
  return s;
}

void Device::needUnharmed() const {
  if (harm_ != Result::Success) throw Error{harm_, "a kernel failed before"};
}

template <typename T>
T& Device::find(std::map<T*, std::unique_ptr<T>>& live, T* handle, const char* what) {
  const auto found = live.find(handle);
  if (found == live.end()) throw Error{Result::InvalidHandle, what};
  return *found->second;
}

// ---- memory ----

uint64_t Device::allocate(uint64_t size) {
  if (size == 0) throw Error{Result::InvalidValue, "memory of 0 bytes"};
  if (size > freeBytes()) throw Error{Result::OutOfMemory, "the device has 1 GiB"};
  const uint64_t address = nextAddress_;
  // What it holds at first is not defined: not zeros, which would hide that somebody counts on them.
  memory_[address].assign(size, std::byte{0xA5});
  nextAddress_ += (size + 2 * kGap - 1) / kGap * kGap;
  used_ += size;
  return address;
}

void Device::release(uint64_t address) {
  const auto found = memory_.find(address);
  if (found == memory_.end()) throw Error{Result::InvalidValue, "no memory was allocated at this address"};
  used_ -= found->second.size();
  memory_.erase(found);
}

std::byte* Device::bytes(uint64_t address, uint64_t size) {
  const auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) throw Error{Result::InvalidValue, "an address before all memory"};
  auto& [base, data] = *std::prev(after);
  const uint64_t offset = address - base;
  if (offset > data.size() || size > data.size() - offset)
    throw Error{Result::InvalidValue, "a range that lies in no allocation"};
  return data.data() + offset;
}

// ---- modules and functions ----

LoadedModule* Device::load(std::string_view image) {
  if (image.starts_with("\x7f"
                        "ELF"))
    throw Error{Result::NoBinary, "the stand-in takes PTX, not machine code"};
  auto loaded = std::make_unique<LoadedModule>();
  loaded->text = image;
  auto parsed = ptxopt::parse(loaded->text, "<image>");
  if (const auto* wrong = std::get_if<ptxopt::ParseError>(&parsed))
    throw Error{Result::InvalidPtx, ptxopt::render(*wrong, "<image>")};
  loaded->module = std::move(std::get<0>(parsed));
  loaded->machine = std::make_unique<exec::Machine>(*loaded->module);
  LoadedModule* const handle = loaded.get();
  modules_[handle] = std::move(loaded);
  return handle;
}

void Device::unload(LoadedModule* module) {
  find(modules_, module, "no such module");
  std::erase_if(functions_, [&](const auto& f) { return f.first->module == module; });
  modules_.erase(module);
}

Function* Device::function(LoadedModule* module, const char* name) {
  const std::vector<std::string> kernels = find(modules_, module, "no such module").machine->kernels();
  if (std::find(kernels.begin(), kernels.end(), name) == kernels.end())
    throw Error{Result::NotFound, std::string("there is no kernel ") + name};
  auto made = std::make_unique<Function>();
  made->module = module;
  made->name = name;
  Function* const handle = made.get();
  functions_[handle] = std::move(made);
  return handle;
}

Function& Device::known(Function* function) { return find(functions_, function, "no such function"); }

// ---- launches and events ----

void Device::launch(Function* function, const Shape& shape, void* const* parameters) {
  const Function& f = known(function);
  exec::Machine& machine = *f.module->machine;
  if (shape.shared > f.dynamicShared || shape.shared > kMostShared)
    throw Error{Result::InvalidValue, "more shared memory than the function was allowed"};
  Steps steps;
  try {
    const exec::Program& program = f.program();
    if (parameters == nullptr && !program.parameters().empty())
      throw Error{Result::InvalidValue, "the kernel has parameters, none are given"};
    exec::LaunchConfig config;
    config.grid = shape.grid;
    config.block = shape.block;
    config.cluster = shape.cluster;
    config.dynamicShared = shape.shared;
    config.stepLimit = kMostSteps;
    config.observer = &steps;
    config.parameters.resize(program.parameterBytes());
    for (std::size_t i = 0; i < program.parameters().size(); ++i) {
      const exec::Placement& place = program.parameters()[i].place;
      if (parameters[i] == nullptr) throw Error{Result::InvalidValue, "a parameter is missing"};
      std::memcpy(config.parameters.data() + place.offset, parameters[i], place.bytes);
    }
    const Attached attached(machine.memory(), memory_);
    machine.launch(f.name, config);
  } catch (const exec::ExecError& e) {
    const Result result = resultOf(e.kind);
    if (e.kind != exec::FaultKind::BadLaunch) harm_ = result;
    throw Error{result, f.name + ": " + e.message + " " + e.thread};
  }
  clock_ += static_cast<double>(steps.count);
}

Event* Device::makeEvent() {
  auto made = std::make_unique<Event>();
  Event* const handle = made.get();
  events_[handle] = std::move(made);
  return handle;
}

Event& Device::known(Event* event) { return find(events_, event, "no such event"); }

void Device::destroy(Event* event) {
  known(event);
  events_.erase(event);
}

double Device::between(const Event& from, const Event& to) {
  if (!from.isRecorded || !to.isRecorded) throw Error{Result::InvalidHandle, "an event was not recorded"};
  return (to.microseconds - from.microseconds) / 1000 * (1 + settings_.noise * noiseOf(measured_++));
}

}  // namespace stand_in
