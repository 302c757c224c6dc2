"""A small convolutional classifier of 8x8 images, in plain Python.

Sums are taken in one order, in float64, and everything random is seeded: each
run trains the same weights. The network is

    h = relu(first * x)
    g = relu(second * h + skip * x)
    scores = last * (maxima of g over windows of 2x2)

where ``first`` and ``second`` are 3x3 convolutions with biases, ``skip`` is a
1x1 convolution without, which takes every second line and column as ``first``
does, and ``last`` is a matrix with biases.
"""

import math
import random
from array import array
from operator import itemgetter, mul

SIDE = 8
CLASSES = 10
EPOCHS = 25
BATCH = 32
STEP = 4e-3
DECAY = 1e-4


class Convolution:
    """A convolution of planes, row by row as a matrix whose rows share weights.

    A bias is the weight of one more input, which is always 1. ``weights`` are in
    ONNX's order, by output channel, input channel, line and column; after them
    come the biases.
    """

    def __init__(self, planes, outputs, kernel=1, stride=1, pad=0, bias=True):
        channels, height, width = planes
        self.shape = [outputs, channels, kernel, kernel]
        self.inputs = channels * height * width
        patch = channels * kernel * kernel
        self.kernel_size = outputs * patch
        self.weights = [0.0] * (self.kernel_size + outputs * bias)
        self.scale = math.sqrt(2 / patch)
        self.reads, self.uses = [], []
        places = [
            (o, y, x)
            for o in range(outputs)
            for y in range(0, height + 2 * pad - kernel + 1, stride)
            for x in range(0, width + 2 * pad - kernel + 1, stride)
        ]
        for o, y, x in places:
            taps = [(self.inputs, self.kernel_size + o)] if bias else []
            for tap in range(patch):
                c, line, column = tap // kernel**2, tap // kernel % kernel, tap % kernel
                i, j = y + line - pad, x + column - pad
                if 0 <= i < height and 0 <= j < width:
                    taps.append(((c * height + i) * width + j, o * patch + tap))
            self.reads.append([read for read, _ in taps])
            self.uses.append([use for _, use in taps])
        # One more than is read: of a single index a getter makes no tuple.
        self.pick = [itemgetter(*reads, self.inputs) for reads in self.reads]
        self.refresh()

    def kernel(self):
        return self.weights[: self.kernel_size]

    def biases(self):
        return self.weights[self.kernel_size :]

    def draw(self, rng):
        """Random weights, and biases 0."""
        for k in range(self.kernel_size):
            self.weights[k] = rng.gauss(0, self.scale)
        self.refresh()

    def refresh(self):
        """Spreads the weights over the rows; to be called when they change."""
        self.rows = [[self.weights[k] for k in uses] for uses in self.uses]

    def apply(self, h):
        h = [*h, 1.0]
        return [sum(map(mul, row, pick(h))) for row, pick in zip(self.rows, self.pick)]

    def bounds(self, low, high):
        """The least and the greatest outputs over a box."""
        low, high = [*low, 1.0], [*high, 1.0]
        ends = []
        for row, reads in zip(self.rows, self.reads):
            terms = [sorted((w * low[i], w * high[i])) for w, i in zip(row, reads)]
            ends.append(
                (sum(term[0] for term in terms), sum(term[1] for term in terms))
            )
        return [end[0] for end in ends], [end[1] for end in ends]

    def pull_back(self, h, gradient, sums=None):
        """The gradient of the inputs; adds that of the weights to ``sums``."""
        h, back = [*h, 1.0], [0.0] * (self.inputs + 1)
        for g, row, reads, uses in zip(gradient, self.rows, self.reads, self.uses):
            if g == 0:
                continue
            for weight, i in zip(row, reads):
                back[i] += g * weight
            if sums is not None:
                for i, k in zip(reads, uses):
                    sums[k] += g * h[i]
        return back[:-1]


def others(label):
    return [c for c in range(CLASSES) if c != label]


def relu(values):
    return [max(value, 0.0) for value in values]


def add(a, b):
    return [a + b for a, b in zip(a, b)]


def switch(gradient, values):
    """The gradient before a ReLU."""
    return [g if value > 0 else 0.0 for g, value in zip(gradient, values)]


class Network:
    def __init__(self, seed):
        self.first = Convolution((1, SIDE, SIDE), 4, kernel=3, stride=2, pad=1)
        self.second = Convolution((4, SIDE // 2, SIDE // 2), 8, kernel=3, pad=1)
        self.skip = Convolution((1, SIDE, SIDE), 8, stride=2, bias=False)
        self.last = Convolution((8 * (SIDE // 4) ** 2, 1, 1), CLASSES)
        side, half = SIDE // 2, SIDE // 4
        corners = [
            (c * side + 2 * y) * side + 2 * x
            for c in range(8)
            for y in range(half)
            for x in range(half)
        ]
        self.windows = [(at, at + 1, at + side, at + side + 1) for at in corners]
        rng = random.Random(seed)
        for layer in self.layers():
            layer.draw(rng)

    def layers(self):
        return [self.first, self.second, self.skip, self.last]

    def trace(self, x):
        """What comes out of each part: before ReLUs, of the pool, the scores."""
        first = self.first.apply(x)
        joined = add(self.second.apply(relu(first)), self.skip.apply(x))
        largest = [max(window, key=joined.__getitem__) for window in self.windows]
        pooled = relu([joined[i] for i in largest])
        return first, joined, largest, pooled, self.last.apply(pooled)

    def scores(self, x):
        return self.trace(x)[-1]

    def pull_back(self, x, trace, gradient, sums=(None,) * 4):
        """The gradient of the image, given that of the scores."""
        first, joined, largest, pooled, _ = trace
        back = [0.0] * len(joined)
        for i, g in zip(largest, self.last.pull_back(pooled, gradient, sums[3])):
            back[i] = g
        back = switch(back, joined)
        hidden = self.second.pull_back(relu(first), back, sums[1])
        direct = self.skip.pull_back(x, back, sums[2])
        return add(direct, self.first.pull_back(x, switch(hidden, first), sums[0]))

    def greatest_leads(self, label, low, high):
        """Upper bounds on the other scores less the label's, by intervals."""
        hidden = map(relu, self.first.bounds(low, high))
        ends = map(add, self.second.bounds(*hidden), self.skip.bounds(low, high))
        pooled = [
            # A row of the last layer begins with its bias, whose input is 1.
            [1.0, *(max(end[i] for i in window) for window in self.windows)]
            for end in map(relu, ends)
        ]
        leads = []
        for other in others(label):
            row = map(float.__sub__, self.last.rows[other], self.last.rows[label])
            leads.append(sum(max(w * a, w * b) for w, a, b in zip(row, *pooled)))
        return leads

    def round(self):
        """Makes every weight a float32."""
        for layer in self.layers():
            layer.weights = list(array("f", layer.weights))
            layer.refresh()


def loss_gradient(scores, label):
    """The gradient of the cross entropy."""
    top = max(scores)
    likelihood = [math.exp(score - top) for score in scores]
    total = sum(likelihood)
    return [p / total - (c == label) for c, p in enumerate(likelihood)]


def sign(value):
    return (value > 0) - (value < 0)


def moved(x, direction, step, low, high):
    """The image, moved by the step along the signs of a direction, in a box."""
    ends = zip(x, direction, low, high)
    return [min(max(v + step * sign(d), a), b) for v, d, a, b in ends]


def perturb(network, x, label, eps):
    """Moves an image by eps along the sign of its loss's gradient."""
    trace = network.trace(x)
    gradient = network.pull_back(x, trace, loss_gradient(trace[-1], label))
    return moved(x, gradient, eps, [0.0] * len(x), [1.0] * len(x))


class Adam:
    """The optimiser of one layer's weights."""

    def __init__(self, layer):
        self.layer, self.count = layer, 0
        self.mean, self.square = ([0.0] * len(layer.weights) for _ in range(2))

    def descend(self, gradient, step):
        self.count += 1
        weights, mean, square = self.layer.weights, self.mean, self.square
        for k, g in enumerate(gradient):
            g += DECAY * weights[k]
            mean[k] = 0.9 * mean[k] + 0.1 * g
            square[k] = 0.999 * square[k] + 0.001 * g * g
            root = math.sqrt(square[k] / (1 - 0.999**self.count)) + 1e-8
            weights[k] -= step * mean[k] / (1 - 0.9**self.count) / root
        self.layer.refresh()


def train(images, labels, eps, seed):
    """Fits a network to the images and to perturbed copies of them."""
    network = Network(seed)
    optimisers = [Adam(layer) for layer in network.layers()]
    order, rng = list(range(len(images))), random.Random(seed)
    for epoch in range(EPOCHS):
        rng.shuffle(order)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            sums = [[0.0] * len(layer.weights) for layer in network.layers()]
            for i in batch:
                x, share = images[i], 1 / (2 * len(batch))
                for _ in range(2):  # the image, then its perturbed copy
                    trace = network.trace(x)
                    loss = [share * g for g in loss_gradient(trace[-1], labels[i])]
                    gradient = network.pull_back(x, trace, loss, sums)
                    x = moved(x, gradient, eps, [0.0] * len(x), [1.0] * len(x))
            for optimiser, gradient in zip(optimisers, sums):
                optimiser.descend(gradient, STEP * (1 - epoch / EPOCHS))
    network.round()
    return network


def lead(network, label, x):
    """How much the best other class scores above the label."""
    scores = network.scores(x)
    return max(scores[other] for other in others(label)) - scores[label]


def strongest_attack(network, label, low, high, seed):
    """The image of a box on which some other class leads most, by ascent."""
    rng, attacks = random.Random(seed), []
    step = max(map(float.__sub__, high, low)) / 20
    for target in others(label):
        x = [rng.uniform(a, b) for a, b in zip(low, high)]
        gradient = [(c == target) - (c == label) for c in range(CLASSES)]
        for _ in range(40):
            back = network.pull_back(x, network.trace(x), gradient)
            x = moved(x, back, step, low, high)
        attacks.append(x)
    return max(attacks, key=lambda x: lead(network, label, x))
