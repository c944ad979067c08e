"""Package and image registries."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "registries"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("npm-token", _F, ("npm_",), "w36", "https://docs.npmjs.com/about-access-tokens"),
    Kind("pypi-token", _F, ("pypi-AgEIcHlwaS5vcmc",), "s50", "https://pypi.org/help/#apitoken"),
    Kind("testpypi-token", _F, ("pypi-AgENdGVzdC5weXBpLm9yZw",), "s50", "https://test.pypi.org/help/#apitoken"),
    Kind("pypi-other-token", _F, ("pypi-Ag",), "s60", "https://docs.pypi.org/api/secrets/"),
    Kind("rubygems-key", _F, ("rubygems_",), "h48", "https://guides.rubygems.org/api-key-scopes/"),
    Kind("cargo-token", _F, ("cio",), "w32!", "https://doc.rust-lang.org/cargo/reference/publishing.html", loose=True),
    Kind("nuget-key", _F, ("oy2",), "l43!", "https://learn.microsoft.com/nuget/nuget-org/publish-a-package"),
    Kind("dockerhub-token", _F, ("dckr_pat_", "dckr_oat_"), "s24", "https://docs.docker.com/security/access-tokens/"),
    Kind("clojars-token", _F, ("CLOJARS_",), "h60", "https://clojars.org/tokens"),
    Kind("packagist-token", _F, ("packagist_uut_", "packagist_ort_", "packagist_out_", "packagist_"), "h60", "https://packagist.com/docs/"),
    Kind("jsr-token", _F, ("jsrp_", "jsrd_"), "w30", _KF),
)  # fmt: skip
