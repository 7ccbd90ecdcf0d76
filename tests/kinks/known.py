"""Operators and functions whose derivatives at ties are not the slopes, and why that is right."""

EIGEN = "of equal eigenvalues there is no derivative of the vectors, and differences follow rounding"
KNOWN: dict[str, str] = {
    **dict.fromkeys(("eig", "eigvals", "eigh", "linalg.eigh"), EIGEN),
    **dict.fromkeys(("gammaincc", "gammainc"), "the order of the function has no gradient, as in Paddle"),
    "bce_loss": "its logarithms end at -100, and nothing is said of the slope there",
    **dict.fromkeys(("mode",), "of several equal elements, which go nowhere alone, the last one gets the gradient"),
    "qr": "of columns that depend on each other there is no derivative, and differences follow rounding",
    "renorm": "of a slice exactly as long as allowed the slopes agree along each axis, and not between them",
    "spectral_norm": "the two vectors that iteration finds are constants for the gradient, as in Paddle",
    "nn.functional.log_loss": "labels have no gradient, as in Paddle",
    "nn.functional.label_smooth": "the distribution that labels are mixed with has no gradient, as in Paddle",
    "lerp": "the weight has no gradient, as in Paddle",
}
