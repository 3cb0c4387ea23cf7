"""What is left out at random: what does not depend on the draw."""

SAMPLES = {
    "dropout": [
        "F.dropout(x, 0.0)",
        "F.dropout(x, 1.0)",
        "F.dropout(x, 0.5, False)",
        "F.dropout(x.clone(), p=1.0, inplace=True)",
        {"call": "F.dropout(x, 1.5)", "error": True},
        {"call": "F.dropout(x, -0.1)", "error": True},
    ],
    "feature_dropout": ["L.feature_dropout(h, 1.0, True)", "L.feature_dropout(h, 0.5, False)", "L.feature_dropout_(h.clone(), 1.0, True)"],
    "dropout1d": ["F.dropout1d(h, 1.0)", "F.dropout1d(x, 1.0)", "F.dropout1d(h, 0.5, training=False)", {"call": "F.dropout1d(r4)", "error": True}],
    "dropout2d": ["F.dropout2d(r4, 1.0)", "F.dropout2d(h, 1.0)", "F.dropout2d(r4, 0.5, False)"],
    "dropout3d": ["F.dropout3d(r4, 1.0)", "F.dropout3d(r4.unsqueeze(0), 1.0)", "F.dropout3d(r4, 0.5, False)"],
    "alpha_dropout": ["F.alpha_dropout(x, 0.5)", "F.alpha_dropout(x, 0.0, True)", "F.alpha_dropout(x, 1.0, training=True)"],
    "feature_alpha_dropout": ["F.feature_alpha_dropout(h, 0.5)", "F.feature_alpha_dropout(h, 1.0, training=True)"],
}
