"""Recurrent layers and their cells. Weights are cut out of `m`, `r4` and the like."""

# Weights of a layer with 4 features and a hidden size of 3, for 1, 3 and 4 gates.
_W = "L.cat([x, y, p, q])"  # [12, 4]
_U = "L.cat([n, n * 0.5, n[:4] - 1])"  # [12, 3]
_B = "L.cat([v, w, v * 0.5])"  # [12]
_H = "h[:, :1, :3]"  # [2, 1, 3], of a batch of 1


def _layer(gates: int, features: int = 4, size: int = 3, outward: int = 3) -> str:
    rows = gates * size
    weight = f"{_W}[:{rows}, :{features}] * 0.3"
    if features > 4:
        weight = f"L.cat([{_W}, {_W}], 1)[:{rows}, :{features}] * 0.3"
    return f"{weight}, {_U}[:{rows}, :{outward}] * 0.4"


def _biases(gates: int) -> str:
    return f"{_B}[:{gates * 3}], {_B}[:{gates * 3}] * 0.2 + 0.1"


def _calls(name: str, gates: int) -> list:
    one = f"[{_layer(gates)}, {_biases(gates)}]"
    bare = f"[{_layer(gates)}]"
    two = f"[{_layer(gates)}, {_biases(gates)}, {_layer(gates, 3)}, {_biases(gates)}]"
    both = f"[{_layer(gates)}, {_biases(gates)}, {_layer(gates)}, {_biases(gates)}, {_layer(gates, 6)}, {_biases(gates)}, {_layer(gates, 6)}, {_biases(gates)}]"

    def state(count: int, batch: int) -> str:
        h = f"k.reshape(-1)[:{count * batch * 3}].reshape({count}, {batch}, 3) * 0.3"
        return f"[{h}, {h} - 0.2]" if name == "lstm" else h

    return [
        {"call": f"L.{name}(h, {state(1, 3)}, {one}, True, 1, 0.0, False, False, False)", "order": 1},
        {"call": f"L.{name}(h, {state(1, 2)}, {one}, True, 1, 0.0, True, False, True)", "order": 1},
        {"call": f"L.{name}(h, {state(1, 3)}, {bare}, False, 1, 0.0, False, False, False)", "dtypes": False},
        {"call": f"L.{name}(h[:, :1], {state(2, 1)}, {two}, True, 2, 0.0, False, False, False)", "order": 1, "dtypes": False},
        {"call": f"L.{name}(h[:, :1], {state(4, 1)}, {both}, True, 2, 0.0, True, True, False)", "order": 1, "dtypes": False},
        {"call": f"L.{name}(h, {state(1, 2)}, {one}, True, 1, 0.0, False, False, False)", "error": True},
        {"call": f"L.{name}(h[..., :3], {state(1, 3)}, {one}, True, 1, 0.0, False, False, False)", "error": True},
        {"call": f"L.{name}(h, {state(1, 3)}, {one}, True, 2, 0.0, False, False, False)", "error": True},
    ]


def _cell(name: str, gates: int) -> list:
    state = "[n[:3] * 0.3, n[:3] - 0.2]" if name == "lstm_cell" else "n[:3] * 0.3"
    return [
        {"call": f"L.{name}(x, {state}, {_layer(gates)}, {_biases(gates)})", "order": 2, "dtypes": False},
        {"call": f"L.{name}(x, {state}, {_layer(gates)})", "order": 1, "dtypes": False},
        {"call": f"L.{name}(x[:, :3], {state}, {_layer(gates)})", "error": True},
        {"call": f"L.{name}(x[:2], {state}, {_layer(gates)})", "error": True},
    ]


def _packed(name: str, gates: int) -> list:
    h = "k.reshape(-1)[:18].reshape(2, 3, 3) * 0.3"
    state = f"[{h}, {h} - 0.2]" if name == "LSTM" else f"[{h}]"
    theirs = state if name == "LSTM" else h
    weights = f"[{_layer(gates)}, {_biases(gates)}, {_layer(gates)}, {_biases(gates)}]"
    rest = "True, 1, 0.0, False, True"
    rows = "h.reshape(6, 4)"
    return [
        {
            "call": f"L.packed_rnn({rows}, [3, 2, 1], '{name}', {state}, {weights}, {rest})",
            "torch": f"L.{name.lower()}({rows}, L.tensor([3, 2, 1]), {theirs}, {weights}, {rest})",
            "order": 1,
            "dtypes": False,
        }
    ]


SAMPLES = {
    "rnn_tanh": _calls("rnn_tanh", 1),
    "rnn_relu": _calls("rnn_relu", 1),
    "gru": _calls("gru", 3),
    "lstm": [
        *_calls("lstm", 4),
        # Projected to a size of 2.
        {
            "call": f"L.lstm(h, [k[:1, :, :2] * 0.3, k[1:, :, :3] * 0.3], [{_layer(4, outward=2)}, {_biases(4)}, n[:2] * 0.4], True, 1, 0.0, False, False, False)",
            "order": 1,
            "dtypes": False,
        },
    ],
    "packed_rnn": [
        *_packed("RNN_TANH", 1),
        *_packed("RNN_RELU", 1),
        *_packed("GRU", 3),
        *_packed("LSTM", 4),
        {"call": f"L.packed_rnn(h.reshape(6, 4), [2, 3, 1], 'GRU', [k[:1, :2, :3]], [{_layer(3)}], False, 1, 0.0, False, False)", "torch": "L.gru(h)", "error": True},
        {"call": f"L.packed_rnn(h.reshape(6, 4), [3, 3], 'NO', [k[:1, :3, :3]], [{_layer(3)}], False, 1, 0.0, False, False)", "torch": "L.gru(h)", "error": True},
    ],
    "rnn_tanh_cell": _cell("rnn_tanh_cell", 1),
    "rnn_relu_cell": _cell("rnn_relu_cell", 1),
    "gru_cell": _cell("gru_cell", 3),
    "lstm_cell": _cell("lstm_cell", 4),
}
