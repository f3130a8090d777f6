//! What a learned policy records.

use firmhand::model::*;

/// Values in every form: whole, with digits, below zero, never tried.
fn value(variant: u32) -> Option<PolicyValue> {
    let value = f64::from(variant) * 4.1234 - 3.0;
    (variant != 2).then(|| PolicyValue { value, spread: 0.25, visits: u64::from(variant) * 1204 })
}

/// An event of kinds 46 to 48; names hold what must not reach a terminal as is.
pub fn event(kind: usize, variant: u32) -> Event {
    let agents = ["coder", "a\u{202e}\x1b[2Jb"];
    let class = (variant == 1).then(|| "complex".to_owned());
    match kind {
        46 => Event::Turn(TurnEvent::PolicyTaken(Box::new(PolicyTable {
            team: "learned".into(),
            hash: "0123456789abcdef".into(),
            seed: u64::MAX.to_string(),
            episodes: 5_000,
            sessions: u64::from(variant),
            buckets: [2, 4, 7],
            classes: class.iter().cloned().collect(),
            agents: [AgentRole::Code, AgentRole::Other]
                .into_iter()
                .zip(agents)
                .map(|(role, name)| PolicyAgent { name: name.into(), role })
                .collect(),
            rows: vec![PolicyRow {
                class,
                state: "start,0".into(),
                values: vec![value(variant), value(2)],
            }],
        }))),
        47 => Event::Person(PersonEvent::SpeakerNamed { agent: agents[1].into() }),
        _ => Event::Turn(TurnEvent::SpeakerChosen {
            agent: agents[0].into(),
            reason: "state `start,0`: coder 8.5".into(),
            choice: Some(Box::new(PolicyChoice {
                table: "0123456789abcdef".into(),
                state: "start,0".into(),
                class,
                instead: (variant == 2).then(|| "start,1".to_owned()),
                how: match variant {
                    0 => ChosenHow::Best,
                    1 => ChosenHow::Explored,
                    2 => ChosenHow::Unknown,
                    _ => ChosenHow::Person,
                },
                chance: (variant < 3).then_some(0.9),
                values: vec![AgentValue {
                    agent: agents[0].into(),
                    value: value(variant).map(|known| known.value),
                    spread: value(variant).map(|known| known.spread),
                    visits: 7,
                    reason: (variant == 2).then(|| "no code yet".to_owned()),
                }],
            })),
            step: None,
        }),
    }
}
