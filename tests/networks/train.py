#!/usr/bin/env python3
"""Train the test networks and write the other files of this folder.

README.md and convolution.py are written by hand.

Run from anywhere:

    pip install numpy scikit-learn onnx && python3 tests/networks/train.py

The script writes, next to itself:

* ``digits_16.onnx``, ``digits_32x3.onnx``, ``digits_bn.onnx``: classifiers of
  scikit-learn's 8x8 digits, whose pixels 0..16 are divided by 16 before they
  enter a network. They are trained on clean and on adversarially perturbed
  images, so that small perturbations seldom change their answer;
* ``digits_conv.onnx``: a convolutional classifier of them, trained likewise by
  convolution.py;
* ``control.onnx`` and ``control.nnet``: a saturated LQR feedback for a
  cart-pole (output 0) and a value function (output 1), the same weights in two
  formats. The ONNX file maps normalised states to normalised outputs; the NNet
  file carries the normalisation too and maps physical to physical units;
* ``digits_inputs.csv``, ``digits_labels.csv``, ``digit_3.csv``,
  ``control_inputs.csv``: inputs to run the networks on;
* ``digits_16_robust.vnnlib`` (holds), ``digits_16_violated.vnnlib`` (does not),
  the same for ``digits_conv`` and ``control_bound.vnnlib`` (holds): properties
  in VNN-LIB 1.0. The script stops if its own interval bounds or its own attack
  cannot confirm them.

Everything random is seeded and the linear algebra runs on one thread, so that
each run writes the same bytes. Other releases of the libraries may not.
"""

from decimal import Decimal
from pathlib import Path

import convolution
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_digits
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from threadpoolctl import threadpool_limits

FOLDER = Path(__file__).parent

PIXEL_MAX = 16
CLASSES = 10
TRAINING_EPS = 0.05
TRAINING_ROUNDS = 80
BATCH_NORM_EPSILON = 1e-5

PROPERTY_LABEL = 3
ROBUST_EPS = Decimal("0.01")
VIOLATED_EPS = Decimal("0.3")

# Cart position (m), cart velocity (m/s), pole angle (rad), pole rate (rad/s).
STATE_MIN = np.array([-2.0, -2.5, -0.5, -2.0])
STATE_MAX = np.array([2.8, 3.5, 0.6, 2.5])
STATE_MEAN = (STATE_MIN + STATE_MAX) / 2
STATE_RANGE = STATE_MAX - STATE_MIN
FORCE_MAX = 10.0
# NNet files have one mean and one range for all outputs.
OUTPUT_MEAN = 2.5
OUTPUT_RANGE = 25.0

# The box of control_bound.vnnlib, in the normalised units of control.onnx.
CONTROL_BOX = [("-0.2", "0.1"), ("-0.2", "0.1"), ("-0.2", "0.0"), ("-0.2", "0.1")]
CONTROL_SAMPLES = 1_000_000
CONTROL_MARGIN = 0.05
CONTROL_CELLS_PER_AXIS = 24


# --- Networks as lists of layers -------------------------------------------
#
# A layer is a pair (weights, biases), the weights of shape (inputs, outputs).
# A ReLU follows every layer but the last.


def layers_of(model):
    """The layers of a fitted scikit-learn model, in its own precision."""
    return list(zip(model.coefs_, model.intercepts_))


def prune(layers):
    """Zeroes the weights that weight decay left at next to nothing.

    Those of neurons that never fire decay forever, to subnormal numbers.
    """
    return [(np.where(np.abs(w) < 1e-6, 0.0, w), b) for w, b in layers]


def to_float32(layers):
    return [(w.astype(np.float32), b.astype(np.float32)) for w, b in layers]


def to_float64(layers):
    return [(w.astype(np.float64), b.astype(np.float64)) for w, b in layers]


def pre_activations(layers, x):
    """What each layer computes on a batch, before its ReLU."""
    values = []
    for w, b in layers:
        values.append(x @ w + b)
        x = np.maximum(values[-1], 0)
    return values


def evaluate(layers, x):
    return pre_activations(layers, x)[-1]


def input_gradient(layers, x, output_gradient):
    """Pulls gradients with respect to the outputs back to the inputs."""
    values = pre_activations(layers, x)
    gradient = output_gradient @ layers[-1][0].T
    for (w, _), value in zip(layers[-2::-1], values[-2::-1]):
        gradient = (gradient * (value > 0)) @ w.T
    return gradient


def interval_upper_bound(layers, low, high):
    """Upper bounds on the outputs over boxes, one box a row."""
    for index, (w, b) in enumerate(layers):
        if index > 0:
            low, high = np.maximum(low, 0), np.maximum(high, 0)
        center = (low + high) / 2 @ w + b
        radius = (high - low) / 2 @ np.abs(w)
        low, high = center - radius, center + radius
    return high


# --- Digits: training ------------------------------------------------------


def digits_split():
    """Training and test images as integers 0..16, and their labels."""
    digits = load_digits()
    return train_test_split(
        digits.data.astype(np.int64),
        digits.target,
        test_size=0.25,
        stratify=digits.target,
        random_state=0,
    )


def scale(pixels):
    return pixels / PIXEL_MAX


def perturb(layers, x, labels, eps):
    """Moves each image by eps along the sign of its loss's gradient."""
    logits = evaluate(layers, x)
    likelihood = np.exp(logits - logits.max(axis=1, keepdims=True))
    likelihood /= likelihood.sum(axis=1, keepdims=True)
    loss_gradient = likelihood - np.eye(CLASSES)[labels]
    step = eps * np.sign(input_gradient(layers, x, loss_gradient))
    return np.clip(x + step, 0, 1)


def train_classifier(hidden, x, labels, seed):
    """Fits a classifier to the images and to perturbed copies of them."""
    model = MLPClassifier(
        hidden_layer_sizes=hidden,
        alpha=1e-2,
        batch_size=64,
        # A generator, not a seed: a seed would shuffle each round alike.
        random_state=np.random.RandomState(seed),
    )
    model.partial_fit(x, labels, classes=np.arange(CLASSES))
    for _ in range(TRAINING_ROUNDS):
        perturbed = perturb(layers_of(model), x, labels, TRAINING_EPS)
        model.partial_fit(np.vstack([x, perturbed]), np.hstack([labels, labels]))
    return prune(layers_of(model))


# --- Digits: input normalisation and batch normalisation -------------------


def take_out_input_normalisation(layers, mean, std):
    """Layers that compute on (x - mean) / std what the given ones do on x."""
    (w, b), *rest = layers
    return [(w * std, b + mean @ w), *rest]


def take_out_batch_norm(layer, batch, rng):
    """Splits a layer into a rescaled layer and the batch norm that undoes it.

    Each neuron's weights are multiplied by a random factor, negative for some,
    and its bias replaced by a random one. The batch norm's mean and variance
    are those of the rescaled neuron on the batch; its scale and bias bring back
    the neuron's original value.
    """
    w, b = layer
    factor = rng.uniform(0.5, 2, b.shape) * rng.choice([-1, 1], b.shape)
    rescaled = (w * factor, rng.normal(0, 1, b.shape))
    values = evaluate([rescaled], batch)
    mean, variance = values.mean(axis=0), values.var(axis=0)
    norm = {
        "scale": np.sqrt(variance + BATCH_NORM_EPSILON) / factor,
        "bias": b + (mean - rescaled[1]) / factor,
        "mean": mean,
        "var": variance,
    }
    return rescaled, norm


def take_out_batch_norms(layers, batch, rng):
    """Splits every layer but the last, which gets no batch norm."""
    split = []
    for layer in layers[:-1]:
        split.append(take_out_batch_norm(layer, batch, rng))
        batch = np.maximum(evaluate([layer], batch), 0)
    return [*split, (layers[-1], {})]


# --- ONNX ------------------------------------------------------------------


def tensor(name, array, raw):
    """A float32 tensor, stored as raw bytes or as a list of floats."""
    array = np.asarray(array, np.float32)
    if raw:
        return numpy_helper.from_array(array, name)
    return helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.ravel())


def value_info(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def save_onnx(stem, nodes, inputs, outputs, initializers, opset, ir_version):
    graph = helper.make_graph(nodes, stem, inputs, outputs, initializers)
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=ir_version,
        producer_name="train.py",
    )
    onnx.checker.check_model(model, full_check=True)
    content = model.SerializeToString(deterministic=True)
    (FOLDER / f"{stem}.onnx").write_bytes(content)


def save_gemm(stem, layers, input_name, output_name, trans_b, raw):
    """Gemm and Relu nodes, batch size 1, opset 13."""
    nodes, initializers, value = [], [], input_name
    for index, (w, b) in enumerate(layers, 1):
        last = index == len(layers)
        initializers += [
            tensor(f"W{index}", w.T if trans_b else w, raw),
            tensor(f"b{index}", b, raw),
        ]
        gemm = output_name if last else f"gemm{index}"
        operands = [value, f"W{index}", f"b{index}"]
        attributes = {"transB": 1} if trans_b else {}
        nodes.append(helper.make_node("Gemm", operands, [gemm], **attributes))
        if not last:
            value = f"relu{index}"
            nodes.append(helper.make_node("Relu", [gemm], [value]))
    inputs = [value_info(input_name, [1, len(layers[0][0])])]
    outputs = [value_info(output_name, [1, len(layers[-1][1])])]
    save_onnx(stem, nodes, inputs, outputs, initializers, opset=13, ir_version=7)


def matmul_nodes(index, value, total):
    """total = value @ W + b"""
    return [
        helper.make_node("MatMul", [value, f"W{index}"], [f"matmul{index}"]),
        helper.make_node("Add", [f"matmul{index}", f"b{index}"], [total]),
    ]


def save_matmul(stem, layers):
    """Flatten, then MatMul, Add and Relu; symbolic batch size, opset 17."""
    nodes = [helper.make_node("Flatten", ["input"], ["flat"], axis=1)]
    initializers, value = [], "flat"
    for index, (w, b) in enumerate(layers, 1):
        last = index == len(layers)
        initializers += [
            tensor(f"W{index}", w, raw=True),
            tensor(f"b{index}", b, raw=True),
        ]
        total = "logits" if last else f"add{index}"
        nodes += matmul_nodes(index, value, total)
        if not last:
            value = f"relu{index}"
            nodes.append(helper.make_node("Relu", [total], [value]))
    inputs = [value_info("input", ["batch", 1, 8, 8])]
    outputs = [value_info("logits", ["batch", CLASSES])]
    save_onnx(stem, nodes, inputs, outputs, initializers, opset=17, ir_version=8)


def constant_node(name, value):
    return helper.make_node("Constant", [], [name], value=value)


def normalisation_nodes(mean, std):
    """flat = (input - mean) / std as a row, by Constant nodes."""
    shape = helper.make_tensor("shape", TensorProto.INT64, [2], [-1, 64])
    return [
        constant_node("mean", tensor("mean", mean.reshape(1, 1, 8, 8), raw=True)),
        constant_node("std", tensor("std", [std], raw=False)),
        constant_node("shape", shape),
        helper.make_node("Sub", ["input", "mean"], ["centered"]),
        helper.make_node("Div", ["centered", "std"], ["normalised"]),
        helper.make_node("Reshape", ["normalised", "shape"], ["flat"]),
    ]


def batch_norm_nodes(index, value, norm_names):
    """identity = Relu(batch norm of value), past a Dropout and an Identity."""
    return [
        helper.make_node(
            "BatchNormalization",
            [value, *norm_names],
            [f"bn{index}"],
            epsilon=BATCH_NORM_EPSILON,
            # Inference ignores it, but onnx's reference evaluator mixes the
            # statistics of its input into mean and variance unless it is 1.
            momentum=1.0,
        ),
        helper.make_node("Relu", [f"bn{index}"], [f"relu{index}"]),
        helper.make_node("Dropout", [f"relu{index}"], [f"dropout{index}"], ratio=0.25),
        helper.make_node("Identity", [f"dropout{index}"], [f"identity{index}"]),
    ]


def save_batch_norm(stem, layers, x, rng):
    """Normalised input and batch norms; initialisers are inputs; opset 9."""
    mean, std = x.mean(axis=0), x.std()
    layers = take_out_input_normalisation(layers, mean, std)
    nodes = normalisation_nodes(mean, std)
    initializers, value = [], "flat"
    split = take_out_batch_norms(layers, (x - mean) / std, rng)
    for index, ((w, b), norm) in enumerate(split, 1):
        initializers += [
            tensor(f"{key}{index}", array, raw=False)
            for key, array in {"W": w, "b": b, **norm}.items()
        ]
        total = f"add{index}" if norm else "logits"
        nodes += matmul_nodes(index, value, total)
        if norm:
            nodes += batch_norm_nodes(index, total, [f"{key}{index}" for key in norm])
            value = f"identity{index}"
    inputs = [value_info("input", [1, 1, 8, 8])]
    inputs += [value_info(each.name, each.dims) for each in initializers]
    outputs = [value_info("logits", [1, CLASSES])]
    save_onnx(stem, nodes, inputs, outputs, initializers, opset=9, ir_version=3)


def conv_node(name, layer, value, **attributes):
    """The node name = layer * value, and its constants."""
    constants = [tensor(f"{name}_W", np.reshape(layer.kernel(), layer.shape), raw=True)]
    if layer.biases():
        constants.append(tensor(f"{name}_b", layer.biases(), raw=True))
    operands = [value, *(constant.name for constant in constants)]
    return helper.make_node("Conv", operands, [name], **attributes), constants


def save_convolutional(stem, network):
    """Conv, Relu, Add, MaxPool, Flatten and Gemm; batch size 1, opset 13."""
    padded = {"pads": [1, 1, 1, 1]}
    first, constants = conv_node(
        "first", network.first, "input", strides=[2, 2], **padded
    )
    second, more = conv_node("second", network.second, "relu1", **padded)
    skip, most = conv_node("skip", network.skip, "input", strides=[2, 2])
    last = np.reshape(network.last.kernel(), network.last.shape[:2])
    nodes = [
        first,
        helper.make_node("Relu", ["first"], ["relu1"]),
        second,
        skip,
        helper.make_node("Add", ["second", "skip"], ["joined"]),
        helper.make_node("Relu", ["joined"], ["relu2"]),
        helper.make_node(
            "MaxPool", ["relu2"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]
        ),
        helper.make_node("Flatten", ["pooled"], ["flat"]),
        helper.make_node("Gemm", ["flat", "W", "b"], ["logits"], transB=1),
    ]
    constants += [*more, *most, tensor("W", last, raw=True)]
    constants.append(tensor("b", network.last.biases(), raw=True))
    inputs = [value_info("input", [1, 1, 8, 8])]
    outputs = [value_info("logits", [1, CLASSES])]
    save_onnx(stem, nodes, inputs, outputs, constants, opset=13, ir_version=7)


def run_onnx(stem, x):
    """The saved network's outputs on the rows of x, one row at a time."""
    evaluator = ReferenceEvaluator(str(FOLDER / f"{stem}.onnx"))
    name = evaluator.input_names[0]
    dims = evaluator.input_types[0].tensor_type.shape.dim
    shape = [dim.dim_value or 1 for dim in dims]
    rows = x.astype(np.float32)
    return np.vstack([evaluator.run(None, {name: r.reshape(shape)})[0] for r in rows])


# --- Control ---------------------------------------------------------------


def cart_pole_lqr():
    """LQR gain of a linearised cart-pole, and the cost-to-go as an integral."""
    cart, pole, length, gravity, dt = 1.0, 0.1, 0.5, 9.81, 0.02
    inertia = length * (4 / 3 - pole / (cart + pole))
    lift = gravity / inertia
    push = 1 / (cart + pole)
    coupling = pole * length * push
    a = np.eye(4) + dt * np.array(
        [[0, 1, 0, 0], [0, 0, -coupling * lift, 0], [0, 0, 0, 1], [0, 0, lift, 0]]
    )
    b = dt * np.array([[0], [push * (1 + coupling / inertia)], [0], [-push / inertia]])
    state_cost, force_cost = np.diag([0.1, 0.1, 1.0, 0.1]), np.array([[1.0]])
    cost = state_cost
    for _ in range(5000):
        gain = np.linalg.solve(force_cost + b.T @ cost @ b, b.T @ cost @ a)
        cost = state_cost + a.T @ cost @ (a - b @ gain)
    return gain, cost * dt


def control_targets(states):
    """Saturated feedback force, and the root of the cost-to-go."""
    gain, cost = cart_pole_lqr()
    force = np.clip(-states @ gain[0], -FORCE_MAX, FORCE_MAX)
    value = np.sqrt(np.einsum("ni,ij,nj->n", states, cost, states))
    return np.column_stack([force, value])


def control_samples(count, rng):
    """Normalised states and normalised targets."""
    states = rng.uniform(STATE_MIN, STATE_MAX, (count, 4))
    targets = control_targets(states)
    return (states - STATE_MEAN) / STATE_RANGE, (targets - OUTPUT_MEAN) / OUTPUT_RANGE


def train_controller(x, targets):
    model = MLPRegressor(
        hidden_layer_sizes=(8, 8),
        alpha=1e-5,
        batch_size=64,
        learning_rate_init=3e-3,
        random_state=0,
    )
    return prune(layers_of(model.fit(x, targets)))


def nnet_line(numbers):
    """Numbers with a comma after each, in the fewest digits that round trip."""
    return "".join(str(number) + "," for number in numbers)


def save_nnet(stem, layers):
    sizes = [len(layers[0][0]), *(len(b) for _, b in layers)]
    lines = [
        "// Cart-pole controller: the layers of control.onnx.",
        "// Inputs become (x - mean) / range, outputs become y * range + mean.",
        nnet_line([len(layers), sizes[0], sizes[-1], max(sizes)]),
        nnet_line(sizes),
        "0,",
        nnet_line(STATE_MIN.astype(np.float32)),
        nnet_line(STATE_MAX.astype(np.float32)),
        nnet_line(np.append(STATE_MEAN, OUTPUT_MEAN).astype(np.float32)),
        nnet_line(np.append(STATE_RANGE, OUTPUT_RANGE).astype(np.float32)),
    ]
    for w, b in layers:
        lines += [nnet_line(row) for row in w.T]
        lines += [nnet_line([bias]) for bias in b]
    write_lines(f"{stem}.nnet", lines)


# --- Inputs and properties -------------------------------------------------


def write_lines(name, lines):
    text = "".join(f"{line}\n" for line in lines)
    (FOLDER / name).write_text(text, encoding="ascii", newline="\n")


def write_csv(name, rows):
    write_lines(name, [",".join(str(number) for number in row) for row in rows])


def save_property(stem, comments, box, outputs, counterexample):
    lines = [f"; {comment}" for comment in comments]
    lines += [f"(declare-const X_{i} Real)" for i in range(len(box))]
    lines += [f"(declare-const Y_{i} Real)" for i in range(outputs)]
    for i, (low, high) in enumerate(box):
        lines += [f"(assert (>= X_{i} {low}))", f"(assert (<= X_{i} {high}))"]
    lines += counterexample
    write_lines(f"{stem}.vnnlib", lines)


def image_box(pixels, eps):
    """Exact decimal bounds of the images within eps of one, inside [0, 1]."""
    zero, one = Decimal("0.0"), Decimal("1.0")
    centers = [Decimal(int(pixel)) / PIXEL_MAX for pixel in pixels]
    return [(max(c - eps, zero), min(c + eps, one)) for c in centers]


def box_arrays(box):
    """The lower and the upper corner of a box, each as a batch of one."""
    corners = np.array([[float(low), float(high)] for low, high in box])
    return corners[:, 0][None], corners[:, 1][None]


def save_robustness(network, outcome, pixels, label, eps):
    """Writes a robustness property, whose outcome is part of its name."""
    comments = [
        f"{network}.onnx around digit_{label}.csv / {PIXEL_MAX}, eps {eps}.",
        f"Counterexample: another class scores at least as high as class {label}.",
    ]
    others = [c for c in range(CLASSES) if c != label]
    clauses = [f"  (and (>= Y_{other} Y_{label}))" for other in others]
    counterexample = ["(assert (or", *clauses, "))"]
    box = image_box(pixels, eps)
    save_property(f"{network}_{outcome}", comments, box, CLASSES, counterexample)


def lead_over(layers, label):
    """Layers whose outputs are the other logits less the label's."""
    *hidden, (w, b) = layers
    others = [c for c in range(CLASSES) if c != label]
    return [*hidden, (w[:, others] - w[:, [label]], b[others] - b[label])]


def strongest_attack(layers, label, low, high, rng):
    """The image of a box on which some other class leads most, by ascent."""
    leads = lead_over(layers, label)
    x = rng.uniform(low, high, (90, low.shape[1]))
    target = np.eye(CLASSES - 1)[np.arange(len(x)) % (CLASSES - 1)]
    for _ in range(100):
        step = (high - low) / 20 * np.sign(input_gradient(leads, x, target))
        x = np.clip(x + step, low, high)
    return x[evaluate(leads, x).max(axis=1).argmax()]


def save_digits_properties(layers, pixels, rng):
    """Writes both robustness properties, having confirmed their outcomes."""
    label = PROPERTY_LABEL
    low, high = box_arrays(image_box(pixels, ROBUST_EPS))
    lead = interval_upper_bound(lead_over(layers, label), low, high).max()
    assert lead < 0, "the interval bounds do not prove digits_16_robust"
    save_robustness("digits_16", "robust", pixels, label, ROBUST_EPS)
    print(f"digits_16_robust: holds, other classes trail by {-lead:.3f} or more")

    low, high = box_arrays(image_box(pixels, VIOLATED_EPS))
    attack = strongest_attack(layers, label, low, high, rng)
    logits = run_onnx("digits_16", attack[None])[0]
    lead = np.delete(logits, label).max() - logits[label]
    assert lead > 0, "no counterexample to digits_16_violated found"
    save_robustness("digits_16", "violated", pixels, label, VIOLATED_EPS)
    print(f"digits_16_violated: violated, class {logits.argmax()} leads by {lead:.3f}")


def save_convolutional_properties(network, pixels):
    """The same for the convolutional network."""
    label = PROPERTY_LABEL
    corners = [
        corner[0].tolist() for corner in box_arrays(image_box(pixels, ROBUST_EPS))
    ]
    lead = max(network.greatest_leads(label, *corners))
    assert lead < 0, "the interval bounds do not prove digits_conv_robust"
    save_robustness("digits_conv", "robust", pixels, label, ROBUST_EPS)
    print(f"digits_conv_robust: holds, other classes trail by {-lead:.3f} or more")

    corners = [
        corner[0].tolist() for corner in box_arrays(image_box(pixels, VIOLATED_EPS))
    ]
    attack = convolution.strongest_attack(network, label, *corners, seed=5)
    logits = run_onnx("digits_conv", np.array([attack]))[0]
    lead = np.delete(logits, label).max() - logits[label]
    assert lead > 0, "no counterexample to digits_conv_violated found"
    save_robustness("digits_conv", "violated", pixels, label, VIOLATED_EPS)
    print(
        f"digits_conv_violated: violated, class {logits.argmax()} leads by {lead:.3f}"
    )


def grid_cells(low, high, per_axis):
    """The corners of the cells of a regular grid over a box."""
    axes = [np.arange(per_axis)] * low.shape[1]
    cells = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    cells = cells.reshape(-1, low.shape[1])
    edges = np.linspace(low[0], high[0], per_axis + 1)
    columns = np.arange(low.shape[1])
    return edges[cells, columns], edges[cells + 1, columns]


def save_control_property(layers, rng):
    """Writes the bound on output 0, having confirmed it."""
    low, high = box_arrays(CONTROL_BOX)
    samples = rng.uniform(low, high, (CONTROL_SAMPLES, low.shape[1]))
    sampled = evaluate(layers, samples)[:, 0].max()
    bound = np.ceil((sampled + CONTROL_MARGIN) * 100) / 100
    cells = grid_cells(low, high, CONTROL_CELLS_PER_AXIS)
    proved = interval_upper_bound(layers, *cells)[:, 0].max()
    assert proved < bound, "the interval bounds do not prove control_bound"
    comments = [
        "control.onnx, states and outputs normalised.",
        f"Counterexample: output 0 reaches {bound:.2f}.",
    ]
    counterexample = [f"(assert (>= Y_0 {bound:.2f}))"]
    save_property("control_bound", comments, CONTROL_BOX, 2, counterexample)
    whole = interval_upper_bound(layers, low, high)[0, 0]
    print(
        f"control_bound: holds, output 0 < {bound:.2f}: sampled at most {sampled:.4f},"
        f" proved {proved:.4f} (without splitting {whole:.4f})"
    )


# --- The files -------------------------------------------------------------


def make_classifiers(x, labels):
    """Trains and saves the three classifiers; returns their layers by name."""
    small = to_float32(train_classifier((16,), x, labels, seed=1))
    save_gemm("digits_16", small, "input", "logits", trans_b=True, raw=False)
    deep = to_float32(train_classifier((32, 32, 32), x, labels, seed=2))
    save_matmul("digits_32x3", deep)
    plain = train_classifier((24, 24), x, labels, seed=3)
    save_batch_norm("digits_bn", plain, x, np.random.default_rng(3))
    shift = run_onnx("digits_bn", x) - evaluate(plain, x)
    assert np.abs(shift).max() < 1e-4, "digits_bn strays from the trained network"
    return {"digits_16": small, "digits_32x3": deep, "digits_bn": plain}


def correct_answers(stem, x, attacked, labels):
    """Which images a saved classifier gets right; prints its accuracies."""
    right = run_onnx(stem, x).argmax(axis=1) == labels
    steady = run_onnx(stem, attacked).argmax(axis=1) == labels
    print(f"{stem}: test accuracy {right.mean():.2%}, attacked {steady.mean():.2%}")
    return right


def make_convolutional(train_x, train_labels, x, labels):
    network = convolution.train(
        train_x.tolist(), train_labels.tolist(), TRAINING_EPS, seed=4
    )
    save_convolutional("digits_conv", network)
    examples = list(zip(x.tolist(), labels.tolist()))
    shift = run_onnx("digits_conv", x) - [
        network.scores(image) for image, _ in examples
    ]
    assert np.abs(shift).max() < 1e-4, "digits_conv strays from the trained network"
    attacked = [convolution.perturb(network, *each, TRAINING_EPS) for each in examples]
    correct_answers("digits_conv", x, np.array(attacked), labels)
    return network


def make_digits():
    train_pixels, pixels, train_labels, labels = digits_split()
    classifiers, x = make_classifiers(scale(train_pixels), train_labels), scale(pixels)
    right = np.all(
        [
            correct_answers(stem, x, perturb(layers, x, labels, TRAINING_EPS), labels)
            for stem, layers in classifiers.items()
        ],
        axis=0,
    )
    chosen = [np.flatnonzero(right & (labels == c))[0] for c in range(CLASSES)]
    write_csv("digits_inputs.csv", pixels[chosen])
    write_csv("digits_labels.csv", labels[chosen, None])
    image = pixels[chosen[PROPERTY_LABEL]]
    write_csv(f"digit_{PROPERTY_LABEL}.csv", [image])
    small = to_float64(classifiers["digits_16"])
    save_digits_properties(small, image, np.random.default_rng(5))

    network = make_convolutional(scale(train_pixels), train_labels, x, labels)
    save_convolutional_properties(network, image)


def make_control():
    rng = np.random.default_rng(6)
    x, targets = control_samples(8000, rng)
    layers = to_float32(train_controller(x, targets))
    save_gemm("control", layers, "state", "action", trans_b=False, raw=True)
    save_nnet("control", layers)
    x, targets = control_samples(2000, rng)
    force, value = r2_score(targets, run_onnx("control", x), multioutput="raw_values")
    print(f"control: R2 on new states: force {force:.4f}, value {value:.4f}")

    # Within these bounds a state is valid normalised as well as physical.
    write_csv("control_inputs.csv", rng.uniform(-0.4, 0.4, (10, 4)).round(3))
    save_control_property(to_float64(layers), rng)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        make_digits()
        make_control()
