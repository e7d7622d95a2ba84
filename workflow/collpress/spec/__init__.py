"""The files that a person writes, campaigns and platforms: every mistake is named by file, line and field."""

from collpress.spec.campaign import Campaign, Experiment, Factors, Measure
from collpress.spec.files import campaign_text, load_campaign, load_platform, platform_text
from collpress.spec.platform import Platform

__all__ = [
    "Campaign",
    "Experiment",
    "Factors",
    "Measure",
    "Platform",
    "campaign_text",
    "load_campaign",
    "load_platform",
    "platform_text",
]
