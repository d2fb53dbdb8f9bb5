"""What a test says: that a check failed, that it was left out, or how many of its checks hold."""


class Failure(Exception):
    """A check that did not hold; str() is what is wrong."""


class Skipped(Exception):
    """A test that cannot run here; str() is why."""


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(map(str, what)))


class Counted:
    """Checks that are counted; `name` stands in front of what is wrong."""

    def __init__(self, name):
        self.name, self.checks, self.wrong = name, 0, 0

    def check(self, holds, what):
        self.checks += 1
        if not holds:
            self.wrong += 1
            print(f"{self.name}: {what}")
