"""AI providers, vector stores and agent tools."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "ai"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"
_OA = "https://platform.openai.com/docs/api-reference/authentication"
_AN = "https://docs.anthropic.com/en/api/overview"

KINDS: Final = (
    Kind("openai-project-key", _F, ("sk-proj-",), "s40", _OA),
    Kind("openai-service-key", _F, ("sk-svcacct-", "sk-service-"), "s30", _OA),
    Kind("openai-admin-key", _F, ("sk-admin-",), "s40", _OA),
    Kind("openai-session-token", _F, ("sess-",), "w40", _OA),
    Kind("openai-key", _F, ("sk-None-", "sk-"), "w32", _OA),
    Kind("anthropic-api-key", _F, ("sk-ant-api03-", "sk-ant-api"), "s60", _AN),
    Kind("anthropic-admin-key", _F, ("sk-ant-admin01-", "sk-ant-admin"), "s60", _AN),
    Kind("anthropic-oauth-token", _F, ("sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-"), "s60", _AN),
    Kind("anthropic-other-key", _F, ("sk-ant-",), "s24", _AN, loose=True),
    Kind("openrouter-key", _F, ("sk-or-v1-", "sk-or-"), "w40", "https://openrouter.ai/docs/api-reference/authentication"),
    Kind("deepseek-moonshot-key", _F, ("sk-",), "h32!", "https://api-docs.deepseek.com/"),
    Kind("litellm-dashed-key", _F, ("sk-",), "s20", "https://docs.litellm.ai/docs/proxy/virtual_keys", loose=True),
    Kind("langfuse-secret-key", _F, ("sk-lf-",), "i1", "https://langfuse.com/docs"),
    Kind("langsmith-key", _F, ("lsv2_pt_", "lsv2_sk_", "ls__"), "h32 s0", "https://docs.smith.langchain.com/"),
    Kind("huggingface-token", _F, ("hf_",), "w30", "https://huggingface.co/docs/hub/security-tokens"),
    Kind("huggingface-org-token", _F, ("api_org_",), "e30", "https://huggingface.co/docs/hub/security-tokens"),
    Kind("groq-key", _F, ("gsk_",), "w40", "https://console.groq.com/docs/quickstart"),
    Kind("xai-key", _F, ("xai-",), "w60", "https://docs.x.ai/docs/overview"),
    Kind("perplexity-key", _F, ("pplx-",), "w40", "https://docs.perplexity.ai/"),
    Kind("replicate-token", _F, ("r8_",), "w30", "https://replicate.com/docs/reference/http"),
    Kind("together-key", _F, ("tgp_v1_",), "s40", "https://docs.together.ai/"),
    Kind("fireworks-key", _F, ("fw_",), "w22", "https://docs.fireworks.ai/"),
    Kind("cerebras-key", _F, ("csk-",), "l40", "https://inference-docs.cerebras.ai/"),
    Kind("nvidia-key", _F, ("nvapi-",), "s60", "https://docs.nvidia.com/nim/"),
    Kind("elevenlabs-key", _F, ("sk_",), "h48", "https://elevenlabs.io/docs/api-reference/authentication"),
    Kind("voyage-key", _F, ("pa-",), "s40", "https://docs.voyageai.com/docs/api-key-and-installation", loose=True),
    Kind("jina-key", _F, ("jina_",), "s40", "https://jina.ai/reader/"),
    Kind("pinecone-key", _F, ("pcsk_",), "s40", "https://docs.pinecone.io/guides/projects/manage-api-keys"),
    Kind("llamaindex-cloud-key", _F, ("llx-",), "w40", "https://docs.cloud.llamaindex.ai/"),
    Kind("helicone-key", _F, ("sk-helicone-",), "s20", "https://docs.helicone.ai/", loose=True),
    Kind("braintrust-key", _F, ("bt-st-",), "w40", _KF),
    Kind("wandb-key", _F, ("wandb_v1_",), "s40", "https://docs.wandb.ai/"),
    Kind("firecrawl-key", _F, ("fc-",), "h32!", "https://docs.firecrawl.dev/"),
    Kind("tavily-key", _F, ("tvly-", "tvly-dev-", "tvly-prod-"), "s28", "https://docs.tavily.com/", loose=True),
    Kind("brave-search-key", _F, ("BSA",), "s24-40", "https://api-dashboard.search.brave.com/app/documentation", loose=True),
    Kind("context7-key", _F, ("ctx7sk-",), "i1", "https://context7.com/docs"),
    Kind("apify-token", _F, ("apify_api_", "apify_proxy_"), "w30", "https://docs.apify.com/platform/integrations/api"),
    Kind("composio-key", _F, ("ak_",), "s20", _KF, loose=True),
    Kind("e2b-key", _F, ("e2b_", "sk_e2b_"), "h40", "https://e2b.dev/docs/api-key"),
    Kind("browserbase-key", _F, ("bb_live_", "bb_test_"), "s20", "https://docs.browserbase.com/"),
    Kind("cursor-key", _F, ("key_",), "h60", "https://docs.cursor.com/", loose=True),
    Kind("runpod-key", _F, ("rpa_",), "u40", "https://docs.runpod.io/get-started/api-keys"),
    Kind("lambda-cloud-key", _F, ("secret_",), "w20 '_' h32 '.' w32", "https://docs.lambda.ai/"),
    Kind("upstage-key", _F, ("up_",), "w32!", _KF, loose=True),
    Kind("claude-session-key", _F, ("sk-ant-sid",), "s60", _AN),
)  # fmt: skip
