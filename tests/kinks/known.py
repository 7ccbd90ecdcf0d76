"""Operators and functions whose derivatives at ties are not the slopes, and why that is right."""

EIGEN = "of equal eigenvalues there is no derivative of the vectors, and differences follow rounding"
KNOWN: dict[str, str] = {
    **dict.fromkeys(("eig", "eigvals", "eigh", "linalg.eigh"), EIGEN),
    **dict.fromkeys(("gammaincc", "gammainc"), "the order of the function has no gradient, as in Paddle"),
    "bce_loss": "its logarithms end at -100, and nothing is said of the slope there",
    "qr": "of columns that depend on each other there is no derivative, and differences follow rounding",
    "renorm": "of a slice exactly as long as allowed the slopes agree along each axis, and not between them",
    "spectral_norm": "the two vectors that iteration finds are constants for the gradient, as in Paddle",
    "lerp": "the weight has no gradient, as in Paddle",
    **dict.fromkeys(
        ("nn.CosineSimilarity", "nn.functional.cosine_similarity"),
        "vectors shorter than 1e-8 count as that long (as in Paddle), and differences step over what lies below",
    ),
}
"""What is not looked at."""

LABELS = "labels have no gradient, as in Paddle"
FIXED: dict[str, str] = {
    **dict.fromkeys(
        (
            "nn.functional.binary_cross_entropy",
            "nn.functional.cross_entropy",
            "nn.functional.kl_div",
            "nn.functional.log_loss",
            "nn.functional.softmax_with_cross_entropy",
        ),
        LABELS,
    ),
    "nn.functional.binary_cross_entropy_with_logits": "labels and the weights of ones have no gradient, as in Paddle",
    "nn.functional.label_smooth": "the distribution that labels are mixed with has no gradient, as in Paddle",
}
"""Functions some of whose operands have no gradient. Those are not moved; the others are held to differences."""

CHOSEN = "of several equal elements, which go nowhere alone, one gets the gradient, or all a share of it"
CHOOSING: dict[str, str] = dict.fromkeys(("mode", "median", "quantile", "nanquantile"), CHOSEN)
"""What gives one of its elements. Equal numbers are moved together, and their gradients are added."""
