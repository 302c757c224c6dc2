#!/usr/bin/env python3
"""A second judge of certificates, written from docs/certificate.md alone and from Python's standard library.

    python3 tests/check.py MODEL.onnx PROP.vnnlib CERTIFICATE

Stdout begins with `accepted` or `rejected`; the reason, with the record's number, goes to stderr.
Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.

Verdicts rest on integers and fractions alone. Weights are integers over net.D; ends of boxes, bounds of neurons and ν are integers
over R, the first two rounded outwards, ν as it comes; μ follows from ν exactly, over D·R; and a function's bound is an integer over
D·R². Biases are the weights of one more input, which is 1.
"""
import ast, collections, functools, gzip, hashlib, itertools, math, re, struct, sys
from fractions import Fraction
from operator import add, le, mul, sub

R, ONE = 1 << 64, -1  # ONE is the variable of a form's constant, a tuple of a variable that of what its coefficient may be off by
ADAPTIVE, PARALLEL = lambda k, j, m, l, u: m if u > -l else 0, lambda k, j, m, l, u: m * u // (u - l)  # for μ > 0, undecided
VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
NEUTRAL = {"allowzero": 0, "auto_pad": b"NOTSET", "ceil_mode": 0, "dilations": [1, 1], "momentum": None, "ratio": None, "seed": None,
           "spatial": 1, "storage_order": 0, "training_mode": 0, "transA": 0}  # values with which attributes change nothing; None: any
Tensor = collections.namedtuple("Tensor", "shape items")  # items: affine forms, variable -> coefficient, row-major
Line = collections.namedtuple("Line", "top seed a scale")  # scale·f = a·x + seed·z_top; the seed over R
Claim = collections.namedtuple("Claim", "line rows enough conditions")  # the line of a leaf's weights; the lines that have these
# weights; whether a bound is enough; below a node 0x06 the conditions of counterexamples


class Rejected(Exception):
    """What is read is not what it has to be."""


class Reader:
    """Bytes, read one after the other."""

    def __init__(self, data):
        self.data, self.at, self.records = data, 0, 0

    def take(self, size):
        """The next bytes."""
        self.at += size
        ensure(self.at <= len(self.data), "the file ends early")
        return self.data[self.at - size:self.at]

    def integer(self, size=5):
        """A variable-length integer of at most so many bytes, in its shortest form."""
        ensure((found := VARINT.match(self.data, self.at)) and len(found[0]) <= size and (found[0] == b"\0" or found[0][-1]), "a number")
        self.at = found.end()
        return sum((byte & 127) << 7 * i for i, byte in enumerate(found[0]))

    def real(self, kind="<f"):
        """A finite number."""
        ensure(math.isfinite(value := struct.unpack(kind, self.take(struct.calcsize(kind)))[0]), "a number that is not finite")
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


def attribute(a):
    """The value of an attribute: a number, bytes, a tensor, or a list of integers."""
    kinds = {2: lambda f: Fraction(*struct.unpack("<f", f[-1])), 3: lambda i: integers(i)[-1], 4: lambda s: s[-1],
             5: lambda t: tensor(t[-1]), 8: integers}
    return next((read(a[n]) for n, read in kinds.items() if n in a), None)


def reshaped(items, shape):
    """A tensor of these elements."""
    ensure(math.prod(shape) == len(items), "a shape that does not fit")
    return Tensor(list(shape), items)


def number(form):
    """The number that a form is, if it is constant."""
    return form.get(ONE, 0) if set(form) <= {ONE} else ensure(False, "what has to be constant varies")


def whole(t):
    """The integers of a constant tensor."""
    return [int(number(form)) for form in t.items]


def total(pairs):
    """Σ form·weight."""
    out = {}
    for form, weight in pairs:
        for key in form if weight else ():
            out[key] = out.get(key, 0) + form[key] * (abs(weight) if isinstance(key, tuple) else weight)
    return {key: value for key, value in out.items() if value}


def rooted(form, scale, square):
    """A form times scale/√square: times a multiple of 1/R that is less than 1/R off, and what coefficients are off by."""
    root = Fraction(math.isqrt(int(R * R * scale * scale / square)), R if scale > 0 else -R)
    return total([(form, root)] + [({key if isinstance(key, tuple) else (key,): abs(form[key])}, Fraction(scale != 0, R)) for key in form])


OPERATORS = {"Add": lambda a, b: total([(a, 1), (b, 1)]), "Sub": lambda a, b: total([(a, 1), (b, -1)]),
             "Mul": lambda a, b: total([(a, number(b)) if set(b) <= {ONE} else (b, number(a))]),
             "Div": lambda a, b: total([(a, 1 / number(b))])}


def gathered(x, order):
    """The elements with these indices along these axes, in the order of the axes."""
    ensure(sorted(axis for axis, _ in order) == list(range(len(x.shape))), "axes that are none, or are left out")
    index = [0]
    for axis, wanted in order:
        index = [i + math.prod(x.shape[axis + 1:]) * j for i in index for j in wanted]
    return Tensor([len(wanted) for _, wanted in order], [x.items[i] for i in index])


def elementwise(op, x, y):
    """x op y, broadcast."""
    shape = [max(sizes) for sizes in itertools.zip_longest(x.shape[::-1], y.shape[::-1], fillvalue=1)][::-1]
    sides = [reshaped(t.items, [1] * (len(shape) - len(t.shape)) + t.shape) for t in (x, y)]
    picks = [[{1: [0] * want, want: range(want)}[have] for have, want in zip(t.shape, shape)] for t in sides]
    return Tensor(shape, list(map(op, *(gathered(t, list(enumerate(pick))).items for t, pick in zip(sides, picks)))))


def product(x, y, flip=False):
    """The product with a constant matrix, or with its transpose."""
    y = gathered(y, [(1, range(y.shape[1])), (0, range(y.shape[0]))]) if not flip else y
    columns, inner = y.shape
    ensure(x.shape[-1] == inner, "a matrix that does not fit")
    weights = list(map(number, y.items))
    rows = [x.items[i:i + inner] for i in range(0, len(x.items), inner)]
    items = [total(zip(row, weights[j:j + inner])) for row in rows for j in range(0, len(weights), inner)]
    return reshaped(items, x.shape[:-1] + [columns])


def windows(x, kernel, use):
    """The places of a kernel over an image: their shape, and for each the indices of its elements, None outside of the image."""
    (batch, _, h, w), (rows, columns), (down, right) = x.shape, kernel, use("strides", [1, 1])
    top, left, bottom, end = use("pads", [0] * 4)
    ensure(batch == 1 and min(rows, columns, down, right) > 0 and min(top, left, bottom, end) >= 0, "an image that is not supported")
    ys, xs = range(-top, h + bottom - rows + 1, down), range(-left, w + end - columns + 1, right)
    inside = lambda i, j: i * w + j if 0 <= i < h and 0 <= j < w else None
    return [len(ys), len(xs)], [[inside(i, j) for i in range(y, y + rows) for j in range(x, x + columns)] for y in ys for x in xs]


def convolution(x, y, bias, use):
    """The products of a constant kernel with an image, in groups of channels."""
    (count, inner, *kernel), channels, weights, group = y.shape, x.shape[1], list(map(number, y.items)), use("group", 1)
    ensure(use("kernel_shape", kernel) == kernel and channels == inner * group and count % group == 0, "a kernel that does not fit")
    shape, places = windows(x, kernel, use)
    area, size = math.prod(kernel), math.prod(x.shape[2:])
    items = [total((x.items[(m * group // count * inner + c) * size + i], weights[(m * inner + c) * area + n])
                   for c in range(inner) for n, i in enumerate(place) if i is not None) for m in range(count) for place in places]
    out = reshaped(items, [1, count, *shape])
    return elementwise(OPERATORS["Add"], out, reshaped(bias.items, [count, 1, 1])) if bias else out


def pooled(x, use, relu):
    """The greatest values of windows, in rounds; a value is named by its index, or by the pair that it is the greater of."""
    shape, places = windows(x, use("kernel_shape", None), use)
    values, size = dict(enumerate(x.items)), math.prod(x.shape[2:])
    rows = [[c * size + i for i in place if i is not None] for c in range(x.shape[1]) for place in places]
    ensure(all(rows), "a window without a value")
    while max(map(len, rows)) > 1:
        rows = [[tuple(row[i:i + 2]) for i in range(0, len(row), 2)] for row in rows]
        pairs = list(dict.fromkeys(pair for row in rows for pair in row if len(pair) == 2))
        more = relu([OPERATORS["Sub"](values[a], values[b]) for a, b in pairs])
        values.update({pair: OPERATORS["Add"](values[pair[1]], form) for pair, form in zip(pairs, more)})
        rows = [[pair if len(pair) == 2 else pair[0] for pair in row] for row in rows]
    return reshaped([values[row[0]] for row in rows], [*x.shape[:2], *shape])


def operator(name, use, args, relu):
    """The output of a node; `use` takes an attribute, or else a default, and `relu` makes a stage of forms."""
    x, y, z, *more = args + [None] * (3 - len(args))
    if name == "Relu":
        return reshaped(relu(x.items), x.shape)
    if name in OPERATORS:
        return elementwise(OPERATORS[name], x, y)
    if name in ("MatMul", "Gemm"):
        alpha, beta = ([{ONE: use(key, 1)}] for key in ("alpha", "beta"))
        out = elementwise(OPERATORS["Mul"], product(x, y, use("transB", 0)), Tensor([], alpha))
        return elementwise(OPERATORS["Add"], out, elementwise(OPERATORS["Mul"], z, Tensor([], beta))) if z else out
    if name in ("Flatten", "Reshape"):
        shape = [n or x.shape[i] for i, n in enumerate(whole(y))] if y else [math.prod(x.shape[:use("axis", 1)]), -1]
        return reshaped(x.items, [len(x.items) // -math.prod(shape) if n == -1 else n for n in shape])
    if name == "Conv":
        return convolution(x, y, z, use)
    if name == "MaxPool":
        return pooled(x, use, relu)
    if name == "BatchNormalization":
        scale, bias, mean, variance = (reshaped(t.items, [x.shape[1]] + [1] * (len(x.shape) - 2)) for t in (y, z, *more))
        epsilon = use("epsilon", Fraction(*struct.unpack("<f", struct.pack("<f", 1e-5))))
        factors = Tensor(scale.shape, [(number(s), number(v) + epsilon) for s, v in zip(scale.items, variance.items)])
        out = elementwise(lambda form, factor: rooted(form, *factor), elementwise(OPERATORS["Sub"], x, mean), factors)
        return elementwise(OPERATORS["Add"], out, bias)
    if name == "Transpose":
        return gathered(x, [(axis, range(x.shape[axis])) for axis in use("perm", range(len(x.shape))[::-1])])
    if name == "Concat":
        axis = range(len(x.shape))[use("axis", None)]
        outer = math.prod(x.shape[:axis])
        ensure(len({(*t.shape[:axis], *t.shape[axis + 1:]) for t in args}) == 1, "parts that do not fit")
        part = lambda t, n: t.items[n * len(t.items) // outer:(n + 1) * len(t.items) // outer]
        items = [form for n in range(outer) for t in args for form in part(t, n)]
        return reshaped(items, [*x.shape[:axis], sum(t.shape[axis] for t in args), *x.shape[axis + 1:]])
    if name == "Slice":
        axes, steps = (whole(t) if t else None for t in (more + [None] * 2)[:2])
        starts, ends, order = whole(y), whole(z), [range(size) for size in x.shape]
        axes = [range(len(order))[axis] for axis in axes or range(len(starts))]
        ensure(set(steps or [1]) == {1} and len(starts) == len(ends) == len(axes) == len(set(axes)), "steps other than 1, or axes twice")
        for axis, start, end in zip(axes, starts, ends):
            order[axis] = order[axis][start:end]
        return gathered(x, list(enumerate(order)))
    ensure(name in ("Identity", "Constant") or name == "Dropout" and not z, f"the operator {name} is not supported")
    return x or use("value", None)


def model(data):
    """The count of an ONNX model's inputs, the forms that its ReLUs read, stage after stage, and those of its output."""
    graph = fields(fields(data)[7][-1])
    ensure(all(integers(o[2])[-1] >= 7 for o in map(fields, fields(data).get(8, [])) if not text(o, 1)), "operators before version 7")
    env = {"": None, **{text(fields(raw), 8): tensor(raw) for raw in graph.get(5, [])}}
    (x,), (y,) = ([v for v in map(fields, graph[n]) if text(v, 1) not in env] for n in (11, 12))
    shape = [max(integers(fields(d).get(1, [1]))[-1], 1) for d in fields(fields(fields(x[2][-1])[1][-1])[2][-1]).get(1, [])]
    known, stages = math.prod(shape), []
    env[text(x, 1)] = Tensor(shape, [{i: 1} for i in range(known)])

    def relu(forms):
        """The variables of a new stage."""
        first = known + sum(map(len, stages))
        stages.append(forms)
        return [{first + i: 1} for i in range(len(forms))]

    for node in map(fields, graph.get(1, [])):
        name, attributes = text(node, 4), {text(a, 1): attribute(a) for a in map(fields, node.get(5, []))}
        ensure(text(node, 7) in ("", "ai.onnx") and len(node[2]) == 1, f"the operator {name} is not supported")
        env[text(node, 2)] = operator(name, attributes.pop, [env[name.decode()] for name in node.get(1, [])], relu)
        for key, value in attributes.items():
            ensure(key in NEUTRAL and NEUTRAL[key] in (None, value), f"the attribute {key} of {name} is not supported")
    return known, stages, env[text(y, 1)].items


# The property.

def linear(e):
    """A term as a form of the names in it."""
    if isinstance(e, str):
        return {e: 1} if e[0] in "XY" else {ONE: Fraction(e)}
    args = list(map(linear, e[1:]))
    return functools.reduce(OPERATORS[{"+": "Add", "-": "Sub", "*": "Mul"}[e[0]]], args if args[1:] else [{}] * (e[0] != "*") + args)


def cases(e):
    """What all cases of a formula have in common, and the rest of each: lists of forms that are at most 0."""
    op, *args = e
    if op in ("and", "or"):
        common, rest = zip(*map(cases, args))
        if op == "and" or len(args) == 1:
            return sum(common, []), [sum(parts, []) for parts in itertools.product(*rest)]
        return [], [shared + part for shared, parts in zip(common, rest) for part in parts]
    (l, r), signs = map(linear, args), {"<=": [1], "<": [1], ">=": [-1], ">": [-1], "=": [1, -1]}
    return [total([(l, sign), (r, -sign)]) for sign in signs[op]], [[]]


def disjuncts(data, inputs, outputs):
    """The disjuncts of a property: boxes and rows (d, a, c)."""
    quoted = re.sub(r"[^\s()]+", lambda atom: repr(atom[0]) + ",", re.sub(r";.*", "", data.decode()))
    commands, out = ast.literal_eval("[" + quoted.replace("(", "[").replace(")", "],") + "]"), []
    ensure({command[0] for command in commands} <= {"declare-const", "assert"}, "a command that is not supported")
    common, rest = cases(["and"] + [command[1] for command in commands if command[0] == "assert"])
    xs, ys = [f"X_{i}" for i in range(inputs)], [f"Y_{i}" for i in range(outputs)]
    for case in rest:
        lo, hi, rows, possible = {}, {}, [], True
        for form in common + case:
            d, names = form.get(ONE, Fraction(0)), list(set(form) - {ONE})
            ensure(set(names) <= {*xs, *ys}, "the model has no such input or output")
            if len(names) == 1 and names[0] in xs:
                end, (side, pick) = -d / form[names[0]], (hi, min) if form[names[0]] > 0 else (lo, max)
                side[names[0]] = pick(side.get(names[0], end), end)
            elif names:
                rows.append([form.get(name, 0) for name in xs + [ONE] + ys])
            else:
                possible &= d <= 0
        box = [lo[n] for n in xs] + [Fraction(1)], [hi[n] for n in xs] + [Fraction(1)]
        out += [(box, rows)] if possible and all(map(le, *box)) else []
    return out


# The bounds. A list b has the lower and the upper ends, of the inputs' box and of each hidden stage, then the stage that is looked
# behind, or 0, and the planes: a stage, two pairs of a neuron and its weight over R, and the least value of their sum over R².

class Network:
    """The affine maps between the stages, integers over D: stage 0 is the inputs, stage `top` the output."""

    def __init__(self, count, stages, output, widths, program):
        """The neurons that the widths keep; `program` if it is the float32 program that evaluates them."""
        for key, c in {item for stage in stages + [output] for form in stage for item in form.items()} if program else ():
            ensure(not isinstance(key, tuple) and abs(c) < 2 ** 127, "a coefficient of no program")
            ensure(Fraction(*struct.unpack("<f", struct.pack("<f", c))) == c, "a coefficient of no program")
        first, self.top, self.program = list(itertools.accumulate(map(len, stages), initial=count)), len(stages) + 1, program
        names = lambda forms: {key[0] if isinstance(key, tuple) else key for form in forms for key in form}
        keep, read, stages = [], names(output), stages + [output]
        ensure(len(widths) == self.top - 1, "the count of stages")
        for k in reversed(range(self.top - 1)):
            kept = [n for n in range(first[k], first[k + 1]) if n in read or widths[k] == len(stages[k])]
            ensure(len(kept) == widths[k], f"the width of stage {k}")
            stages[k] = [stages[k][n - first[k]] for n in kept]
            read |= names(stages[k])
            keep.insert(0, kept)
        stages, sources = [[]] + stages, [[*range(count), ONE]] + keep
        place = {n: (s, j) for s, kept in enumerate(sources) for j, n in enumerate(kept)}
        self.size, self.number = list(map(len, sources)), [place[n] for kept in keep for n in kept]
        self.D = math.lcm(*(c.denominator for stage in stages for form in stage for c in form.values()))
        self.reads, self.errors = ([[[(int(c * self.D), *place[n[0] if off else n]) for n, c in form.items() if isinstance(n, tuple) == off]
                                     for form in stage] for stage in stages] for off in (False, True))
        self.columns = [{s: [[0] * len(stage) for _ in sources[s]] for s in sorted({s for reads in stage for _, s, _ in reads})}
                        for stage in self.reads]
        for k, stage in enumerate(self.reads):
            for j, (a, s, i) in ((j, read) for j, reads in enumerate(stage) for read in reads):
                self.columns[k][s][i][j] = a
        self.inexact = program or any(map(any, self.errors))

    def interval(self, k, j, b):
        """What intervals say of a neuron."""
        ends = [(a * l, a * u) for a, s, i in self.reads[k][j] for l, u in [seen(b, s, i)]]
        low, high = (sum(itertools.starmap(pick, ends)) for pick in (min, max))
        off = self.off(k, j, b)
        return low // self.D - off, -(-high // self.D) + off

    def off(self, k, j, b):
        """What a neuron may be off by, over R: a program's sum, or a sum whose coefficients are off."""
        if not self.inexact:
            return 0
        reads = self.reads[k][j] if self.program else self.errors[k][j]
        size, count = sum(abs(a) * max(map(abs, seen(b, s, i))) for a, s, i in reads), len(reads) + 1
        ensure(size < self.D * R << 100 and count < 1 << 18 or not self.program, "a sum that may overflow, or is too long")
        return size * count // (self.D * ((1 << 24) - count)) + 2 if self.program else -(-size // self.D)

    def sum(self, k, weights):
        """A sum of neurons with these weights over R."""
        return Line(k, [weights.get(j, 0) for j in range(self.size[k])], [0] * self.size[0], 1)

    def line(self, rows, weights):
        """The sum of rows with these weights, scaled to integers."""
        sums = [sum(map(mul, weights, column), Fraction(0)) for column in zip(*rows)]
        scale, n = math.lcm(*(x.denominator for x in sums)), self.size[0]
        sums = [int(x * scale) for x in sums]
        return Line(self.top, [c * R for c in sums[n:]], sums[:n], scale)

    def back(self, line, b, slope, fixed={}, hull=None):
        """A function of the inputs nowhere above the line: a constant over D·R², coefficients over D·R; with a list `hull`, but for
        the neurons that it collects."""
        D, const, mu = self.D, 0, [[a * self.D * R for a in line.a]] + [[0] * n for n in self.size[1:]]
        for k in range(max([line.top] + [k for k, _ in fixed]), 0, -1):
            nu = [0] * len(self.reads[k])
            for j, m in enumerate(mu[k]) if k < self.top else ():
                l, u = b[0][k][j], b[1][k][j]
                if k == b[2]:
                    v = 0
                elif (k, j) in fixed:
                    v = fixed[k, j](m // D)
                elif not m:  # also where it is off
                    continue
                elif l >= 0:
                    v = m // D
                elif m > 0:
                    v = slope(k, j, m, l, u) // D
                elif hull is None or set(self.columns[k]) != {0}:
                    v = m * u // ((u - l) * D)
                else:
                    hull.append((-max(self.interval(k, j, b)[1], 0), k, j, m))
                    continue
                ends = (m * l if l > 0 else 0) - v * D * l, (m * u if u > 0 else 0) - v * D * u
                const += min(*ends, 0) if l < 0 < u else min(ends)
                nu[j] = v
            nu = list(map(add, nu, line.seed)) if k == line.top else nu
            const -= D * sum(abs(v) * self.off(k, j, b) for j, v in enumerate(nu) if v and self.inexact)
            used = [v for v in nu if v]
            for s, columns in self.columns[k].items():  # μ of a neuron that is off plays no part, and stays 0
                mu[s] = [m + sum(map(mul, itertools.compress(column, nu), used)) if not s or u > 0 else 0
                         for m, column, u in zip(mu[s], columns, b[1][s])]
        return const, mu[0]

    def hulls(self, form, b, hull):
        """Bounds over D·R² with the hull for the neurons in the list; in every turn each of them chooses σ again."""
        width, taken, cost = list(map(sub, b[1][0], b[0][0])), {}, {}
        pull = list(map(mul, form[1], width))  # over 2·D·R², as all that follows
        const = 2 * form[0] + sum(m * (l + u) for m, l, u in zip(form[1], b[0][0], b[1][0]))
        for _ in range(3):
            for u, k, j, m in sorted(hull):
                need, row = m * u, [column[j] for column in self.columns[k][0]]
                pull = list(map(add, pull, taken.get((k, j), itertools.repeat(0))))
                cap = [-m * abs(a) * w // self.D for a, w in zip(row, width)]
                free = [min(max(p if a > 0 else -p, 0), c) for p, a, c in zip(pull, row, cap)]
                F, C = sum(free), sum(cap)
                take = [f * need // max(F, 1) if F >= need else f + (c - f) * (min(need, C) - F) // max(C - F, 1)
                        for f, c in zip(free, cap)]
                cost[k, j] = sum(take) + 2 * max(0, need - sum(take))
                taken[k, j] = [t if a > 0 else -t for t, a in zip(take, row)]
                pull = list(map(sub, pull, taken[k, j]))
            yield (const - sum(cost.values()) - sum(map(abs, pull))) // 2

    def bounds(self, box, around=None, cell=False):
        """The bounds of all stages on a box: by intervals or, on a cell, by its rule."""
        b = [[[math.floor(x * R) for x in box[0]]], [[math.ceil(x * R) for x in box[1]]], 0, []]
        for k in range(1, self.top):
            ranges = [self.interval(k, j, b) for j in range(self.size[k])]
            [side.append([ends[n] for ends in ranges]) for n, side in enumerate(b[:2])]
            for j, (l, u) in enumerate(ranges if cell else ()):
                l, u = max(l, 0) if around and around[0][k][j] >= 0 else l, min(u, 0) if around and around[1][k][j] <= 0 else u
                b[0][k][j], b[1][k][j] = l, u
                self.tighten(k, j, b, ADAPTIVE) if k > 1 else None
        return b

    def tighten(self, k, j, b, slope):
        """Moves both sides of a neuron to what a rule says, if it is undecided."""
        if b[0][k][j] < 0 < b[1][k][j]:
            low, high = (least(self.back(self.sum(k, {j: sign * R}), b, slope), b) // (self.D * R) for sign in (1, -1))
            b[0][k][j], b[1][k][j] = max(b[0][k][j], low), min(b[1][k][j], -high)

    def condition(self, line, b, own=()):
        """The condition const + Σ a·v ≤ 0 of a line and what is added to it: const, the a with the places of v, and the stage that is
        not read there, but itself."""
        terms, used = collections.Counter(), [(c // R, j) for j, c in enumerate(line.seed) if c]
        terms.update({(0, i): a * self.D for i, a in enumerate(line.a)})
        for c, (a, s, i) in ((c, read) for c, j in used for read in self.reads[line.top][j]):
            terms[s, i] += c * a
        const = -self.D * sum(abs(c) * self.off(line.top, j, b) for c, j in used)
        return const, [*own, *((a, s, i) for (s, i), a in terms.items() if a)], line.top

    def conditions(self, rows, b):
        """The conditions that every neuron is its row, and that these rows are at most 0."""
        neurons = [self.condition(self.sum(k, {j: -sign * R}), b, [(sign * self.D, k, j)]) for k, j in self.number for sign in (1, -1)]
        return neurons + [self.condition(row, b) for row in rows]

    def functions(self, rows, b, corner=False):
        """The conditions that functions of the inputs, nowhere above rows, are at most 0: by two rules, on a cell also by what the
        neurons are at a corner."""
        forms = [self.back(row, b, slope) for slope in (ADAPTIVE, PARALLEL) for row in rows]
        if corner and rows:
            best = max(forms[:len(rows)], key=lambda form: least(form, b))[1]
            h = [[l if m > 0 else u for m, l, u in zip(best, b[0][0], b[1][0])]]
            for reads in self.reads[1:-1]:
                h.append([max(sum(a * h[s][i] for a, s, i in row) // self.D, 0) for row in reads])
            forms += [self.back(row, b, lambda k, j, m, l, u: m * (h[k][j] > 0)) for row in rows]
        return [(const, [(m, 0, i) for i, m in enumerate(mu) if m], 0) for const, mu in forms]


def seen(b, s, i):
    """The range of what is read: of an input, or of a neuron after its ReLU."""
    return (max(b[0][s][i], 0), max(b[1][s][i], 0)) if s else (b[0][0][i], b[1][0][i])


def least(form, b):
    """The least value of a function on the box, over D·R²."""
    return form[0] + sum(m * (l if m > 0 else u) for m, l, u in zip(form[1], b[0][0], b[1][0]))


def inward(condition, b):
    """Moves the ends of all variables of a condition to what the others leave: whether some range loses much, None if nothing is left."""
    const, terms, own = condition
    ranges = [(b[0][s][i], b[1][s][i]) if s == own else seen(b, s, i) for _, s, i in terms]
    spare, much = -const - sum(a * (l if a > 0 else u) for (a, _, _), (l, u) in zip(terms, ranges)), False
    if spare < 0:
        return None
    for (a, s, i), (l, u) in zip(terms, ranges):
        reach = -(-spare // abs(a))
        if reach < u - l:
            side, end = (1, l + reach) if a > 0 else (0, u - reach)
            much |= 64 * abs(b[side][s][i] - end) > b[1][s][i] - b[0][s][i]
            b[side][s][i] = end
    return much


def left(conditions, functions, b):
    """Whether a counterexample may be left after conditions, and functions of the inputs, have moved ends inward while it is worth it."""
    for turn in range(100):
        moved = [inward(condition, b) for condition in conditions[::1 - turn % 2 * 2]]
        if None not in moved and not any(moved):
            moved = [inward(condition, b) for condition in functions()]
        if None in moved or not any(moved):
            return None not in moved
    return True


def empty(b):
    """Whether some range has nothing in it."""
    return any(map(int.__gt__, itertools.chain(*b[0]), itertools.chain(*b[1])))


# The certificate.

class Judge(Reader):
    """Reads a certificate from its beginning to its end, and takes nothing in it on trust."""

    def file(self, parts, found, hashes):
        """The whole file."""
        self.data, digest = self.data[:-32], self.data[-32:]
        ensure(hashlib.sha256(self.data).digest() == digest, "the digest")
        ensure(self.take(68) == b"PGC1" + hashes, "it is not about these files")
        name, arithmetic = self.take(self.integer()), self.take(1)[0]
        ensure(name.decode(errors="ignore").encode() == name and arithmetic < 2, "the heading")
        self.net, self.disjuncts = Network(*parts, [self.integer() for _ in range(self.integer())], arithmetic == 1), found
        open_ones = set(range(len(found)))
        while (kind := self.take(1)) == b"\1":
            self.records += 1
            mine = list(self.listed(range(len(found)), list, "a disjunct that is none"))
            ensure(mine and all(found[d][0] == found[mine[0]][0] for d in mine), "a region of no box, or of several")
            self.region(set(mine), found[mine[0]][0])
            open_ones -= set(mine)
        ensure(kind == b"\0" and self.integer() == self.records and self.at == len(self.data) and not open_ones, "the end comes wrong")

    def region(self, unclosed, box, of_cell=False):
        """The records of a region, or of a cell."""
        b = self.net.bounds(box)
        while True:
            self.records += 1
            if (kind := self.take(1)[0]) in (2, 6):
                self.bound(b, kind == 6)
            elif kind == 3:
                self.close(unclosed, b)
            elif kind == 4 and not of_cell:
                mine = self.listed(unclosed, list, "a disjunct that has no place here")
                self.cells(list(mine), box)
                unclosed -= set(mine)
            else:
                return ensure(kind == 5 and not unclosed, "no record, or a disjunct is left open")

    def bound(self, b, is_plane):
        """A bound of a neuron, which holds from then on, or a plane of two neurons."""
        net, k, sides = self.net, self.integer() + 1, [self.integer() for _ in range(1 + is_plane)]
        scales, value = [Fraction(1)] + [self.real() for _ in sides[1:]], self.real()
        weights = {side // 2: int(scale * R) * (-1) ** side for side, scale in zip(sides, scales)}
        ensure(k < net.top and max(weights) < net.size[k] and len(weights) == len(sides), "a neuron that is none, or one twice")
        ensure(all(0 < scale < 512 and (1 << 40) % scale.denominator == 0 for scale in scales), "a scale that is none")
        (j, sign), *rest, enough = *weights.items(), lambda low: low >= value * net.D * R * R
        known = [] if is_plane else [net.interval(k, j, b)[sign < 0] * sign * net.D]
        self.proof(Claim(lambda _: net.sum(k, weights), [], enough, []), b, known)
        if is_plane:
            b[3].append((k, (j, sign), *rest, math.floor(value * R * R)))
        else:
            b[sign < 0][k][j] = math.floor(value * R) if sign > 0 else math.ceil(-value * R)

    def close(self, unclosed, b):
        """A disjunct, closed by a row or by combinations of rows."""
        ensure((d := self.integer()) in unclosed and max(what := self.integer(), 1) <= len(self.disjuncts[d][1]), "no open disjunct, or no row")
        rows = self.disjuncts[d][1]
        lines = [self.net.line([row], [1]) for row in rows]
        line = (lambda _: lines[what - 1]) if what else lambda weights: self.net.line(rows, weights)
        self.proof(Claim(line, [] if what else lines, lambda low: low > 0, []), b, [] if what else None)
        unclosed.remove(d)

    def proof(self, claim, b, known):
        """A proof of a claim: by a rule, or by bounds that are known besides, unless this is None; or by a tree."""
        if (kind := self.take(1)[0]) == 1:
            return self.tree(claim, b)
        ensure(kind == 0 and known is not None, "a proof of no kind")
        rules = (least(self.net.back(claim.line([]), b, slope), b) for slope in (ADAPTIVE, PARALLEL))
        ensure(any(map(claim.enough, itertools.chain(known, rules))), "the rules give less")

    def listed(self, allowed, read, reason):
        """Ascending numbers, with what is read behind each."""
        out, n = {}, -1
        for _ in range(self.integer()):
            n += self.integer() + 1
            ensure(n in allowed, reason)
            out[n] = read()
        return out

    def neurons(self, read):
        """Neurons, with what is read behind each."""
        return {self.net.number[n]: x for n, x in self.listed(range(len(self.net.number)), read, "a neuron that is none").items()}

    def tree(self, claim, b):
        """A tree, node after node; `way` has the phases that are fixed on the way to a node."""
        net, alpha = self.net, {(k, j): 255 if b[1][k][j] > -b[0][k][j] else 0 for k, j in self.net.number}
        alpha.update(self.neurons(lambda: self.take(1)[0]))
        nodes = [({}, claim, copied(b))]
        while nodes:
            (way, claim, b), kind = nodes.pop(), self.take(1)[0]
            if kind in (0, 2):
                self.leaf(alpha, way, claim, b, kind == 2)
            elif kind in (1, 4):
                ensure((n := self.integer()) < len(net.number) and (kind == 4 or net.number[n] not in way), "a neuron that cannot be split")
                (k, j), at = net.number[n], self.real("<d") * R if kind == 4 else 0
                for on, end in (1, math.floor(at)), (0, math.ceil(at)):
                    part = copied(b)
                    part[1 - on][k][j] = (min, max)[on](part[1 - on][k][j], end)
                    nodes.append(({**way, (k, j): on} if kind == 1 else way, claim, self.settled(claim, part)))
            elif kind == 6:
                ensure(claim.rows, "counterexamples of no combination")
                claim = claim._replace(conditions=net.conditions(claim.rows, b))
                nodes.append((way, claim, self.settled(claim, b)))
            else:
                ensure(kind in (3, 5) and (n := self.integer() + 1) < net.top, "a node, or a stage, that is none")
                for (k, j), slope in itertools.product(net.number, (ADAPTIVE, PARALLEL)) if kind == 3 and not empty(b) else ():
                    net.tighten(k, j, b, slope) if k >= n else None
                b[2] = n if kind == 5 else b[2]
                nodes.append((way, claim, self.settled(claim, b) if kind == 5 else b))

    def settled(self, claim, b):
        """Bounds, after planes and the conditions of counterexamples have moved them."""
        for k, *sides, value in b[3]:
            for (j, weight), (i, factor) in (sides, sides[::-1]) if k == b[2] else ():
                end = (value - max(factor * b[0][k][i], factor * b[1][k][i])) // abs(weight)
                b[weight < 0][k][j] = max(b[0][k][j], end) if weight > 0 else min(b[1][k][j], -end)
        if claim.conditions and not empty(b) and not left(claim.conditions, lambda: self.net.functions(claim.rows, b), b):
            b[0][0][0] = b[1][0][0] + 1
        return b

    def leaf(self, alpha, way, claim, b, is_given):
        """A leaf, by multipliers that are given or by the rule node, with the chord, else with the hull."""
        net, weights, betas = self.net, [self.real() for _ in claim.rows], []
        line, slope, hull = claim.line(weights), lambda k, j, m, l, u: m * alpha[k, j] // 255, []
        if is_given:
            given = self.neurons(lambda: int(self.real("<d") * line.scale * R))
            fixed = {(k, j): lambda m, v=given.get((k, j), 0): v for k, j in net.number if (k, j) in given or b[0][k][j] < 0}
        else:
            alpha, betas = {**alpha, **self.neurons(lambda: self.take(1)[0])}, [self.real() for _ in way]
            fixed = {n: lambda m, v=int(beta * line.scale * R), on=way[n]: m - v if on else v for n, beta in zip(way, betas)}
        ensure(min(betas + weights, default=0) >= 0, "a number below 0")
        if not empty(b) and not claim.enough(least(net.back(line, b, slope, fixed), b)):
            ensure(any(map(claim.enough, net.hulls(net.back(line, b, slope, fixed, hull), b, hull))), "a leaf's bound is less")

    def cells(self, unclosed, box):
        """A cell, and those that it is cut into, one after the other."""
        cells = [(unclosed, box, None)]
        while cells:
            unclosed, box, around = cells.pop()
            b, unclosed = self.net.bounds(box, around, True), list(unclosed)
            while (kind := self.take(1)[0]) == 2:
                ensure((d := self.integer()) in unclosed, "a disjunct that is not open here")
                self.closed(d, b)
                unclosed.remove(d)
            if kind == 1:
                ensure((i := self.integer()) < len(box[0]) - 1, "an input that is none")
                at = min(max(self.real("<d"), box[0][i]), box[1][i])
                cells += [(unclosed, part, b) for part in halves(box, i, at)[::-1]]
            else:
                ensure(kind in (0, 3), "no cell")
                self.region(set(unclosed), box, True) if kind else [self.closed(d, b) for d in unclosed]

    def closed(self, d, b, halvings=20):
        """A disjunct is closed on a cell, or on the halves of what is left of it."""
        rows = [self.net.line([row], [1]) for row in self.disjuncts[d][1]]
        conditions = self.net.functions(rows, b, True)
        inner = [[list(side[0]), *side[1:]] for side in b[:2]]
        if left([], lambda: conditions, inner):
            ensure(halvings and rows, f"disjunct {d} is not closed on a cell")
            box, moves = [[Fraction(x, R) for x in side[0]] for side in inner], collections.Counter()
            for m, _, i in (term for _, terms, _ in conditions for term in terms):
                moves[i] += abs(m) * (inner[1][0][i] - inner[0][0][i])
            i = max(moves, key=moves.get)
            for part in halves(box, i, (box[0][i] + box[1][i]) / 2):
                self.closed(d, self.net.bounds(part, b, True), halvings - 1)


def copied(b):
    """A copy whose ends move by themselves."""
    return [[list(stage) for stage in side] for side in b[:2]] + b[2:]


def halves(box, i, at):
    """The parts of a box below and above a value of an input."""
    return (box[0], box[1][:i] + [at] + box[1][i + 1:]), (box[0][:i] + [at] + box[0][i + 1:], box[1])


def main(paths):
    """Judges a certificate."""
    try:
        files = [gzip.decompress(f) if f[:2] == b"\x1f\x8b" else f for f in (open(path, "rb").read() for path in paths)]
        parts = model(files[0])
        found, judge = disjuncts(files[1], parts[0], len(parts[2])), Judge(files[2])
    except Exception as error:
        return print(f"a file cannot be used: {error!r}", file=sys.stderr) or 4
    try:
        judge.file(parts, found, b"".join(hashlib.sha256(data).digest() for data in files[:2]))
    except Rejected as reason:
        return print("rejected") or print(f"record {judge.records}: {reason}", file=sys.stderr) or 1
    return print("accepted") or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
