//! What the person's answer to a question changes in a run.
//!
//! Answers that allow the run more than it was given count only as they were offered.

use super::run_progress::RunProgress;
use super::step::Asker;
use crate::engine::concern::{Concern, STOP, Waiting};
use crate::model::{QuestionId, Spent};

impl RunProgress {
    pub(super) fn person_answered(&mut self, question: QuestionId, answer: &str) {
        let Some(open) = self.hold.question.take_if(|asked| asked.id == question) else { return };
        let (mut id, mut concern) = (None, None);
        match open.asker {
            Asker::Run => concern = self.concern.take(),
            Asker::Chat(lane) => id = Some(lane),
            Asker::Agent(lane) => {
                return self.in_lane(Some(lane), |lane, _| lane.attempt.replied(answer));
            }
        }
        self.in_lane(id, |lane, _| concern = lane.concern.take());
        let Some(concern) = concern else { return };
        let (_, options) = concern.question();
        if concern.allows_more() && !options.iter().any(|option| option == answer) {
            // Words that name none of the answers allow nothing.
            self.concern = Some(concern);
            return;
        }
        self.hold.is_stopping |= answer == STOP;
        let is_taken = options.first().is_some_and(|go_on| go_on == answer);
        if matches!(concern, Concern::Spent(_)) && is_taken {
            self.budget_meter.raise();
        }
        if self.attempt_limit.answered((&concern, answer), &mut self.stage, &self.team) {
            self.budget_meter.phase = Spent::default();
        }
        self.in_lane(id, |lane, _| match concern.waits_for() {
            Waiting::Plan => lane.attempt.plan_judged(is_taken),
            Waiting::Context if !is_taken => lane.attempt.refuse_listing(answer),
            Waiting::Context | Waiting::Nothing => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::engine::setup::{Budgets, EngineLimits};
    use crate::engine::tests::fixture::*;
    use crate::model::{
        Budget, Event, Intent, ModelEvent, PersonEvent, QuestionId, SessionOutcome,
    };

    fn tokens(most: u64) -> EngineLimits {
        let session = Budget { tokens: Some(most), ..Budget::default() };
        let budgets = Budgets { session, ..Budgets::default() };
        EngineLimits { budgets, ..EngineLimits::default() }
    }

    fn budgets(world: &SessionBench) -> usize {
        let is_budget = |event: &Event| matches!(event, Event::Model(ModelEvent::Budgeted(_)));
        world.events().iter().filter(|event| is_budget(event)).count()
    }

    #[tokio::test]
    async fn only_an_answer_that_was_offered_allows_more() {
        let world = SessionBench::new(TEAM);
        let handle = world.begin_within(tokens(5), Arc::new(usual)).unwrap();
        until(&world, |event| matches!(event, Event::Person(PersonEvent::Asked { .. }))).await;
        let question = QuestionId(1);
        let answer = "sure, why not".to_owned();
        handle.intents.send(Intent::Answer { question, answer }).await.unwrap();
        let is_hint = |event: &Event| matches!(event, Event::Person(PersonEvent::Noticed { notice, .. }) if notice.fix == "Answer 1 (go on) or 2 (stop).");
        until(&world, is_hint).await;
        let is_answer =
            |event: &Event| matches!(event, Event::Person(PersonEvent::Answered { .. }));
        assert!(!world.events().iter().any(is_answer) && budgets(&world) == 1);
        assert_eq!(world.supervise(handle, "2").await.unwrap(), SessionOutcome::Stopped);
        assert_eq!(budgets(&world), 1, "the number of the second answer is the second answer");
    }

    #[tokio::test]
    async fn nobody_is_asked_for_more_when_nothing_more_is_to_be_done() {
        let team = "name = \"small\"\ntitle = \"Small\"\ndescription = \"x\"\n\
            [[phases]]\nname = \"work\"\ntitle = \"work\"\ngoal = \"answered\"\n\
            selection = \"pipeline\"\nparticipants = [\"Closer\"]\n\
            terminate = { max_messages = 1 }\n";
        let world = SessionBench::new(team);
        let handle = world.begin_within(tokens(1), Arc::new(|_: &_| say("Done."))).unwrap();
        assert_eq!(world.supervise(handle, "stop").await.unwrap(), SessionOutcome::Completed);
    }
}
