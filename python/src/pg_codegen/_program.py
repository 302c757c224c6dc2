"""The program ``pg-codegen``: where it is, and one run of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import NamedTuple, Sequence

NAME = "pg-codegen"
#: Seconds that a program which was told to end has for it.
GRACE = 5.0


class PgCodegenError(Exception):
    """There is no answer: bad usage or input, a file that cannot be written, or no program. The text is the program's own."""


class Output(NamedTuple):
    code: int
    stdout: str
    stderr: str


def program() -> str:
    """The program that was installed with this module, or else one on ``PATH``."""
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable), _user_scripts()]
    found = (shutil.which(NAME, path=folder) for folder in folders if folder)
    path = next(filter(None, found), None) or shutil.which(NAME)
    if path is None:
        raise PgCodegenError(
            f"there is no {NAME} beside {sys.executable} or on PATH; install it with this module's wheel, "
            "or put the one that cargo builds on PATH"
        )
    return path


def _user_scripts() -> str | None:
    scheme = f"{os.name}_user"
    return sysconfig.get_path("scripts", scheme) if scheme in sysconfig.get_scheme_names() else None


def run(arguments: Sequence[str]) -> Output:
    """Runs the program to its end, without a shell. If this is interrupted, so is the program."""
    command = [program(), *arguments]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise PgCodegenError(f"cannot run {command[0]}: {error}") from error
    try:
        stdout, stderr = child.communicate()
    except BaseException:
        _end(child)
        raise
    return Output(child.returncode, stdout, stderr)


def _end(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()


def error(output: Output) -> PgCodegenError:
    """What a run without an answer said."""
    words = output.stderr.strip()
    words = words[len("error: ") :] if words.startswith("error: ") else words
    if output.code == 4:
        return PgCodegenError(words)
    how = f"was ended by signal {-output.code}" if output.code < 0 else f"exited with {output.code}"
    return PgCodegenError(f"{NAME} {how} and gave no answer\n{words}".rstrip())


def path(name: str | os.PathLike[str]) -> str:
    """A path as an argument that is not taken for an option."""
    text = os.fspath(name)
    return os.path.join(os.curdir, text) if text.startswith("-") else text
