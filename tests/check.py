#!/usr/bin/env python3
"""A second judge of certificates, written from docs/certificate.md alone and from Python's standard library.

    python3 tests/check.py MODEL.onnx PROP.vnnlib CERTIFICATE

Stdout begins with `accepted` or `rejected`; the reason, with the record's number, goes to stderr.
Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.

Verdicts rest on integers and fractions alone. Weights are integers over net.D; ends of boxes, bounds of neurons and ν are integers
over R, the first two rounded outwards, ν as it comes; μ follows from ν exactly, over D·R; and a function's bound is an integer over
D·R². Floating point only proposes the weights of means, which are judged exactly.
"""
import ast, collections, functools, gzip, hashlib, itertools, math, re, struct, sys
from fractions import Fraction
from operator import add, le, mul, sub

R, ONE = 1 << 64, -1  # ONE is the variable of a form's constant
ADAPTIVE, PARALLEL = lambda k, j, m, l, u: m if u > -l else 0, lambda k, j, m, l, u: m * u // (u - l)  # for μ > 0, undecided
VARINT = re.compile(rb"[\x80-\xff]*[\x00-\x7f]")
Tensor = collections.namedtuple("Tensor", "shape items")  # items: affine forms, variable -> coefficient, row-major
Line = collections.namedtuple("Line", "top seed a e scale")  # scale·f = e + a·x + seed·z_top; the seed over R
Claim = collections.namedtuple("Claim", "line rows enough")  # the line of a leaf's weights; how many weights; whether a bound is enough


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
            out[key] = out.get(key, 0) + form[key] * weight
    return {key: value for key, value in out.items() if value}


OPERATORS = {"Add": lambda a, b: total([(a, 1), (b, 1)]), "Sub": lambda a, b: total([(a, 1), (b, -1)]),
             "Mul": lambda a, b: total([(a, number(b)) if set(b) <= {ONE} else (b, number(a))]),
             "Div": lambda a, b: total([(a, 1 / number(b))])}


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
    if name == "Flatten" or name == "Reshape" and not whole("allowzero", 0):
        shape = [int(number(n)) or x.shape[i] for i, n in enumerate(y.items)] if y else [math.prod(x.shape[:whole("axis", 1)]), -1]
        return reshaped(x.items, [len(x.items) // -math.prod(shape) if n == -1 else n for n in shape])
    ensure(name in ("Identity", "Constant"), f"the operator {name} is not supported")
    return x or tensor(attributes["value"][5][-1])


def model(data):
    """The count of an ONNX model's inputs, the forms that its ReLUs read, stage after stage, and those of its output."""
    graph = fields(fields(data)[7][-1])
    env = {"": None, **{text(fields(raw), 8): tensor(raw) for raw in graph.get(5, [])}}
    (x,), (y,) = ([v for v in map(fields, graph[n]) if text(v, 1) not in env] for n in (11, 12))
    shape = [max(integers(fields(d).get(1, [1]))[-1], 1) for d in fields(fields(fields(x[2][-1])[1][-1])[2][-1]).get(1, [])]
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
                rows.append([form.get(name, 0) for name in [ONE] + xs + ys])
            else:
                possible &= d <= 0
        box = [lo[n] for n in xs], [hi[n] for n in xs]
        out += [(box, rows)] if possible and all(map(le, *box)) else []
    return out


# The bounds. A pair b has the lower and the upper ends, of the inputs' box and of each hidden stage.

class Network:
    """The affine maps between the stages, integers over D: stage 0 is the inputs, stage `top` the output."""

    def __init__(self, count, stages, output, widths, program):
        """The neurons that the widths keep; `program` if it is the float32 program that evaluates them."""
        for c in {c for stage in stages + [output] for form in stage for c in form.values()} if program else ():
            ensure(abs(c) < 2 ** 127 and Fraction(*struct.unpack("<f", struct.pack("<f", c))) == c, "a coefficient of no program")
        first = list(itertools.accumulate(map(len, stages), initial=count))
        keep, read, self.top, self.program = [], {key for form in output for key in form}, len(stages) + 1, program
        ensure(len(widths) == len(stages), "the count of stages")
        for k in reversed(range(len(stages))):
            kept = [n for n in range(first[k], first[k + 1]) if n in read or widths[k] == len(stages[k])]
            ensure(len(kept) == widths[k], f"the width of stage {k}")
            stages[k] = [stages[k][n - first[k]] for n in kept]
            read.update(key for form in stages[k] for key in form)
            keep.insert(0, kept)
        stages, sources = [[]] + stages + [output], [range(count)] + keep
        self.size, self.number = list(map(len, sources)), [(k, j) for k, s in enumerate(sources) for j in range(len(s)) if k]
        self.D = math.lcm(*(c.denominator for stage in stages for form in stage for c in form.values()))
        whole = lambda form, n: int(form[n] * self.D) if n in form else 0
        self.bias = [[whole(form, ONE) for form in stage] for stage in stages]
        blocks = [{s: [[whole(form, n) for n in sources[s]] for form in stage] for s in range(k)} for k, stage in enumerate(stages)]
        self.rows = [{s: block for s, block in reads.items() if any(map(any, block))} for reads in blocks]
        self.columns = [{s: list(zip(*block)) for s, block in reads.items()} for reads in self.rows]

    def interval(self, k, j, b):
        """What intervals say of a neuron."""
        ends = [(a * max(l, 0), a * max(u, 0)) if s else (a * l, a * u)
                for s, block in self.rows[k].items() for a, l, u in zip(block[j], b[0][s], b[1][s])]
        low, high = (R * self.bias[k][j] + sum(itertools.starmap(pick, ends)) for pick in (min, max))
        off = self.off(k, j, b) if self.program else 0
        return low // self.D - off, -(-high // self.D) + off

    def off(self, k, j, b):
        """What a program's sum may be off by, over R."""
        reads = [(abs(a), max(abs(l) * (not s), u, -u * (not s))) for s, block in self.rows[k].items()
                 for a, l, u in zip(block[j], b[0][s], b[1][s]) if a]
        size, count = sum(a * most for a, most in reads) + R * abs(self.bias[k][j]), len(reads) + 1
        ensure(size < self.D * R << 100 and count < 1 << 18, "a sum that may overflow, or is too long")
        return size * count // (self.D * ((1 << 24) - count)) + 2

    def neuron(self, k, j, sign):
        """A neuron, or its opposite."""
        return Line(k, [sign * R * (i == j) for i in range(self.size[k])], [0] * self.size[0], 0, 1)

    def line(self, rows, weights):
        """The sum of rows with these weights, scaled to integers."""
        sums = [sum(map(mul, weights, column), Fraction(0)) for column in zip(*rows)]
        scale, n = math.lcm(*(x.denominator for x in sums)), self.size[0] + 1
        e, *sums = (int(x * scale) for x in sums)
        return Line(self.top, [c * R for c in sums[n - 1:]], sums[:n - 1], e, scale)

    def back(self, line, b, slope, fixed={}, hull=None):
        """A function of the inputs nowhere above the line: a constant over D·R², coefficients over D·R; with a list `hull`, but for
        the neurons that it collects."""
        D, const, mu = self.D, line.e * self.D * R * R, [[a * self.D * R for a in line.a]] + [[0] * n for n in self.size[1:]]
        for k in range(max([line.top] + [k for k, _ in fixed]), 0, -1):
            nu = [0] * len(self.bias[k])
            for j, m in enumerate(mu[k]) if k < self.top else ():
                l, u = b[0][k][j], b[1][k][j]
                if (k, j) in fixed:
                    v = fixed[k, j](m // D)
                elif not m:  # also where it is off
                    continue
                elif l >= 0:
                    v = m // D
                elif m > 0:
                    v = slope(k, j, m, l, u) // D
                elif hull is None or set(self.rows[k]) != {0}:
                    v = m * u // ((u - l) * D)
                else:
                    hull.append((-max(self.interval(k, j, b)[1], 0), k, j, m))
                    continue
                ends = (m * l if l > 0 else 0) - v * D * l, (m * u if u > 0 else 0) - v * D * u
                const += min(*ends, 0) if l < 0 < u else min(ends)
                nu[j] = v
            nu = list(map(add, nu, line.seed)) if k == line.top else nu
            const += R * sum(map(mul, nu, self.bias[k]))
            const -= D * sum(abs(v) * self.off(k, j, b) for j, v in enumerate(nu) if v and self.program)
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
                need, row = m * u, self.rows[k][0][j]
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
        b = [[math.floor(x * R) for x in box[0]]], [[math.ceil(x * R) for x in box[1]]]
        for k in range(1, self.top):
            ranges = [self.interval(k, j, b) for j in range(self.size[k])]
            [side.append(list(ends)) for side, ends in zip(b, zip(*ranges))]
            for j, (l, u) in enumerate(ranges if cell else ()):
                l, u = max(l, 0) if around and around[0][k][j] >= 0 else l, min(u, 0) if around and around[1][k][j] <= 0 else u
                b[0][k][j], b[1][k][j] = l, u
                self.tighten(k, j, b, ADAPTIVE) if k > 1 else None
        return b

    def tighten(self, k, j, b, slope):
        """Moves both sides of a neuron to what a rule says, if it is undecided."""
        if b[0][k][j] < 0 < b[1][k][j]:
            low, high = (least(self.back(self.neuron(k, j, sign), b, slope), b) // (self.D * R) for sign in (1, -1))
            b[0][k][j], b[1][k][j] = max(b[0][k][j], low), min(b[1][k][j], -high)


def least(form, b):
    """The least value of a function on the box, over D·R²."""
    return form[0] + sum(m * (l if m > 0 else u) for m, l, u in zip(form[1], b[0][0], b[1][0]))


def propose(forms, b):
    """Weights of the mean with the largest least value on the box, by the simplex method in floating point."""
    n, m, ends = len(b[0][0]), len(forms), list(zip(b[0][0], b[1][0]))
    unit = max(abs(x) * R for const, mu in forms for x in (const // R, *mu)) or 1
    centre = [(2 * const + sum(x * (l + u) for x, (l, u) in zip(mu, ends))) / unit for const, mu in forms]
    # Largest Σ weight·centre − Σ size with ±Σ weight·swing ≤ size for every input, and Σ weight ≤ 1; then the slacks.
    table = [[sign * mu[i] * (u - l) / unit for _, mu in forms] + [-(i == k) for k in range(n)]
             for i, (l, u) in enumerate(ends) for sign in (1, -1)] + [[1] * m + [0] * n]
    table = [row + [r == k for k in range(2 * n + 1)] + [r == 2 * n] for r, row in enumerate(table)]
    goal, basis = centre + [-1] * n + [0] * (2 * n + 2), list(range(m + n, m + 3 * n + 1))
    for _ in range(500):
        enter = next((c for c, gain in enumerate(goal[:-1]) if gain > 1e-12), 0)
        leave = [(row[-1] / row[enter], basis[r], r) for r, row in enumerate(table) if row[enter] > 1e-12]
        if goal[enter] <= 1e-12 or not leave:
            break
        r = min(leave)[2]
        basis[r], table[r] = enter, [x / table[r][enter] for x in table[r]]
        for row in table[:r] + table[r + 1:] + [goal]:
            row[:] = [x - row[enter] * y for x, y in zip(row, table[r])] if row[enter] else row
    return [max([0] + [round(row[-1] * R) for r, row in enumerate(table) if basis[r] == i]) for i in range(m)]


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
            mine = list(self.listed(range(len(found)), list, "a disjunct that is none"))
            ensure(mine and all(found[d][0] == found[mine[0]][0] for d in mine), "a region of no box, or of several")
            self.region(set(mine), found[mine[0]][0])
            left -= set(mine)
        ensure(kind == b"\0" and self.integer() == self.records and self.at == len(self.data) and not left, "the end comes wrong")

    def region(self, left, box, of_cell=False):
        """The records of a region, or of a cell."""
        b = self.net.bounds(box)
        while True:
            self.records += 1
            if (kind := self.take(1)[0]) in (2, 3):
                self.bound(b) if kind == 2 else self.close(left, b)
            elif kind == 4 and not of_cell:
                mine = self.listed(left, list, "a disjunct that has no place here")
                self.cell(mine, box, None)
                left -= set(mine)
            else:
                return ensure(kind == 5 and not left, "no record, or a disjunct is left open")

    def bound(self, b):
        """A bound of a neuron, which holds from then on."""
        net, k, side, value = self.net, self.integer() + 1, self.integer(), self.real()
        j, sign = side // 2, -1 if side % 2 else 1
        ensure(k < net.top and j < net.size[k], "a neuron that is none")
        line, interval = net.neuron(k, j, sign), net.interval(k, j, b)[side % 2] * sign * net.D * R
        self.proof(Claim(lambda _: line, 0, lambda low: low >= value * net.D * R * R), b, [interval])
        b[side % 2][k][j] = math.ceil(-value * R) if side % 2 else math.floor(value * R)

    def close(self, left, b):
        """A disjunct, closed by a row or by combinations of rows."""
        ensure((d := self.integer()) in left and max(what := self.integer(), 1) <= len(self.disjuncts[d][1]), "no open disjunct, or no row of it")
        rows = self.disjuncts[d][1][what - 1:what] or self.disjuncts[d][1]
        line = lambda weights: self.net.line(rows, weights or [1])
        self.proof(Claim(line, 0 if what else len(rows), lambda low: low > 0), b, [] if what else None)
        left.remove(d)

    def proof(self, claim, b, known):
        """A proof of a claim: by a rule, or by bounds that are known besides, unless this is None; or by a tree."""
        if (kind := self.take(1)[0]) == 1:
            alpha = {(k, j): 255 if b[1][k][j] > -b[0][k][j] else 0 for k, j in self.net.number}
            return self.node({**alpha, **self.neurons(lambda: self.take(1)[0])}, {}, claim, b)
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

    def node(self, alpha, way, claim, b):
        """A node of a tree, `way` being the phases that are fixed."""
        if (kind := self.take(1)[0]) in (0, 2):
            return self.leaf(alpha, way, claim, b, kind == 2)
        n, kept = self.integer(), [list(map(list, side)) for side in b]
        if kind == 3:
            for (k, j), slope in itertools.product(self.net.number, (ADAPTIVE, PARALLEL)):
                self.net.tighten(k, j, b, slope) if k > n else ensure(n + 1 < self.net.top, "no stage")
            self.node(alpha, way, claim, b)
        else:
            ensure(kind == 1 and n < len(self.net.number) and self.net.number[n] not in way, "a node")
            k, j = self.net.number[n]
            for on in (False, True):
                b[0][k][j], b[1][k][j] = (max(kept[0][k][j], 0), kept[1][k][j]) if on else (kept[0][k][j], min(kept[1][k][j], 0))
                self.node(alpha, {**way, (k, j): on}, claim, b)
        b[0][:], b[1][:] = kept

    def leaf(self, alpha, way, claim, b, is_given):
        """A leaf, by multipliers that are given or by the rule node, with the chord, else with the hull."""
        net, weights, betas = self.net, [self.real() for _ in range(claim.rows)], []
        line, slope, hull = claim.line(weights), lambda k, j, m, l, u: m * alpha[k, j] // 255, []
        if is_given:
            given = self.neurons(lambda: int(self.real("<d") * line.scale * R))
            fixed = {(k, j): lambda m, v=given.get((k, j), 0): v for k, j in net.number if (k, j) in given or b[0][k][j] < 0}
        else:
            alpha, betas = {**alpha, **self.neurons(lambda: self.take(1)[0])}, [self.real() for _ in way]
            fixed = {n: lambda m, v=int(beta * line.scale * R), on=way[n]: m - v if on else v for n, beta in zip(way, betas)}
        ensure(min(betas + weights, default=0) >= 0, "a number below 0")
        empty = any(map(int.__gt__, itertools.chain(*b[0]), itertools.chain(*b[1])))  # no input has these phases
        if not empty and not claim.enough(least(net.back(line, b, slope, fixed), b)):
            ensure(any(map(claim.enough, net.hulls(net.back(line, b, slope, fixed, hull), b, hull))), "a leaf's bound is less")

    def cell(self, left, box, around):
        """A cell, and those that it is cut into."""
        b, left = self.net.bounds(box, around, True), list(left)
        while (kind := self.take(1)[0]) == 2:
            ensure((d := self.integer()) in left, "a disjunct that is not open here")
            self.closed(d, box, b)
            left.remove(d)
        if kind in (0, 3):
            return self.region(set(left), box, True) if kind else [self.closed(d, box, b) for d in left]
        i, at = self.integer(), self.real("<d")
        ensure(kind == 1 and i < len(box[0]), "no cell")
        for part in halves(box, i, min(max(at, box[0][i]), box[1][i])):
            self.cell(left, part, b)

    def closed(self, d, box, b, halvings=16):
        """A disjunct is closed on a cell, or on its halves."""
        forms = self.forms(self.disjuncts[d][1], b)
        if not forms or not positive(forms, b):
            ensure(halvings and forms, f"disjunct {d} is not closed on a cell")
            i = max(range(len(box[0])), key=lambda i: sum(abs(mu[i]) for _, mu in forms) * (box[1][i] - box[0][i]))
            for part in halves(box, i, (box[0][i] + box[1][i]) / 2):
                self.closed(d, part, self.net.bounds(part, b, True), halvings - 1)

    def forms(self, rows, b):
        """Three functions of the inputs for every row, nowhere above it."""
        net, above = self.net, set()
        lines = [net.line(rows, [i == r for i in range(len(rows))]) for r in range(len(rows))]
        out = [net.back(line, b, slope) for slope in (ADAPTIVE, PARALLEL) for line in lines]
        best = max(out[:len(rows)], key=lambda form: least(form, b), default=(0, []))[1]
        h = [[l if m > 0 else u for m, l, u in zip(best, b[0][0], b[1][0])]]
        for k in range(1, net.top if rows else 1):
            z = [R * c + sum(sum(map(mul, rows[j], h[s])) for s, rows in net.rows[k].items()) for j, c in enumerate(net.bias[k])]
            above |= {(k, j) for j, value in enumerate(z) if value > 0}
            h.append([max(value // net.D, 0) for value in z])
        out += [net.back(line, b, lambda k, j, m, l, u: m if (k, j) in above else 0) for line in lines]
        return out


def positive(forms, b):
    """Whether one of the functions, or a mean of them, is positive on the box."""
    if any(least(form, b) > 0 for form in forms):
        return True
    weights = propose(forms, b)
    const, *mu = (sum(map(mul, weights, column)) for column in zip(*([const, *mu] for const, mu in forms)))
    return least((const, mu), b) > 0


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
        sys.setrecursionlimit(1 << 20)
        judge.file(parts, found, b"".join(hashlib.sha256(data).digest() for data in files[:2]))
    except Rejected as reason:
        return print("rejected") or print(f"record {judge.records}: {reason}", file=sys.stderr) or 1
    return print("accepted") or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
