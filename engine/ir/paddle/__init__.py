"""Programs as Paddle itself writes them: descriptions in protobuf, and the JSON of its new IR."""
