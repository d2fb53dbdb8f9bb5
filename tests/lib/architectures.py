"""What an SM of each architecture holds, as src/core/target/targets.def says."""
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "src/core/target/targets.def"


def warps_and_blocks():
    """number of the architecture -> (warps, blocks)"""
    found = re.findall(r"^TARGET\((\d+), \d+, \d+, (\d+), (\d+),", TABLE.read_text(), re.M)
    return {int(number): (int(warps), int(blocks)) for number, warps, blocks in found}
