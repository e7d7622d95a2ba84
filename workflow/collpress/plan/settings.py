"""Settings of codecs, as a campaign writes them, against what the codecs of an installation declare."""

from __future__ import annotations

from collpress.errors import CollpressError
from collpress.plan.needs import asked_for
from collpress.plan.offer import Offer
from collpress.spec.campaign import Campaign
from collpress.spec.mistakes import combined


def refuse_unknown_settings(campaign: Campaign, offer: Offer) -> None:
    """CollpressError for each setting that a codec of this installation does not have, or that cannot be so."""
    errors = []
    for field, values in asked_for(campaign, "codec"):
        for position, value in enumerate(map(str, values)):
            codec = offer.codec(value)
            try:
                if codec is not None:
                    codec.values(value)
            except CollpressError as error:
                error.where = campaign.where(*field, position)
                errors.append(error)
    if errors:
        raise combined(errors, str(campaign.path))
