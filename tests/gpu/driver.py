"""The CUDA driver API through ctypes: found when the program runs, so that nothing has to be installed but the driver.

  with Driver(library) as driver:            # raises NoDriver where there is no library, or no device
      module = driver.load(image)            # a cubin, or PTX, which the driver compiles
      function = module.function("saxpy")
      x = driver.memory(4096)
      driver.launch(function, grid, block, shared, [bytes of each parameter])

The library is $PTXOPT_GPU_DRIVER or libcuda.so.1. Every call is checked: one that fails raises CudaError with the name
that the driver gives it. After a kernel failed, every further call of the process fails: who goes on needs a new one.
"""
import ctypes
import os
import sys
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

LIBRARY = "libcuda.so.1"
VARIABLE = "PTXOPT_GPU_DRIVER"
PYTHON = [sys.executable, "-S", "-s"]  # what a process that uses this is started by: without packages, which it does not need
STUB = "the interpreter of ptxopt"  # what the stub calls itself: its times are counts of instructions
COMPUTE_MAJOR, COMPUTE_MINOR, MULTIPROCESSORS, CLOCK_KHZ = 75, 76, 16, 13  # CUdevice_attribute
FUNCTION_ATTRIBUTES = {"threads": 0, "shared": 1, "const": 2, "local": 3, "registers": 4}  # CUfunction_attribute
DYNAMIC_SHARED = 8
USUAL_SHARED = 48 << 10  # bytes of dynamic shared memory that a kernel has without asking

# Each function, with the types of its parameters; those with _v2 are what cuda.h means by the name without it.
CALLS = {
    "cuInit": [c_uint],
    "cuDriverGetVersion": [c_void_p],
    "cuDeviceGetCount": [c_void_p],
    "cuDeviceGet": [c_void_p, c_int],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuDeviceGetAttribute": [c_void_p, c_int, c_int],
    "cuDevicePrimaryCtxRetain": [c_void_p, c_int],
    "cuDevicePrimaryCtxRelease_v2": [c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuMemGetInfo_v2": [c_void_p, c_void_p],
    "cuModuleLoadData": [c_void_p, c_void_p],
    "cuModuleUnload": [c_void_p],
    "cuModuleGetFunction": [c_void_p, c_void_p, c_char_p],
    "cuFuncGetAttribute": [c_void_p, c_int, c_void_p],
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemcpyDtoD_v2": [c_uint64, c_uint64, c_size_t],
    "cuMemsetD8_v2": [c_uint64, ctypes.c_ubyte, c_size_t],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p],
    "cuStreamSynchronize": [c_void_p],
    "cuEventCreate": [c_void_p, c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventElapsedTime": [c_void_p, c_void_p, c_void_p],
    "cuEventDestroy_v2": [c_void_p],
    "cuGetErrorName": [c_int, c_void_p],
    "cuGetErrorString": [c_int, c_void_p],
}
PARAMETER_INFO = "cuFuncGetParamInfo"  # of CUDA 12.4 and newer
LAUNCH_CLUSTERS = "cuLaunchKernelEx"  # of CUDA 11.8 and newer
CLUSTER_SHAPE = 4  # CUlaunchAttributeID


class LaunchAttribute(ctypes.Structure):  # CUlaunchAttribute
    _fields_ = [("id", c_uint), ("padding", c_uint), ("shape", c_uint * 3), ("unused", ctypes.c_ubyte * 52)]


class LaunchConfig(ctypes.Structure):  # CUlaunchConfig
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("stream", c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", c_uint)]


class NoDriver(Exception):
    """There is nothing to run on; str() is why."""


class CudaError(Exception):
    def __init__(self, call, code, name, text):
        super().__init__(f"{call}: {name} ({code}): {text}")
        self.call, self.code, self.name = call, code, name


class Memory:
    """Device memory. Freed with the driver."""

    def __init__(self, driver, size):
        self.driver, self.size = driver, size
        address = c_uint64()
        driver.call("cuMemAlloc_v2", byref(address), max(size, 1))
        self.address = address.value

    def write(self, data):
        if len(data) != self.size:
            raise ValueError(f"{len(data)} bytes for memory of {self.size}")
        if self.size:
            self.driver.call("cuMemcpyHtoD_v2", self.address, bytes(data), self.size)

    def read(self):
        data = ctypes.create_string_buffer(max(self.size, 1))
        if self.size:
            self.driver.call("cuMemcpyDtoH_v2", data, self.address, self.size)
        return data.raw[:self.size]

    def clear(self, byte=0):
        if self.size:
            self.driver.call("cuMemsetD8_v2", self.address, byte, self.size)

    def copy_from(self, other):
        if self.size:
            self.driver.call("cuMemcpyDtoD_v2", self.address, other.address, self.size)

    def free(self):
        self.driver.call("cuMemFree_v2", self.address)


class Function:
    def __init__(self, driver, handle, name):
        self.driver, self.handle, self.name = driver, handle, name

    def attributes(self):
        found = {}
        for name, number in FUNCTION_ATTRIBUTES.items():
            value = c_int()
            self.driver.call("cuFuncGetAttribute", byref(value), number, self.handle)
            found[name] = value.value
        return found

    def parameter_sizes(self):
        """The bytes of each parameter, or None where the driver cannot tell."""
        ask = getattr(self.driver.library, PARAMETER_INFO, None)
        if ask is None:
            return None
        ask.argtypes, sizes = [c_void_p, c_size_t, c_void_p, c_void_p], []
        offset, size = c_size_t(), c_size_t()
        while ask(self.handle, len(sizes), byref(offset), byref(size)) == 0:
            sizes.append(size.value)
        return sizes


class Module:
    def __init__(self, driver, image):
        self.driver, self.handle = driver, c_void_p()
        driver.call("cuModuleLoadData", byref(self.handle), bytes(image) + b"\0")

    def function(self, name):
        handle = c_void_p()
        self.driver.call("cuModuleGetFunction", byref(handle), self.handle, name.encode())
        return Function(self.driver, handle, name)

    def unload(self):
        self.driver.call("cuModuleUnload", self.handle)


class Launch:
    """A launch that is ready: calling it costs little more than the driver's own call. `parameters`: the bytes of each."""

    def __init__(self, driver, function, grid, block, shared, parameters, cluster=(1, 1, 1)):
        self.driver, self.values = driver, [ctypes.create_string_buffer(value, max(len(value), 1)) for value in parameters]
        pointers = (c_void_p * max(len(self.values), 1))(*[ctypes.addressof(value) for value in self.values])
        if tuple(cluster) == (1, 1, 1):
            self.name = "cuLaunchKernel"
            self.arguments = (function.handle, *[c_uint(n) for n in (*grid, *block, shared)], None, pointers, None)
        else:
            self.name, self.attribute = LAUNCH_CLUSTERS, LaunchAttribute(CLUSTER_SHAPE, 0, (c_uint * 3)(*cluster))
            config = LaunchConfig((c_uint * 3)(*grid), (c_uint * 3)(*block), shared, None, ctypes.pointer(self.attribute), 1)
            self.arguments = (byref(config), function.handle, pointers, None)
        self.start = getattr(driver.library, self.name)

    def __call__(self):
        """Returns at once: the kernel runs on."""
        code = self.start(*self.arguments)
        if code != 0:
            self.driver.fail(self.name, code)


class Timer:
    """The time between start() and stop() as the device sees it, in milliseconds."""

    def __init__(self, driver):
        self.driver, self.events = driver, [c_void_p(), c_void_p()]
        for event in self.events:
            driver.call("cuEventCreate", byref(event), 0)

    def start(self):
        self.driver.call("cuEventRecord", self.events[0], None)

    def stop(self):
        self.driver.call("cuEventRecord", self.events[1], None)
        self.driver.call("cuEventSynchronize", self.events[1])
        elapsed = c_float()
        self.driver.call("cuEventElapsedTime", byref(elapsed), *self.events)
        return elapsed.value

    def close(self):
        for event in self.events:
            self.driver.call("cuEventDestroy_v2", event)


class Driver:
    def __init__(self, library=None, device=0):
        path = library or os.environ.get(VARIABLE) or LIBRARY
        try:
            self.library = ctypes.CDLL(path)
            for name, types in CALLS.items():
                getattr(self.library, name).argtypes = types
        except (OSError, AttributeError) as error:
            raise NoDriver(f"there is no CUDA driver: {error}") from None
        self.device = c_int()
        try:
            self.call("cuInit", 0)
            count = c_int()
            self.call("cuDeviceGetCount", byref(count))
        except CudaError as error:
            raise NoDriver(f"the CUDA driver has no device: {error}") from None
        if count.value <= device:
            raise NoDriver(f"there is no device {device}: the driver has {count.value}")
        self.call("cuDeviceGet", byref(self.device), device)
        context = c_void_p()
        self.call("cuDevicePrimaryCtxRetain", byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.cuDevicePrimaryCtxRelease_v2(self.device)  # may fail: after a kernel failed everything does

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            self.fail(name, code)

    def fail(self, name, code):
        raise CudaError(name, code, self.error_text("cuGetErrorName", code), self.error_text("cuGetErrorString", code))

    def error_text(self, ask, code):
        text = c_char_p()
        known = getattr(self.library, ask)(code, byref(text)) == 0 and text.value
        return text.value.decode() if known else "unknown"

    def attribute(self, number):
        value = c_int()
        self.call("cuDeviceGetAttribute", byref(value), number, self.device)
        return value.value

    def describe(self):
        """What the figures were measured on."""
        def or_none(number):
            try:
                return self.attribute(number)
            except CudaError:
                return None

        name, version = ctypes.create_string_buffer(256), c_int()
        self.call("cuDeviceGetName", name, len(name), self.device)
        self.call("cuDriverGetVersion", byref(version))
        return {"name": name.value.decode(), "driver": f"{version.value // 1000}.{version.value % 1000 // 10}",
                "capability": [self.attribute(COMPUTE_MAJOR), self.attribute(COMPUTE_MINOR)],
                "multiprocessors": self.attribute(MULTIPROCESSORS), "clock_khz": or_none(CLOCK_KHZ)}

    def free_bytes(self):
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def load(self, image):
        return Module(self, image)

    def memory(self, size):
        return Memory(self, size)

    def timer(self):
        return Timer(self)

    def allow_shared(self, function, shared):
        """A kernel that wants more than the usual dynamic shared memory must be told."""
        if shared > USUAL_SHARED:
            self.call("cuFuncSetAttribute", function.handle, DYNAMIC_SHARED, shared)

    def launch(self, function, grid, block, shared, parameters):
        Launch(self, function, grid, block, shared, parameters)()

    def synchronize(self):
        self.call("cuStreamSynchronize", None)
