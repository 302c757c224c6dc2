"""What a verification found, from the program's report."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Mapping, Optional

#: ``numpy.ndarray`` of float64 where NumPy is installed, else ``list[float]``.
Numbers = Any


class Verdict(str, Enum):
    """VNN-COMP's words, which compare as strings."""

    #: The property holds: no input of the region violates it.
    UNSAT = "unsat"
    #: It is violated, by the witness.
    SAT = "sat"
    #: Neither was shown, for the result's reason.
    UNKNOWN = "unknown"
    #: The given time was used up.
    TIMEOUT = "timeout"

    def __str__(self) -> str:
        return self.value


#: The program says the verdict twice: in its report and by its exit code.
EXIT_CODES = {Verdict.UNSAT: 0, Verdict.SAT: 1, Verdict.UNKNOWN: 2, Verdict.TIMEOUT: 3}


@dataclass(frozen=True)
class Witness:
    """A counterexample. All numbers are float32 values, but inputs that the property fixes at other ones."""

    input: Numbers
    output: Numbers
    #: Which disjunct of the property it satisfies, counted from 0.
    disjunct: int


@dataclass(frozen=True)
class Certificate:
    """A proof on file, which ``pg-check`` judges."""

    file: Path
    bytes: int
    records: int
    sha256: str


@dataclass(frozen=True)
class Result:
    """An answer. It is neither true nor false: compare its verdict."""

    verdict: Verdict
    seconds: float
    #: Of a verdict ``sat`` alone.
    witness: Optional[Witness]
    #: Why the verdict is ``unknown`` or ``timeout``.
    reason: Optional[str]
    #: Of a verdict ``unsat``, if a proof was asked for.
    certificate: Optional[Certificate]
    counters: Mapping[str, Any] = field(repr=False)
    #: Everything that the program reports, options and digests among it.
    report: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        raise TypeError("a result is neither true nor false: compare its verdict, such as result.verdict == 'unsat'")


def result(report: Mapping[str, Any]) -> Result:
    """From the program's JSON."""
    witness, certificate = report["witness"], report["certificate"]
    return Result(
        verdict=Verdict(report["verdict"]),
        seconds=report["times"]["total"],
        witness=witness and Witness(_numbers(witness["input"]), _numbers(witness["output"]), witness["disjunct"]),
        reason=report["reason"],
        certificate=certificate and Certificate(**{**certificate, "file": Path(certificate["file"])}),
        counters=report["counters"],
        report=report,
    )


def _numbers(values: list[float]) -> Numbers:
    try:
        numpy: Any = import_module("numpy")
    except ImportError:
        return values
    return numpy.array(values, dtype=numpy.float64)
