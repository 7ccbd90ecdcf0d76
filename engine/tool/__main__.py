"""``python -m gradtool``: the command ``gradtool``, of the Python that runs it."""

from gradtool.cli.main import main

if __name__ == "__main__":
    main()
