"""Connectionist temporal classification."""

P = "L.log_softmax(h.permute(2, 0, 1), 2)"  # 4 steps, 2 lines, 3 classes
LONG = "L.log_softmax(r4.reshape(8, 3, 5), 2)"  # 8 steps, 3 lines, 5 classes
C = "F.ctc_loss"



def once(call: str) -> dict:
    """PyTorch has no second derivatives of it."""
    return {"call": call, "order": 1}


SAMPLES = {
    "ctc_loss": [
        once(f"{C}({P}, at[:2, :2] % 2, (4, 4), (2, 1), 2)"),
        once(f"{C}({P}, at[:2, :2] % 2, (4, 4), (2, 1), 2, reduction='none')"),
        once(f"{C}({LONG}, at[:, :3] + 1, (8, 7, 5), (3, 2, 0), reduction='sum')"),
        once(f"{C}({LONG}, at[:, :3], L.tensor([8, 7, 5]), L.tensor([3, 2, 1]), blank=4)"),
        once(f"{C}({LONG}, at1[:5] + 1, (8, 8, 8), (2, 0, 3), reduction='none')"),
        once(f"{C}({LONG}, L.ones_like(at), (8, 8, 4), (3, 4, 4), reduction='none', zero_infinity=True)"),
        once(f"{C}({LONG}, L.ones_like(at), (8, 8, 4), (3, 4, 4), zero_infinity=True)"),
        {"call": f"{C}({LONG}, L.ones_like(at), (8, 8, 4), (3, 4, 4), reduction='none')", "order": 0},
        {"call": f"{C}({LONG}[:, 0], at[0] + 1, (8,), (4,), reduction='none')", "order": 0},
        once(f"{C}({LONG}[:, 0], at[0] + 1, (8,), (4,))"),
        once(f"{C}({LONG}, at[:, :0], (8, 8, 8), (0, 0, 0))"),
        {"call": f"{C}({LONG}, at, (8, 8), (3, 3))", "error": True},
        {"call": f"{C}({LONG}, at, (8, 8, 8), (3, 3, 3), blank=5)", "error": True},
        {"call": f"{C}({LONG}, x, (8, 8, 8), (3, 3, 3))", "error": True},
        {"call": f"{C}({LONG}, at, (8, 8, 9), (3, 3, 3))", "error": True},
        {"call": f"{C}({LONG}, at, (8, 8, 8), (3, 3, 3), reduction='all')", "error": True},
    ],
}
