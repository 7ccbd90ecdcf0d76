"""Scripts that ran in real Paddle, under the recorder: what it did is played here."""
