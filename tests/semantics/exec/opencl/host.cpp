// Runs kernels of one OpenCL C file on a CPU device of the installed OpenCL implementations, for run.py.
//
//   host FILE.cl MANIFEST
//
// The manifest has one word and its values a line:
//   kernel NAME          the next launch
//   global X Y Z         work items
//   local X Y Z          work items of a group
//   buffer BYTES IN OUT  the next argument: a buffer that begins as the file IN, and is written to OUT afterwards
//   (- for none) value HEX            the next argument: a scalar's bytes end                  launch it
// Exit 0, or 1 with a message; 3 when there is no implementation that offers a CPU device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kNoDevice = 3;

[[noreturn]] void fail(const std::string& what, int status = 1) {
  std::cerr << "host: " << what << '\n';
  std::exit(status);
}

void check(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS) fail(what + ": OpenCL error " + std::to_string(status));
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

cl_device_id cpuDevice() {
  std::array<cl_platform_id, 8> platforms{};
  cl_uint count = 0;
  if (clGetPlatformIDs(static_cast<cl_uint>(platforms.size()), platforms.data(), &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < count && i < platforms.size(); ++i) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  fail("no OpenCL implementation with a CPU device", kNoDevice);
}

cl_program build(cl_context context, cl_device_id device, const std::string& path) {
  const std::string source = readFile(path);
  const char* text = source.data();
  const std::size_t size = source.size();
  cl_int status = 0;
  cl_program program = clCreateProgramWithSource(context, 1, &text, &size, &status);
  check(status, "clCreateProgramWithSource");
  status =
      clBuildProgram(program, 1, &device, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", nullptr, nullptr);
  if (status != CL_SUCCESS) {
    std::string log(100000, '\0');
    std::size_t used = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &used);
    fail(path + " does not compile:\n" + log.substr(0, used));
  }
  return program;
}

struct Buffer {
  cl_mem memory;
  std::size_t size;
  std::string output;
};

struct Launch {
  cl_kernel kernel = nullptr;
  std::string name;
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};
  cl_uint argument = 0;
  std::vector<Buffer> buffers;
};

void addBuffer(cl_context context, Launch& launch, std::istream& words) {
  std::size_t size = 0;
  std::string input, output;
  words >> size >> input >> output;
  std::string bytes = input == "-" ? std::string(size, '\0') : readFile(input);
  if (bytes.size() != size) fail(input + " is not of " + std::to_string(size) + " bytes");
  cl_int status = 0;
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, bytes.data(), &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(launch.kernel, launch.argument++, sizeof memory, &memory),
        launch.name + ": a buffer as argument");
  launch.buffers.push_back({memory, size, output});
}

void addValue(Launch& launch, std::istream& words) {
  std::string digits;
  words >> digits;
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  check(clSetKernelArg(launch.kernel, launch.argument++, bytes.size(), bytes.data()),
        launch.name + ": a value as argument");
}

void run(cl_command_queue queue, Launch& launch) {
  check(clEnqueueNDRangeKernel(queue, launch.kernel, 3, nullptr, launch.global.data(), launch.local.data(), 0,
                               nullptr, nullptr),
        launch.name + ": launch");
  check(clFinish(queue), launch.name + ": run");
  for (const Buffer& buffer : launch.buffers) {
    if (buffer.output != "-") {
      std::vector<char> bytes(buffer.size);
      check(clEnqueueReadBuffer(queue, buffer.memory, CL_TRUE, 0, buffer.size, bytes.data(), 0, nullptr, nullptr),
            launch.name + ": read");
      std::ofstream out(buffer.output, std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      if (!out.flush()) fail("cannot write " + buffer.output);
    }
    clReleaseMemObject(buffer.memory);
  }
  clReleaseKernel(launch.kernel);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) fail("usage: host FILE.cl MANIFEST");
  cl_device_id device = cpuDevice();
  cl_int status = 0;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue");
  cl_program program = build(context, device, arguments[1]);

  std::istringstream manifest(readFile(arguments[2]));
  Launch launch;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "kernel") {
      launch = {};
      words >> launch.name;
      launch.kernel = clCreateKernel(program, launch.name.c_str(), &status);
      check(status, launch.name);
    } else if (word == "global") {
      words >> launch.global[0] >> launch.global[1] >> launch.global[2];
    } else if (word == "local") {
      words >> launch.local[0] >> launch.local[1] >> launch.local[2];
    } else if (word == "buffer") {
      addBuffer(context, launch, words);
    } else if (word == "value") {
      addValue(launch, words);
    } else if (word == "end") {
      run(queue, launch);
    } else {
      fail("the manifest says " + word);
    }
  }
  return 0;
}
