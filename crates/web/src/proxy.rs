//! Finds the proxy through which a URL is fetched.

use std::collections::BTreeMap;

use cwm_contract::Failure;
use ureq::Proxy;

/// The variables of the environment that matter here.
const VARIABLES: [&str; 8] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"];

/// The variables of the environment that name proxies, by name.
pub type Variables = BTreeMap<String, String>;

/// Reads the variables from the environment.
pub fn variables() -> Variables {
    VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect()
}

/// The proxy for `url`: that of its scheme (`https_proxy`), else `all_proxy`, in small letters before capitals; none for
/// the hosts in `no_proxy`. An empty variable is none.
///
/// # Errors
/// A variable names no proxy that can be used.
pub fn choose(url: &str, variables: &Variables) -> Result<Option<Proxy>, Failure> {
    let get = |name: &str| variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let secure = url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let names = if secure { ["https_proxy", "HTTPS_PROXY"] } else { ["http_proxy", "HTTP_PROXY"] };
    let found = names.into_iter().chain(["all_proxy", "ALL_PROXY"]).find_map(|name| Some((name, get(name)?)));
    let Some((name, value)) = found else { return Ok(None) };
    if get("no_proxy").or(get("NO_PROXY")).is_some_and(|list| is_excluded(list, host(url))) {
        return Ok(None);
    }
    let wrong = |what: &str| {
        // The value may hold a password.
        Failure::input(format!("the environment variable {name} {what}"))
            .hint("name an HTTP proxy, such as http://proxy.example:3128, or unset it")
    };
    match value.split_once("://") {
        Some((scheme, _)) if scheme.to_ascii_lowercase().starts_with("socks") => {
            Err(wrong("names a SOCKS proxy, which cwm does not support"))
        }
        _ => Proxy::new(value).map(Some).map_err(|_| wrong("names no proxy")),
    }
}

/// The host of a URL, without its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// Returns true if a list of hosts has this one: by its name, or by the end of its name from a dot on.
fn is_excluded(list: &str, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.to_ascii_lowercase();
        let name = entry.trim_start_matches("*.").trim_start_matches('.');
        let name = name.trim_start_matches('[').split(']').next().unwrap_or_default();
        // A port after a name is passed over; an address with colons is not one.
        let name = if name.matches(':').count() == 1 { name.split(':').next().unwrap_or_default() } else { name };
        entry == "*"
            || (!name.is_empty() && (host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        choose(url, &variables).unwrap().map(|proxy| proxy.host().to_owned())
    }

    #[test]
    fn each_scheme_has_its_proxy_and_all_is_for_the_rest() {
        let all = [("HTTP_PROXY", "http://a:1"), ("HTTPS_PROXY", "b:2"), ("ALL_PROXY", "http://c:3")];
        assert_eq!(chosen("http://x/y", &all).as_deref(), Some("a"));
        assert_eq!(chosen("https://x/y", &all).as_deref(), Some("b"));
        assert_eq!(chosen("https://x/y", &all[2..]).as_deref(), Some("c"));
        assert_eq!(chosen("http://x/y", &[("https_proxy", "http://b:2")]), None);
        assert_eq!(chosen("http://x/y", &[("http_proxy", ""), ("HTTP_PROXY", "http://a:1")]).as_deref(), Some("a"));
    }

    #[test]
    fn hosts_that_are_excepted_are_asked_themselves() {
        for (list, url, direct) in [
            ("example.com", "http://example.com/x", true),
            ("example.com", "http://sub.Example.com:80/x", true),
            (".example.com,other", "http://sub.example.com/x", true),
            ("*.example.com", "http://u:p@sub.example.com/x", true),
            ("ample.com", "http://example.com/x", false),
            ("localhost, 127.0.0.1", "http://127.0.0.1:8080/x", true),
            ("localhost:8080", "http://localhost:8080/x", true),
            ("::1", "http://[::1]:80/x", true),
            ("*", "http://anything/x", true),
            (",", "http://example.com/x", false),
        ] {
            let proxy = chosen(url, &[("http_proxy", "http://a:1"), ("no_proxy", list)]);
            assert_eq!(proxy.is_none(), direct, "{list} {url}");
        }
    }

    #[test]
    fn an_invalid_proxy_is_reported_without_its_password() {
        let message = |value: &str| {
            let variables = Variables::from([("http_proxy".to_owned(), value.to_owned())]);
            choose("http://x", &variables).unwrap_err().message
        };
        assert_eq!(
            message("socks5://u:secret@a:1"),
            "the environment variable http_proxy names a SOCKS proxy, which cwm does not support"
        );
        assert_eq!(message("ftp://u:secret@a:1"), "the environment variable http_proxy names no proxy");
    }
}
