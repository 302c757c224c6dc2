#!/usr/bin/env python3
"""A second judge of certificates, written from docs/certificate.md alone and from Python's standard library.

    python3 tests/check.py MODEL.onnx PROP.vnnlib CERTIFICATE

Stdout begins with `accepted` or `rejected`; the reason, with the record's number, goes to stderr.
Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.

Verdicts rest on integers and fractions alone. Weights are integers over net.D; ends of boxes, bounds of neurons and ν are integers
over R, the first two rounded outwards, ν as it comes; μ follows from ν exactly, over D·R; and a function's bound is an integer over
D·R². Floating point only proposes the weights of means, which are judged exactly.
"""
import ast, functools, gzip, hashlib, itertools, math, re, struct, sys
from collections import namedtuple
from fractions import Fraction
from operator import add, mul

R = 1 << 64
ONE = -1  # the variable of a form's constant
VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
Tensor = namedtuple("Tensor", "shape items")  # items: affine forms, variable -> coefficient, row-major
Line = namedtuple("Line", "top seed a e scale")  # scale·f = e + a·x + seed·z_top; the seed over R
Claim = namedtuple("Claim", "line rows enough")  # the line of a leaf's weights; how many weights; whether a bound is enough


class Rejected(Exception):
    """What is read is not what it has to be."""


class Reader:
    """Bytes, read one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        """The next bytes."""
        self.at += size
        ensure(self.at <= len(self.data), "the file ends early")
        return self.data[self.at - size:self.at]

    def integer(self, size=5):
        """A variable-length integer of at most so many bytes, in its shortest form."""
        found = VARINT.match(self.data, self.at)
        ensure(found and len(found[0]) <= size and (found[0] == b"\0" or found[0][-1]), "an integer")
        self.at = found.end()
        return sum((byte & 127) << 7 * i for i, byte in enumerate(found[0]))

    def real(self, kind="<f"):
        """A finite number."""
        value, = struct.unpack(kind, self.take(struct.calcsize(kind)))
        ensure(math.isfinite(value), "a number that is not finite")
        return Fraction(value)


def ensure(holds, reason):
    """Rejects what does not hold."""
    if not holds:
        raise Rejected(reason)


# The model.

def fields(data):
    """A protobuf message: field number -> values, integers or bytes."""
    reader, out = Reader(data), {}
    while reader.at < len(data):
        key = reader.integer()
        value = reader.integer(10) if key & 7 in (0, 2) else {1: 8, 5: 4}[key & 7]
        out.setdefault(key >> 3, []).append(reader.take(value) if key & 7 else value)
    return out


def integers(values):
    """The signed integers of a repeated field, packed or not."""
    flat = [n for v in values for n in ([v] if isinstance(v, int) else [Reader(c).integer(10) for c in VARINT.findall(v)])]
    return [n - (1 << 64) if n >> 63 else n for n in flat]


def text(message, number):
    """A string field."""
    return message.get(number, [b""])[-1].decode()


def tensor(data):
    """A constant tensor of float32 or int64."""
    t = fields(data)
    field, letter, size = {1: (4, "f", 4), 7: (7, "q", 8)}[t[2][-1]]
    raw = b"".join(t.get(9, t.get(4, [])))
    values = struct.unpack(f"<{len(raw) // size}{letter}", raw) if 9 in t or field == 4 else integers(t.get(7, []))
    return reshaped([{ONE: Fraction(x)} if x else {} for x in values], integers(t.get(1, [])))


def reshaped(items, shape):
    """A tensor of these elements."""
    ensure(math.prod(shape) == len(items), "a shape that does not fit")
    return Tensor(list(shape), items)


def number(form):
    """The number that a form is, if it is constant."""
    ensure(set(form) <= {ONE}, "what has to be constant varies")
    return form.get(ONE, 0)


def total(pairs):
    """Σ form·weight."""
    out = {}
    for form, weight in pairs:
        for key in form if weight else ():
            out[key] = out.get(key, 0) + form[key] * weight
    return {key: value for key, value in out.items() if value}


def times(a, b):
    """The product of two forms, one of them constant."""
    a, b = (a, b) if set(b) <= {ONE} else (b, a)
    return total([(a, number(b))])


OPERATORS = {"Add": lambda a, b: total([(a, 1), (b, 1)]), "Sub": lambda a, b: total([(a, 1), (b, -1)]),
             "Mul": times, "Div": lambda a, b: total([(a, 1 / number(b))])}


def elementwise(op, x, y):
    """x op y, broadcast."""
    shape, sides = [max(sizes) for sizes in itertools.zip_longest(x.shape[::-1], y.shape[::-1], fillvalue=1)][::-1], []
    for t in (x, y):
        index = [0]
        for have, want in zip([1] * (len(shape) - len(t.shape)) + t.shape, shape):
            index = [i * have + {1: 0, want: j}[have] for i in index for j in range(want)]
        sides.append([t.items[i] for i in index])
    return Tensor(shape, list(map(OPERATORS[op], *sides)))


def product(x, y, flip=False):
    """The product with a constant matrix, or with its transpose."""
    inner, columns = y.shape[::-1] if flip else y.shape
    ensure(x.shape[-1] == inner, "a matrix that does not fit")
    weights = [number(form) for form in y.items]
    weights = [weights[j * inner:(j + 1) * inner] if flip else weights[j::columns] for j in range(columns)]
    rows = [x.items[i:i + inner] for i in range(0, len(x.items), inner)]
    return reshaped([total(zip(row, column)) for row in rows for column in weights], x.shape[:-1] + [columns])


def operator(name, node, args):
    """The output of a node that is no ReLU."""
    attributes = {text(a, 1): a for a in map(fields, node.get(5, []))}
    whole = lambda key, default: integers(attributes.get(key, {}).get(3, [default]))[-1]
    real = lambda key: Fraction(*struct.unpack("<f", attributes[key][2][-1])) if key in attributes else Fraction(1)
    x, y, z = (args + [None] * 3)[:3]
    if name in OPERATORS:
        return elementwise(name, x, y)
    if name == "MatMul" or name == "Gemm" and not whole("transA", 0):
        out = elementwise("Mul", product(x, y, whole("transB", 0)), Tensor([], [{ONE: real("alpha")}]))
        return elementwise("Add", out, elementwise("Mul", z, Tensor([], [{ONE: real("beta")}]))) if z else out
    if name == "Flatten":
        rows = math.prod(x.shape[:whole("axis", 1)])
        return reshaped(x.items, [rows, len(x.items) // rows])
    if name == "Reshape" and not whole("allowzero", 0):
        shape = [int(number(form)) or x.shape[i] for i, form in enumerate(y.items)]
        return reshaped(x.items, [len(x.items) // -math.prod(shape) if n == -1 else n for n in shape])
    if name == "Constant" and "value" in attributes:
        return tensor(attributes["value"][5][-1])
    ensure(name == "Identity", f"the operator {name} is not supported")
    return x


def model(data):
    """The count of an ONNX model's inputs, the forms that its ReLUs read, stage after stage, and those of its output."""
    graph = fields(fields(data)[7][-1])
    env = {"": None, **{text(fields(raw), 8): tensor(raw) for raw in graph.get(5, [])}}
    (x,), (y,) = ([v for v in map(fields, graph[n]) if text(v, 1) not in env] for n in (11, 12))
    shape = [max(fields(d).get(1, [1])[-1], 1) for d in fields(fields(fields(x[2][-1])[1][-1])[2][-1]).get(1, [])]
    known, stages = math.prod(shape), []
    env[text(x, 1)] = Tensor(shape, [{i: 1} for i in range(known)])
    for node in map(fields, graph.get(1, [])):
        name, args = text(node, 4), [env[name.decode()] for name in node.get(1, [])]
        if name == "Relu":
            stages.append(args[0].items)
            env[text(node, 2)] = Tensor(args[0].shape, [{known + i: 1} for i in range(len(stages[-1]))])
            known += len(stages[-1])
        else:
            env[text(node, 2)] = operator(name, node, args)
    return math.prod(shape), stages, env[text(y, 1)].items


# The property.

def linear(e):
    """A term as a form of the names in it."""
    if isinstance(e, str):
        return {e: 1} if e[0] in "XY" else {ONE: Fraction(e)}
    args = list(map(linear, e[1:]))
    return functools.reduce(OPERATORS[{"+": "Add", "-": "Sub", "*": "Mul"}[e[0]]], args if args[1:] else [{}] * (e[0] != "*") + args)


def cases(e):
    """The cases of a formula, each a list of forms that are at most 0."""
    op, *args = e
    if op == "or":
        return [case for arg in args for case in cases(arg)]
    if op == "and":
        return [sum(parts, []) for parts in itertools.product(*map(cases, args))]
    (l, r), signs = map(linear, args), {"<=": [1], "<": [1], ">=": [-1], ">": [-1], "=": [1, -1]}
    return [[total([(l, sign), (r, -sign)]) for sign in signs[op]]]


def disjuncts(data, inputs, outputs):
    """The disjuncts of a property: boxes and rows (d, a, c)."""
    quoted = re.sub(r"[^\s()]+", lambda atom: repr(atom[0]) + ",", re.sub(r";.*", "", data.decode()))
    todo, common, rest, out = ast.literal_eval("[" + quoted.replace("(", "[").replace(")", "],") + "]"), [], [[]], []
    while todo:
        command, formula, *_ = todo.pop(0)
        ensure(command in ("declare-const", "assert"), f"the command {command} is not supported")
        if command == "assert" and formula[0] == "and":
            todo = [["assert", part] for part in formula[1:]] + todo
        elif command == "assert":
            found = cases(formula)
            common, rest = (common + found[0], rest) if len(found) == 1 else (common, [x + y for x in rest for y in found])
    names = [f"X_{i}" for i in range(inputs)] + [f"Y_{i}" for i in range(outputs)]
    for case in rest:
        box, rows, possible = ([-math.inf] * inputs, [math.inf] * inputs), [], True
        for row in common + case:
            row = [row.pop(ONE, Fraction(0)) if n == ONE else row.get(n, 0) for form in [dict(row)] for row in [form] for n in [ONE] + names]
            used = [i for i, c in enumerate(row) if c and i]
        out.append((box, rows))
    return out
