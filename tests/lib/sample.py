"""A fixed part of many cases: one of N, by a hash of the case's name.

Which cases are taken depends on their names alone, not on how many there are or on their order: a new case does not move
others out of the sample, and one that fails in it fails in the whole, too.
"""
import zlib


def add_option(parser):
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one case of N, always the same ones; default: all")


def sampled(cases, one_of, name=str):
    return [case for case in cases if zlib.crc32(str(name(case)).encode()) % one_of == 0]
