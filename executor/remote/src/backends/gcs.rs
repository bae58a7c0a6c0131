//! Google Cloud Storage: `gs://bucket/prefix`.

use std::path::Path;

use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};

use super::bucket::Bucket;
use super::{
    Backend, OpenedRemote, client_options, connector, environment, is_http, machine_has_no_credentials, misconfigured,
    retries,
};
use crate::error::RemoteError;
use cwm_project::site::{InvalidRemote, Remote};

/// A bucket of Google Cloud Storage.
pub struct Gcs;

impl Backend for Gcs {
    fn schemes(&self) -> &'static [&'static str] {
        &["gs"]
    }

    fn check(&self, _: &Remote, rest: &str) -> Result<(), InvalidRemote> {
        Bucket::parse(rest).map(drop)
    }

    fn open(&self, remote: &Remote, rest: &str) -> Result<OpenedRemote, RemoteError> {
        let bucket = Bucket::checked(rest);
        let (builder, sources) = from_environment()?;
        let builder = builder.with_bucket_name(bucket.name);
        let allow_http = is_http(builder.get_config_value(&GoogleConfigKey::BaseUrl));
        let builder = builder
            .with_http_connector(connector(remote))
            .with_retry(retries(remote))
            .with_client_options(client_options(remote, allow_http));
        let store = builder.build().map_err(|error| misconfigured(error).with_sources(&sources))?;
        Ok(OpenedRemote::bucket(store, bucket.prefix))
    }

    fn classify_error(&self, error: &object_store::Error) -> Option<RemoteError> {
        let object_store::Error::Generic { .. } = error else { return None };
        let advice =
            "run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a key file";
        machine_has_no_credentials(error).then_some(RemoteError::NoCredentials(advice))
    }
}

/// The settings of the environment, and where the credentials in them come from.
fn from_environment() -> Result<(GoogleCloudStorageBuilder, Vec<String>), RemoteError> {
    use GoogleConfigKey::{ApplicationCredentials, ServiceAccount, ServiceAccountKey};
    let (mut builder, mut sources) = (GoogleCloudStorageBuilder::new(), Vec::new());
    for prefix in ["SERVICE_ACCOUNT", "GOOGLE_"] {
        // Of names without a prefix, this one alone is known.
        let is_known = |key: &str| match prefix {
            "GOOGLE_" => key.parse::<GoogleConfigKey>().is_ok(),
            _ => key == "service_account",
        };
        for variable in environment::variables(prefix, is_known)? {
            let Ok(key) = variable.name.to_ascii_lowercase().parse() else { continue };
            match key {
                ServiceAccountKey => sources.push(variable.name),
                ServiceAccount | ApplicationCredentials => {
                    sources.push(format!("{}, {}", variable.name, variable.value));
                }
                _ => {}
            }
            builder = builder.with_config(key, variable.value);
        }
    }
    if let (true, Some(home)) = (sources.is_empty(), std::env::var_os("HOME")) {
        let usual = Path::new(&home).join(".config/gcloud/application_default_credentials.json");
        sources.extend(usual.exists().then(|| usual.display().to_string()));
    }
    Ok((builder, sources))
}
