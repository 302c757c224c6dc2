#!/usr/bin/env python3
"""A second judge of certificates, written from docs/certificate.md alone and from Python's standard library.

    python3 tests/check.py MODEL.onnx PROP.vnnlib CERTIFICATE

Stdout begins with `accepted` or `rejected`; the reason, with the record's number, goes to stderr.
Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.

Verdicts rest on integers and fractions alone. Weights are integers over net.D; ends of boxes, bounds of neurons and ν are integers
over R, the first two rounded outwards, ν as it comes; μ follows from ν exactly, over D·R; and a function's bound is an integer over
D·R². There is one more input, the last, which is 1: its weights are the biases.
"""
import ast, collections, copy, functools, gzip, hashlib, itertools, math, re, struct, sys
from fractions import Fraction
from operator import mul, sub

R, ONE = 1 << 64, -1  # ONE is the variable of a form's constant; (v,) is a key for what the coefficient of v may be off by
PARALLEL = lambda k, j, m, l, u: m * u // (u - l)  # rules for μ > 0, undecided
ADAPTIVE = lambda k, j, m, l, u: m if u > -l else 0
VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
NEUTRAL = {"allowzero": 0, "auto_pad": b"NOTSET", "ceil_mode": 0, "dilations": [1, 1], "momentum": None, "ratio": None, "seed": None,
           "spatial": 1, "storage_order": 0, "training_mode": 0, "transA": 0}  # attributes that change nothing; None: whatever it is
Tensor = collections.namedtuple("Tensor", "shape items")  # items: affine forms, variable -> coefficient, row-major
Line = collections.namedtuple("Line", "terms weights scale")  # scale·f = Σ terms·h, over D·R, from rows with weights over R
Claim = collections.namedtuple("Claim", "line rows enough conditions")  # the line of a leaf's weights; the lines that are weighed;
# whether a bound is enough; below a node 0x06 the conditions of counterexamples


class Rejected(Exception):
    """What is read is not what it has to be."""


def ensure(holds, reason):
    """Rejects what does not hold."""
    if not holds:
        raise Rejected(reason)


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
        found = VARINT.match(self.data, self.at)
        ensure(found and len(found[0]) <= size and (found[0] == b"\0" or found[0][-1]), "a number")
        self.at = found.end()
        return sum((byte & 127) << 7 * i for i, byte in enumerate(found[0]))

    def real(self, kind="<f"):
        """A finite number."""
        value, = struct.unpack(kind, self.take(struct.calcsize(kind)))
        ensure(math.isfinite(value), "a number that is not finite")
        return Fraction(value)


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


def attribute(a):
    """The value of an attribute: a number, bytes, a tensor, or a list of integers."""
    kinds = {2: lambda f: Fraction(*struct.unpack("<f", f[-1])), 3: lambda i: integers(i)[-1], 4: lambda s: s[-1],
             5: lambda t: tensor(t[-1]), 8: integers}
    return next((read(a[n]) for n, read in kinds.items() if n in a), None)


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
    return form.get(ONE, 0) if set(form) <= {ONE} else ensure(False, "what has to be constant varies")


def total(pairs):
    """Σ form·weight."""
    out = {}
    for form, weight in pairs:
        for key in form if weight else ():
            out[key] = out.get(key, 0) + form[key] * (abs(weight) if isinstance(key, tuple) else weight)
    return {key: value for key, value in out.items() if value}


def rooted(form, factor):
    """A form times scale/√square: times a multiple of 1/R that is less than 1/R off."""
    scale, square = factor
    root = Fraction(math.isqrt(int(R * R * scale * scale / square)), R if scale > 0 else -R)
    off = [({key if isinstance(key, tuple) else (key,): abs(form[key])}, Fraction(scale != 0, R)) for key in form]
    return total([(form, root)] + off)


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
    order = lambda t: [(axis, {1: [0] * n, n: range(n)}[t.shape[axis]]) for axis, n in enumerate(shape)]
    return Tensor(shape, list(map(op, *(gathered(t, order(t)).items for t in sides))))


def chunks(items, size):
    """The items in rows of this size."""
    return [items[i:i + size] for i in range(0, len(items), size)]


def windows(x, kernel, use):
    """The places of a kernel over an image: their shape, and for every channel and place the elements' indices, -1 outside."""
    (batch, channels, h, w), (p, q), (down, right) = x.shape, kernel, use("strides", [1, 1])
    top, before, bottom, after = use("pads", [0] * 4)
    ensure(batch == 1 and min(p, q, down, right) > 0, "images that are not supported")
    ys, xs = range(-top, h + bottom - p + 1, down), range(-before, w + after - q + 1, right)
    at = lambda c, i, j: (c * h + i) * w + j if 0 <= i < h and 0 <= j < w else -1
    return [len(ys), len(xs)], [[[at(c, y + i, x + j) for i in range(p) for j in range(q)] for y in ys for x in xs]
                                for c in range(channels)]


def pooled(x, use, relu):
    """The greatest values of windows, in rounds; a value is named by its index, or by the pair that it is the greater of."""
    shape, places = windows(x, use("kernel_shape", None), use)
    values, rows = dict(enumerate(x.items)), [tuple(i for i in place if i >= 0) for channel in places for place in channel]
    ensure(all(rows), "a window without a value")
    while max(map(len, rows)) > 1:
        rows = [chunks(row, 2) for row in rows]
        pairs = list(dict.fromkeys(pair for row in rows for pair in row if pair[1:]))
        for (a, b), form in zip(pairs, relu([OPERATORS["Sub"](values[a], values[b]) for a, b in pairs])):
            values[a, b] = OPERATORS["Add"](values[b], form)
        rows = [tuple(pair if pair[1:] else pair[0] for pair in row) for row in rows]
    return reshaped([values[value] for value, in rows], [*x.shape[:2], *shape])


def operator(name, use, args, relu):
    """The output of a node; `use` takes an attribute, or else a default, and `relu` makes a stage of forms."""
    x, y, z, *more = args + [None] * (5 - len(args))
    if name == "Relu":
        return reshaped(relu(x.items), x.shape)
    if name in OPERATORS:
        return elementwise(OPERATORS[name], x, y)
    if name == "MaxPool":
        return pooled(x, use, relu)
    if name in ("Flatten", "Reshape"):
        shape = [int(number(n)) or x.shape[i] for i, n in enumerate(y.items)] if y else [math.prod(x.shape[:use("axis", 1)]), -1]
        return reshaped(x.items, [len(x.items) // -math.prod(shape) if n == -1 else n for n in shape])
    if name == "Transpose":
        return gathered(x, [(axis, range(x.shape[axis])) for axis in use("perm", range(len(x.shape))[::-1])])
    if name == "Concat":
        axis = range(len(x.shape))[use("axis", None)]
        ensure(len({(*t.shape[:axis], *t.shape[axis + 1:]) for t in args}) == 1, "parts that do not fit")
        parts = zip(*(chunks(t.items, math.prod(t.shape[axis:])) for t in args))
        shape = [*x.shape[:axis], sum(t.shape[axis] for t in args), *x.shape[axis + 1:]]
        return reshaped([form for row in parts for part in row for form in part], shape)
    if name == "Slice":
        starts, ends, axes, steps = ([int(number(n)) for n in t.items] if t else range(len(y.items)) for t in (y, z, *more))
        ensure(len(starts) == len(ends) == len(axes) and (not more[1] or set(steps) == {1}), "a step other than 1")
        order = [range(size) for size in x.shape]
        for axis, start, end in zip(axes, starts, ends):
            order[axis] = order[axis][start:end]
        return gathered(x, list(enumerate(order)))
    if name in ("MatMul", "Gemm"):
        alpha, beta = use("alpha", 1), use("beta", 1)
        y = gathered(y, [(axis, range(y.shape[axis])) for axis in ((0, 1) if use("transB", 0) else (1, 0))])
        ensure(x.shape[-1] == y.shape[1], "a matrix that does not fit")
        rows, columns = chunks(x.items, y.shape[1]), chunks([number(form) * alpha for form in y.items], y.shape[1])
        out = reshaped([total(zip(row, column)) for row in rows for column in columns], [*x.shape[:-1], y.shape[0]])
        z = elementwise(OPERATORS["Mul"], z, Tensor([], [{ONE: beta}])) if z else z
    elif name == "Conv":
        (count, inner, *kernel), group = y.shape, use("group", 1)
        fits = use("kernel_shape", kernel) == kernel and x.shape[1] == inner * group and count % group == 0
        ensure(fits, "a kernel that does not fit")
        weights, items = chunks(list(map(number, y.items)), inner * math.prod(kernel)), x.items + [{}]
        shape, places = windows(x, kernel, use)
        patches = [[[items[i] for part in patch for i in part] for patch in zip(*channels)] for channels in chunks(places, inner)]
        items = [total(zip(patch, row)) for m, row in enumerate(weights) for patch in patches[m * group // count]]
        out = reshaped(items, [1, count, *shape])
        z = reshaped(z.items, [count, 1, 1]) if z else z
    elif name == "BatchNormalization":
        y, z, *more = (reshaped(t.items, [x.shape[1]] + [1] * (len(x.shape) - 2)) for t in (y, z, *more))
        epsilon = use("epsilon", Fraction(*struct.unpack("<f", struct.pack("<f", 1e-5))))
        factors = elementwise(lambda scale, variance: (number(scale), number(variance) + epsilon), y, more[1])
        out = elementwise(rooted, elementwise(OPERATORS["Sub"], x, more[0]), factors)
    else:
        ensure(name in ("Identity", "Constant") or name == "Dropout" and not z, f"the operator {name} is not supported")
        return x or use("value", None)
    return elementwise(OPERATORS["Add"], out, z) if z else out


def model(data):
    """The count of an ONNX model's inputs, the stages, variable -> the form that its ReLU reads, and the forms of the output."""
    message = fields(data)
    graph, versions = fields(message[7][-1]), [o[2][-1] for o in map(fields, message.get(8, [])) if not text(o, 1)]
    ensure(min(versions, default=0) >= 7, "operators before version 7")
    env = {"": None, **{text(fields(raw), 8): tensor(raw) for raw in graph.get(5, [])}}
    (x,), (y,) = ([v for v in map(fields, graph[n]) if text(v, 1) not in env] for n in (11, 12))
    shape = [max(integers(fields(d).get(1, [1]))[-1], 1) for d in fields(fields(fields(x[2][-1])[1][-1])[2][-1]).get(1, [])]
    count, stages = math.prod(shape), []
    env[text(x, 1)] = Tensor(shape, [{i: 1} for i in range(count)])

    def relu(forms):
        """The variables of a new stage."""
        stages.append(dict(enumerate(forms, count + sum(map(len, stages)))))
        return [{n: 1} for n in stages[-1]]

    for node in map(fields, graph.get(1, [])):
        name, attributes = text(node, 4), {text(a, 1): attribute(a) for a in map(fields, node.get(5, []))}
        ensure(text(node, 7) in ("", "ai.onnx") and len(node[2]) == 1, f"the operator {name} is not supported")
        env[text(node, 2)] = operator(name, attributes.pop, [env[arg.decode()] for arg in node.get(1, [])], relu)
        for key, value in attributes.items():
            ensure(key in NEUTRAL and NEUTRAL[key] in (None, value), f"the attribute {key} of {name} is not supported")
    return count, stages, env[text(y, 1)].items


# The property.

def linear(e):
    """A term as a form of the names in it."""
    if isinstance(e, str):
        return {e: 1} if e[0] in "XY" else {ONE: Fraction(e)}
    args = list(map(linear, e[1:]))
    args = args if args[1:] or e[0] == "*" else [{}] + args
    return functools.reduce(OPERATORS[{"+": "Add", "-": "Sub", "*": "Mul"}[e[0]]], args)


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
    """The disjuncts of a property: boxes, which are lists of ranges, and rows (a, c)."""
    quoted = re.sub(r"[^\s()]+", lambda atom: repr(atom[0]) + ",", re.sub(r";.*", "", data.decode()))
    commands, out = ast.literal_eval("[" + quoted.replace("(", "[").replace(")", "],") + "]"), []
    ensure({command[0] for command in commands} <= {"declare-const", "assert"}, "a command that is not supported")
    common, rest = cases(["and"] + [command[1] for command in commands if command[0] == "assert"])
    xs, ys = [f"X_{i}" for i in range(inputs)] + [ONE], [f"Y_{i}" for i in range(outputs)]
    for case in rest:
        lo, hi, rows = {ONE: Fraction(1)}, {ONE: Fraction(1)}, []
        for form in filter(None, common + case):
            ensure(set(form) <= {*xs, *ys}, "the model has no such input or output")
            name, *others = set(form) - {ONE} or {ONE}
            if others or name in ys:
                rows.append([form.get(name, 0) for name in xs + ys])
            else:  # a number alone is an end of the input that is 1
                end, (side, pick) = Fraction(-form.get(ONE, 0) * (name != ONE)) / form[name], (hi, min) if form[name] > 0 else (lo, max)
                side[name] = pick(side.get(name, end), end)
        out += [([(lo[n], hi[n]) for n in xs], rows)] if all(lo[n] <= hi[n] for n in xs) else []
    return out


# The bounds. A list b has the lower and the upper ends, of the inputs' box and of each hidden stage, then the stage that is looked
# behind, or 0, and the planes: a stage, two pairs of a neuron and its weight over R, and the least value of their sum over R².

class Network:
    """The affine maps between the stages, integers over D: stage 0 is the inputs, stage `top` the output."""

    def __init__(self, count, stages, output, widths, program):
        """The neurons that the widths keep; `program` if it is the float32 program that evaluates them."""
        self.top, self.program, read, stages = len(stages) + 1, program, set(), stages + [dict(enumerate(output))]
        ensure(len(widths) == len(stages) - 1, "the count of stages")
        for key, c in {item for stage in stages for form in stage.values() for item in form.items()} if program else ():
            ensure(not isinstance(key, tuple) and abs(c) < 1 << 127, "a coefficient of no program")
            ensure(Fraction(*struct.unpack("<f", struct.pack("<f", c))) == c, "a coefficient of no program")
        for k, width in reversed(list(enumerate(widths + [len(output)]))):
            stages[k] = {n: form for n, form in stages[k].items() if n in read or width == len(stages[k])}
            ensure(len(stages[k]) == width, f"the width of stage {k}")
            read.update(key[0] if isinstance(key, tuple) else key for form in stages[k].values() for key in form)
        sources, stages = [[*range(count), ONE], *stages[:-1]], [{}] + stages
        self.size, place = list(map(len, sources)), {n: (s, i) for s, stage in enumerate(sources) for i, n in enumerate(stage)}
        self.number = [(k, j) for k in range(1, self.top) for j in range(self.size[k])]
        self.D = math.lcm(*(c.denominator for stage in stages for form in stage.values() for c in form.values()))
        row = lambda form, off: {place[n[0] if off else n]: int(c * self.D) for n, c in form.items() if isinstance(n, tuple) == off}
        self.reads, self.errors = ([[row(form, off) for form in stage.values()] for stage in stages] for off in (False, True))
        self.columns = [{s: [[row.get((s, i), 0) for row in stage] for i in range(self.size[s])]
                         for s in sorted({s for row in stage for s, _ in row})} for stage in self.reads]

    def interval(self, k, j, b):
        """What intervals say of a neuron."""
        row, off = self.reads[k][j], self.off(k, j, b)
        return [sign * (least((0, {place: sign * a for place, a in row.items()}), b) // self.D - off) for sign in (1, -1)]

    def off(self, k, j, b):
        """What a neuron may be off by, over R: a program's sum, or a sum whose coefficients are off."""
        reads = (self.reads if self.program else self.errors)[k][j]
        size, count = sum(abs(a) * max(map(abs, seen(b, *place))) for place, a in reads.items()), len(reads) + 1
        ensure(not self.program or size < self.D * R << 100 and count < 1 << 18, "a sum that may overflow, or is too long")
        return size * count // (self.D * ((1 << 24) - count)) + 2 if self.program else -(-size // self.D)

    def line(self, weights, inputs=(), scale=1):
        """A sum of neurons with weights over R, and of inputs."""
        terms = collections.Counter({(0, i): a * self.D * R for i, a in enumerate(inputs)})
        for (k, j), w in weights.items():
            terms.update({place: a * w for place, a in self.reads[k][j].items()})
        return Line(terms, weights, scale)

    def combined(self, rows, weights):
        """The sum of rows with these weights, scaled to integers."""
        sums = [sum(map(mul, weights, column), Fraction(0)) for column in zip(*rows)]
        scale, n = math.lcm(*(x.denominator for x in sums)), self.size[0]
        inputs, outputs = [int(x * scale) for x in sums[:n]], {(self.top, j): int(x * scale) * R for j, x in enumerate(sums[n:]) if x}
        return self.line(outputs, inputs, scale)

    def doubt(self, line, b):
        """What a line may be less than its terms, over D·R²."""
        return self.D * sum(abs(w) * self.off(k, j, b) for (k, j), w in line.weights.items())

    def back(self, line, b, slope, fixed={}, hull=None):
        """A function of the inputs nowhere above the line: a constant over D·R², coefficients over D·R; with a list `hull`, but for
        the neurons that it collects."""
        D, const, mu = self.D, -self.doubt(line, b), [[line.terms[s, i] for i in range(n)] for s, n in enumerate(self.size)]
        for k in reversed(range(1, len(b[0]))):
            nu = [0] * self.size[k]
            for j, m in enumerate(mu[k]):
                l, u = b[0][k][j], b[1][k][j]
                if k == b[2]:
                    v = 0
                elif (k, j) in fixed:
                    v = fixed[k, j](m // D)
                elif u <= 0 or not m:
                    continue
                elif m < 0 and l < 0 and hull is not None and set(self.columns[k]) == {0}:
                    hull.append((-max(self.interval(k, j, b)[1], 0), k, j, m))
                    continue
                else:
                    v = (m if l >= 0 else (slope if m > 0 else PARALLEL)(k, j, m, l, u)) // D
                const += min(m * max(z, 0) - v * D * z for z in ((l, u, 0) if l < 0 < u else (l, u)))
                nu[j] = v
            const -= D * sum(abs(v) * self.off(k, j, b) for j, v in enumerate(nu) if v)
            used = [v for v in nu if v]
            for s, columns in self.columns[k].items():
                mu[s] = [m + sum(map(mul, itertools.compress(column, nu), used)) for m, column in zip(mu[s], columns)]
        return const, {(0, i): m for i, m in enumerate(mu[0])}

    def hulls(self, form, b, hull):
        """A bound over D·R² with the hull for the neurons in the list, one after the other."""
        width = list(map(sub, b[1][0], b[0][0]))
        pull = list(map(mul, form[1].values(), width))  # over 2·D·R², as all that follows
        const = 2 * form[0] + sum(m * (l + u) for m, l, u in zip(form[1].values(), b[0][0], b[1][0]))
        for u, k, j, m in sorted(hull):
            need, row = m * u, [column[j] for column in self.columns[k][0]]
            cap = [-m * abs(a) * w // self.D for a, w in zip(row, width)]
            free = [min(max(p if a > 0 else -p, 0), c) for p, a, c in zip(pull, row, cap)]
            F, C = sum(free), sum(cap)
            take = [f * need // max(F, 1) if F >= need else f + (c - f) * (min(need, C) - F) // max(C - F, 1) for f, c in zip(free, cap)]
            const -= sum(take) + 2 * max(0, need - sum(take))
            pull = [p - t if a > 0 else p + t for p, t, a in zip(pull, take, row)]
        return (const - sum(map(abs, pull))) // 2

    def bounds(self, box, around=None, cell=False):
        """The bounds of all stages on a box: by intervals or, on a cell, by its rule."""
        b = [[[math.floor(l * R) for l, _ in box]], [[math.ceil(u * R) for _, u in box]], 0, []]
        for k in range(1, self.top):
            ranges = [self.interval(k, j, b) for j in range(self.size[k])]
            b[0].append([max(l, 0) if around and around[0][k][j] >= 0 else l for j, (l, _) in enumerate(ranges)])
            b[1].append([min(u, 0) if around and around[1][k][j] <= 0 else u for j, (_, u) in enumerate(ranges)])
            for j in range(self.size[k]) if cell and k > 1 else ():
                self.tighten(k, j, b, ADAPTIVE)
        return b

    def tighten(self, k, j, b, slope):
        """Moves both sides of a neuron to what a rule says, if it is undecided."""
        if b[0][k][j] < 0 < b[1][k][j]:
            low, high = (least(self.back(self.line({(k, j): sign * R}), b, slope), b) // (self.D * R) for sign in (1, -1))
            b[0][k][j], b[1][k][j] = max(b[0][k][j], low), min(b[1][k][j], -high)

    def conditions(self, rows, b):
        """The conditions that every neuron is its row, and that these rows are at most 0."""
        own = [(self.line({(k, j): -sign * R}), {(-k, j): sign * self.D * R}) for k, j in self.number for sign in (1, -1)]
        return [(-self.doubt(line, b), {**line.terms, **more}) for line, more in own + [(row, {}) for row in rows]]

    def functions(self, rows, b, corner=False):
        """The conditions that functions of the inputs, nowhere above rows, are at most 0: by two rules, on a cell also by what the
        neurons are at a corner."""
        forms = [self.back(row, b, slope) for slope in (ADAPTIVE, PARALLEL) for row in rows]
        if corner and rows:
            best = max(forms[:len(rows)], key=lambda form: least(form, b))[1]
            h = [[b[m <= 0][0][i] for (_, i), m in best.items()]]
            for stage in self.reads[1:-1]:
                h.append([max(sum(a * h[s][i] for (s, i), a in row.items()) // self.D, 0) for row in stage])
            forms += [self.back(row, b, lambda k, j, m, l, u: m * (h[k][j] > 0)) for row in rows]
        return forms


def seen(b, s, i):
    """The range of an input, of what is read of a neuron or, for -s, of the neuron itself."""
    return (max(b[0][s][i], 0), max(b[1][s][i], 0)) if s > 0 else (b[0][-s][i], b[1][-s][i])


def least(form, b):
    """The least value of a constant and weights of what is read."""
    return form[0] + sum(a * seen(b, *place)[a < 0] for place, a in form[1].items())


def inward(form, b):
    """Moves the ends of what a form that is at most 0 has, each to what the others leave: whether some range loses much, None if
    nothing is left."""
    spare, much = -least(form, b), False
    for (s, i), a in form[1].items() if spare >= 0 else ():
        l, u = seen(b, s, i)
        if a and (reach := -(-spare // abs(a))) < u - l:
            (low, high), side, end = (b[0][abs(s)], b[1][abs(s)]), a > 0, l + reach if a > 0 else u - reach
            much |= 64 * abs((low, high)[side][i] - end) > high[i] - low[i]
            (low, high)[side][i] = end
    return much if spare >= 0 else None


def remains(conditions, functions, b):
    """Whether anything is left after conditions, and functions of the inputs, have moved ends inward while it is worth it."""
    for turn in range(100):
        moved = [inward(form, b) for form in conditions[::1 - turn % 2 * 2]]
        if None not in moved and not any(moved):
            moved = [inward(form, b) for form in functions()]
        if None in moved or not any(moved):
            break
    return None not in moved


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
        left = set(range(len(found)))
        while (kind := self.take(1)) == b"\1":
            self.records += 1
            mine = set(self.listed(range(len(found)), list))
            ensure(len({tuple(found[d][0]) for d in mine}) == 1, "a region of no box, or of several")
            left -= mine
            self.region(mine, found[min(mine)][0])
        ensure(kind == b"\0" and self.integer() == self.records and self.at == len(self.data) and not left, "the end comes wrong")

    def region(self, left, box, of_cell=False):
        """The records of a region, or of a cell."""
        b = self.net.bounds(box)
        while True:
            self.records += 1
            if (kind := self.take(1)[0]) in (2, 6):
                self.bound(b, kind == 6)
            elif kind == 3:
                self.close(left, b)
            elif kind == 4 and not of_cell:
                mine = set(self.listed(range(len(self.disjuncts)), list))
                ensure(mine <= left, "a disjunct that has no place here")
                left -= mine
                self.cells(mine, box)
            else:
                return ensure(kind == 5 and not left, "no record, or a disjunct is left open")

    def bound(self, b, is_plane):
        """A bound of a neuron, which holds from then on, or a plane of two neurons."""
        net, k, sides = self.net, self.integer() + 1, [self.integer() for _ in range(1 + is_plane)]
        scales, value = [Fraction(1)] + [self.real() for _ in sides[1:]], self.real()
        weights = {(k, side // 2): int(scale * R) * (-1) ** side for side, scale in zip(sides, scales)}
        ensure(set(weights) <= set(net.number) and len(weights) == len(sides), "a neuron that is none, or one twice")
        ensure(all(0 < scale < 512 and (1 << 40) % scale.denominator == 0 for scale in scales), "a scale that is none")
        j, odd = sides[0] // 2, sides[0] % 2
        known = [] if is_plane else [net.interval(k, j, b)[odd] * (-1) ** odd * net.D * R]
        self.proof(Claim(lambda _: net.line(weights), [], lambda low: low >= value * net.D * R * R, []), b, known)
        if is_plane:
            b[3].append((k, *weights.items(), math.floor(value * R * R)))
        else:
            b[odd][k][j] = math.floor(value * R) if not odd else math.ceil(-value * R)

    def close(self, left, b):
        """A disjunct, closed by a row or by combinations of rows."""
        d, what = self.integer(), self.integer()
        ensure(d in left and max(what, 1) <= len(self.disjuncts[d][1]), "no open disjunct, or no row")
        left.remove(d)
        rows = self.disjuncts[d][1][what - 1:what] or self.disjuncts[d][1]
        line = lambda weights: self.net.combined(rows, weights or [1])
        lines = [] if what else [self.net.combined([row], [1]) for row in rows]
        self.proof(Claim(line, lines, lambda low: low > 0, []), b, [] if what else None)

    def proof(self, claim, b, known):
        """A proof of a claim: by a rule, or by bounds that are known besides, unless this is None; or by a tree."""
        if (kind := self.take(1)[0]) == 1:
            return self.tree(claim, b)
        ensure(kind == 0 and known is not None, "a proof of no kind")
        rules = (least(self.net.back(claim.line([]), b, slope), b) for slope in (ADAPTIVE, PARALLEL))
        ensure(any(map(claim.enough, itertools.chain(known, rules))), "the rules give less")

    def listed(self, names, read):
        """What ascending numbers name, with what is read behind each."""
        out, n = {}, -1
        for _ in range(self.integer()):
            n += self.integer() + 1
            ensure(n < len(names), "a neuron or a disjunct that is none")
            out[names[n]] = read()
        return out

    def tree(self, claim, b):
        """A tree, node after node; `way` has the phases that are fixed on the way to a node."""
        net, nodes = self.net, [({}, claim, copy.deepcopy(b))]
        alpha = {(k, j): 255 if b[1][k][j] > -b[0][k][j] else 0 for k, j in net.number}
        alpha.update(self.listed(net.number, lambda: self.take(1)[0]))
        while nodes:
            (way, claim, b), kind = nodes.pop(), self.take(1)[0]
            n = self.integer() if kind in (1, 3, 4, 5) else 0
            if kind in (0, 2):
                self.leaf(alpha, way, claim, b, kind == 2)
            elif kind in (1, 4):
                ensure(n < len(net.number) and (kind == 4 or net.number[n] not in way), "a neuron that cannot be split")
                (k, j), at = net.number[n], self.real("<d") * R if kind == 4 else 0
                for on in (1, 0):  # the last comes first
                    part = copy.deepcopy(b)
                    part[1 - on][k][j] = max(b[0][k][j], math.floor(at)) if on else min(b[1][k][j], math.ceil(at))
                    nodes.append(({**way, (k, j): on} if kind == 1 else way, claim, self.settled(claim, part)))
            elif kind == 6:
                ensure(claim.rows, "counterexamples of no combination")
                claim = claim._replace(conditions=net.conditions(claim.rows, b))
                nodes.append((way, claim, self.settled(claim, b)))
            else:
                ensure(kind in (3, 5) and n + 1 < net.top, "a node, or a stage, that is none")
                for (k, j), slope in itertools.product(net.number, (ADAPTIVE, PARALLEL)) if kind == 3 else ():
                    net.tighten(k, j, b, slope) if k > n else None
                b[2] = n + 1 if kind == 5 else b[2]
                nodes.append((way, claim, self.settled(claim, b) if kind == 5 else b))

    def settled(self, claim, b):
        """Bounds, after planes and the conditions of counterexamples have moved them."""
        for k, *sides, value in b[3]:
            for ((_, j), weight), ((_, i), factor) in (sides, sides[::-1]) if k == b[2] else ():
                end = (value - max(factor * b[0][k][i], factor * b[1][k][i])) // abs(weight)
                b[weight < 0][k][j] = max(b[0][k][j], end) if weight > 0 else min(b[1][k][j], -end)
        if claim.conditions and not remains(claim.conditions, lambda: self.net.functions(claim.rows, b), b):
            b[0][0][0] = b[1][0][0] + 1
        return b

    def leaf(self, alpha, way, claim, b, is_given):
        """A leaf, by multipliers that are given or by the rule node, with the chord, else with the hull."""
        net, weights, betas = self.net, [self.real() for _ in claim.rows], []
        line, slope, hull = claim.line(weights), lambda k, j, m, l, u: m * alpha[k, j] // 255, []
        if is_given:
            given = self.listed(net.number, lambda: int(self.real("<d") * line.scale * R))
            fixed = {(k, j): lambda m, v=given.get((k, j), 0): v for k, j in net.number if (k, j) in given or b[0][k][j] < 0}
        else:
            alpha, betas = {**alpha, **self.listed(net.number, lambda: self.take(1)[0])}, [self.real() for _ in way]
            fixed = {n: lambda m, v=int(beta * line.scale * R), on=way[n]: m - v if on else v for n, beta in zip(way, betas)}
        ensure(min(betas + weights, default=0) >= 0, "a number below 0")
        empty = any(map(int.__gt__, itertools.chain(*b[0]), itertools.chain(*b[1])))  # no input, or no counterexample, is here
        if not empty and not claim.enough(least(net.back(line, b, slope, fixed), b)):
            ensure(claim.enough(net.hulls(net.back(line, b, slope, fixed, hull), b, hull)), "a leaf's bound is less")

    def cells(self, left, box):
        """A cell, and those that it is cut into, one after the other."""
        cells = [(left, box, None)]
        while cells:
            left, box, around = cells.pop()
            b, left = self.net.bounds(box, around, True), set(left)
            while (kind := self.take(1)[0]) == 2:
                ensure((d := self.integer()) in left, "a disjunct that is not open here")
                self.closed(d, b)
                left.remove(d)
            if kind == 1:
                ensure((i := self.integer()) < len(box) - 1, "an input that is none")
                at = min(max(self.real("<d"), box[i][0]), box[i][1])
                cells += [(left, box[:i] + [part] + box[i + 1:], b) for part in ((at, box[i][1]), (box[i][0], at))]
            else:
                ensure(kind in (0, 3), "no cell")
                self.region(left, box, True) if kind else [self.closed(d, b) for d in left]

    def closed(self, d, b, halvings=20):
        """A disjunct is closed on a cell, or on the halves of what is left of it."""
        rows = [self.net.combined([row], [1]) for row in self.disjuncts[d][1]]
        conditions = self.net.functions(rows, b, True)
        inner = [[list(side[0])] for side in b[:2]]
        if remains([], lambda: conditions, inner):
            ensure(halvings and rows, f"disjunct {d} is not closed on a cell")
            box = [(Fraction(l, R), Fraction(u, R)) for l, u in zip(inner[0][0], inner[1][0])]
            i = max(range(len(box)), key=lambda i: sum(abs(terms[0, i]) for _, terms in conditions) * (box[i][1] - box[i][0]))
            for part in (box[i][0], sum(box[i]) / 2), (sum(box[i]) / 2, box[i][1]):
                self.closed(d, self.net.bounds(box[:i] + [part] + box[i + 1:], b, True), halvings - 1)


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
