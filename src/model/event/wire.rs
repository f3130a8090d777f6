//! The JSON form of an event: `{"NAME": BODY}`, or `"NAME"` where there is no body.
//!
//! One flat list of names, whichever family an event belongs to: the names are those of the
//! families' variants, and `model` and `team` stand for a family each. Journals of every version
//! have this form. Must not know what an event means.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use super::{
    BoardEvent, BuildEvent, Event, FilesEvent, LogEvent, PersonEvent, PhaseEvent, PortEvent,
    ProposalEvent, SessionEvent, TestEvent, TurnEvent,
};

const MODEL: &str = "model";
const TEAM: &str = "team";

/// Where a name belongs.
#[derive(Debug, Clone, Copy)]
enum Family {
    Session,
    Phase,
    Turn,
    Model,
    Team,
    Files,
    Proposal,
    Build,
    Test,
    Log,
    Board,
    Port,
    Person,
}

/// Every name with its family.
static NAMES: LazyLock<HashMap<&'static str, Family>> = LazyLock::new(|| {
    let flat = [
        (names::<SessionEvent>(), Family::Session),
        (names::<PhaseEvent>(), Family::Phase),
        (names::<TurnEvent>(), Family::Turn),
        (&[MODEL], Family::Model),
        (&[TEAM], Family::Team),
        (names::<FilesEvent>(), Family::Files),
        (names::<ProposalEvent>(), Family::Proposal),
        (names::<BuildEvent>(), Family::Build),
        (names::<TestEvent>(), Family::Test),
        (names::<LogEvent>(), Family::Log),
        (names::<BoardEvent>(), Family::Board),
        (names::<PortEvent>(), Family::Port),
        (names::<PersonEvent>(), Family::Person),
    ];
    flat.into_iter()
        .flat_map(|(names, family)| names.iter().map(move |name| (*name, family)))
        .collect()
});

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Session(event) => event.serialize(out),
            Self::Phase(event) => event.serialize(out),
            Self::Turn(event) => event.serialize(out),
            Self::Model(event) => out.serialize_newtype_variant("Event", 0, MODEL, event),
            Self::Team(event) => out.serialize_newtype_variant("Event", 0, TEAM, event),
            Self::Files(event) => event.serialize(out),
            Self::Proposal(event) => event.serialize(out),
            Self::Build(event) => event.serialize(out),
            Self::Test(event) => event.serialize(out),
            Self::Log(event) => event.serialize(out),
            Self::Board(event) => event.serialize(out),
            Self::Port(event) => event.serialize(out),
            Self::Person(event) => event.serialize(out),
        }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_enum("Event", &[], EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, input: A) -> Result<Event, A::Error> {
        let ((name, family), body) = input.variant_seed(NameSeed)?;
        let event = Named { name, body };
        Ok(match family {
            Family::Session => Event::Session(SessionEvent::deserialize(event)?),
            Family::Phase => Event::Phase(PhaseEvent::deserialize(event)?),
            Family::Turn => Event::Turn(TurnEvent::deserialize(event)?),
            Family::Model => Event::Model(event.body.newtype_variant()?),
            Family::Team => Event::Team(event.body.newtype_variant()?),
            Family::Files => Event::Files(FilesEvent::deserialize(event)?),
            Family::Proposal => Event::Proposal(ProposalEvent::deserialize(event)?),
            Family::Build => Event::Build(BuildEvent::deserialize(event)?),
            Family::Test => Event::Test(TestEvent::deserialize(event)?),
            Family::Log => Event::Log(LogEvent::deserialize(event)?),
            Family::Board => Event::Board(BoardEvent::deserialize(event)?),
            Family::Port => Event::Port(PortEvent::deserialize(event)?),
            Family::Person => Event::Person(PersonEvent::deserialize(event)?),
        })
    }
}

/// Reads an event's name and finds its family.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = (&'static str, Family);

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = (&'static str, Family);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an event")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let found = NAMES.get_key_value(name).map(|(name, family)| (*name, *family));
        found.ok_or_else(|| E::custom(format_args!("unknown event `{name}`")))
    }
}

/// An event whose name was read already, as the family's own reader wants it.
struct Named<A> {
    name: &'static str,
    body: A,
}

impl<'de, A: VariantAccess<'de>> EnumAccess<'de> for Named<A> {
    type Error = A::Error;
    type Variant = A;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, A), A::Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self.body))
    }
}

impl<'de, A: VariantAccess<'de>> Deserializer<'de> for Named<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, A::Error> {
        Err(de::Error::custom("a family of events is an enum"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// The names of a family's variants, as its own reader gives them.
fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    match T::deserialize(Probe) {
        Err(ProbeError::Names(names)) => names,
        Ok(_) | Err(ProbeError::Other) => &[],
    }
}

/// Is asked for an enum, and takes the names it is asked for.
struct Probe;

#[derive(Debug)]
enum ProbeError {
    Names(&'static [&'static str]),
    Other,
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only the names were asked for")
    }
}

impl std::error::Error for ProbeError {}

impl de::Error for ProbeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = ProbeError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ProbeError> {
        Err(ProbeError::Other)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ProbeError> {
        Err(ProbeError::Names(names))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_flat_and_each_belongs_to_one_family() {
        let all = [
            names::<SessionEvent>(),
            names::<PhaseEvent>(),
            names::<TurnEvent>(),
            names::<FilesEvent>(),
            names::<ProposalEvent>(),
            names::<BuildEvent>(),
            names::<TestEvent>(),
            names::<LogEvent>(),
            names::<BoardEvent>(),
            names::<PortEvent>(),
            names::<PersonEvent>(),
        ];
        assert!(all.iter().all(|names| !names.is_empty()));
        let count: usize = all.iter().map(|names| names.len()).sum();
        assert_eq!(NAMES.len(), count + 2, "two events have one name");
    }

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let forms = [
            json!("paused"),
            json!({ "person_said": { "to": null, "text": "go on" } }),
            json!({ "board_lost": { "port": "/dev/ttyUSB0", "why": "unplugged" } }),
            json!({ "team": { "context_edited": { "add": ["a.c"], "remove": [] } } }),
            json!({ "model": { "named": { "model": "gpt" } } }),
        ];
        for form in forms {
            let event: Event = serde_json::from_value(form.clone()).unwrap();
            assert_eq!(serde_json::to_value(&event).unwrap(), form);
        }
        let paused: Event = serde_json::from_str("\"paused\"").unwrap();
        assert_eq!(paused, Event::Person(PersonEvent::Paused));
        let message = r#"{"person_said":{"to":null,"text":"go on"}}"#;
        let event: Event = serde_json::from_str(message).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), message);
        for wrong in ["{\"person_shouted\":{}}", "\"person_said\"", "{}", "3", "{\"paused\":{}}"] {
            assert!(serde_json::from_str::<Event>(wrong).is_err(), "{wrong}");
        }
    }
}
