"""Files: binary ones (``container``), JSON read strictly (``jsontext``), written whole or not at all (``writing``).

``user_cache`` keeps files for the next process.
"""
