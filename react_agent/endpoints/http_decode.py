"""What a reply's bytes and fields mean: decompression, finish reasons, usage."""

import zlib
from collections.abc import Iterable, Iterator

from react_agent.errors import EndpointError

_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 15}
_STEP = 1 << 20


def inflate(chunks: Iterable[bytes], encoding: str, max_bytes: int) -> Iterator[bytes]:
    """The decoded pieces of a body, never more than max_bytes of them, whatever they unpack to."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        yield from _capped(chunks, max_bytes)
    elif encoding in _WINDOW:
        yield from _capped(_unpacked(chunks, _WINDOW[encoding]), max_bytes)
    else:
        raise EndpointError("bad_response", f"the reply is compressed as {encoding!r} although no compression was asked for")


def _unpacked(chunks: Iterable[bytes], window: int) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(window)
    try:
        for chunk in chunks:
            while chunk:
                piece = unpacker.decompress(chunk, _STEP)
                if piece:
                    yield piece
                chunk = unpacker.unconsumed_tail
    except zlib.error as error:
        raise EndpointError("bad_response", f"the compressed reply is broken: {error}") from None


def _capped(chunks: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > max_bytes:
            raise EndpointError("bad_response", f"the reply is larger than {max_bytes} bytes", "is this URL really a model's?")
        yield chunk
