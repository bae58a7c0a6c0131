//! Azure Blob Storage: `az://container/prefix`.

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::{Backend, Location, bucket, connect, environment};
use crate::error::Result;
use cwm_project::config::Remote;

/// Containers of Azure Blob Storage.
pub static AZURE: Backend = Backend {
    schemes: &["az"],
    url_form: "az://CONTAINER/PREFIX",
    option_keys: &[],
    is_read_only: false,
    credentials_advice: Some("set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
    check: |_, rest| bucket::check(rest),
    open,
};

fn open(remote: &Remote, rest: &str) -> Result<Location> {
    let (container, prefix) = bucket::split(rest);
    let is_ours = |name: &str| name.starts_with("AZURE_") || name == "IDENTITY_ENDPOINT";
    let settings = environment::settings::<AzureConfigKey>(is_ours)?;
    let sources = environment::sources(&settings);
    let builder = MicrosoftAzureBuilder::new().with_container_name(container);
    let builder = settings.into_iter().fold(builder, |builder, set| builder.with_config(set.key, set.value));
    Ok(Location::bucket(connect!(builder, remote, AZURE, sources), prefix))
}
