"""spaCy's models of English: an installed package, or a folder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from secateur.core.errors import SecateurError

if TYPE_CHECKING:
    from spacy.language import Language

__all__ = ["FIX", "load_spacy"]

MAX_CHARACTERS = 10_000_000
FIX = "Fix: one of spaCy's English models (en_core_web_sm, _md, _lg or _trf), installed, or its folder"


def load_spacy(model: str, exclude: Sequence[str], setting: str) -> "Language":
    """Load a model without some of its components, which cost time. setting: the key that names it, for the message.

    Raises SecateurError for a model that cannot be loaded.
    """
    import spacy

    try:
        loaded = spacy.load(model, exclude=list(exclude))
    except (OSError, ValueError, ImportError) as error:
        cause = next(iter(str(error).splitlines()), type(error).__name__)
        raise SecateurError(f"{setting}: {model}: spaCy cannot load it ({cause}). {FIX}") from error
    loaded.max_length = MAX_CHARACTERS
    return loaded
