"""Monitoring, analytics and incident response."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "monitoring"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("sentry-user-token", _F, ("sntryu_",), "h60", "https://docs.sentry.io/account/auth-tokens/"),
    Kind("sentry-org-token", _F, ("sntrys_",), "b30 m0", "https://docs.sentry.io/account/auth-tokens/"),
    Kind("newrelic-user-key", _F, ("NRAK-",), "u26", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    Kind("newrelic-ingest-key", _F, ("NRII-", "NRIQ-", "NRRA-", "NRSP-", "NRAL-"), "s32", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    Kind("newrelic-browser-key", _F, ("NRJS-",), "h19", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    Kind("newrelic-license-key", _F, ("eu01xx",), "h34", "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/"),
    Kind("datadog-app-key", _F, ("ddapp_", "ddapi_", "ddpat_"), "w30", "https://docs.datadoghq.com/account_management/api-app-keys/"),
    Kind("datadog-public-token", _F, ("pub",), "h32!", "https://docs.datadoghq.com/account_management/api-app-keys/"),
    Kind("grafana-service-token", _F, ("glsa_",), "w32 '_' h8", "https://grafana.com/docs/grafana/latest/administration/service-accounts/"),
    Kind("grafana-cloud-token", _F, ("glc_eyJ", "glc_"), "b30 m0", "https://grafana.com/docs/grafana-cloud/"),
    Kind("grafana-legacy-key", _F, ("eyJrIjoi",), "m40", "https://grafana.com/docs/grafana/latest/developers/http_api/auth/"),
    Kind("dynatrace-token", _F, ("dt0c01.", "dt0s01.", "dt0s02.", "dt0s06.", "dt0s08.", "dt0s16."), "u24 '.' u60", "https://docs.dynatrace.com/docs/dynatrace-api/basics/dynatrace-api-authentication"),
    Kind("dynatrace-client-secret", _F, ("dt0s02.",), "u8 '.' u60", "https://docs.dynatrace.com/docs/"),
    Kind("logfire-token", _F, ("pylf_v1_us_", "pylf_v1_eu_", "pylf_v1_", "pylf_v2_"), "w40", "https://logfire.pydantic.dev/docs/"),
    Kind("posthog-personal-key", _F, ("phx_", "phs_"), "w40", "https://posthog.com/docs/api"),
    Kind("posthog-project-key", _F, ("phc_",), "w40", "https://posthog.com/docs/api"),
    Kind("segment-token", _F, ("sgp_",), "s60", "https://segment.com/docs/api/public-api/", loose=True),
    Kind("honeycomb-key", _F, ("hcaik_", "hcbik_", "hcxik_", "hcamk_", "hcxmk_", "hcalk_"), "l40", "https://docs.honeycomb.io/get-started/best-practices/api-keys/"),
    Kind("axiom-token", _F, ("xaat-", "xapt-"), "i1", "https://axiom.co/docs/reference/tokens"),
    Kind("pagerduty-key", _F, ("u+",), "s16", "https://support.pagerduty.com/main/docs/api-access-keys", loose=True),
    Kind("rootly-key", _F, ("rootly_",), "h60", "https://docs.rootly.com/api-reference/overview"),
    Kind("checkly-key", _F, ("cu_",), "h32!", "https://www.checklyhq.com/docs/"),
    Kind("coralogix-key", _F, ("cxtp_", "cxup_", "cxth_"), "w28", "https://coralogix.com/docs/user-guides/account-management/api-keys/"),
    Kind("statsig-key", _F, ("secret-", "console-"), "w40", "https://docs.statsig.com/"),
    Kind("growthbook-key", _F, ("secret_user_", "secret_admin_", "secret_"), "w40", "https://docs.growthbook.io/api"),
    Kind("adafruit-io-key", _F, ("aio_",), "w28", "https://io.adafruit.com/api/docs/"),
)  # fmt: skip
