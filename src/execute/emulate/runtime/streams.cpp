// Streams, events, and calls of the host. Streams have done everything when a call returns, so waiting is over at once.
#include "emulate/runtime/exported.h"

using namespace ptxopt::emulate;

namespace {

void* newStream(unsigned flags, int priority) {
  State& s = State::get();
  static uint64_t number = 0;
  auto* const stream = new Stream;
  stream->flags = flags;
  stream->priority = priority;
  stream->id = ++number;
  s.streams.insert(stream);
  return stream;
}

void* newEvent() {
  auto* const event = new Event;
  State::get().events.insert(event);
  return event;
}

void record(void* handle, void* streamHandle) {
  State& s = State::get();
  Event& event = s.event(handle);
  Stream* const stream = s.stream(streamHandle);
  event.captured = stream != nullptr ? stream->captured : nullptr;
  if (event.captured != nullptr) return;
  event.isRecorded = true;
  event.milliseconds = s.now();
}

}  // namespace

CUDA_API(cudaStreamCreate) int cudaStreamCreate(void** stream) {
  return answer(__func__, [&] { out(stream) = newStream(0, 0); });
}
CUDA_API(cudaStreamCreateWithFlags) int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return answer(__func__, [&] { out(stream) = newStream(flags, 0); });
}
CUDA_API(cudaStreamCreateWithPriority)
int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return answer(__func__, [&] { out(stream) = newStream(flags, priority); });
}
CUDA_API(cudaStreamDestroy) int cudaStreamDestroy(void* handle) {
  return answer(__func__, [&] {
    State& s = State::get();
    Stream* const stream = s.stream(handle);
    need(stream != nullptr, Code::InvalidResourceHandle, "the default stream stays");
    s.streams.erase(stream);
    delete stream;
  });
}
CUDA_API(cudaStreamSynchronize) int cudaStreamSynchronize(void* handle) {
  return answer(__func__, [&] {
    const Stream* const stream = State::get().stream(handle);
    need(stream == nullptr || stream->captured == nullptr, Code::StreamCaptureUnsupported,
         "the stream is captured");
  });
}
CUDA_ALSO(cudaStreamSynchronize, cudaStreamSynchronize_ptsz)
CUDA_API(cudaStreamQuery) int cudaStreamQuery(void* handle) {
  return answer(__func__, [&] { State::get().stream(handle); });
}
CUDA_ALSO(cudaStreamQuery, cudaStreamQuery_ptsz)
// An event of a captured stream draws the stream that waits for it into the capture.
CUDA_API(cudaStreamWaitEvent) int cudaStreamWaitEvent(void* handle, void* event, unsigned) {
  return answer(__func__, [&] {
    Stream* const stream = State::get().stream(handle);
    Graph* const captured = State::get().event(event).captured;
    if (captured == nullptr) return;
    need(stream != nullptr, Code::StreamCaptureImplicit, "the default stream waits for a captured event");
    stream->captured = captured;
  });
}
CUDA_ALSO(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz)
CUDA_API(cudaStreamGetFlags) int cudaStreamGetFlags(void* handle, unsigned* flags) {
  return answer(__func__, [&] {
    const Stream* const stream = State::get().stream(handle);
    out(flags) = stream != nullptr ? stream->flags : 0;
  });
}
CUDA_ALSO(cudaStreamGetFlags, cudaStreamGetFlags_ptsz)
CUDA_API(cudaStreamGetPriority) int cudaStreamGetPriority(void* handle, int* priority) {
  return answer(__func__, [&] {
    const Stream* const stream = State::get().stream(handle);
    out(priority) = stream != nullptr ? stream->priority : 0;
  });
}
CUDA_ALSO(cudaStreamGetPriority, cudaStreamGetPriority_ptsz)
CUDA_API(cudaStreamGetId) int cudaStreamGetId(void* handle, unsigned long long* id) {
  return answer(__func__, [&] {
    const Stream* const stream = State::get().stream(handle);
    out(id) = stream != nullptr ? stream->id : 0;
  });
}
CUDA_ALSO(cudaStreamGetId, cudaStreamGetId_ptsz)
CUDA_API(cudaStreamGetDevice) int cudaStreamGetDevice(void* handle, int* device) {
  return answer(__func__, [&] {
    State::get().stream(handle);
    out(device) = 0;
  });
}
CUDA_ALSO(cudaStreamGetDevice, cudaStreamGetDevice_ptsz)
CUDA_API(cudaStreamSetAttribute) int cudaStreamSetAttribute(void* handle, int, const void*) {
  return answer(__func__, [&] { State::get().stream(handle); });
}
CUDA_ALSO(cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz)

// ---- calls of the host ----

CUDA_API(cudaLaunchHostFunc) int cudaLaunchHostFunc(void* handle, void (*function)(void*), void* data) {
  return answer(__func__, [&] { State::get().enqueue(handle, NodeType::Host, [=] { function(data); }); });
}
CUDA_ALSO(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz)
CUDA_API(cudaStreamAddCallback)
int cudaStreamAddCallback(void* handle, void (*function)(void*, int, void*), void* data, unsigned) {
  return answer(__func__,
                [&] { State::get().enqueue(handle, NodeType::Host, [=] { function(handle, 0, data); }); });
}
CUDA_ALSO(cudaStreamAddCallback, cudaStreamAddCallback_ptsz)

// ---- events ----

CUDA_API(cudaEventCreate) int cudaEventCreate(void** event) {
  return answer(__func__, [&] { out(event) = newEvent(); });
}
CUDA_API(cudaEventCreateWithFlags) int cudaEventCreateWithFlags(void** event, unsigned) {
  return answer(__func__, [&] { out(event) = newEvent(); });
}
CUDA_API(cudaEventDestroy) int cudaEventDestroy(void* handle) {
  return answer(__func__, [&] {
    Event* const event = &State::get().event(handle);
    State::get().events.erase(event);
    delete event;
  });
}
CUDA_API(cudaEventRecord) int cudaEventRecord(void* event, void* stream) {
  return answer(__func__, [&] { record(event, stream); });
}
CUDA_ALSO(cudaEventRecord, cudaEventRecord_ptsz)
CUDA_API(cudaEventRecordWithFlags) int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return answer(__func__, [&] { record(event, stream); });
}
CUDA_ALSO(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz)
CUDA_API(cudaEventSynchronize) int cudaEventSynchronize(void* event) {
  return answer(__func__, [&] { State::get().event(event); });
}
CUDA_API(cudaEventQuery) int cudaEventQuery(void* event) {
  return answer(__func__, [&] { State::get().event(event); });
}
// The time that the interpreter took.
CUDA_API(cudaEventElapsedTime) int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  return answer(__func__, [&] {
    const Event &a = State::get().event(from), &b = State::get().event(to);
    need(a.isRecorded && b.isRecorded, Code::InvalidResourceHandle, "an event was not recorded");
    out(milliseconds) = static_cast<float>(State::get().between(a, b));
  });
}
CUDA_ALSO(cudaEventElapsedTime, cudaEventElapsedTime_v2)
