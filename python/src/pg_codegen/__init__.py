"""Proves properties of ReLU networks, or finds counterexamples, by the command ``pg-codegen`` that is installed with this module.

    import pg_codegen

    result = pg_codegen.verify("net.onnx", "robust.vnnlib", timeout=60)
    if result.verdict == "sat":
        print(result.witness.input, result.witness.output)
    else:
        assert result.verdict == "unsat", result.reason

What the verdicts mean, and what each rests on, is that of the command.
"""

from ._answer import Certificate, Result, Verdict, Witness
from ._commands import generate, robust, verify
from ._program import PgCodegenError

__all__ = [
    "Certificate",
    "PgCodegenError",
    "Result",
    "Verdict",
    "Witness",
    "generate",
    "robust",
    "verify",
]
