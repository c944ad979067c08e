"""Payment, commerce and finance."""

from __future__ import annotations

# ruff: noqa: E501 - one entry a line
from typing import Final

from .model import Kind

_F = "payment"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"
_ST = "https://docs.stripe.com/keys"

KINDS: Final = (
    Kind("stripe-secret-key", _F, ("sk_live_", "sk_test_", "sk_prod_"), "w16", _ST),
    Kind("stripe-restricted-key", _F, ("rk_live_", "rk_test_", "rk_prod_"), "w16", _ST),
    Kind("stripe-org-key", _F, ("sk_org_",), "s16", _ST),
    Kind("stripe-webhook-secret", _F, ("whsec_",), "m24", "https://docs.stripe.com/webhooks"),
    Kind("stripe-ephemeral-key", _F, ("ek_live_", "ek_test_"), "m24", _ST),
    Kind("square-access-token", _F, ("EAAAE", "EAAAl", "EAAAF"), "s55", "https://developer.squareup.com/docs/build-basics/access-tokens"),
    Kind("square-oauth-secret", _F, ("sq0csp-",), "s40", "https://developer.squareup.com/docs/build-basics/access-tokens"),
    Kind("square-personal-token", _F, ("sq0atp-", "sq0idp-"), "s22", "https://developer.squareup.com/docs/build-basics/access-tokens"),
    Kind("braintree-token", _F, ("access_token$production$", "access_token$sandbox$"), "l16 '$' h32", "https://developer.paypal.com/braintree/docs/"),
    Kind("paypal-token", _F, ("A21AA",), "s60", "https://developer.paypal.com/api/rest/authentication/"),
    Kind("plaid-token", _F, ("access-sandbox-", "access-development-", "access-production-"), "i1", "https://plaid.com/docs/api/tokens/"),
    Kind("plaid-other-token", _F, ("public-sandbox-", "public-production-", "link-sandbox-", "link-production-", "processor-sandbox-", "processor-production-"), "i1", "https://plaid.com/docs/api/tokens/"),
    Kind("adyen-key", _F, ("AQE",), "b60 m0", "https://docs.adyen.com/development-resources/api-credentials/"),
    Kind("razorpay-key", _F, ("rzp_live_", "rzp_test_"), "w14", "https://razorpay.com/docs/api/authentication/"),
    Kind("flutterwave-key", _F, ("FLWSECK-", "FLWSECK_TEST-"), "l20 '-X'", "https://developer.flutterwave.com/docs/authentication"),
    Kind("flutterwave-encryption-key", _F, ("FLWSECK_TEST",), "h12!", "https://developer.flutterwave.com/docs/authentication"),
    Kind("paystack-key", _F, ("sk_live_", "sk_test_"), "h40", "https://paystack.com/docs/api/authentication/"),
    Kind("mollie-key", _F, ("live_", "test_"), "w30!", "https://docs.mollie.com/reference/authentication", loose=True),
    Kind("mollie-access-token", _F, ("access_",), "w30", "https://docs.mollie.com/reference/authentication", loose=True),
    Kind("gocardless-token", _F, ("live_", "sandbox_"), "s40", "https://developer.gocardless.com/api-reference/", loose=True),
    Kind("checkout-com-key", _F, ("sk_sbox_",), "l20 m0", "https://www.checkout.com/docs/developer-resources/api/manage-api-keys"),
    Kind("paddle-key", _F, ("pdl_live_apikey_", "pdl_sdbx_apikey_", "pdl_ntfset_"), "m40", "https://developer.paddle.com/api-reference/about/api-keys"),
    Kind("polar-token", _F, ("polar_oat_", "polar_pat_", "polar_whs_"), "w30", "https://polar.sh/docs/"),
    Kind("coinbase-key", _F, ("organizations/",), "i1 '/apiKeys/' i1", "https://docs.cdp.coinbase.com/"),
    Kind("shippo-token", _F, ("shippo_live_", "shippo_test_"), "h40", "https://docs.goshippo.com/docs/guides_general/authentication/"),
    Kind("easypost-key", _F, ("EZAK", "EZTK"), "w54", "https://docs.easypost.com/docs/authentication"),
    Kind("duffel-token", _F, ("duffel_live_", "duffel_test_"), "s40", "https://duffel.com/docs/api/overview/authentication"),
    Kind("lob-key", _F, ("live_pub_", "test_pub_", "live_", "test_"), "h35!", "https://docs.lob.com/#tag/Authentication"),
    Kind("shopify-access-token", _F, ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_", "shprt_", "shpit_"), "h32", "https://shopify.dev/docs/apps/build/authentication-authorization"),
)  # fmt: skip
