// Memory at addresses of the program's choice: an address is reserved, memory is made, and mapped there.
//
// Memory is mapped as a whole, to one place, and kernels see what is mapped; access rights are taken as reading and writing.
#include <sys/mman.h>

#include <map>
#include <stdexcept>

#include "emulate/driver/driver.h"

using namespace ptxopt::emulate;

namespace {

constexpr uint64_t kPiece = uint64_t{2} << 20;  // as devices have it
// The addresses that a device has, without those that the interpreter uses for other spaces.
constexpr uint64_t kLeast = 0x0000'5000'0000'0000, kMost = 0x0000'8000'0000'0000;
// The driver places smaller reservations itself.
constexpr uint64_t kPlaced = uint64_t{32} << 20;
constexpr uint64_t kFirstChosen = 0x0000'6000'0000'0000;

struct Reservation {
  uint64_t size = 0;
};
struct Physical {
  uint64_t size = 0;
  void* data = nullptr;
  ptxopt::exec::Allocation* mapped = nullptr;
  bool isReleased = false;
};
std::map<uint64_t, Reservation> reservations;
std::map<uint64_t, Physical> physical;  // by handle
uint64_t nextHandle = 1;

bool isReserved(uint64_t address, uint64_t size) {
  const auto after = reservations.lower_bound(address + size);
  return after != reservations.begin() && std::prev(after)->first + std::prev(after)->second.size > address;
}

void needPieces(uint64_t number) {
  need(number != 0 && number % kPiece == 0, Code::InvalidValue, "no multiple of the granularity");
}

Physical& physicalAt(uint64_t handle) {
  const auto found = physical.find(handle);
  need(found != physical.end(), Code::InvalidValue, "there is no such memory");
  return found->second;
}

// Memory that is mapped stays until it is not: programs release the handle at once.
void endIfUnused(std::map<uint64_t, Physical>::iterator p) {
  if (!p->second.isReleased || p->second.mapped != nullptr) return;
  munmap(p->second.data, p->second.size);
  physical.erase(p);
}

}  // namespace

CUDA_DRIVER_API int cuMemGetAllocationGranularity(size_t* bytes, const void* kind, int) {
  return answerDriver(__func__, [&] {
    need(kind != nullptr, Code::InvalidValue, "a null pointer");
    out(bytes) = kPiece;
  });
}
CUDA_DRIVER_API int cuMemAddressReserve(uint64_t* address, size_t size, size_t, uint64_t wanted,
                                        unsigned long long flags) {
  return answerDriver(__func__, [&] {
    needPieces(size);
    need(flags == 0, Code::InvalidValue, "flags");
    // An address that is not free is not an error: another one is given.
    const bool isFree = size >= kPlaced && wanted >= kLeast && wanted % kPiece == 0 && wanted <= kMost - size &&
                        !isReserved(wanted, size);
    uint64_t chosen = isFree ? wanted : kFirstChosen;
    while (isReserved(chosen, size)) chosen += kPiece;
    reservations[chosen] = {size};
    out(address) = chosen;
  });
}
CUDA_DRIVER_API int cuMemAddressFree(uint64_t address, size_t size) {
  return answerDriver(__func__, [&] {
    const auto found = reservations.find(address);
    need(found != reservations.end() && found->second.size == size, Code::InvalidValue, "it was not reserved");
    reservations.erase(found);
  });
}
CUDA_DRIVER_API int cuMemCreate(unsigned long long* handle, size_t size, const void* kind, unsigned long long) {
  return answerDriver(__func__, [&] {
    needPieces(size);
    need(kind != nullptr, Code::InvalidValue, "a null pointer");
    if (size > State::get().memory.available())
      throw Failure{Code::MemoryAllocation, "the device has no memory of this size left"};
    void* const data =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw Failure{Code::MemoryAllocation, "the host has no memory left"};
    physical[nextHandle] = {size, data};
    out(handle) = nextHandle++;
  });
}
CUDA_DRIVER_API int cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long handle,
                             unsigned long long) {
  return answerDriver(__func__, [&] {
    Physical& p = physicalAt(handle);
    need(size == p.size && offset == 0 && p.mapped == nullptr, Code::NotSupported,
         "memory is mapped as a whole, and once");
    const auto after = reservations.upper_bound(address);
    need(after != reservations.begin() && address + size <= std::prev(after)->first + std::prev(after)->second.size,
         Code::InvalidValue, "the address is not reserved");
    try {
      p.mapped =
          &State::get().memory.global().attach("mapped memory", address, {static_cast<std::byte*>(p.data), size});
    } catch (const std::invalid_argument&) {
      throw Failure{Code::InvalidValue, "something lies at the address"};
    }
  });
}
CUDA_DRIVER_API int cuMemSetAccess(uint64_t address, size_t, const void* access, size_t) {
  return answerDriver(__func__, [&] {
    need(access != nullptr && State::get().memory.global().find(address) != nullptr, Code::InvalidValue,
         "nothing is mapped there");
  });
}
CUDA_DRIVER_API int cuMemUnmap(uint64_t address, size_t size) {
  return answerDriver(__func__, [&] {
    for (auto p = physical.begin(); p != physical.end(); ++p) {
      if (p->second.mapped == nullptr || p->second.mapped->base != address || p->second.size != size) continue;
      State::get().memory.global().release(*p->second.mapped);
      p->second.mapped = nullptr;
      endIfUnused(p);
      return;
    }
    throw Failure{Code::InvalidValue, "nothing is mapped there"};
  });
}
CUDA_DRIVER_API int cuMemRelease(unsigned long long handle) {
  return answerDriver(__func__, [&] {
    physicalAt(handle).isReleased = true;
    endIfUnused(physical.find(handle));
  });
}
