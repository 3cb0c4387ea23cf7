"""How far vectors are apart."""

SAMPLES = {
    "cosine_similarity": [
        "F.cosine_similarity(x, y)",
        "F.cosine_similarity(x, y, dim=0)",
        "L.cosine_similarity(h, k, -1, 1e-3)",
        "F.cosine_similarity(h, x, dim=-1)",
        "F.cosine_similarity(x, c, 1)",
        {"call": "F.cosine_similarity(x * 0, y)", "order": 1},
        {"call": "F.cosine_similarity(x, y, 2)", "error": True},
        {"call": "F.cosine_similarity(x, n)", "error": True},
    ],
    "pairwise_distance": [
        "F.pairwise_distance(x, y)",
        "F.pairwise_distance(x, y, p=1.0, keepdim=True)",
        "L.pairwise_distance(h, x, 3.0)",
        "F.pairwise_distance(x, y, p=inf)",
        "F.pairwise_distance(v, w, eps=0.0)",
        "F.pairwise_distance(x, v)",
        "F.pairwise_distance(e, e)",
    ],
    "pdist": [
        "F.pdist(x)",
        "L.pdist(m, 1.0)",
        "F.pdist(m, p=3.0)",
        {"call": "F.pdist(m, p=inf)", "order": 1},
        "F.pdist(e)",
        "F.pdist(x[:1])",
        {"call": "F.pdist(h)", "error": True},
    ],
    "normalize": [
        "F.normalize(x)",
        "F.normalize(x, dim=0)",
        "F.normalize(h, p=1.0, dim=-1)",
        "F.normalize(h, 3.0, (0, 2))",
        "F.normalize(h, p=inf, dim=2)",
        {"call": "F.normalize(x * 0)", "order": 1},
        "F.normalize(x, eps=100.0)",
    ],
}
