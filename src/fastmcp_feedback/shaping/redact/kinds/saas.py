"""Office, CRM, content, identity and other services."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "services"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("notion-token", _F, ("ntn_",), "w40", "https://developers.notion.com/docs/authorization"),
    Kind("notion-legacy-token", _F, ("secret_",), "w43!", "https://developers.notion.com/docs/authorization"),
    Kind("airtable-token", _F, ("pat",), "w14 '.' h64", "https://airtable.com/developers/web/guides/personal-access-tokens"),
    Kind("airtable-oauth-token", _F, ("oaa",), "w14 '.v1.' x20", "https://airtable.com/developers/web/api/oauth-reference"),
    Kind("airtable-key", _F, ("key",), "w14!", "https://airtable.com/developers/web/api/authentication", loose=True),
    Kind("asana-token", _F, ("1/",), "d13-20 ':' h32", "https://developers.asana.com/docs/personal-access-token"),
    Kind("asana-service-token", _F, ("2/",), "d13-20 '/' d13-20 ':' h32", "https://developers.asana.com/docs/personal-access-token"),
    Kind("clickup-token", _F, ("pk_",), "d5-12 '_' u30", "https://developer.clickup.com/docs/authentication"),
    Kind("hubspot-private-app-token", _F, ("pat-na1-", "pat-eu1-", "pat-na2-", "pat-ap1-", "pat-na3-"), "i1", "https://developers.hubspot.com/docs/guides/apps/private-apps/overview"),
    Kind("salesforce-session", _F, ("!AQ", "!AR"), "x80", "https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/"),
    Kind("salesforce-refresh-token", _F, ("5Aep861",), "x60", "https://developer.salesforce.com/docs/"),
    Kind("salesforce-consumer-key", _F, ("3MVG9",), "x60", "https://developer.salesforce.com/docs/"),
    Kind("typeform-token", _F, ("tfp_",), "s40", "https://www.typeform.com/developers/get-started/personal-access-token/"),
    Kind("contentful-token", _F, ("CFPAT-",), "s40", "https://www.contentful.com/developers/docs/references/authentication/"),
    Kind("contentful-app-key", _F, ("CORAPP-", "CFAPP-"), "s40", "https://www.contentful.com/developers/docs/"),
    Kind("sanity-token", _F, ("sk",), "w80", "https://www.sanity.io/docs/http-auth", loose=True),
    Kind("prismic-token", _F, ("MC5",), "b30 m0", _KF, loose=True),
    Kind("mapbox-secret-token", _F, ("sk.eyJ",), "x40", "https://docs.mapbox.com/help/getting-started/access-tokens/"),
    Kind("mapbox-public-token", _F, ("pk.eyJ", "tk.eyJ"), "x40", "https://docs.mapbox.com/help/getting-started/access-tokens/"),
    Kind("okta-token", _F, ("00",), "s40!", "https://developer.okta.com/docs/guides/create-an-api-token/main/", loose=True),
    Kind("clerk-key", _F, ("sk_live_", "sk_test_"), "w30", "https://clerk.com/docs/deployments/clerk-environment-variables"),
    Kind("workos-key", _F, ("sk_live_", "sk_test_", "sk_"), "w60", "https://workos.com/docs/reference/api-keys", loose=True),
    Kind("descope-key", _F, ("K2",), "w80", _KF, loose=True),
    Kind("stytch-secret", _F, ("secret-live-", "secret-test-"), "m30", "https://stytch.com/docs/"),
    Kind("svix-key", _F, ("testsk_", "sk_svix_"), "x30", "https://docs.svix.com/"),
    Kind("ory-token", _F, ("ory_pat_", "ory_st_", "ory_at_", "ory_rt_", "ory_ac_"), "s30", "https://www.ory.com/docs/"),
    Kind("frameio-token", _F, ("fio-u-",), "s60", "https://developer.frame.io/docs/"),
    Kind("n8n-key", _F, ("n8n_api_",), "w40", "https://docs.n8n.io/api/authentication/"),
    Kind("retool-token", _F, ("retool_",), "w20", _KF),
    Kind("discord-bot-token", _F, ("MT", "Nz", "OD", "MD", "ND", "OT", "Mz", "NT", "Nj", "NT", "OT"), "w20-30 '.' s6 '.' s27", "https://discord.com/developers/docs/reference#authentication"),
    Kind("discord-mfa-token", _F, ("mfa.",), "s80", "https://discord.com/developers/docs/reference"),
    Kind("spotify-token", _F, ("BQ",), "s130", _KF),
    Kind("dub-key", _F, ("dub_",), "w22", "https://dub.co/docs/api-reference/tokens"),
    Kind("cal-com-key", _F, ("cal_live_", "cal_test_", "cal_"), "h30", "https://cal.com/docs/api-reference/"),
    Kind("canva-secret", _F, ("cnvca",), "s40", "https://www.canva.dev/docs/connect/"),
    Kind("persona-key", _F, ("persona_production_", "persona_sandbox_"), "i1", "https://docs.withpersona.com/"),
    Kind("settlemint-token", _F, ("sm_pat_", "sm_aat_", "sm_sat_"), "w16", _KF),
    Kind("openvsx-token", _F, ("ovsxp_", "ovsxat_"), "i1", "https://github.com/eclipse/openvsx/wiki"),
    Kind("hashed-password-phc", _F, ("scrypt:32768:8:1$",), "w8 '$' h64", "https://werkzeug.palletsprojects.com/"),
)  # fmt: skip
