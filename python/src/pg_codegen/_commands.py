"""The program's commands as functions."""

from __future__ import annotations

import json
import os
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from . import _answer, _program
from ._answer import EXIT_CODES, Result
from ._program import PgCodegenError

PathLike = Union[str, "os.PathLike[str]"]
Number = Union[int, float, str, Decimal]


def verify(
    net: PathLike,
    prop: PathLike,
    *,
    timeout: Optional[float] = None,
    threads: Optional[int] = None,
    engine: Optional[str] = None,
    semantics: Optional[str] = None,
    seed: Optional[int] = None,
    proof: Optional[PathLike] = None,
    options: Sequence[str] = (),
) -> Result:
    """Whether a property in VNN-LIB holds of a network: ONNX or NNet, each also with ``.gz``.

    ``timeout`` is in seconds, ``engine`` one of auto, phases and peregrinn, ``semantics`` real or float32, ``proof`` the file for a
    certificate, and ``options`` whatever else ``pg-codegen verify`` takes, as on its command line.
    """
    search = _search(timeout, threads, engine, semantics, seed, proof)
    return _answered(["verify", _program.path(net), _program.path(prop), *search, *options])


def robust(
    net: PathLike,
    image: Union[PathLike, Iterable[Any]],
    eps: Number,
    *,
    label: Optional[int] = None,
    scale: Optional[Number] = None,
    clip: Optional[tuple[Number, Number]] = None,
    timeout: Optional[float] = None,
    threads: Optional[int] = None,
    engine: Optional[str] = None,
    semantics: Optional[str] = None,
    seed: Optional[int] = None,
    proof: Optional[PathLike] = None,
    options: Sequence[str] = (),
) -> Result:
    """Whether every input within ``eps`` of an image, in each coordinate, has the class of the image.

    The image is a file of numbers, or numbers in any nesting, an array among them. They are divided by ``scale`` first; inputs are
    kept between the two numbers of ``clip``. ``label`` is the class that has to score highest, by default the network's own at the
    image. The others are those of ``verify``.
    """
    given = {"--eps": eps, "--label": label, "--scale": scale}
    question = [f"{name}={_number(value)}" for name, value in given.items() if value is not None]
    if clip is not None:
        question.append(f"--clip={_number(clip[0])},{_number(clip[1])}")
    question += _search(timeout, threads, engine, semantics, seed, proof)
    if isinstance(image, (str, os.PathLike)):
        return _answered(["robust", _program.path(net), _program.path(image), *question, *options])
    with tempfile.TemporaryDirectory(prefix="pg-codegen-") as folder:
        file = Path(folder) / "image.csv"
        file.write_text(",".join(map(_number, _flat(image))) + "\n", encoding="utf-8")
        return _answered(["robust", _program.path(net), str(file), *question, *options])


def generate(
    net: PathLike,
    output: PathLike,
    *,
    name: Optional[str] = None,
    build: bool = False,
    force: bool = False,
    embedded: bool = False,
    domain: Optional[PathLike] = None,
    regions: Optional[PathLike] = None,
    budget: Optional[str] = None,
    target: Optional[str] = None,
    runtime_path: Optional[PathLike] = None,
    runtime_version: Optional[str] = None,
    runtime_git: Optional[str] = None,
) -> Path:
    """Compiles a network to a Rust crate in the folder ``output``, and with ``build`` that to a verifier.

    Returns the verifier's path if one was built, and else the folder. A crate that is not ``embedded`` needs pg-runtime: where it
    is say ``runtime_path`` (its folder), ``runtime_version`` (in a registry) or ``runtime_git`` (a repository, with a revision after
    ``#``); by default it is the source that the program was built from.
    """
    switches = {"--build": build, "--force": force, "--embedded": embedded}
    paths = {"--domain": domain, "--regions": regions, "--runtime-path": runtime_path}
    texts = {"--name": name, "--budget": budget, "--target": target}
    texts.update({"--runtime-version": runtime_version, "--runtime-git": runtime_git})
    arguments = [_program.path(net), f"--output={os.fspath(output)}"]
    arguments += [switch for switch, is_on in switches.items() if is_on]
    arguments += [f"{option}={os.fspath(path)}" for option, path in paths.items() if path is not None]
    arguments += [f"{option}={text}" for option, text in texts.items() if text is not None]
    made = _program.run(arguments)
    if made.code != 0:
        raise _program.error(made)
    built = made.stdout.splitlines()
    return Path(built[-1]) if built else Path(output)


def _search(
    timeout: Optional[float],
    threads: Optional[int],
    engine: Optional[str],
    semantics: Optional[str],
    seed: Optional[int],
    proof: Optional[PathLike],
) -> list[str]:
    given = {
        "--timeout": timeout,
        "--threads": threads,
        "--engine": engine,
        "--semantics": semantics,
        "--seed": seed,
        "--proof": None if proof is None else os.fspath(proof),
    }
    return [f"{name}={value}" for name, value in given.items() if value is not None]


def _answered(arguments: list[str]) -> Result:
    """Runs a command that has a verdict. Without a report whose verdict is that of the exit code there is none."""
    with tempfile.TemporaryDirectory(prefix="pg-codegen-") as folder:
        file = Path(folder) / "report.json"
        output = _program.run([*arguments, "--quiet", f"--json={file}"])
        if output.code not in EXIT_CODES.values():
            raise _program.error(output)
        try:
            result = _answer.result(json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise PgCodegenError(f"the report of pg-codegen cannot be read: {error!r}\n{output.stderr}".rstrip()) from error
    if EXIT_CODES[result.verdict] != output.code:
        raise PgCodegenError(f"pg-codegen reports {result.verdict} and exited with {output.code}")
    return result


def _number(value: Any) -> str:
    """A number as the decimal that it is read back from."""
    if isinstance(value, (str, Decimal)):
        return str(value)
    plain = value.item() if hasattr(value, "item") else value
    return repr(plain)


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    """The numbers of any nesting; arrays of no dimension are numbers, though some claim to be iterable."""
    for value in values:
        if isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) > 0:
            yield from _flat(value)
        else:
            yield value
