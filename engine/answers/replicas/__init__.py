"""A training on several devices that each compute a part of the rows: where it is not the training on one device."""
