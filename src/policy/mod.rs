//! Who speaks next, learned: a simulated process, Q-learning with Thompson sampling, the exact optimum
//! as its yardstick, and policies as files.
//!
//! Owns everything that the command `firmhand policy` does except for its words on the command line.
//! Must not know the engine: a run that speaks by a policy asks [`choose`].
//!
//! | File | Owns |
//! |---|---|
//! | `process`, `model` | the simulated work: its parameters, and the decision process made of them |
//! | `state` | what a policy observes: four facts, a bucket of actions, the class where it is known |
//! | `table`, `train` | Q-learning and its bounds; exploration, with the reasons for how Beta and Q are joined |
//! | `exact`, `baselines`, `compare` | value iteration, policies that learn nothing, the comparison |
//! | `selector` | recorded answers of a model that chooses, as a baseline |
//! | `experience`, `recorded`, `offpolicy` | past sessions, and what another table would have reached in them |
//! | `revision`, `coverage` | a table learned from sessions, whether it is taken, and how often that is right |
//! | `file`, `store` | policies as text and on disk |
//! | `tasks` | recorded answers to small tasks, for trying an order of agents where code is run |
//! | `choice` | who speaks next in a run, by a table as sessions record it |
//! | `explain`, `heat_map`, `chart` | why an agent speaks, and pictures of tables and comparisons |

mod baselines;
mod chart;
mod choice;
mod class;
mod compare;
#[cfg(test)]
mod coverage;
mod exact;
mod experience;
mod explain;
mod file;
mod heat_map;
mod model;
mod offpolicy;
mod process;
mod recorded;
mod revision;
mod selector;
mod state;
mod store;
mod table;
mod tasks;
mod train;

pub use chart::{comparison_svg, comparison_text};
pub use choice::{Observed, choose, overruled, snapshot};
pub use class::class_of;
pub use compare::{Comparison, FiveTasks, Row, compare};
pub use exact::{Optimum, Performance, evaluate};
pub use experience::{End, Session, Step, parse as parse_experience};
pub use explain::{Explanation, Opinion, explain};
pub use file::{Provenance, Trained};
pub use heat_map::{heat_map, heat_map_svg, table};
pub use offpolicy::{Estimate, FEWEST};
pub use process::{Agent as SimulatedAgent, MIXED, PROCESS, Process, Role};
pub use recorded::{JournalReader, RecordedRun};
pub use revision::{Judgement, Revision, revise};
pub use selector::{RecordedSelector, SELECTOR};
pub use state::{Facts, State};
pub use store::{Store, WriteLock, write_chart};
pub use tasks::{Judge, Order, Played, RecordedTask, TASKS, USUAL_ORDER, play, tasks};
pub use train::{Trainer, usual_episodes};
