"""Chat, mail, telephony and notifications."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "chat and mail"
_SL = "https://api.slack.com/authentication/token-types"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("slack-bot-token", _F, ("xoxb-",), "s20", _SL),
    Kind("slack-user-token", _F, ("xoxp-",), "s20", _SL),
    Kind("slack-app-token", _F, ("xapp-",), "d1 '-' s20", _SL),
    Kind("slack-config-token", _F, ("xoxe.xoxp-", "xoxe.xoxb-"), "d1 '-' s40", _SL),
    Kind("slack-config-refresh-token", _F, ("xoxe-",), "s40", _SL),
    Kind("slack-session-token", _F, ("xoxc-", "xoxs-", "xoxa-", "xoxr-", "xoxo-"), "s20", _SL),
    Kind("slack-cookie", _F, ("xoxd-",), "w16 m0", _SL),
    Kind("slack-workflow-token", _F, ("xwfp-",), "s20", _SL),
    Kind("sendgrid-key", _F, ("SG.",), "s16 '.' s30", "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys"),
    Kind("mailgun-key", _F, ("key-",), "h32!", "https://documentation.mailgun.com/"),
    Kind("mailgun-signed-key", _F, ("pubkey-",), "h32!", "https://documentation.mailgun.com/"),
    Kind("brevo-key", _F, ("xkeysib-",), "h64 m0", "https://developers.brevo.com/docs/getting-started"),
    Kind("brevo-smtp-key", _F, ("xsmtpsib-",), "h64 m0", "https://developers.brevo.com/docs/getting-started"),
    Kind("resend-key", _F, ("re_",), "w8 '_' w20", "https://resend.com/docs/api-reference/introduction"),
    Kind("resend-short-key", _F, ("re_",), "w24", "https://resend.com/docs/api-reference/introduction", loose=True),
    Kind("mailersend-token", _F, ("mlsn.",), "h60", "https://developers.mailersend.com/"),
    Kind("klaviyo-key", _F, ("pk_",), "h34!", "https://developers.klaviyo.com/en/docs/authenticate_"),
    Kind("twilio-api-key", _F, ("SK",), "h32!", "https://www.twilio.com/docs/iam/api-keys"),
    Kind("twilio-account-sid", _F, ("AC",), "h32!", "https://www.twilio.com/docs/glossary/what-is-a-sid"),
    Kind("messagebird-key", _F, ("live_", "test_"), "w25!", "https://developers.messagebird.com/", loose=True),
    Kind("telnyx-key", _F, ("KEY0",), "u31 '_' w22", "https://developers.telnyx.com/docs/api-keys"),
    Kind("onesignal-key", _F, ("os_v2_app_", "os_v2_org_"), "l80", "https://documentation.onesignal.com/docs/keys-and-ids"),
    Kind("pushbullet-token", _F, ("o.",), "w32!", "https://docs.pushbullet.com/", loose=True),
    Kind("ntfy-token", _F, ("tk_",), "l29!", "https://docs.ntfy.sh/config/#access-tokens"),
    Kind("courier-key", _F, ("pk_prod_", "pk_test_"), "u28", "https://www.courier.com/docs/"),
    Kind("knock-key", _F, ("sk_knock_", "sk_test_"), "s40", "https://docs.knock.app/"),
    Kind("intercom-token", _F, ("dG9rO",), "b50 m0", "https://developers.intercom.com/docs/build-an-integration/learn-more/authentication/"),
    Kind("facebook-access-token", _F, ("EAACEdEose0cBA", "EAAG", "EAAB", "EAAC", "EAAD", "EAAE", "EAAF", "EAAM", "EAAH", "EAAI"), "w60", "https://developers.facebook.com/docs/facebook-login/guides/access-tokens/"),
    Kind("instagram-token", _F, ("IGQVJ", "IGAA", "IGQW"), "s60", "https://developers.facebook.com/docs/instagram-platform/"),
    Kind("linkedin-token", _F, ("AQV", "AQX"), "s150", _KF),
    Kind("twitter-bearer-token", _F, ("AAAAAAAAAAAAAAAAAAAA",), "w20 '%' m20", "https://developer.x.com/en/docs/authentication/oauth-2-0/bearer-tokens"),
)  # fmt: skip
