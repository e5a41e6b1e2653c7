"""Builds the folder that the file tools are attacked with: `root` may be seen, `outside` and `root-evil` may not."""

import os
import socket
from pathlib import Path

SECRET = "TOPSECRET-9f1\n"
MANY = 600
TEXTS = {
    "hello.txt": "line one\nline two\nline three\n",
    "sub/deep/note.md": "# Note\nneedle here\n",
    ".hidden/x.txt": "hidden needle\n",
    ".env": "API_KEY=abc\n",
    "crlf.txt": "a\r\nb\r\nc\r\n",
    "cr.txt": "a\rb\rc\r",
    "odd_breaks.txt": "a\x0bb\x0cc\x85d\u2028e\nsecond\n",
    "empty.txt": "",
    "blank.txt": "\n\n\n",
    "nonl.txt": "no newline at end",
    "long.txt": "x" * 5_000_000 + "needle\n",
    "redos.txt": "a" * 40 + "!\nneedle\n",
    "lines.txt": "".join(f"row {number}\n" for number in range(1, 100_001)),
    "emoji.txt": "🙂" * 3_000 + "\n",
    "price.txt": "cost (net): 4.50 $ [a+b]\n",
    "late_nul.txt": "needle" + "x" * 9_000 + "\0after\n",
    "Dir With Space/ü.txt": "umlaut\n",
    "naïve.txt": "NFC\n",
    "Case.TXT": "case\n",
    "..dots.txt": "dots\n",
    "-rf": "dash\n",
    "new\nline.txt": "nl\n",
    "esc\x1b[31m.txt": "esc\n",
    "bidi\u202egpj.txt": "bidi\n",
    "a:b.txt": "colon\n",
}
BYTES = {
    b"latin1.txt": b"caf\xe9 cr\xe8me needle\n",
    b"utf16.txt": "needle\n".encode("utf-16"),
    b"utf16_cjk.txt": "\ufeff針針針".encode("utf-16-le"),
    b"bom.txt": b"\xef\xbb\xbfneedle\n",
    b"bin.dat": bytes(range(256)) * 40 + b"needle",
    b"nul.txt": b"a\0needle\n",
    b"bad\xff.txt": b"badname\n",
    b"cut.txt": "é".encode() * 40_000 + b"\xc3",
}
LINKS = {
    "link_in": "hello.txt", "sub/self": ".", "dir_in": "sub/deep", "sub/peek": "../hello.txt", "around": "sub/deep/../../hello.txt",
    "rel_out": "../outside/secret.txt", "loop_a": "loop_b", "loop_b": "loop_a", "dangling": "nowhere", "up": "..", "slash": "/",
    "procroot": "/proc/self/root", "chain": "chain2", "chain2": "rel_out", "sub/climb": "../../outside/secret.txt", "to_env": ".env",
    "zero": "/dev/zero", "stdin": "/dev/stdin", "into_file": "hello.txt/x", "empty_name": "./././hello.txt",
}  # fmt: skip


def build_tree(base: Path) -> Path:
    """Make the folders below base; returns root."""
    root, outside = base / "root", base / "outside"
    for folder in (root, outside, base / "root-evil", root / "many"):
        folder.mkdir()
    for secret in (outside / "secret.txt", base / "root-evil" / "secret.txt"):
        secret.write_text(SECRET)
    for name, text in TEXTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="")
    for raw, data in BYTES.items():
        Path(os.fsdecode(os.fsencode(root) + b"/" + raw)).write_bytes(data)
    for number in range(MANY):
        (root / "many" / f"f{number:04d}.txt").write_text("needle\n")
    with (root / "huge.txt").open("wb") as file:
        file.truncate(3_000_000_000)
    _links(root, outside)
    _devices(root)
    return root


def _links(root: Path, outside: Path) -> None:
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    (root / "link_out").symlink_to(outside / "secret.txt")
    (root / "dir_out").symlink_to(outside)
    (root / "dangling_out").symlink_to(outside / "created.txt")
    (root / "abs_in").symlink_to(root / "hello.txt")
    os.link(outside / "secret.txt", root / "hardlink.txt")


def _devices(root: Path) -> None:
    os.mkfifo(root / "fifo")
    here = Path.cwd()
    os.chdir(root)  # the address of a socket has room for about 100 characters
    try:
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind("sock")
    finally:
        os.chdir(here)
    (root / "noperm.txt").write_text("x")
    (root / "noperm.txt").chmod(0)
