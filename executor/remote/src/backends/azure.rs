//! Azure Blob Storage: `az://container/prefix`.

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::bucket::Bucket;
use super::{
    Backend, OpenedRemote, client_options, connector, environment, machine_has_no_credentials, misconfigured, retries,
};
use crate::error::RemoteError;
use cwm_project::site::{InvalidRemote, Remote};

/// A container of Azure Blob Storage.
pub struct Azure;

impl Backend for Azure {
    fn schemes(&self) -> &'static [&'static str] {
        &["az"]
    }

    fn check(&self, _: &Remote, rest: &str) -> Result<(), InvalidRemote> {
        Bucket::parse(rest).map(drop)
    }

    fn open(&self, remote: &Remote, rest: &str) -> Result<OpenedRemote, RemoteError> {
        let container = Bucket::checked(rest);
        let (builder, sources) = from_environment()?;
        let emulated =
            std::env::var("AZURE_STORAGE_USE_EMULATOR").is_ok_and(|value| matches!(value.trim(), "true" | "1"));
        let builder = builder
            .with_container_name(container.name)
            .with_http_connector(connector(remote))
            .with_retry(retries(remote))
            .with_client_options(client_options(remote, emulated));
        let store = builder.build().map_err(|error| misconfigured(error).with_sources(&sources))?;
        Ok(OpenedRemote::bucket(store, container.prefix))
    }

    fn classify_error(&self, error: &object_store::Error) -> Option<RemoteError> {
        let object_store::Error::Generic { .. } = error else { return None };
        let has_none = error.to_string().contains("Account must be specified") || machine_has_no_credentials(error);
        let advice = "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY";
        has_none.then_some(RemoteError::NoCredentials(advice))
    }
}

/// The settings of the environment, and the variables that hold them.
fn from_environment() -> Result<(MicrosoftAzureBuilder, Vec<String>), RemoteError> {
    let (mut builder, mut sources) = (MicrosoftAzureBuilder::new(), Vec::new());
    for variable in environment::variables("AZURE_", |key| key.parse::<AzureConfigKey>().is_ok())? {
        let Ok(key) = variable.name.to_ascii_lowercase().parse() else { continue };
        builder = builder.with_config(key, variable.value);
        sources.push(variable.name);
    }
    for variable in environment::variables("IDENTITY_ENDPOINT", |key| key == "identity_endpoint")? {
        builder = builder.with_msi_endpoint(variable.value);
        sources.push(variable.name);
    }
    Ok((builder, sources))
}
