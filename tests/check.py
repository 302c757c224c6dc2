#!/usr/bin/env python3
"""A second judge of certificates, written from docs/certificate.md alone and from Python's standard library.

    python3 tests/check.py MODEL.onnx PROP.vnnlib CERTIFICATE

Stdout begins with `accepted` or `rejected`; the reason, with the record's number, goes to stderr.
Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.

Verdicts rest on integers and fractions alone. Weights are integers over net.D; ends of boxes, bounds of neurons and ν are
integers over R, the first two rounded outwards, ν as it comes; μ follows from ν exactly, over D·R, as do functions' bounds, over
D·R². There is one more input, the last, which is 1: its weights are the biases.
"""
import ast, collections, copy, functools, gzip, hashlib, itertools, math, re, struct, sys
from fractions import Fraction

R, ONE = 1 << 64, -1  # ONE is the variable of a form's constant; (v,) is the key of what the coefficient of v may be off by
# The rules for neurons n that are undecided: the multiplier of m > 0, and by the second also of m < 0.
ADAPTIVE, PARALLEL = lambda n, m, l, u: m if u > -l else 0, lambda n, m, l, u: m * u // (u - l)
VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
NEUTRAL = {"allowzero": 0, "auto_pad": b"NOTSET", "ceil_mode": 0, "dilations": [1, 1], "momentum": None, "ratio": None,
           "seed": None, "storage_order": 0, "training_mode": 0, "transA": 0}  # attributes that change nothing; None: any value
Tensor = collections.namedtuple("Tensor", "shape items")  # index -> affine form, variable -> coefficient; row-major


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
        part, self.at = self.data[self.at:self.at + size], self.at + size
        return ensure(len(part) == size, "the file ends early") or part

    def integer(self, size=5):
        """A variable-length integer of at most so many bytes, in its shortest form."""
        found = VARINT.match(self.data, self.at)
        ensure(found and len(found[0]) <= size and (found[0] == b"\0" or found[0][-1]), "a number")
        self.at = found.end()
        return sum((byte & 127) << 7 * i for i, byte in enumerate(found[0]))

    def real(self, kind="<f"):
        """A finite number."""
        value, = struct.unpack(kind, self.take(struct.calcsize(kind)))
        return ensure(math.isfinite(value), "a number that is not finite") or Fraction(value)


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
    return [n - (n >> 63 << 64) for n in flat]


def tensor(data):
    """A constant tensor of float32 or int64."""
    letter, raw = {1: "f", 7: "q"}[(t := fields(data))[2][-1]], b"".join(t.get(9, t.get(4, [])))
    values = [x for x, in struct.iter_unpack("<" + letter, raw)] + integers(t.get(7, []))
    return reshaped([{ONE: Fraction(x)} if x else {} for x in values], integers(t.get(1, [])))


# The kinds of attributes, by their fields; a tensor by the forms of indices; the number that a form is.
KINDS = {2: lambda f: Fraction(*struct.unpack("<f", f[-1])), 3: lambda i: integers(i)[-1], 4: b"".join,
         5: lambda t: tensor(t[-1]), 8: integers}
made = lambda shape, form: Tensor(list(shape), {n: form(*n) for n in itertools.product(*map(range, shape))})
number = lambda form: form.get(ONE, 0) if set(form) <= {ONE} else ensure(False, "what has to be constant varies")


def reshaped(items, shape):
    """A tensor of these elements."""
    return ensure(math.prod(shape) == len(items), "a wrong shape") or made(shape, lambda *_, rest=iter(items): next(rest))


def total(pairs):
    """Σ form·weight."""
    out = collections.Counter()
    for form, weight, key in ((form, weight, key) for form, weight in pairs for key in form):
        out[key] += form[key] * (abs(weight) if isinstance(key, tuple) else weight)
    return {key: value for key, value in out.items() if value}


def rooted(form, scale, square):
    """A form times scale/√square: times a multiple of 1/R that is less than 1/R off."""
    root = Fraction(math.isqrt(int(R * R * scale * scale / square)), R if scale > 0 else -R)
    return total([(form, root)] + [({n if isinstance(n, tuple) else (n,): abs(form[n])}, Fraction(scale != 0, R)) for n in form])


OPERATORS = {"Add": lambda a, b: total([(a, 1), (b, 1)]), "Sub": lambda a, b: total([(a, 1), (b, -1)]),
             "Mul": lambda a, b: total([(a, number(b)) if set(b) <= {ONE} else (b, number(a))]),
             "Div": lambda a, b: total([(a, 1 / number(b))])}


def elementwise(name, x, y):
    """An operator on the elements of two tensors, broadcast."""
    shape = [max(sizes) for sizes in itertools.zip_longest(x.shape[::-1], y.shape[::-1], fillvalue=1)][::-1]
    at = lambda t, n: t.items[tuple(i if size > 1 else 0 for i, size in zip(n[len(n) - len(t.shape):], t.shape))]
    return made(shape, lambda *n: OPERATORS[name](at(x, n), at(y, n)))


def windows(x, kernel, use):
    """The places of a kernel over an image: their shape, and what gives the indices of its elements for a channel and a place."""
    strides, pads = use("strides", [1] * len(kernel)), use("pads", [0] * 2 * len(kernel))
    ensure(x.shape[0] == 1 and len(x.shape) - 2 == len(kernel) == len(strides) == len(pads) / 2 == 2, "images of other kinds")
    shape = [(n + a + b - k) // s + 1 for n, k, s, a, b in zip(x.shape[2:], kernel, strides, pads, pads[2:])]
    inside = lambda n: itertools.product(*(range(i * s - a, i * s - a + k) for i, s, a, k in zip(n, strides, pads, kernel)))
    return shape, lambda c, n: [(0, c, *at) for at in inside(n)]


def pooled(x, use, relu):
    """The greatest values of windows, in rounds; a value is named by its index, or by the pair that it is the greater of."""
    (shape, at), best = windows(x, use("kernel_shape", None), use), dict(x.items)
    rows = [[i for i in at(*n) if i in best] for n in itertools.product(range(x.shape[1]), itertools.product(*map(range, shape)))]
    while max(map(len, rows)) > 1:
        rows = [[tuple(row[i:i + 2]) for i in range(0, len(row), 2)] for row in rows]
        pairs = list(dict.fromkeys(pair for row in rows for pair in row if pair[1:]))
        for (a, b), form in zip(pairs, relu([OPERATORS["Sub"](best[a], best[b]) for a, b in pairs])):
            best[a, b] = OPERATORS["Add"](best[b], form)
        rows = [[pair if pair[1:] else pair[0] for pair in row] for row in rows]
    return reshaped([best[name] for name, in rows], [*x.shape[:2], *shape])


def operator(name, use, args, relu):
    """The output of a node; `use` takes an attribute, or else a default, and `relu` makes a stage of forms."""
    x, y, z, *more = args + [None] * (5 - len(args))
    whole = lambda t: [int(number(form)) for form in t.items.values()] if t else range(len(y.items))
    if name in OPERATORS:
        return elementwise(name, x, y)
    if name in ("Relu", "MaxPool"):
        return reshaped(relu(x.items.values()), x.shape) if name == "Relu" else pooled(x, use, relu)
    if name in ("Flatten", "Reshape"):
        shape = [n or x.shape[i] for i, n in enumerate(whole(y))] if y else [math.prod(x.shape[:use("axis", 1)]), -1]
        return reshaped(x.items.values(), [len(x.items) // -math.prod(shape) if n == -1 else n for n in shape])
    if name == "Transpose":
        perm = use("perm", list(range(len(x.shape)))[::-1])
        return made([x.shape[axis] for axis in perm], lambda *n: x.items[tuple(n[perm.index(i)] for i in range(len(n)))])
    if name == "Concat":
        axis = range(len(x.shape))[use("axis", None)]
        ensure(len({(*t.shape[:axis], *t.shape[axis + 1:]) for t in args}) == 1, "parts that do not fit")
        parts = [(t, i) for t in args for i in range(t.shape[axis])]
        at = lambda n, t, i: t.items[(*n[:axis], i, *n[axis + 1:])]
        return made([*x.shape[:axis], len(parts), *x.shape[axis + 1:]], lambda *n: at(n, *parts[n[axis]]))
    if name == "Slice":
        starts, ends, axes, steps = map(whole, (y, z, *more))
        ensure(len(starts) == len(ends) == len(axes) and (not more[1] or set(steps) == {1}), "a step other than 1")
        cut = {range(len(x.shape))[axis]: slice(start, end) for axis, start, end in zip(axes, starts, ends)}
        order = [range(size)[cut.get(axis, slice(None))] for axis, size in enumerate(x.shape)]
        return made([*map(len, order)], lambda *n: x.items[tuple(wanted[i] for wanted, i in zip(order, n))])
    if name in ("MatMul", "Gemm"):
        alpha, beta, order = use("alpha", 1), use("beta", 1), -1 if use("transB", 0) else 1
        ensure(x.shape[-1] == y.shape[::order][0], "a matrix that does not fit")
        y = [[number(y.items[(i, j)[::order]]) * alpha for i in range(x.shape[-1])] for j in range(y.shape[::order][1])]
        out = made([*x.shape[:-1], len(y)], lambda *n: total((x.items[(*n[:-1], i)], a) for i, a in enumerate(y[n[-1]])))
        return elementwise("Add", out, elementwise("Mul", z, Tensor([], {(): {ONE: beta}}))) if z else out
    if name == "Conv":
        (count, inner, *kernel), group = y.shape, use("group", 1)
        ensure(use("kernel_shape", kernel) == kernel and x.shape[1] == inner * group and count % group == 0, "a kernel's shape")
        places, at = windows(x, kernel, use)
        weights = [[*(number(form) for n, form in y.items.items() if n[0] == m), 1] for m in range(count)]
        patch = lambda m, n: [x.items.get(i, {}) for c in range(inner) for i in at(m * group // count * inner + c, n)]
        return made([1, count, *places], lambda _, m, *n: total(zip([*patch(m, n), z.items[m,] if z else {}], weights[m])))
    if name == "BatchNormalization":
        (mean, square), epsilon = (t.items for t in more), use("epsilon", Fraction(2748779, 1 << 38))  # that is the float32 1e-5
        root = lambda c, form: rooted(total([(form, 1), (mean[c,], -1)]), number(y.items[c,]), number(square[c,]) + epsilon)
        return made(x.shape, lambda *n: total([(root(n[1], x.items[n]), 1), (z.items[n[1],], 1)]))
    return ensure(name in ("Identity", "Constant") or name == "Dropout" and not z, f"unknown {name}") or x or use("value", None)


def model(data):
    """The count of an ONNX model's inputs, the stages, variable -> the form that its ReLU reads, and the forms of the output."""
    graph, text = fields(fields(data)[7][-1]), lambda message, number: message.get(number, [b""])[-1].decode()
    env = {"": None, **{text(fields(raw), 8): tensor(raw) for raw in graph.get(5, [])}}
    (x,), (y,) = ([v for v in map(fields, graph[n]) if text(v, 1) not in env] for n in (11, 12))
    shape = [max(integers(fields(d).get(1, [1]))[-1], 1) for d in fields(fields(fields(x[2][-1])[1][-1])[2][-1]).get(1, [])]
    count, stages = math.prod(shape), []
    relu = lambda forms: stages.append(dict(enumerate(forms, count + sum(map(len, stages))))) or [{n: 1} for n in stages[-1]]
    env[text(x, 1)] = reshaped([{i: 1} for i in range(count)], shape)
    for node in map(fields, graph.get(1, [])):
        name, attributes = text(node, 4), {text(a, 1): a for a in map(fields, node.get(5, []))}
        ensure(text(node, 7) in ("", "ai.onnx") and len(node[2]) == 1, f"unsupported {name}")
        values = {key: next((read(a[n]) for n, read in KINDS.items() if n in a), None) for key, a in attributes.items()}
        env[text(node, 2)] = operator(name, values.pop, [env[arg.decode()] for arg in node.get(1, [])], relu)
        ensure(all(key in NEUTRAL and NEUTRAL[key] in (None, values[key]) for key in values), f"unsupported {name} with {values}")
    return count, stages, list(env[text(y, 1)].items.values())


# The property.

def linear(e):
    """A term as a form of the names in it."""
    if isinstance(e, str):
        return {e: 1} if e[0] in "XY" else {ONE: Fraction(e)}
    args = [{}] * (e[0] != "*" and len(e) == 2) + list(map(linear, e[1:]))
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
        ends, rows = ({ONE: Fraction(1)}, {ONE: Fraction(1)}), []
        for form in filter(None, common + case):
            ensure(set(form) <= {*xs, *ys}, "the model has no such input or output")
            name, *others = set(form) - {ONE} or {ONE}
            if others or name in ys:
                rows.append([form.get(name, 0) for name in xs + ys])
            else:  # a number alone is an end of the input that is 1
                end, up = Fraction(-form.get(ONE, 0) * (name != ONE)) / form[name], form[name] > 0
                ends[up][name] = (max, min)[up](ends[up].get(name, end), end)
        box = [(ends[0][n], ends[1][n]) for n in xs]
        out += [(box, rows)] if all(l <= u for l, u in box) else []
    return out


# The bounds. A list b has the lower and the upper ends, of the inputs' box and of each hidden stage, the stage that is looked
# behind, or 0, the planes, each for both of its neurons: one and its weight over R, the other and its weight, and the value over
# R², and what counterexamples have at most 0. These are forms: a constant, and weights of what is read.

class Network:
    """The affine maps between the stages, integers over D: stage 0 is the inputs, stage `top` the output."""

    def __init__(self, count, stages, output, widths, program):
        """The neurons that the widths keep; `program` if it is the float32 program that evaluates them."""
        self.top, self.program, read, stages = len(stages) + 1, program, set(), stages + [dict(enumerate(output))]
        items = {item for stage in stages for form in stage.values() for item in form.items()}
        single = lambda c: abs(c) < 1 << 127 and Fraction(*struct.unpack("<f", struct.pack("<f", c))) == c
        ensure(not program or all(not isinstance(n, tuple) and single(c) for n, c in items), "a coefficient of no program")
        ensure(len(widths) == len(stages) - 1, "the count of stages")
        for k, width in reversed(list(enumerate(widths + [len(output)]))):
            stages[k] = {n: form for n, form in stages[k].items() if n in read or width == len(stages[k])}
            ensure(len(stages[k]) == width, f"the width of stage {k}")
            read.update(key[0] if isinstance(key, tuple) else key for form in stages[k].values() for key in form)
        self.size, stages = [count + 1, *map(len, stages[:-1])], [dict.fromkeys([*range(count), ONE], {}), *stages]
        place = {n: (s, i) for s, stage in enumerate(stages[:-1]) for i, n in enumerate(stage)}
        self.number = [(k, j) for k, j in place.values() if k]
        self.D = math.lcm(*(c.denominator for stage in stages for form in stage.values() for c in form.values()))
        row = lambda f, off: {place[n[0] if off else n]: int(c * self.D) for n, c in f.items() if isinstance(n, tuple) == off}
        self.reads, self.errors = ([[row(form, off) for form in stage.values()] for stage in stages] for off in (False, True))

    def ends(self, k, j, b, bound=lambda form, b: form):
        """Both ends of a neuron by intervals, or by a function that bounds its row."""
        return [sign * (least(bound(self.line({(k, j): sign * R}, b), b), b) // (self.D * R)) for sign in (1, -1)]

    def off(self, k, j, b):
        """What a neuron may be off by, over R: a program's sum, or a sum whose coefficients are off."""
        reads, one = (self.reads if self.program else self.errors)[k][j], (0, self.size[0] - 1)
        size, count = sum(abs(a) * max(map(abs, seen(b, *place))) for place, a in reads.items()), len({*reads, one})
        ensure(not self.program or size < self.D * R << 100 and count < 1 << 18, "a sum that may overflow, or is too long")
        return size * count // (self.D * ((1 << 24) - count)) + 2 if self.program else -(-size // self.D)

    def line(self, weights, b, inputs=()):
        """The form over D·R² of a sum of neurons with weights over R, less what it may be off by, and of inputs."""
        terms = collections.Counter({(0, i): int(a) * self.D * R for i, a in enumerate(inputs)})
        for (k, j), w in weights.items():
            terms.update({place: a * w for place, a in self.reads[k][j].items()})
        return -self.D * sum(abs(w) * self.off(*n, b) for n, w in weights.items()), terms

    def combined(self, rows, weights, b):
        """The form of the sum of rows with these weights, and the scale that makes its weights integers."""
        sums = [sum((w * x for w, x in zip(weights, column)), Fraction(0)) for column in zip(*rows)]
        scale = math.lcm(*(x.denominator for x in sums))
        weights = {(self.top, j): int(x * scale) * R for j, x in enumerate(sums[self.size[0]:])}
        return self.line(weights, b, [x * scale for x in sums[:self.size[0]]]), scale

    def back(self, form, b, slope, fixed={}, hull=None):
        """A function of the inputs nowhere above a form; with a list `hull`, but for the neurons that it collects."""
        const, mu, D = form[0], collections.Counter(form[1]), self.D
        for k, j in ((k, j) for k in reversed(range(1, len(b[0]))) for j in range(len(b[0][k]))):
            m, l, u = mu[k, j], b[0][k][j], b[1][k][j]
            if k == b[2] or (k, j) in fixed:
                part, v = fixed[k, j] if k != b[2] else (0, 0)
                v += part * m // D
            elif u <= 0 or not m:
                continue
            elif hull is not None and m < 0 and l < 0 and all(s == 0 for s, _ in self.reads[k][j]):
                hull.append((self.off(k, j, b) - (most := self.ends(k, j, b)[1]), k, j, m * -max(most, 0), m))
                continue
            else:
                v = (m if l >= 0 else (slope if m > 0 else PARALLEL)((k, j), m, l, u)) // D
            const += min(m * max(z, 0) - v * D * z for z in ((l, u, 0) if l < 0 < u else (l, u))) - D * abs(v) * self.off(k, j, b)
            for place, a in self.reads[k][j].items() if v else ():
                mu[place] += a * v
        return const, {(0, i): mu[0, i] for i in range(self.size[0])}

    def hulls(self, form, b, hull):
        """A bound over D·R² with the hull for the neurons in the list, one after the other."""
        width = [u - l for l, u in zip(b[0][0], b[1][0])]
        pull, const = [m * w for m, w in zip(form[1].values(), width)], 2 * least(form, b)  # over 2·D·R², as all that follows
        const += sum(map(abs, pull))
        for _, k, j, N, m in sorted(hull):
            row = [self.reads[k][j].get((0, i), 0) for i in range(self.size[0])]
            cap = [-m * abs(a) * w // self.D for a, w in zip(row, width)]
            free = [min(max(p if a > 0 else -p, 0), c) for p, a, c in zip(pull, row, cap)]
            F, C = sum(free), sum(cap)
            take = [f * N // (F or 1) if F >= N else f + (c - f) * (min(N, C) - F) // (C - F or 1) for f, c in zip(free, cap)]
            const -= sum(take) + 2 * max(0, N - sum(take))
            pull = [p - t if a > 0 else p + t for p, t, a in zip(pull, take, row)]
        return (const - sum(map(abs, pull))) // 2

    def bounds(self, box, around=None, cell=False):
        """The bounds of all stages on a box: by intervals or, on a cell, by its rule."""
        b = [[[math.floor(l * R) for l, _ in box]], [[math.ceil(u * R) for _, u in box]], 0, [], []]
        for k in range(1, self.top):
            ranges = [self.ends(k, j, b) for j in range(self.size[k])]
            b[0].append([max(l, 0) if around and around[0][k][j] >= 0 else l for j, (l, _) in enumerate(ranges)])
            b[1].append([min(u, 0) if around and around[1][k][j] <= 0 else u for j, (_, u) in enumerate(ranges)])
            [self.tighten(k, j, b, ADAPTIVE) for j in range(self.size[k]) if cell and k > 1]
        return b

    def tighten(self, k, j, b, slope):
        """Moves both sides of a neuron to what a rule says, if it is undecided."""
        if b[0][k][j] < 0 < b[1][k][j]:
            low, high = self.ends(k, j, b, lambda form, b: self.back(form, b, slope))
            b[0][k][j], b[1][k][j] = max(b[0][k][j], low), min(b[1][k][j], high)

    def conditions(self, rows, b):
        """What is at most 0 if every neuron is its row, and these rows are at most 0."""
        own = [(self.line({(k, j): -sign * R}, b), {(-k, j): sign * self.D * R}) for k, j in self.number for sign in (1, -1)]
        return [(form[0], {**form[1], **neuron}) for form, neuron in own] + rows

    def functions(self, rows, b, corner=False):
        """Functions of the inputs that are nowhere above rows: by two rules, on a cell also by what neurons are at a corner."""
        forms = [self.back(row, b, slope) for slope in (ADAPTIVE, PARALLEL) for row in rows]
        if corner and rows:
            h = [[b[m <= 0][0][i] for (_, i), m in max(forms[:len(rows)], key=lambda form: least(form, b))[1].items()]]
            for stage in self.reads[1:-1]:
                h.append([max(sum(a * h[s][i] for (s, i), a in reads.items()) // self.D, 0) for reads in stage])
            forms += [self.back(row, b, lambda n, m, l, u: m * (h[n[0]][n[1]] > 0)) for row in rows]
        return forms


# The range of an input, of what is read of a neuron or, for -s, of the neuron itself; and the least value of a form.
seen = lambda b, s, i: (max(b[0][s][i], 0), max(b[1][s][i], 0)) if s > 0 else (b[0][-s][i], b[1][-s][i])
least = lambda form, b: form[0] + sum(a * seen(b, *place)[a < 0] for place, a in form[1].items())


def inward(form, b):
    """Moves the ends of what a form that is at most 0 has, each to what the others leave: whether some range loses much, None if
    nothing is left."""
    spare, much = -least(form, b), False
    for (s, i), a in form[1].items() if spare >= 0 else ():
        (l, u), low, high = seen(b, s, i), b[0][abs(s)], b[1][abs(s)]
        if a and (reach := -(-spare // abs(a))) < u - l:
            side, end = (high, l + reach) if a > 0 else (low, u - reach)
            much |= 256 * abs(side[i] - end) > high[i] - low[i]
            side[i] = end
    return much if spare >= 0 else None


def vanishes(forms, more, b):
    """Whether nothing is left after forms, and then others, have moved ends inward while it is worth it."""
    for turn in range(1000):
        moved = [inward(form, b) for form in forms[::1 - turn % 2 * 2]]
        moved += [inward(form, b) for form in more()] if not {None, True} & set(moved) else []
        if None in moved or not any(moved):
            return None in moved


# The certificate.

class Judge(Reader):
    """Reads a certificate from its beginning to its end, and takes nothing in it on trust."""

    def file(self, parts, found, hashes):
        """The whole file."""
        self.data, digest = self.data[:-32], self.data[-32:]
        ensure(hashlib.sha256(self.data).digest() == digest and self.take(68) == b"PGC1" + hashes, "the digest, or other files")
        name, arithmetic, self.disjuncts, left = self.take(self.integer()), self.take(1)[0], found, set(range(len(found)))
        ensure(name.decode(errors="ignore").encode() == name and arithmetic < 2, "the heading")
        self.net = Network(*parts, [self.integer() for _ in range(self.integer())], arithmetic == 1)
        while (kind := self.take(1)) == b"\1":
            self.records += 1
            mine = set(self.each(range(len(found)), list))
            ensure(len({tuple(found[d][0]) for d in mine}) == 1, "a region of no box, or of several")
            left -= mine
            self.region(mine, found[min(mine)][0])
        ensure(kind == b"\0" and self.integer() == self.records and self.at == len(self.data) and not left, "the end comes wrong")

    def region(self, left, box, of_cell=False):
        """The records of a region, or of a cell."""
        b, self.records = self.net.bounds(box), self.records + 1
        while (kind := self.take(1)[0]) != 5:
            ensure(kind in (2, 3, 6) or kind == 4 and not of_cell, "no record")
            self.cells(left, box) if kind == 4 else self.close(left, b) if kind == 3 else self.bound(b, kind == 6)
            self.records += 1
        ensure(not left, "a disjunct is left open")

    def bound(self, b, is_plane):
        """A bound of a neuron, which holds from then on, or a plane of two neurons."""
        net, k, sides = self.net, self.integer() + 1, [self.integer() for _ in range(1 + is_plane)]
        scales, value = [Fraction(1)] + [self.real() for _ in sides[1:]], self.real() * R
        weights = {(k, side // 2): int(scale * R) * (-1) ** side for side, scale in zip(sides, scales)}
        ensure(set(weights) <= set(net.number) and len(weights) == len(sides), "a neuron that is none, or one twice")
        ensure(all(0 < scale < 512 and (1 << 40) % scale.denominator == 0 for scale in scales), "a scale that is none")
        self.proof(b, lambda _, b: (net.line(weights, b), 1), 0, value * net.D * R)
        if is_plane:
            return b[3].extend((*one, *two, math.floor(value * R)) for one, two in itertools.permutations(weights.items()))
        b[sides[0] % 2][k][sides[0] // 2] = math.ceil(-value) if sides[0] % 2 else math.floor(value)

    def close(self, left, b):
        """A disjunct, closed by a row or by combinations of rows."""
        d, what = self.integer(), self.integer()
        ensure(d in left and max(what, 1) <= len(self.disjuncts[d][1]), "no open disjunct, or no row")
        rows = self.disjuncts[d][1][what - 1:what] or self.disjuncts[d][1]
        self.proof(b, lambda weights, b: self.net.combined(rows, weights or [1], b), 0 if what else len(rows), 1)
        left.remove(d)

    def each(self, names, read):
        """What ascending numbers name, with what is read behind each."""
        out, n = {}, -1
        for _ in range(self.integer()):
            ensure((n := n + 1 + self.integer()) < len(names), "a neuron or a disjunct that is none")
            out[names[n]] = read()
        return out

    def proof(self, b, line, rows, goal):
        """A proof that a line, or one of `rows` weights, is at least the goal: by a rule, or by a tree, node after node."""
        net = self.net
        if (kind := self.take(1)[0]) != 1:
            ensure(kind == 0 and not rows, "a proof of no kind")
            forms = [line([], b)[0], *(net.back(line([], b)[0], b, slope) for slope in (ADAPTIVE, PARALLEL))]
            return ensure(any(least(form, b) >= goal for form in forms), "the rules give less")
        alpha = {(k, j): 255 * (b[1][k][j] > -b[0][k][j]) for k, j in net.number} | self.each(net.number, lambda: self.take(1)[0])
        nodes = [({}, copy.deepcopy(b))]  # with the phases on the way to them
        while nodes:
            (way, b), kind = nodes.pop(), self.take(1)[0]
            for (k, j), weight, (_, i), factor, value in (plane for plane in b[3] if plane[0][0] == b[2]):
                end = (value - max(factor * b[0][k][i], factor * b[1][k][i])) // abs(weight)
                b[weight < 0][k][j] = max(b[0][k][j], end) if weight > 0 else min(b[1][k][j], -end)
            if b[4] and vanishes(b[4], lambda: net.functions(b[4][-rows:], b), b):
                b[0][0][0] = b[1][0][0] + 1
            n = self.integer() if kind in (1, 3, 4, 5) else 0
            if kind in (0, 2):
                self.leaf(alpha, way, b, kind == 2, line, rows, goal)
            elif kind in (1, 4):
                ensure(n < len(net.number) and (kind == 4 or net.number[n] not in way), "a neuron that cannot be split")
                (k, j), at = net.number[n], self.real("<d") * R if kind == 4 else 0
                for on in (1, 0):  # the last comes first
                    part = copy.deepcopy(b[:2]) + b[2:]
                    part[1 - on][k][j] = max(b[0][k][j], math.floor(at)) if on else min(b[1][k][j], math.ceil(at))
                    nodes.append(({**way, (k, j): on} if kind == 1 else way, part))
            else:
                ensure(kind in (3, 5) and n + 1 < net.top or kind == 6 and rows, "a node that is none, or has no place here")
                [net.tighten(k, j, b, slope) for k, j in net.number for slope in (ADAPTIVE, PARALLEL) if kind == 3 and k > n]
                forms = [line([i == row for i in range(rows)], b)[0] for row in range(rows)]
                b[2], b[4] = n + 1 if kind == 5 else b[2], net.conditions(forms, b) if kind == 6 else b[4]
                nodes.append((way, b))

    def leaf(self, alpha, way, b, is_given, line, rows, goal):
        """A leaf, by multipliers that are given or by the rule node, with the chord, else with the hull."""
        net, weights, betas = self.net, [self.real() for _ in range(rows)], []
        (form, scale), slope = line(weights, b), lambda n, m, l, u: m * alpha[n] // 255
        if is_given:
            given = self.each(net.number, lambda: int(self.real("<d") * scale * R))
            fixed = {(k, j): (0, given.get((k, j), 0)) for k, j in net.number if (k, j) in given or b[0][k][j] < 0}
        else:
            alpha, betas = {**alpha, **self.each(net.number, lambda: self.take(1)[0])}, [self.real() for _ in way]
            fixed = {n: (way[n], int(beta * scale * R) * (-1) ** way[n]) for n, beta in zip(way, betas)}
        ensure(min(betas + weights, default=0) >= 0, "a number below 0")
        empty = any(map(int.__gt__, itertools.chain(*b[0]), itertools.chain(*b[1])))  # no input, or no counterexample, is here
        bounds = (net.hulls(net.back(form, b, slope, fixed, hull), b, hull or []) for hull in (None, []))
        ensure(empty or any(bound >= goal for bound in bounds), "a leaf's bound is less")

    def cells(self, left, box):
        """A cell, and those that it is cut into, one after the other."""
        mine = set(self.each(range(len(self.disjuncts)), list))
        ensure(mine <= left, "a disjunct that has no place here")
        left -= mine
        cells = [(mine, box, None)]
        while cells:
            left, box, around = cells.pop()
            b = self.net.bounds(box, around, True)
            while (kind := self.take(1)[0]) == 2:
                ensure((d := self.integer()) in left, "a disjunct that is not open here")
                self.closed(d, b)
                left = left - {d}
            if kind == 1:
                i, at = self.integer(), self.real("<d")
                ensure(i < len(box) - 1 and b[0][0][i] <= at * R <= b[1][0][i], "no such cut")
                cells += [(left, part, b) for part in halves(box, i, min(max(at, box[i][0]), box[i][1]))[::-1]]
            else:
                self.region({*left}, box, True) if kind == 3 else ensure(not kind, "no cell") or [self.closed(d, b) for d in left]

    def closed(self, d, b, halvings=20):
        """A disjunct is closed on a cell, or on the halves of what is left of it."""
        forms = self.net.functions([self.net.combined([row], [1], b)[0] for row in self.disjuncts[d][1]], b, True)
        if not vanishes(forms, list, inner := [[list(side[0])] for side in b[:2]]):
            ensure(halvings and forms, f"disjunct {d} is not closed on a cell")
            box = [(Fraction(l, R), Fraction(u, R)) for l, u in zip(inner[0][0], inner[1][0])]
            i = max(range(len(box)), key=lambda i: sum(abs(terms[0, i]) for _, terms in forms) * (box[i][1] - box[i][0]))
            for part in halves(box, i, sum(box[i]) / 2):
                self.closed(d, self.net.bounds(part, b, True), halvings - 1)


# The parts of a box below and above a value of an input.
halves = lambda box, i, at: [box[:i] + [part] + box[i + 1:] for part in ((box[i][0], at), (at, box[i][1]))]


def main(paths):
    """Judges a certificate."""
    try:
        files = [gzip.decompress(f) if f[:2] == b"\x1f\x8b" else f for f in (open(path, "rb").read() for path in paths)]
        parts = model(files[0])
        found, judge = disjuncts(files[1], parts[0], len(parts[2])), Judge(files[2])
    except Exception as error:
        return print(f"a file cannot be used: {error!r}", file=sys.stderr) or 4
    try:
        return judge.file(parts, found, b"".join(hashlib.sha256(data).digest() for data in files[:2])) or print("accepted") or 0
    except Rejected as reason:
        return print("rejected") or print(f"record {judge.records}: {reason}", file=sys.stderr) or 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
