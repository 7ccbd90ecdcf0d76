"""A sweep as files: lines and tables of its rows, pictures, and a page of all of it."""
