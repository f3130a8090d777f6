//! Against servers that were not written here; only run where somebody has started one.
//!
//! `FIRMHAND_FOREIGN` lists them as `service=url=model`, separated by commas. Two that are known to
//! pass, in a folder of their own:
//!
//! - The npm package `@copilotkit/aimock` speaks all four dialects. `npm install
//!   @copilotkit/aimock`, write a `mock.mjs` and start it with `node mock.mjs`:
//!
//!   ```js
//!   import { LLMock } from "@copilotkit/aimock";
//!   const mock = new LLMock({ port: 4555, host: "127.0.0.1" });
//!   const toolCalls = [{ name: "read_file", arguments: '{"path":"main/main.c"}' }];
//!   mock.onMessage(/Blink/, { content: "I read the file first.", toolCalls });
//!   await mock.start();
//!   ```
//!
//! - LiteLLM's proxy speaks three and translates between them. `pip install 'litellm[proxy]'`,
//!   then `LITELLM_MASTER_KEY=sk-wire-0123456789abcdef litellm --port 4666 --config` with a file of
//!
//!   ```yaml
//!   model_list:
//!     - model_name: chained
//!       litellm_params: { model: openai/gpt-4o, api_key: x, api_base: "http://127.0.0.1:4555/v1" }
//!     - model_name: mock
//!       litellm_params: { model: openai/gpt-4o, api_key: x, mock_response: "GPIO 2." }
//!   ```
//!
//! ```sh
//! A=http://127.0.0.1:4555=m L=http://127.0.0.1:4666
//! FIRMHAND_FOREIGN="openai=$A,openai-responses=$A,anthropic=$A,ollama=$A,openai=$L=chained,\
//! openai-responses=$L=chained,anthropic=$L=chained,openai=$L=mock,anthropic=$L=mock" \
//!   cargo test --test sessions foreign -- --nocapture
//! ```
//!
//! Its `mock_response` streams no responses: it fails by itself, whoever asks.

use std::collections::BTreeMap;

use firmhand::provider::{Remote, Service, Wire};

use super::{ask, first_request};
use crate::wire::speak;

const VARIABLE: &str = "FIRMHAND_FOREIGN";

#[tokio::test]
async fn servers_of_others_are_understood() {
    let Ok(list) = std::env::var(VARIABLE) else { return };
    let mut answers = BTreeMap::new();
    for entry in list.split(',') {
        let [service, url, model] = entry.split('=').collect::<Vec<_>>()[..] else {
            panic!("{VARIABLE}: {entry}");
        };
        let service = Service::named(service).expect("a service");
        let mut profile = speak::profile(service, url);
        profile.model = model.to_owned();
        profile.wire = Wire { stall: std::time::Duration::from_secs(20), ..profile.wire };
        let remote = Remote::new(profile);
        let heard = ask(&remote, first_request()).await;
        assert!(heard.error.is_none(), "{entry}: {heard:?}");
        assert!(!heard.text.is_empty() || !heard.calls.is_empty(), "{entry}: {heard:?}");
        answers.insert(entry.to_owned(), (heard.text, heard.calls, heard.usage));
    }
    println!("{answers:#?}");
}
