"""A file that is read in blocks, so that many small reads near each other are one request to an object store."""

import os
from collections import OrderedDict
from typing import Any

_BLOCKS = 16
"""The blocks that are kept of one file."""


class BlockFile:
    """The methods that Arrow calls of a file of Python, over another file that has them."""

    def __init__(self, file: Any, block_bytes: int) -> None:
        self._file = file
        self._block_bytes = block_bytes
        self._place = 0
        self._size = int(file.size())
        self._blocks = OrderedDict[int, bytes]()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return bool(self._file.closed)

    def close(self) -> None:
        """Close the file, and forget its blocks."""
        self._blocks.clear()
        self._file.close()

    def tell(self) -> int:
        """The place of the next read."""
        return self._place

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Set the place of the next read."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = start + place
        return self._place

    def read(self, size: int) -> bytes:
        """The next bytes, fewer at the end. A read of a block's size or more bypasses the blocks."""
        start, end = self._place, min(self._place + size, self._size)
        self._place = max(start, end)
        if end - start >= self._block_bytes:
            return self._read_from(start, end - start)
        numbers = range(start // self._block_bytes, -(-end // self._block_bytes)) if end > start else range(0)
        found = b"".join(self._block(each) for each in numbers)
        skipped = start - numbers.start * self._block_bytes if numbers else 0
        return found[skipped : skipped + end - start]

    def _block(self, number: int) -> bytes:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        start = number * self._block_bytes
        found = self._read_from(start, min(self._block_bytes, self._size - start))
        self._blocks[number] = found
        if len(self._blocks) > _BLOCKS:
            self._blocks.popitem(last=False)
        return found

    def _read_from(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        found: bytes = self._file.read(size)
        return found
