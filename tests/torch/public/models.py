"""All public models, family by family."""

from __future__ import annotations

from .graphs import models_of_graphs, other_models
from .images import models_of_images
from .language import models_of_diffusers, models_of_peft, models_of_transformers
from .scripts import PublicModel
from .sequences import models_of_sequences


def public_models() -> list[PublicModel]:
    """Return every model."""
    families = (
        *(models_of_images, models_of_transformers, models_of_peft, models_of_diffusers, models_of_sequences),
        *(models_of_graphs, other_models),
    )
    return [model for family in families for model in family()]
