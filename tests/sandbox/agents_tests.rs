//! `run_tests`: tests of agents in each framework that is installed, and tests that misbehave.

use serde_json::{Value, json};

use crate::project::{Project, outcomes};
use crate::stand::wherever_code_runs;

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, outcome)| ((*name).to_owned(), (*outcome).to_owned())).collect()
}

const UNITTEST: &str = "import unittest\nfrom ring import Ring\n\n\nclass RingTest(unittest.TestCase):\n\
    \x20   def test_empty(self):\n        self.assertEqual(Ring().count, 0)\n\n\
    \x20   def test_full(self):\n        self.assertEqual(Ring().size, 5, 'too small')\n\n\
    \x20   @unittest.skip('not yet')\n    def test_later(self):\n        pass\n\n\
    \x20   def test_wrong(self):\n        Ring().nothing\n";

/// How a test ends that raises something: pytest, where it is installed, calls that failed.
fn raised(answer: &Value) -> &'static str {
    let framework = answer["framework"].as_str().unwrap_or_default();
    if framework.starts_with("pytest") { "failed" } else { "error" }
}

#[test]
fn python_tests_are_run_with_the_proposed_files_and_nothing_is_saved() {
    wherever_code_runs(|| {
        let project = Project::new(&[("ring.py", "class Ring:\n    count = 0\n    size = 4\n")]);
        let before = project.files();
        let mut args = json!({ "language": "python",
        "files": [{ "file_name": "test_ring.py", "code": UNITTEST }] });
        let answer = project.tool("run_tests", &args);
        let expected = [
            ("test_full", "failed"),
            ("test_wrong", raised(&answer)),
            ("test_empty", "passed"),
            ("test_later", "skipped"),
        ];
        assert_eq!(outcomes(&answer), pairs(&expected), "{answer}");
        assert_eq!(answer["error"]["code"], "tests_failed");
        let full = &answer["tests"][0];
        assert_eq!((&full["file"], &full["line"]), (&json!("test_ring.py"), &json!(10)), "{full}");
        assert!(full["message"].as_str().unwrap().contains("too small"), "{full}");
        assert_eq!(answer["with"][0]["file_name"], "test_ring.py");
        let fixed = "class Ring:\n    count = 0\n    size = 5\n    nothing = None\n";
        let fixed = json!({ "file_name": "ring.py", "code": fixed });
        args["files"].as_array_mut().unwrap().push(fixed);
        let answer = project.tool("run_tests", &args);
        assert_eq!(answer["ok"], true, "{answer}");
        assert_eq!(answer["counts"]["passed"], 3);
        assert_eq!(project.files(), before);
    });
}

#[test]
fn c_tests_are_built_with_what_they_include() {
    wherever_code_runs(|| {
        let test = "#include \"unity.h\"\n#include \"ring.h\"\n\nvoid setUp(void) {}\nvoid tearDown(void) {}\n\n\
        void test_is_empty(void)\n{\n    TEST_ASSERT_EQUAL_INT(0, ring_count());\n}\n\n\
        void test_is_full(void)\n{\n    TEST_ASSERT_EQUAL_INT_MESSAGE(8, ring_size(), \"size\");\n}\n\n\
        static void test_later(void)\n{\n    TEST_IGNORE_MESSAGE(\"not yet\");\n}\n";
        let project = Project::new(&[
            ("components/ring/include/ring.h", "int ring_count(void);\nint ring_size(void);\n"),
            (
                "components/ring/ring.c",
                "#include \"ring.h\"\nint ring_count(void)\n{\n    return 0;\n}\nint ring_size(void)\n{\n    return 4;\n}\n",
            ),
            ("test/test_ring.c", test),
            (
                "test/test_plain.c",
                "#include <assert.h>\nint main(void)\n{\n    assert(1 + 1 == 3);\n    return 0;\n}\n",
            ),
            (
                "test/test_case.c",
                "#include <unity.h>\n\nTEST_CASE(\"adds: one and one\", \"[math]\")\n{\n    TEST_ASSERT_EQUAL(2, 1 + 1);\n}\n",
            ),
            ("test/test_broken.c", "#include \"unity.h\"\nvoid test_a(void)\n{\n    int x = \n}\n"),
            ("main/main.c", "void app_main(void)\n{\n}\n"),
        ]);
        let before = project.files();
        let answer = project.tool("run_tests", &json!({ "language": "c" }));
        let expected = [
            ("c", "error"),
            ("c", "failed"),
            ("test_is_full", "failed"),
            (" one and one", "passed"),
            ("test_is_empty", "passed"),
            ("test_later", "skipped"),
        ];
        assert_eq!(outcomes(&answer), pairs(&expected), "{answer}");
        let test = |index: usize| &answer["tests"][index];
        assert_eq!((&test(0)["file"], &test(0)["line"]), (&json!("test/test_broken.c"), &json!(5)));
        assert_eq!((&test(1)["file"], &test(1)["line"]), (&json!("test/test_plain.c"), &json!(4)));
        assert!(test(1)["message"].as_str().unwrap().contains("1 + 1 == 3"));
        assert_eq!((&test(2)["file"], &test(2)["line"]), (&json!("test/test_ring.c"), &json!(14)));
        assert!(
            test(2)["message"].as_str().unwrap().contains("Expected 8 Was 4. size"),
            "{answer}"
        );
        assert_eq!(project.files(), before);
    });
}

#[test]
fn a_test_that_ends_its_runner_is_told_by_name() {
    wherever_code_runs(|| {
        let code = "import os, unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n\n\
        \x20   def test_b(self):\n        os._exit(7)\n\n    def test_c(self):\n        pass\n";
        let project = Project::new(&[
            ("test_exit.py", code),
            (
                "test/test_crash.c",
                "#include \"unity.h\"\nvoid test_a(void)\n{\n}\nvoid test_b(void)\n{\n    *(volatile int *)0 = 1;\n}\nvoid test_c(void)\n{\n}\n",
            ),
            (
                "test/test_kill.c",
                "#include <signal.h>\n#include \"unity.h\"\nvoid test_d(void)\n{\n}\nvoid test_e(void)\n{\n    raise(SIGKILL);\n}\n",
            ),
        ]);
        let answer = project.tool("run_tests", &json!({ "language": "python" }));
        assert_eq!(
            outcomes(&answer),
            pairs(&[("test_b", "error"), ("test_a", "passed")]),
            "{answer}"
        );
        assert!(
            answer["tests"][0]["message"].as_str().unwrap().contains("exit code 7"),
            "{answer}"
        );
        assert_eq!(answer["error"]["code"], "tests_stopped");
        let answer = project.tool("run_tests", &json!({ "language": "c" }));
        let expected =
            [("test_b", "failed"), ("c", "error"), ("test_a", "passed"), ("test_d", "passed")];
        assert_eq!(outcomes(&answer), pairs(&expected), "{answer}");
        let all = answer.to_string();
        assert!(all.contains("ended by signal 11") && all.contains("SIGKILL"), "{all}");
    });
}

#[test]
fn walls_end_tests_and_what_ran_before_is_known() {
    wherever_code_runs(|| {
        let code = "import time, unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        pass\n\n\
        \x20   def test_b(self):\n        time.sleep(100)\n";
        let project = Project::new(&[("test_slow.py", code)]);
        let answer = project.tool("run_tests", &json!({ "language": "python", "timeout": 2 }));
        assert_eq!(
            outcomes(&answer),
            pairs(&[("test_b", "error"), ("test_a", "passed")]),
            "{answer}"
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains("limit (time)"), "{answer}");
        let outside = project.outside("victim");
        let code = format!(
            "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        open({outside:?}, 'w')\n"
        );
        let args = json!({ "language": "python", "paths": ["test_bad.py"],
        "files": [{ "file_name": "test_bad.py", "code": code }] });
        let answer = project.tool("run_tests", &args);
        assert_eq!(outcomes(&answer), pairs(&[("test_a", raised(&answer))]), "{answer}");
        assert!(!outside.exists());
    });
}

#[test]
fn a_hundred_thousand_tests_and_foreign_output_stay_within_bounds() {
    wherever_code_runs(|| {
        let mut code = String::from(
            "#include <stdio.h>\nint main(void)\n{\n    for (int i = 0; i < 100000; i++)\n",
        );
        code.push_str("        printf(\"t.c:%d:test_%d:%s\\n\", i + 1, i, i == 77777 ? \"FAIL: gr\\xfc\\xdf\" : \"PASS\");\n");
        code.push_str("    printf(\"100000 Tests 1 Failures 0 Ignored\\n\");\n    return 1;\n}\n");
        let project = Project::new(&[("test/test_many.c", &code)]);
        let answer = project.tool("run_tests", &json!({ "language": "c" }));
        let counts = &answer["counts"];
        assert_eq!((&counts["passed"], &counts["failed"]), (&json!(99_999), &json!(1)));
        assert_eq!(answer["tests"][0]["message"], "grüß");
        assert!(answer.to_string().len() < 64 << 10);
        assert_eq!(answer["omitted"], 99_940);
    });
}

#[test]
fn what_is_missing_is_said_with_how_to_get_it() {
    wherever_code_runs(|| {
        let project = Project::new(&[("test_a.py", "def test_a():\n    assert 1\n")]);
        let none = |answer: &Value| answer["error"]["code"].as_str().unwrap_or_default().to_owned();
        let empty = Project::new(&[("main/main.c", "int x;\n")]);
        let answer = empty.tool("run_tests", &json!({ "language": "python" }));
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("no tests in Python"),
            "{answer}"
        );
        let answer = empty.tool("run_tests", &json!({ "language": "c" }));
        assert_eq!(none(&answer), "not_run");
        let nothing = project.outside("nothing");
        std::fs::create_dir(&nothing).unwrap();
        let path = [("PATH", nothing.to_str().unwrap())];
        let answer = project.tool_with("run_tests", &json!({ "language": "python" }), &path);
        assert!(answer["error"]["hint"].as_str().unwrap().contains("Install Python"), "{answer}");
        // Without pytest, plain functions are not tests; with it, they are.
        let answer = project.tool("run_tests", &json!({ "language": "python" }));
        let notes = answer["notes"].to_string();
        let has_pytest = answer["framework"].as_str().unwrap().starts_with("pytest");
        assert!(has_pytest || notes.contains("pip install pytest"), "{answer}");
        assert_eq!(answer["ok"], has_pytest);
    });
}

const COUNTER: &str = "#include \"counter.h\"\n#include \"esp_log.h\"\n#include \"esp_check.h\"\n\
    #include \"freertos/FreeRTOS.h\"\n#include \"freertos/queue.h\"\n#include \"freertos/task.h\"\n\
    #include \"nvs.h\"\n#include \"nvs_flash.h\"\n\n\
    static QueueHandle_t queue;\n\n\
    static void worker(void *unused)\n{\n    for (int i = 1; i <= 4; i++) {\n        xQueueSend(queue, &i, \
    portMAX_DELAY);\n        vTaskDelay(pdMS_TO_TICKS(10));\n    }\n    vTaskDelete(NULL);\n}\n\n\
    int counter_sum(void)\n{\n    queue = xQueueCreate(4, sizeof(int));\n    xTaskCreate(worker, \"worker\", \
    2048, NULL, 5, NULL);\n    int sum = 0;\n    for (int i = 0; i < 4; i++) {\n        int one = 0;\n        \
    xQueueReceive(queue, &one, portMAX_DELAY);\n        sum += one;\n    }\n    ESP_LOGI(\"counter\", \
    \"sum %d\", sum);\n    return sum;\n}\n\n\
    esp_err_t counter_keep(int value)\n{\n    nvs_handle_t handle;\n    esp_err_t done = nvs_flash_init();\n    \
    if (done != ESP_OK || (done = nvs_open(\"c\", NVS_READWRITE, &handle)) != ESP_OK) return done;\n    \
    nvs_set_i32(handle, \"v\", value);\n    return nvs_commit(handle);\n}\n";

const COUNTER_HEADER: &str = "#pragma once\n#include \"esp_err.h\"\nint counter_sum(void);\nesp_err_t counter_keep(int value);\n";

/// A project with tests of every kind that runs on the board, and some that do not.
fn tested_firmware() -> Project {
    let test = "#include \"unity.h\"\n#include \"counter.h\"\n\n\
        TEST_CASE(\"the sum of what the task sends\", \"[counter]\")\n{\n    \
        TEST_ASSERT_EQUAL_INT(10, counter_sum());\n}\n\n\
        TEST_CASE(\"settings are kept\", \"[counter]\")\n{\n    TEST_ASSERT_EQUAL(ESP_OK, counter_keep(7));\n}\n\n\
        TEST_CASE(\"a wrong sum\", \"[counter]\")\n{\n    TEST_ASSERT_EQUAL_INT(11, counter_sum());\n}\n";
    Project::new(&[
        ("components/counter/include/counter.h", COUNTER_HEADER),
        ("components/counter/counter.c", COUNTER),
        ("components/counter/test/test_counter.c", test),
        (
            "host_test/main/test_start.c",
            "#include <stdlib.h>\n#include \"unity.h\"\n#include \"counter.h\"\n\n\
             static void test_begins(void)\n{\n    TEST_ASSERT_EQUAL(10, counter_sum());\n}\n\n\
             void app_main(void)\n{\n    UNITY_BEGIN();\n    RUN_TEST(test_begins);\n    UNITY_END();\n}\n",
        ),
        (
            "test/test_fatal.c",
            "#include \"unity.h\"\n#include \"esp_err.h\"\n\nvoid test_fine(void)\n{\n}\n\n\
             void test_fatal(void)\n{\n    ESP_ERROR_CHECK(ESP_FAIL);\n}\n",
        ),
        (
            "test/test_plain.c",
            "#include <stdio.h>\n#include \"esp_timer.h\"\nint main(void)\n{\n    \
             return esp_timer_get_time() < 0;\n}\n",
        ),
        (
            "test/test_radio.c",
            "#include \"unity.h\"\n#include \"esp_wifi.h\"\nvoid test_radio(void)\n{\n}\n",
        ),
        ("main/main.c", "void app_main(void)\n{\n}\n"),
    ])
}

#[test]
fn firmware_logic_is_tested_on_the_virtual_board() {
    wherever_code_runs(|| {
        let project = tested_firmware();
        let before = project.files();
        let answer = project.tool("run_tests", &json!({ "language": "c" }));
        let mut found = outcomes(&answer);
        found.sort();
        let expected = [
            ("a wrong sum", "failed"),
            ("c", "error"),
            ("c", "passed"),
            ("settings are kept", "passed"),
            ("test_begins", "passed"),
            ("test_fatal", "failed"),
            ("test_fine", "passed"),
            ("the sum of what the task sends", "passed"),
        ];
        assert_eq!(found, pairs(&expected), "{answer:#}");
        let tests = answer["tests"].as_array().unwrap();
        let of =
            |name: &str| tests.iter().find(|test| test["name"].as_str() == Some(name)).unwrap();
        let wrong = of("a wrong sum");
        let place = (&wrong["file"], &wrong["line"]);
        assert_eq!(
            place,
            (&json!("components/counter/test/test_counter.c"), &json!(16)),
            "{wrong}"
        );
        assert!(wrong["output"].as_str().unwrap().contains("counter: sum 10"), "{wrong}");
        assert!(
            of("test_fatal")["message"].as_str().unwrap().contains("restarts the board"),
            "{answer}"
        );
        let radio = tests.iter().find(|test| test["file"] == "test/test_radio.c");
        let message = radio.map_or("", |test| test["message"].as_str().unwrap_or_default());
        assert!(message.contains("Wi-Fi"), "{answer:#}");
        assert!(answer["notes"].to_string().contains("test_counter.c runs on the virtual board"));
        assert_eq!(project.files(), before);
    });
}
