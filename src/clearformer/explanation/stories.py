"""Which story tells of which kind of model."""

from collections.abc import Mapping
from typing import Any

from clearformer.explanation.decoder_story import DecoderStory
from clearformer.explanation.encoder_story import EncoderStory
from clearformer.explanation.recurrent_story import RecurrentStory
from clearformer.explanation.story import Story
from clearformer.models.decoder import Decoder
from clearformer.models.encoder.model import Encoder
from clearformer.models.recurrent.model import RecurrentModel

_STORIES: Mapping[type, Story] = {
    Decoder: DecoderStory(),
    Encoder: EncoderStory(),
    RecurrentModel: RecurrentStory(),
}


def story_of(model: Any) -> Story:
    """The story of a model of any kind that can be explained."""
    return _STORIES[type(model)]
