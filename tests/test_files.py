"""Folder against the corpora of hostile paths, patterns and texts; then what a line of data cannot say."""

import contextlib
import errno
import json
import os
import select
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from child_signals import heard
from hostile_tree import SECRET, build_tree

from react_agent.errors import ConfigError, ToolError
from react_agent.tools import files_directory, files_write
from react_agent.tools.files import Folder, file_tools
from react_agent.tools.files_directory import PortableDirectory, PosixDirectory
from react_agent.tools.files_limits import FolderLimits
from react_agent.tools.files_path import near_names, split_path, visible
from react_agent.tools.files_regex import RegexChild, looks_regular

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hostile tree needs links, pipes and sockets")
DATA = Path(__file__).parent / "data"
CASES = [json.loads(line) for name in ("paths.jsonl", "paths_more.jsonl") for line in (DATA / name).read_text("utf-8").splitlines()]
CALM = [case for case in CASES if case["op"] != "race"]
EXPLOSIVE = [case["id"] for case in CALM if case["op"] == "grep" and case["expect"].get("ok") == "limited"]
QUICK = FolderLimits(search_seconds=0.2)  # for these: a pattern that explodes does so at any deadline


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return build_tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def written_tree(tmp_path_factory):
    """For the cases that write, so that they change nothing for the others."""
    return build_tree(tmp_path_factory.mktemp("written"))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    return Folder(root)


def arguments(case, root):
    args = dict(case["args"]) | {name: text * times for name, (text, times) in case.get("args_repeat", {}).items()}
    places = {"{ROOT}": str(root), "{OUT}": str(root.parent / "outside")}
    for name, value in args.items():
        for mark, place in places.items():
            args[name] = value = value.replace(mark, place) if isinstance(value, str) else value
    return args


def outside(root):
    """Everything beside the root that no tool may change."""
    return {path.name: path.read_text() for name in ("outside", "root-evil") for path in (root.parent / name).iterdir()}


def judge(case, text, error, root):
    expect, told = case["expect"], text if error is None else f"{error.message} {error.hint}"
    if "error" in expect:
        assert (error and error.type in expect["error"]) or (error is None and expect.get("alt_ok")), told
    elif expect["ok"] is True:
        assert error is None, told
    if error is None:
        assert [part for part in case.get("contains", []) if part not in text] == []
    else:
        assert case.get("hint", "") in error.hint and case.get("message", "") in error.message
        assert len(error.message) <= 300 and "\n" not in told and str(root) not in told
    assert [part for part in case.get("lacks", []) if part in told] == []
    if "hardlink" not in told and "hardlink" not in str(case["args"].get("path")):
        assert SECRET.strip() not in told
    assert len(told) < 200_000


def run_case(case, folder, root):
    before = outside(root)
    text, error = "", None
    try:
        text = str(getattr(folder, case["op"])(**arguments(case, root)))
    except ToolError as raised:
        error = raised
    judge(case, text, error, root)
    if case["op"] != "write":
        return
    assert outside(root) == before
    assert not [path for path in root.rglob("*.tmp") if path.is_file()]
    for name, content in case.get("after", {}).items():
        assert (root / name).read_bytes() == content.encode()
    assert not [name for name in case.get("absent", []) if (root / name).exists()]


@pytest.mark.parametrize("case", CALM, ids=lambda case: case["id"])
def test_corpus(case, tree, written_tree):
    root = written_tree if case["op"] == "write" else tree
    run_case(case, Folder(root, limits=QUICK) if case["id"] in EXPLOSIVE else Folder(root), root)


@pytest.mark.parametrize("case", [case for case in CALM if case["id"] not in EXPLOSIVE], ids=lambda case: case["id"])
def test_corpus_without_openat(case, tree, written_tree, monkeypatch):
    monkeypatch.setattr(files_directory, "HAS_OPENAT", False)
    test_corpus(case, tree, written_tree)


@pytest.mark.parametrize("case", [case for case in CASES if case["op"] == "race"], ids=lambda case: case["id"])
def test_no_read_wins_the_race(case, tmp_path):
    root = build_race(tmp_path)
    stop = threading.Event()
    swapper = threading.Thread(target=swap, args=(root, stop))
    swapper.start()
    try:
        seen = {attempt(lambda: Folder(root).read(case["args"]["path"])) for _ in range(1_500)}
    finally:
        stop.set()
        swapper.join()
    assert not [text for text in seen if SECRET.strip() in text]
    assert any("inside" in text for text in seen)


def build_race(base):
    """A root whose folder `flip` is sometimes a real one and sometimes a link to outside."""
    (base / "root" / "real").mkdir(parents=True)
    (base / "root" / "real" / "secret.txt").write_text("inside\n")
    (base / "outside").mkdir()
    (base / "outside" / "secret.txt").write_text(SECRET)
    (base / "root" / "link").symlink_to(base / "outside")
    return base / "root"


def swap(root, stop):
    while not stop.is_set():
        for name in ("real", "link"):
            (root / name).rename(root / "flip")
            (root / "flip").rename(root / name)


def attempt(call):
    try:
        return str(call())
    except ToolError as error:
        return error.type


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("call", [
    lambda folder: folder.read("flip/secret.txt"), lambda folder: folder.list("flip"), lambda folder: folder.grep("TOP", "flip"),
    lambda folder: folder.write("flip/secret.txt", "x"),
    lambda folder: folder.read("secret.txt"), lambda folder: folder.write("secret.txt", "x"),
])  # fmt: skip
def test_a_name_that_becomes_a_link_after_it_was_looked_at(call, portable, tmp_path, monkeypatch):
    """The swap comes at the worst moment: the first time that the name is looked at, just after the look."""
    root, kind = build_race(tmp_path), PortableDirectory if portable else PosixDirectory
    (root / "real").rename(root / "flip")
    (root / "secret.txt").write_text("inside\n")
    monkeypatch.setattr(files_directory, "HAS_OPENAT", not portable)
    looked = []

    def lstat(self, name, original=kind.lstat):
        status = original(self, name)
        if name in ("flip", "secret.txt") and not looked:
            looked.append(name)
            (root / name).rename(root / "away")
            (root / name).symlink_to(tmp_path / "outside" / ("" if name == "flip" else "secret.txt"))
        return status

    monkeypatch.setattr(kind, "lstat", lstat)
    assert SECRET.strip() not in attempt(lambda: call(Folder(root)))
    assert looked
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET


def test_a_pipe_is_not_opened(tree):
    """Opening its reading end would wake up a writer, who would then be killed by SIGPIPE."""
    with pytest.raises(ToolError):
        Folder(tree).read("fifo")
    with pytest.raises(OSError, match="No such device"):
        os.open(tree / "fifo", os.O_WRONLY | os.O_NONBLOCK)


def test_a_read_keeps_nothing_open(tree):
    before = os.listdir("/dev/fd")
    for case in CASES:
        if case["op"] in ("read", "list"):
            attempt(lambda case=case: getattr(Folder(tree), case["op"])(**arguments(case, tree)))
    assert os.listdir("/dev/fd") == before


def test_names_that_start_with_a_dot_can_be_off_limits(tree):
    folder = Folder(tree, hidden=False)
    assert ".env" not in folder.list(".").names and "hello.txt" in folder.list(".").names
    assert [hit.name for hit in folder.grep("API_KEY").hits] == []
    assert [hit.name for hit in folder.grep("hidden needle").hits] == []
    for path in (".env", ".hidden/x.txt", "to_env", "sub/../.env"):
        assert attempt(lambda path=path: folder.read(path)) == "permission_denied"
    for path in (".git/hooks/pre-commit", "sub/.profile", ".env"):
        assert attempt(lambda path=path: folder.write(path, "x")) == "permission_denied"
    assert not (tree / ".git").exists()


@pytest.mark.parametrize("name", ["\u200c.env", "\ufeff.env", ".\u200denv", "\u2060.git/config"])
def test_a_dot_behind_a_character_without_width_is_still_first(folder, name):
    """Some file systems (HFS+) leave such characters out, so that this is the name .env there."""
    hidden = Folder(folder.walk.root, hidden=False)
    assert attempt(lambda: hidden.write(name, "x")) == attempt(lambda: hidden.read(name)) == "permission_denied"


# -- writing -----------------------------------------------------------------------------------------------------------


def test_a_hard_link_is_broken_not_written_through(folder):
    root = Path(folder.walk.root)
    (root.parent / "other.txt").write_text("before")
    os.link(root.parent / "other.txt", root / "same.txt")
    folder.write("same.txt", "after")
    assert (root.parent / "other.txt").read_text() == "before" and (root / "same.txt").read_text() == "after"


def test_permission_bits_stay_but_no_set_user_id(folder):
    path = Path(folder.walk.root) / "run.sh"
    path.write_text("old")
    path.chmod(0o4751)
    folder.write("run.sh", "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


@pytest.mark.parametrize(("name", "type_"), [
    ("ENOSPC", "io_error"), ("EDQUOT", "io_error"), ("EROFS", "permission_denied"), ("EIO", "io_error"), ("EFBIG", "io_error"),
])  # fmt: skip
def test_a_disk_that_fails_leaves_the_old_file_and_no_other(folder, monkeypatch, name, type_):
    number = getattr(errno, name)

    folder.write("a.txt", "old")

    def write(fd, data, original=os.write):
        if len(data) < 10:
            raise OSError(number, os.strerror(number), "/secret/place")
        return original(fd, data[:10])

    monkeypatch.setattr(files_write.os, "write", write)
    with pytest.raises(ToolError) as caught:
        folder.write("a.txt", "0123456789abc")
    assert caught.value.type == type_ and "/secret" not in caught.value.message
    assert [path.name for path in Path(folder.walk.root).iterdir()] == ["a.txt"]
    assert (Path(folder.walk.root) / "a.txt").read_text() == "old"


def test_an_interrupted_write_leaves_no_temporary_file(folder, monkeypatch):
    def interrupt(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr(files_write.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        folder.write("a.txt", "text")
    assert list(Path(folder.walk.root).iterdir()) == []


def test_a_folder_that_may_not_be_written(folder, monkeypatch):
    def create(self, name):
        raise PermissionError(errno.EACCES, "Permission denied", name)

    monkeypatch.setattr(PosixDirectory, "create", create)  # root, who may run the tests, is never refused by the system
    assert attempt(lambda: folder.write("a.txt", "x")) == "permission_denied"


# -- the regular expression child --------------------------------------------------------------------------------------


def alive(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def test_the_child_is_gone_after_every_end(folder):
    folder.write("a.txt", "a" * 40 + "!")
    pids = []
    for error in (None, ValueError, KeyboardInterrupt):
        with contextlib.suppress(ValueError, KeyboardInterrupt), RegexChild("(a+)+$", 10, 0.2) as child:
            pids.append(child.pid)
            child.feed(0, "a" * 40 + "!")
            if error:
                raise error
            assert list(child.hits()) == [] and child.timed_out
    assert not any(map(alive, pids))


CRASH = """
import os, sys
from react_agent.tools.files_regex import RegexChild
child = RegexChild("(a+)+$", 10, 60)
child.feed(0, "a" * 40 + "!")
child.feed(0, "")
sys.stdout.write(f"{child.pid}\\n")
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waiting for a process of others needs Linux")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_child_outlives_no_crash(number):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CRASH], preexec_fn=heard, **pipes) as parent:
        watched = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(number)
        parent.wait()
    try:
        assert select.select([watched], [], [], 20)[0], "the child still runs"
    finally:
        os.close(watched)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_the_child_inherits_no_descriptor(tmp_path):
    with (tmp_path / "open").open("w") as file, RegexChild("b", 10, 5.0) as waiting:
        os.set_inheritable(file.fileno(), True)
        with RegexChild("b", 10, 5.0) as child:
            for process in (waiting, child):
                fds = Path(f"/proc/{process.pid}/fd")
                held = [os.readlink(fd) for fd in fds.iterdir() if fd.exists()]
                assert len([target for target in held if target.startswith("pipe:")]) == 3 and str(tmp_path / "open") not in held


@pytest.mark.parametrize(("pattern", "regular"), [
    ("retry count", False), ("4.3.1", False), ("What is it?", False), ("--trace-ink", False),
    ("colou?r", True), ("a|b", True), ("^x", True), (r"\d+", True), ("x*", True), ("f(", True),
])  # fmt: skip
def test_what_looks_like_a_regular_expression(pattern, regular):
    assert looks_regular(pattern) is regular


def test_a_search_that_runs_out_of_time_says_so(tree):
    ticks = iter(range(10_000))
    found = Folder(tree, limits=FolderLimits(search_seconds=20), clock=lambda: float(next(ticks))).grep("needle")
    assert found.notes[0].startswith("the time was up; files searched: ") and found.matched


def test_folders_without_a_single_file_are_not_walked_for_ever(folder):
    for number in range(30):
        (Path(folder.walk.root) / f"d{number}").mkdir()
    ticks = iter(range(10_000))
    found = Folder(folder.walk.root, limits=FolderLimits(search_seconds=10), clock=lambda: float(next(ticks))).grep("needle")
    assert found.notes == ("the time was up; files searched: 0",)
    assert next(ticks) < 20


def test_long_names_are_not_compared_with_each_other():
    """Two hundred names that are made to look alike would take a second each."""
    assert near_names("ab" * 120, [f"{'ba' * 110}{number}" for number in range(200)]) == []
    assert near_names("ab" * 120, ["AB" * 120]) == ["AB" * 120]


def test_a_line_longer_than_a_chunk_is_found_once(folder):
    (Path(folder.walk.root) / "long.txt").write_text(("needle " + "x" * 993) * 700 + "\nneedle\n")
    assert [(hit.name, hit.line) for hit in folder.grep("needle").hits] == [("long.txt", 1), ("long.txt", 2)]
    assert folder.grep("needle").matched == folder.grep("needl[e]").matched == 2


def test_a_file_too_large_to_search_is_named(folder):
    (Path(folder.walk.root) / "large.txt").write_text("needle\n" * 20)
    (Path(folder.walk.root) / "small.txt").write_text("needle\n")
    found = Folder(folder.walk.root, limits=FolderLimits(scan_bytes=100)).grep("needle")
    assert ([str(hit) for hit in found.hits], found.notes) == (["small.txt:1: needle"], ("too large to be searched: large.txt",))


def test_a_search_that_runs_out_of_bytes_says_so(tree):
    found = Folder(tree, limits=FolderLimits(scan_bytes=2_000_000)).grep("needle", "long.txt")
    assert found.hits == () and found.notes == ("there is more than one search reads (2,000 kB); files searched: 1",)
    found = Folder(tree, limits=FolderLimits(scan_bytes=1_088_895)).grep("needle")
    assert found.matched and "there is more than one search reads (1,088 kB)" in found.notes[0]


# -- paths on Windows, names for the eye ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [
    "con", "NUL.txt", "sub/aux", "com1", "file:stream", "file.txt.", "file ", "a<b", 'a"b', "a|b", "a?b", "a*b", "LPT9.log", "x\x01",
    "COM¹.txt", "GIT~1/config", "ENV~2", "LONGNA~1.TXT",
])  # fmt: skip
def test_names_that_windows_reads_otherwise(path):
    with pytest.raises(ToolError) as caught:
        split_path(path, 1_024, windows=True)
    assert caught.value.type == "invalid_path"
    assert split_path(path, 1_024, windows=False)


def test_visible_text_can_neither_move_nor_hide():
    assert visible("a\x1b[2J\r\u202e\udcff\u00adé🙂 b") == "a\\u001b[2J\\r\\u202e\\udcff\\u00adé🙂 b"
    assert visible("x" * 500, 10) == "xxxxxxxxx…"


# -- the tools -----------------------------------------------------------------------------------------------------------


def tools(root):
    return {tool.name: tool for tool in file_tools(root)}


def test_the_tools_and_their_flags(tree):
    assert [(tool.name, tool.read_only, tool.untrusted_output, tool.parameter_names) for tool in file_tools(tree)] == [
        ("list_dir", True, True, ("path",)),
        ("read_file", True, True, ("path", "start", "end")),
        ("write_file", False, False, ("path", "text")),
    ]


@pytest.mark.parametrize("root", ["hello.txt", "missing"])
def test_a_root_that_is_no_folder(tree, root):
    with pytest.raises(ConfigError, match="not a folder"):
        file_tools(tree / root)


def test_a_root_that_goes_away_is_a_tool_error(tmp_path):
    (tmp_path / "root").mkdir()
    made = tools(tmp_path / "root")
    (tmp_path / "root").rmdir()
    read, write = made["read_file"], made["write_file"]
    calls = (made["list_dir"].function, lambda: read.function("a"), lambda: write.function("a", "b"), lambda: write.preview("a", "b"))
    assert [attempt(call) for call in calls] == ["not_found"] * 4


def test_a_read_says_how_to_go_on_and_going_on_reads_everything(tree):
    read, start, rows = tools(tree)["read_file"].function, 1, []
    while True:
        heading, *lines = read("lines.txt", start).split("\n")
        rows += lines
        if "go on with start=" not in heading or len(rows) > 1_000:
            break
        start = int(heading.rpartition("=")[2])
    assert rows[:1_000] == [f"row {number}" for number in range(1, 1_001)]


def changes(old, new, *lines):
    return f"changes a.txt ({old} bytes, then {new} bytes):\n" + "\n".join(lines)


PREVIEWS = {
    "new": (None, "one\ntwo\n", "new file a.txt (8 bytes):\n+one\n+two\n+"),
    "same": ("x\n", "x\n", "a.txt already holds exactly this (2 bytes)"),
    "changed": ("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nD\ne\nf\n", changes(12, 12, "@@ line 1 @@", " a", " b", " c", "-d", "+D", " e", " f", " ")),
    "far": ("0\n" * 50 + "x\n", "0\n" * 50 + "y\n", changes(102, 102, "@@ line 48 @@", " 0", " 0", " 0", "-x", "+y", " ")),
    "breaks": ("a\r\n", "a\n", changes(3, 2, "@@ line 1 @@", "-a\\r", "+a", " ")),
    "escapes": ("a", "\x1b[2Ka\u202e", changes(1, 8, "@@ line 1 @@", "-a", "+\\u001b[2Ka\\u202e")),
    "binary": ("\0\0", "x", "replaces a.txt, which is no text or very large, by 1 bytes:\n+x"),
}


@pytest.mark.parametrize("name", PREVIEWS)
def test_preview(name, folder):
    old, new, shown = PREVIEWS[name]
    if old is not None:
        (Path(folder.walk.root) / "a.txt").write_text(old, encoding="utf-8", newline="")
    before = sorted(Path(folder.walk.root).iterdir())
    assert folder.preview("a.txt", new) == shown
    assert sorted(Path(folder.walk.root).iterdir()) == before


def test_preview_of_much_is_cut_and_says_so(folder):
    lines = folder.preview("sub/new.txt", "x" * 5_000 + "\n" + "y\n" * 5_000).split("\n")
    assert lines[1].endswith("… (5001 characters)") and lines[-1] == "… and 4942 more lines" and len(lines) == 62
    assert not (Path(folder.walk.root) / "sub").exists()


def test_preview_of_a_rewritten_file_needs_no_slow_diff(folder):
    folder.write("a.txt", "".join(f"{number % 7}\n" for number in range(5_000)))
    shown = folder.preview("a.txt", "".join(f"{number % 5}\n" for number in range(5_000)))
    assert "lines become" in shown.split("\n")[1]


@pytest.mark.parametrize("case", [case for case in CASES if case["op"] == "write"], ids=lambda case: case["id"])
def test_preview_is_refused_where_write_is(case, tree):
    before = sorted(tree.iterdir())
    shown = attempt(lambda: Folder(tree).preview(**arguments(case, tree)))
    assert (shown in case["expect"]["error"]) if "error" in case["expect"] else shown.startswith(("new file", "changes", "replaces")), shown
    assert sorted(tree.iterdir()) == before
