//! A secret that stands in a site's file is never shown, wherever it stands.

use std::path::Path;

use proptest::prelude::*;

use super::address::Address;
use super::read::site;

/// Files that are refused, with a secret for `SECRET`; the URLs among them also by `cwm remote add`.
const FILES: [&str; 50] = [
    "sas = 'SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\nsas = 'SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\npwd = 'SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\nauth = { SECRET = 'SECRET' }\n",
    "[remotes.lab]\nurl = 's3://b'\nauth = ['SECRET', \"SECRET\"]\n",
    "[remotes.lab]\nurl = 's3://b'\nheaders.authorization = 'Bearer SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\nSECRET = true\n",
    "[remotes.lab]\nurl = 's3://b'\n\"SECRET\" = 1\n",
    "[remotes.lab]\nurl = 's3://b'\ntoken_SECRET = 1\n",
    "[remotes.lab]\nurl = 's3://b'\n'key=SECRET' = 1\n",
    "[remotes.lab]\nurl = 's3://b'\naccount = 'SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\nx = 1 # SECRET\n",
    "[remotes.lab]\nurl = 's3://b'\nx = [ # SECRET\n 1 ] # SECRET\n",
    "[remotes.lab]\nurl = 's3://b'\nx = \"\"\"\nSECRET\n\"\"\"\n",
    "[remotes.lab.SECRET]\nx = 1\n",
    "[remotes.SECRET-]\nurl = 's3://b'\n",
    "[remotes]\n'x SECRET' = 'SECRET'\n",
    "[remotes]\nlab = 'SECRET'\n",
    "remotes = 'SECRET'\n",
    "slurm = 'SECRET'\n",
    "executor = 'SECRET'\n",
    "SECRET.a = 1\nSECRET.b = 2\n",
    "[SECRET]\nx = 1\n[[SECRET.y]]\n",
    "[slurm]\nSECRET = 1\n",
    "[slurm]\naccount = 'SECRET SECRET'\n",
    "[slurm]\nlines = ['--export=TOKEN=SECRET', 7]\n",
    "[slurm]\ntime = 'SECRET'\n",
    "[remotes.lab]\nurl = 'https://h/x;token=SECRET'\n",
    "[remotes.lab]\nurl = 'https://h/x/token=SECRET'\n",
    "[remotes.lab]\nurl = 'https://h/x%3Ftoken%3DSECRET'\n",
    "[remotes.lab]\nurl = 'https://h/x&sig=SECRET'\n",
    "[remotes.lab]\nurl = 'https://h/x?sig=SECRET'\n",
    "[remotes.lab]\nurl = 'https://u:SECRET@h/x'\n",
    "[remotes.lab]\nurl = 'https://u:SEC/SECRET@h/x'\n",
    "[remotes.lab]\nurl = 'https:/u:SECRET@h/x'\n",
    "[remotes.lab]\nurl = 's3:u:SECRET@h/x'\n",
    "[remotes.lab]\nurl = 's3://b/x%3Fsecret=SECRET'\n",
    "[remotes.lab]\nurl = 's3://b:SECRET/x'\n",
    "[remotes.lab]\nurl = 'SECRET://b'\n",
    "[remotes.lab]\nurl = 'user:SECRET@host:/p'\n",
    "[remotes.lab]\nurl = '//u:SECRET@h/x'\n",
    "[remotes.lab]\nurl = 'file://u:SECRET@h/x'\n",
    "[remotes.lab]\nurl = 's3://b'\nendpoint = 'https://h/x;SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\nendpoint = 'SECRET'\n",
    "[remotes.lab]\nurl = 's3://b'\ntimeout = 'SECRET'\n",
    "[remotes.lab]\nurl = 'shared'\nregion = 'SECRET'\n",
    "[remotes.lab]\nsecret = SECRET\npassword: SECRET\n",
    "[remotes.lab]\nurl = 's3://b', token = 'SECRET'\n SECRET\n",
    "[remotes.lab]\nurl = 'https://u:SECRET@h\nregion = SECRET # SECRET\n[SECRET\n",
    "x = \"\"\"\nSECRET\nstore = SECRET\n",
];

/// Whether some of it can be read.
fn leaks(told: &str, secret: &str) -> bool {
    (6..=secret.len()).any(|end| told.contains(&secret[end - 6..end]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_secret_is_never_shown_wherever_it_stands(secret in "[A-Za-z0-9]{20,40}") {
        for file in FILES {
            let text = file.replace("SECRET", &secret);
            let told = site(&text, "cwm.toml", Path::new("/site")).expect_err(file);
            let shown = format!("{told}\n{told:?}\n{}", told.render(true, 200));
            let json = serde_json::to_string(&told.reports()).expect("JSON");
            prop_assert!(!leaks(&told.to_string(), &secret), "{file}\n{told}");
            prop_assert!(!leaks(&shown, &secret) && !leaks(&json, &secret), "{file}\n{shown}\n{json}");
        }
    }
}

#[test]
fn what_is_no_secret_is_shown() {
    let told = |text: &str| site(text, "cwm.toml", Path::new("/site")).expect_err(text).to_string();
    for (text, shown) in [
        ("[remotes.lab]\nurl = 'ftp://example.org:21/xyz'\n", "url = 'ftp://example.org:21…"),
        ("[remotes.lab]\nurl = '~/x'\n", "url = '~/x'"),
        ("[remotes.lab]\nurl = 's3://b'\nread_only = 'yes'\ntimeout = '3 weeks'\n", "timeout = '3 weeks'"),
        ("stroe = 'x'\n", "cwm.toml has no key `stroe`"),
        ("[remotes.lab]\nurl = 's3://b'\naws_secret_access_key = 1\n", "has no key `aws_secret_access_key`"),
        ("executor = slurm\n", "executor = slurm"),
    ] {
        assert!(told(text).contains(shown), "{shown} in\n{}", told(text));
    }
    // Nor is it refused.
    for url in ["https://h:80/a%20b/year=2024/x~y", "https://h/keys", "/mnt/a@b:c", "./a:b@c"] {
        Address::parse(url, Path::new("/site")).unwrap_or_else(|refused| panic!("{url}: {}", refused.message));
    }
}
