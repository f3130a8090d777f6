//! Against servers that were not written here; only run where somebody has started one.
//!
//! `FIRMHAND_FOREIGN` lists them as `service=url=model`, separated by commas, e.g.
//! `openai=http://127.0.0.1:4000=mock,anthropic=http://127.0.0.1:4010=claude`.

use std::collections::BTreeMap;

use firmhand::provider::{Remote, Service, Wire};

use crate::wire::speak;
use crate::{ask, first_request};

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
