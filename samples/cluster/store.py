"""Folders of files, on this machine or, where the package fsspec is installed, wherever it reaches: s3://, gs://, memory://."""
import os

from unit import read, write


class Folder:
    """A folder of this machine, by paths below it."""

    is_local = True

    def __init__(self, root):
        self.root = root

    def files(self, suffix):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names if name.endswith(suffix)]
        return sorted(found)

    def read(self, path):
        return read(os.path.join(self.root, path))

    def write(self, path, data):
        write(os.path.join(self.root, path), data)

    def has(self, path):
        return os.path.exists(os.path.join(self.root, path))


class Remote:
    """A folder by its fsspec URL. Object stores make an object visible when all of it is there."""

    is_local = False

    def __init__(self, url):
        import fsspec
        self.system, self.root = fsspec.core.url_to_fs(url)

    def files(self, suffix):
        start = len(self.root.rstrip("/")) + 1
        return sorted(path[start:] for path in self.system.find(self.root) if path.endswith(suffix))

    def read(self, path):
        return self.system.cat_file(f"{self.root}/{path}")

    def write(self, path, data):
        full = f"{self.root}/{path}"
        self.system.makedirs(full.rsplit("/", 1)[0], exist_ok=True)
        self.system.pipe_file(full, data)

    def has(self, path):
        return self.system.exists(f"{self.root}/{path}")


def open_store(where):
    return Remote(where) if "://" in where else Folder(where)
