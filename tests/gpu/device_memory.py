"""The buffers of a job on the device: made, filled, kept as they were at first, restored, read.

Each has GUARD bytes more than the job says, of one pattern, so that a kernel that writes beyond the end is found.
What is large is filled by kernels (fill.cu), which give the same bytes as Python.
"""
from arguments import DIGITS, FLOATS, SIZES, Scalar, initial_bytes, parse, parse_value, random_state
from contents import buffer_bytes, mix

GUARD, PATTERN = 256, 0xA5
FILL_ABOVE = 1 << 16  # elements


class TooLarge(Exception):
    """str() says what does not fit."""


def word(value, size):
    return value.to_bytes(size, "little")


class Filler:
    def __init__(self, driver, image, above=FILL_ABOVE):
        self.driver, self.image, self.above, self.loaded = driver, image, above, None

    def module(self):
        """Loaded when there is something to fill."""
        self.loaded = self.loaded or self.driver.load(self.image)
        return self.loaded

    def __call__(self, buffer, memory, seed, number):
        """`number`: 0 for what the job says; others give random buffers another content."""
        if number and buffer.init == "random":
            data = buffer_bytes(buffer.type, buffer.count, number - 1, mix(mix(seed, number), random_state(seed, buffer.name)))
            return memory.write(data + bytes([PATTERN]) * GUARD)
        memory.clear(PATTERN)
        by_kernel = self.image and buffer.count > self.above and not buffer.init.startswith("@")
        if not by_kernel or buffer.init == "iota" and buffer.type in ("f16", "bf16"):
            return memory.write(initial_bytes(buffer, seed) + bytes([PATTERN]) * GUARD)
        size = word(SIZES[buffer.type], 4)
        digits = word(DIGITS.get(buffer.type, 0), 4)
        head = [word(memory.address, 8), word(buffer.count, 8)]
        if buffer.init == "random":
            self.launch("fill_random", [*head, word(random_state(seed, buffer.name), 8), size, digits])
        elif buffer.init == "iota":
            self.launch("fill_iota", [*head, size, digits])
        else:
            value = parse_value(buffer.type, buffer.init[5:]) if buffer.init.startswith("fill=") else bytes(8)
            self.launch("fill_value", [*head, value.ljust(8, b"\0"), size])
        return None

    def launch(self, kernel, parameters):
        self.driver.launch(self.module().function(kernel), [1024, 1, 1], [256, 1, 1], 0, parameters)
        self.driver.synchronize()


class Buffers:
    """The memory of a list of launches, and their parameters."""

    def __init__(self, driver, launches, folder):
        self.driver, self.buffers = driver, {}
        parsed = [[parse(text, i, self.buffers, folder) for i, text in enumerate(launch["arguments"])] for launch in launches]
        needed = 2 * sum(b.size + GUARD for b in self.buffers.values())
        if needed > driver.free_bytes():
            raise TooLarge(f"{needed >> 20} MiB are needed, {driver.free_bytes() >> 20} are free")
        self.memory = {name: driver.memory(b.size + GUARD) for name, b in self.buffers.items()}
        self.first = {name: driver.memory(b.size + GUARD) for name, b in self.buffers.items()}
        self.parameters = [[a.data if isinstance(a, Scalar) else word(self.memory[a.buffer].address + a.offset, 8) for a in arguments]
                           for arguments in parsed]

    def fill(self, filler, seed, number):
        for name, buffer in self.buffers.items():
            filler(buffer, self.memory[name], seed, number)

    def keep(self):
        """What they hold now is what restore() gives back."""
        for name, memory in self.memory.items():
            self.first[name].copy_from(memory)

    def restore(self, names=None):
        for name in self.memory if names is None else names:
            self.memory[name].copy_from(self.first[name])

    def read(self):
        return {name: memory.read() for name, memory in self.memory.items()}

    def changed(self):
        """Those that no longer hold what they held at first."""
        return [name for name, memory in self.memory.items() if memory.read() != self.first[name].read()]

    def free(self):
        for memory in [*self.memory.values(), *self.first.values()]:
            memory.free()
