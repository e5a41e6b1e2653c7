"""What a streamed call costs beside the model: the parser alone, and a whole call over loopback.

    python bench/endpoints.py
"""

import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from fake_server import DONE, FakeServer, chunk, event, stream

from react_agent.endpoints.chat import ChatEndpoint
from react_agent.endpoints.http_stream import sse_events
from react_agent.types import Message

PIECES = 500
HELLO = [Message("user", "hello")]


def best(function, times):
    """The shortest of several runs, in seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def main():
    pieces = [event(chunk(f"word{number} ", timings={"cache_n": 3, "prompt_n": 4, "predicted_n": number})) for number in range(PIECES)]
    body = b"".join(pieces) + event(chunk(finish="stop")) + DONE
    parse = best(lambda: [json.loads(one.data) for one in sse_events([body]) if one.data != "[DONE]"], 20)
    print(f"parse: {parse / PIECES * 1e6:.1f} us an event, {len(body) / parse / 1e6:.0f} MB/s")
    with FakeServer(lambda seen, number: stream(body)) as server:
        made = ChatEndpoint(server.url)
        whole = best(lambda: made.complete(HELLO), 20)
        print(f"a call whose {PIECES} pieces come at once: {whole * 1e3:.1f} ms, {whole / PIECES * 1e6:.1f} us a piece")
        made.close()
    with FakeServer(lambda seen, number: stream(*pieces, chunk(finish="stop"), DONE)) as server:
        made = ChatEndpoint(server.url)
        single = best(lambda: made.complete(HELLO), 20)
        print(f"a call whose {PIECES} pieces come one by one: {single * 1e3:.1f} ms, {single / PIECES * 1e6:.1f} us a piece")
        made.close()
    with FakeServer(lambda seen, number: stream(chunk("x", "stop"), DONE)) as server:
        made = ChatEndpoint(server.url)
        print(f"the shortest call: {best(lambda: made.complete(HELLO), 50) * 1e3:.2f} ms")
        made.close()
    print(f"threads left: {threading.active_count() - 1}")


if __name__ == "__main__":
    main()
