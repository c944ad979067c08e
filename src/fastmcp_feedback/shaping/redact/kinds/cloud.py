"""Cloud providers, hosting and infrastructure."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "cloud"
_TH = "https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors"
_GL = "https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml"
_GH = "https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("aws-access-key-id", _F, ("AKIA",), "u16!", "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"),
    Kind("aws-temporary-access-key-id", _F, ("ASIA",), "u16!", "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html"),
    Kind("aws-other-key-id", _F, ("ABIA", "ACCA", "A3T0"), "u16!", _GL),
    Kind("aws-bedrock-long-term-key", _F, ("ABSK",), "b60 m0", "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html"),
    Kind("aws-bedrock-short-term-key", _F, ("bedrock-api-key-",), "m60", "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html"),
    Kind("aws-session-token", _F, ("IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"), "m60", _TH),
    Kind("aws-mws-token", _F, ("amzn.mws.",), "i1", _TH),
    Kind("google-api-key", _F, ("AIza",), "s33", "https://cloud.google.com/docs/authentication/api-keys"),
    Kind("google-cloud-bound-key", _F, ("AQ.Ab8",), "s30", _KF),
    Kind("google-oauth-client-secret", _F, ("GOCSPX-",), "s24", _GH),
    Kind("google-oauth-access-token", _F, ("ya29.",), "x20", _GH),
    Kind("google-oauth-refresh-token", _F, ("1//0",), "s30", _GH),
    Kind("google-hmac-key", _F, ("GOOG1E", "GOOG"), "u20", "https://cloud.google.com/storage/docs/authentication/hmackeys"),
    Kind("alibaba-access-key-id", _F, ("LTAI",), "w12-32", "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair"),
    Kind("alibaba-temporary-key-id", _F, ("STS.N",), "w20", _TH),
    Kind("tencent-secret-id", _F, ("AKID",), "w30", _TH),
    Kind("volcengine-access-key", _F, ("AKLT",), "w40 m0", _KF),
    Kind("yandex-iam-token", _F, ("t1.",), "s20 '.' s60", "https://yandex.cloud/en/docs/iam/concepts/authorization/iam-token"),
    Kind("yandex-api-key", _F, ("AQVN",), "s34", _TH),
    Kind("yandex-access-key", _F, ("YCAJE", "YCM", "YCO"), "s30", _GH),
    Kind("ibm-cloud-api-key", _F, ("ApiKey-",), "i1", "https://cloud.ibm.com/docs/account?topic=account-userapikey"),
    Kind("oracle-cloud-ocid-key", _F, ("ocid1.credential.oc1..",), "w40", "https://docs.oracle.com/iaas/Content/General/Concepts/identifiers.htm"),
    Kind("digitalocean-token", _F, ("dop_v1_", "doo_v1_", "dor_v1_", "doapi_v1_"), "h64", "https://docs.digitalocean.com/reference/api/"),
    Kind("scaleway-access-key", _F, ("SCW",), "u17!", "https://www.scaleway.com/en/docs/iam/concepts/"),
    Kind("render-key", _F, ("rnd_",), "w28", "https://render.com/docs/api"),
    Kind("netlify-token", _F, ("nfp_", "nfc_", "nfo_", "nfu_", "nfb_"), "w36", "https://docs.netlify.com/api/get-started/"),
    Kind("vercel-token", _F, ("vcp_", "vck_", "vci_", "vca_", "vcr_"), "w24", "https://vercel.com/docs/rest-api"),
    Kind("vercel-blob-token", _F, ("vercel_blob_rw_",), "s30", "https://vercel.com/docs/vercel-blob"),
    Kind("heroku-token", _F, ("HRKU-",), "s36", "https://devcenter.heroku.com/articles/oauth"),
    Kind("flyio-token", _F, ("fo1_",), "s40", "https://fly.io/docs/security/tokens/"),
    Kind("flyio-macaroon", _F, ("fm2_", "fm1_", "fm1r_", "fm1a_"), "m60", "https://fly.io/docs/security/tokens/"),
    Kind("deno-deploy-token", _F, ("ddp_", "ddw_", "ddo_"), "w34", "https://docs.deno.com/deploy/"),
    Kind("cloudflare-api-token", _F, ("cfut_", "cfat_", "cfk_"), "w40", "https://developers.cloudflare.com/fundamentals/api/get-started/"),
    Kind("cloudflare-origin-ca-key", _F, ("v1.",), "'0-' h24 '-' h100", "https://developers.cloudflare.com/ssl/origin-configuration/origin-ca/"),
    Kind("tailscale-key", _F, ("tskey-",), "e3-12 '-' w8 m0", "https://tailscale.com/kb/1252/key-secret-management"),
    Kind("pulumi-token", _F, ("pul-",), "h40", "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/"),
    Kind("terraform-cloud-token", _F, (".atlasv1.",), "s60", "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens"),
    Kind("vault-service-token", _F, ("hvs.", "hvb.", "hvr."), "s24", "https://developer.hashicorp.com/vault/docs/concepts/tokens"),
    Kind("vault-legacy-token", _F, ("s.", "b."), "w24!", "https://developer.hashicorp.com/vault/docs/concepts/tokens", loose=True),
    Kind("doppler-token", _F, ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."), "w40", "https://docs.doppler.com/reference/auth-token-formats"),
    Kind("doppler-service-token", _F, ("dp.st.",), "l2-20 '.' w40", "https://docs.doppler.com/reference/auth-token-formats"),
    Kind("infisical-token", _F, ("st.",), "h24 '.' h32", "https://infisical.com/docs/documentation/platform/token"),
    Kind("onepassword-service-token", _F, ("ops_eyJ",), "m60", "https://developer.1password.com/docs/service-accounts/"),
    Kind("onepassword-secret-key", _F, ("A3-",), "u6 '-' u6 '-' u5 '-' u5 '-' u5", "https://support.1password.com/secret-key-security/"),
    Kind("bitwarden-token", _F, ("0.",), "i1 '.' w30 m0", "https://bitwarden.com/help/access-tokens/"),
    Kind("age-secret-key", _F, ("AGE-SECRET-KEY-1",), "u50", "https://github.com/FiloSottile/age"),
    Kind("age-plugin-key", _F, ("AGE-PLUGIN-",), "u3-20 '-1' u20", "https://github.com/FiloSottile/age"),
    Kind("openshift-token", _F, ("sha256~",), "s43", "https://docs.openshift.com/container-platform/latest/authentication/"),
    Kind("snyk-token", _F, ("snyk_uat.", "snyk_sat."), "h8 '.' m30", "https://docs.snyk.io/"),
    Kind("planetscale-token", _F, ("pscale_tkn_", "pscale_oauth_", "pscale_pw_"), "s32", "https://planetscale.com/docs/concepts/service-tokens"),
    Kind("gitpod-token", _F, ("gitpod_pat_",), "x30", "https://www.gitpod.io/docs/"),
    Kind("modal-token", _F, ("ak-", "as-"), "w22!", "https://modal.com/docs/reference/modal.config", loose=True),
)  # fmt: skip
