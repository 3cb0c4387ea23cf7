"""Windows that signals are weighed with."""

HERE = "L.signal.windows"
DOUBLE = "dtype=L.float64"


def of(name: str, extra: str = "") -> list:
    more = f", {extra}" if extra else ""
    return [
        f"{HERE}.{name}(7{more}, {DOUBLE})",
        f"{HERE}.{name}(8{more}, sym=False, {DOUBLE})",
        f"{HERE}.{name}(1{more}, {DOUBLE})",
        f"{HERE}.{name}(2{more}, {DOUBLE})",
        {"call": f"{HERE}.{name}(6{more})", "rtol": 1e-5},
        f"{HERE}.{name}(0{more})",
    ]


def at_the_top(name: str) -> list:
    return [
        f"L.{name}(7, {DOUBLE})",
        f"L.{name}(8, periodic=False, {DOUBLE})",
        f"L.{name}(1, {DOUBLE})",
        f"L.{name}(0, {DOUBLE})",
        {"call": f"L.{name}(6)", "rtol": 1e-5},
    ]


SAMPLES = {
    **{name: of(name) for name in ["bartlett", "blackman", "cosine", "hamming", "hann", "nuttall"]},
    "exponential": [*of("exponential", "tau=3.0"), f"{HERE}.exponential(5, center=1, sym=False, {DOUBLE})", {"call": f"{HERE}.exponential(5, center=1)", "error": True}],
    "gaussian": of("gaussian", "std=1.5"),
    "general_cosine": of("general_cosine", "a=[0.4, 0.3, 0.2, 0.1]"),
    "general_hamming": of("general_hamming", "alpha=0.7"),
    "kaiser": [*of("kaiser"), f"{HERE}.kaiser(9, beta=0.5, {DOUBLE})", f"{HERE}.kaiser(9, beta=100.0, {DOUBLE})", f"{HERE}.kaiser(5, beta=0.0, {DOUBLE})"],
    **{f"{name}_window": at_the_top(f"{name}_window") for name in ["bartlett", "blackman", "hann", "hamming", "kaiser"]},
}
