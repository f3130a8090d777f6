//! Which names and texts are those of secrets.

use super::*;

#[test]
fn names_say_what_they_hold() {
    for (name, says) in [
        ("WIFI_PASS", NameSays::Password),
        ("wifiPassword", NameSays::Password),
        ("password", NameSays::Password),
        ("CONFIG_ESP_WIFI_PASSWORD", NameSays::Password),
        ("psk", NameSays::Password),
        ("api_key", NameSays::Key),
        ("apiKey", NameSays::Key),
        ("APPSKEY", NameSays::Key),
        ("client_secret", NameSays::Key),
        ("mqtt_token", NameSays::Token),
        ("password_len", NameSays::Nothing),
        ("PASSWORD_TOPIC", NameSays::Nothing),
        ("compass", NameSays::Nothing),
        ("kTokenNames", NameSays::Nothing),
        ("kPasswordChars", NameSays::Nothing),
        ("kSecretMenu", NameSays::Nothing),
        ("kBadPasswords", NameSays::Nothing),
        ("bad_password", NameSays::Password),
        ("bypass_mode", NameSays::Nothing),
        ("key", NameSays::Nothing),
        ("server_public_key", NameSays::Public),
        ("PASSWORD_SHA256", NameSays::Public),
        ("WIFI_PASSWORD2", NameSays::Password),
        ("WIFI_PASS1", NameSays::Password),
        ("MQTT_PUB_PASSWORD", NameSays::Password),
        ("CERT_PASSWORD", NameSays::Password),
        ("app_sha256", NameSays::Public),
    ] {
        assert_eq!(name_says(name), says, "{name}");
    }
}

#[test]
fn passwords_have_a_form() {
    assert!(is_like_password("Giesskanne#42") && is_like_password("Spaten&Harke77"));
    for literal in ["/api/v1/Led#2", "Content-Type", "led#1", "Fehler 42!", "A1?B2=%d", "x"] {
        assert!(!is_like_password(literal), "{literal}");
    }
}

#[test]
fn stand_ins_are_told_from_secrets() {
    for literal in [
        "",
        "abc",
        "your-password",
        "mypassword",
        "changeme",
        "change_me",
        "<password>",
        "xxxx",
        "XXXXXXXX",
        "********",
        "YOUR_WIFI_PASSWORD",
        "myssid",
        "password",
        "CONFIG_X",
        "${PASS}",
        "secret.pem",
        "example-token",
        "wifi_pass",
        "enter your password here",
        "YourPassword123",
        "Wrong password!",
        "MySecretPassword",
        "...",
        "00000000",
        "{{ wifi_password }}",
        "TODO",
        "$WIFI_PASS",
        "%WIFI_PASS%",
        "<your wifi password here>",
        "[password]",
        "pass=%s",
        "%02x",
        "%-8.*s",
        "Zugangsschlüssel",
        "WLAN-Kennwort:",
        "Clé d'API",
        "Palavra-chave",
        "パスワード",
        r"^[\w!-]{8,63}$",
        r"(?=.*\d)[A-Z]+",
        "[A-Fa-f0-9]{32}",
    ] {
        assert!(is_stand_in(literal), "{literal}");
    }
}

#[test]
fn secrets_are_no_stand_ins() {
    for literal in [
        "hunter2",
        "hunter2222",
        "s3cr3t-net",
        "correct horse battery staple",
        "abcd1234",
        "Sommer2024!",
        "password123",
        "12345678",
        "qwertyuiop",
        "letmein!",
        "$ommer2024",
        "MyHome2024",
        "MyWifi2024!",
        "dummy-8472",
        "Garden Home 2024!",
        "Spaten<77>",
        "100%sure-42",
        "Sonnenschlüssel",
        "mi.casa.azul",
        "a[0]+b[1]9",
        "x{3}[q]-Tor",
    ] {
        assert!(!is_stand_in(literal), "{literal}");
    }
}

#[test]
fn random_texts_are_told_from_ordinary_ones() {
    for literal in [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "kX9vQ2mZ7LpR4tYw8BnC1dFgH5jK3sUa6eVxTqMzPy0=",
        "rb!=4i)hC>@O7pQ<Y&2%kT{z}GdW#xE8sVm^uJ",
        "9jqo^BlbD-BleB1DJ+*+F(f,q/0JhKF<GL>C",
    ] {
        assert_eq!(looks(literal), Randomness::Random, "{literal}");
    }
    for literal in [
        "00112233445566778899aabbccddeeff",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "components/esp_driver_gpio/include/driver/gpio",
        "ThisIsAVeryLongSentenceWithoutAnySpacesInIt2",
        "a short one",
        "^[A-Z][a-z]{2},(\\d+)@(.+)$!#x9Y8",
        "{\"temp\":%.1f,\"Hum\":%d,\"id\":\"A7\"}",
        "AT+CIPSTART=\"TCP\",\"192.168.4.1\",80",
        "T=%5.1fC;H=%3u%%;P=%4uhPa;V=%1.2f;#%08X",
        "/api/v2/Led?id=7&on=1&Level=50%25#Top",
        "\\x1b[1;31mERR\\x1b[0m:#7@(3)!",
        "Mozilla/5.0(X11;Linux)Gecko/2010+Fx/99.0",
    ] {
        assert_eq!(looks(literal), Randomness::Ordinary, "{literal}");
    }
}

#[test]
fn words_in_comments_are_secrets_only_when_they_look_it() {
    for word in ["hunter22", "Sommer2024!", "p4ssw0rd"] {
        assert!(is_secret_word(word), "{word}");
    }
    for word in
        ["stored", "64-byte", "sha256", "buffer", "wifi_pass2", "8-63", "WPA2-PSK", "f(x2)ab"]
    {
        assert!(!is_secret_word(word), "{word}");
    }
}
