//! Data files that are wrong are refused by file and line; those that ship are right.

use super::fixture::*;
use crate::config::Assets;
use crate::engine::Team;
use crate::model::*;

fn refused(team: &str) -> UserError {
    let folder = tempfile::tempdir().unwrap();
    write_team(folder.path(), team);
    let known = |name: &ToolName| if name.as_str() == "nothing" { known(name) } else { Ok(()) };
    Team::load(&Assets::with_user_folder(folder.path()), "small", &known).unwrap_err()
}

#[test]
fn every_mistake_in_a_team_is_told_with_its_line() {
    let cases = [
        ("name = \"small\"", "name = \"big\"", 2, "`big`"),
        ("\"Closer\"]", "\"Closr\"]", 8, "there is no agent `Closr` here"),
        ("planner = \"Planner\"", "planner = \"Builder\"", 10, "there is no agent `Builder` here"),
        ("selection = \"planner\"", "selection = \"chance\"", 9, "unknown variant"),
        ("goal = \"files_saved\"", "gaol = \"files_saved\"", 11, "unknown field `gaol`"),
        ("approve_saved_files", "nothing", 12, "there is no tool `nothing`"),
        ("max_messages = 20 }", "max_messages = 20, max_tokens = 1 }", 12, "exactly one"),
        ("attempts = 3", "attempts = 0", 20, "at least 1"),
        ("name = \"build\"", "name = \"write\"", 13, "two phases"),
    ];
    for (right, wrong, line, why) in cases {
        let error = refused(&TEAM.replacen(right, wrong, 1));
        assert!(error.what.contains(&format!("small.toml, line {line}")), "{wrong}: {error:?}");
        assert!(error.why.contains(why), "{wrong}: {error:?}");
    }
}

#[test]
fn unknown_agents_are_told_with_the_known_ones() {
    let error = refused(&TEAM.replacen("\"Closer\"]", "\"Closr\"]", 1));
    assert!(error.fix.contains("Closer") && error.fix.contains("Writer"), "{error:?}");
}

#[test]
fn an_unknown_team_is_told_with_the_known_ones() {
    let error = Team::load(&Assets::built_in(), "generte", &|_| Ok(())).unwrap_err();
    assert_eq!(error.what, "Cannot find the team `generte`");
    assert!(error.fix.contains("generate"), "{error:?}");
}

#[test]
fn mistakes_in_an_agent_are_told_with_their_line() {
    let head = "+++\nname = \"Writer\"\ndescription = \"x\"\n";
    let cases = [
        ("no fields".to_owned(), 1, "begins with its fields"),
        (format!("{head}tools = [\"nothing\"]\n+++\ntext\n"), 4, "there is no tool `nothing`"),
        (format!("{head}tolls = []\n+++\ntext\n"), 4, "unknown field `tolls`"),
        (format!("{head}+++\n \n"), 4, "no instructions"),
    ];
    for (text, line, why) in cases {
        let folder = tempfile::tempdir().unwrap();
        write_team(folder.path(), TEAM);
        std::fs::write(folder.path().join("prompts/agents/Writer.md"), text).unwrap();
        let known = |name: &ToolName| if name.as_str() == "nothing" { known(name) } else { Ok(()) };
        let assets = Assets::with_user_folder(folder.path());
        let error = Team::load(&assets, "small", &known).unwrap_err();
        assert!(error.what.contains(&format!("Writer.md, line {line}")), "{error:?}");
        assert!(error.why.contains(why), "{error:?}");
    }
}

#[test]
fn the_generate_team_is_right() {
    let team = Team::load(&Assets::built_in(), "generate", &|_| Ok(())).unwrap();
    assert_eq!(team.phases.len(), 2);
    assert_eq!(team.phases[1].limits.attempts, 10);
    let allowed = |tool: &str| {
        let has = |agent: &&crate::engine::Agent| agent.tools.contains(&ToolName::new(tool));
        team.agents.values().filter(has).map(|agent| agent.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(allowed("generate_code"), ["CodeReviewerAgent"]);
    assert_eq!(allowed("retrieve_docs"), ["CodeExampleRetrieverAgent"]);
    assert_eq!(allowed("approve_saved_files"), ["ApproveAgent"]);
}
