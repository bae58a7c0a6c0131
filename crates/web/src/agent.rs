//! The HTTP client.

use cwm_contract::Failure;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use crate::proxy;
use crate::settings::Settings;

/// An agent for `url`, with the proxy that the environment names for it.
///
/// # Errors
/// The environment names a proxy that cannot be used.
pub fn agent(settings: &Settings, url: &str) -> Result<Agent, Failure> {
    // The platform's roots, so that SSL_CERT_FILE and what an administrator added count; ureq's own default is a
    // list that it has built in.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .tls_config(tls)
        .user_agent("cwm")
        .max_redirects(settings.redirects)
        .max_idle_connections(settings.connections)
        .max_idle_connections_per_host(settings.connections)
        .timeout_connect(Some(settings.connect))
        .timeout_recv_response(Some(settings.response))
        .timeout_per_read(Some(settings.read))
        .proxy(proxy::choose(url, &settings.proxies)?)
        .build();
    Ok(config.into())
}
