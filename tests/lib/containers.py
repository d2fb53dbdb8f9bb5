"""Built files, made by hand: fat binaries, ELF files that hold them, archives."""
import struct

PTX, CODE = 1, 2


def fat(*entries):
    """Each (kind, architecture, bytes), as nvcc lays them out, uncompressed."""
    body = b""
    for kind, architecture, data in entries:
        data += b"\0" * (-len(data) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(data), 0, 0, 0, 8, architecture, 0, 0, 0x11, 0, 0) + data
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(sections, kind=2):
    """A 64-bit ELF file for x86-64 with these sections, by name; kind: 1 relocatable, 2 a program, 3 a shared library."""
    names, table, body = b"\0", [struct.pack("<IIQQQQIIQQ", *[0] * 10)], b""
    for name, data in {**sections, ".shstrtab": b""}.items():
        at = len(names)
        names += name.encode() + b"\0"
        if name == ".shstrtab":
            data = names
        body += b"\0" * (-len(body) % 8)
        table.append(struct.pack("<IIQQQQIIQQ", at, 3 if name == ".shstrtab" else 1, 2, 0, 64 + len(body), len(data), 0, 0, 8, 0))
        body += data
    body += b"\0" * (-len(body) % 8)
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                                                    len(table), len(table) - 1)
    return head + body + b"".join(table)


def archive(members):
    """(name, bytes) each, in GNU's form; names of more than 15 characters go into the table of names."""
    names, body = b"", b""
    for name, data in members:
        field = name + "/"
        if len(field) > 16:
            field, names = f"/{len(names)}", names + name.encode() + b"/\n"
        body += f"{field:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    table = f"{'//':<48}{len(names):<10}`\n".encode() + names + b"\n" * (len(names) % 2) if names else b""
    return b"!<arch>\n" + table + body
