//! From what `cwm.toml` says to a remote that can be asked. Nothing is asked yet.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::local::LocalFileSystem;
use object_store::multipart::MultipartStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use tokio::sync::{OnceCell, Semaphore};

use super::client::{Client, REQUESTS};
use super::credentials::Profile;
use super::fault::Fault;
use super::ranges::Connector;
use super::settings;
use super::turns::Turns;
use cwm_project::site::{Address, Bucket, Remote, real};

/// How long it may take to be connected.
const CONNECT: Duration = Duration::from_secs(10);

type Opened = (Arc<dyn ObjectStore>, Option<Arc<dyn MultipartStore>>);

/// The remote, with credentials from the environment or the usual files.
///
/// # Errors
/// Its settings do not fit together.
pub fn open(remote: &Remote) -> Result<Client, Fault> {
    let (store, multipart): Opened = match &remote.address {
        Address::Folder(_) => (Arc::new(LocalFileSystem::new()), None),
        Address::S3(bucket) => both(s3(remote, bucket)?),
        Address::Gcs(bucket) => {
            let (builder, sources) = gcs_of_environment()?;
            let builder = builder.with_bucket_name(&bucket.name);
            let allow_http = means_http(builder.get_config_value(&GoogleConfigKey::BaseUrl));
            let builder = builder
                .with_http_connector(Connector)
                .with_retry(once())
                .with_client_options(options(remote, allow_http));
            both(builder.build().map_err(|error| wrong(error).by(&sources))?)
        }
        Address::Azure(bucket) => {
            let (builder, sources) = azure_of_environment()?;
            let emulated =
                std::env::var("AZURE_STORAGE_USE_EMULATOR").is_ok_and(|value| matches!(value.trim(), "true" | "1"));
            let builder = builder
                .with_container_name(&bucket.name)
                .with_http_connector(Connector)
                .with_retry(once())
                .with_client_options(options(remote, emulated));
            both(builder.build().map_err(|error| wrong(error).by(&sources))?)
        }
        Address::Http(url) => {
            let builder = HttpBuilder::new().with_url(url).with_http_connector(Connector).with_retry(once());
            (Arc::new(builder.with_client_options(options(remote, true)).build().map_err(wrong)?), None)
        }
    };
    let prefix = match &remote.address {
        Address::S3(bucket) | Address::Gcs(bucket) | Address::Azure(bucket) => bucket.prefix.clone(),
        Address::Folder(_) | Address::Http(_) => String::new(),
    };
    Ok(Client {
        name: remote.name.clone(),
        multipart,
        folder: match &remote.address {
            Address::Folder(path) => Some(real(path)),
            _ => None,
        },
        store,
        prefix,
        silence: remote.timeout,
        requests: Semaphore::new(REQUESTS),
        heard: Mutex::new(Instant::now()),
        format: Mutex::default(),
        asking_format: tokio::sync::Mutex::default(),
        begun: OnceCell::new(),
        given_up: Mutex::new(None),
        going: Turns::default(),
        written: Mutex::default(),
    })
}

fn both<S: ObjectStore + MultipartStore>(store: S) -> Opened {
    let store = Arc::new(store);
    (store.clone(), Some(store))
}

/// The environment comes first, then `cwm.toml`, then the profile's files.
fn s3(remote: &Remote, bucket: &Bucket) -> Result<object_store::aws::AmazonS3, Fault> {
    use AmazonS3ConfigKey::{AccessKeyId, Endpoint, Region};
    let mut builder = AmazonS3Builder::new();
    for one in settings::of_environment("AWS_", |key| key.parse::<AmazonS3ConfigKey>().is_ok())? {
        if let Ok(key) = one.name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, one.value);
        }
    }
    builder = builder.with_bucket_name(&bucket.name).with_http_connector(Connector).with_retry(once());
    let profile = Profile::read()?;
    let lacks = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_none_or(|value| value.is_empty());
    let by_token =
        ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"];
    let by_profile = lacks(&builder, AccessKeyId) && !by_token.iter().any(|name| std::env::var_os(name).is_some());
    if by_profile
        && let (Some(id), Some(secret)) = (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key"))
    {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        if let Some(token) = profile.get("aws_session_token") {
            builder = builder.with_token(token);
        }
    }
    if lacks(&builder, Region)
        && let Some(region) = remote.region.as_deref().or(profile.get("region"))
    {
        builder = builder.with_region(settings::checked("the region of cwm.toml or the profile", region)?);
    }
    if lacks(&builder, Endpoint)
        && let Some(endpoint) = remote.endpoint.as_deref().or(profile.get("endpoint_url"))
    {
        builder = builder.with_endpoint(settings::checked("the endpoint of cwm.toml or the profile", endpoint)?);
    }
    if by_profile && lacks(&builder, AccessKeyId) && !is_unsigned(&builder) {
        profile.must_be_there()?;
    }
    let allow_http = means_http(builder.get_config_value(&Endpoint));
    builder.with_client_options(options(remote, allow_http)).build().map_err(wrong)
}

/// What the environment says of Google's storage, and where its credentials stand.
fn gcs_of_environment() -> Result<(GoogleCloudStorageBuilder, Vec<String>), Fault> {
    use GoogleConfigKey::{ApplicationCredentials, ServiceAccount, ServiceAccountKey};
    let (mut builder, mut sources) = (GoogleCloudStorageBuilder::new(), Vec::new());
    for prefix in ["SERVICE_ACCOUNT", "GOOGLE_"] {
        // Of the names without a prefix it is that one alone.
        let is_known = |key: &str| match prefix {
            "GOOGLE_" => key.parse::<GoogleConfigKey>().is_ok(),
            _ => key == "service_account",
        };
        for one in settings::of_environment(prefix, is_known)? {
            let Ok(key) = one.name.to_ascii_lowercase().parse() else { continue };
            match key {
                ServiceAccountKey => sources.push(one.name),
                ServiceAccount | ApplicationCredentials => sources.push(format!("{}, {}", one.name, one.value)),
                _ => {}
            }
            builder = builder.with_config(key, one.value);
        }
    }
    if let (true, Some(home)) = (sources.is_empty(), std::env::var_os("HOME")) {
        let usual = std::path::Path::new(&home).join(".config/gcloud/application_default_credentials.json");
        sources.extend(usual.exists().then(|| usual.display().to_string()));
    }
    Ok((builder, sources))
}

/// What the environment says of Azure's storage, and which variables say it.
fn azure_of_environment() -> Result<(MicrosoftAzureBuilder, Vec<String>), Fault> {
    let (mut builder, mut sources) = (MicrosoftAzureBuilder::new(), Vec::new());
    for one in settings::of_environment("AZURE_", |key| key.parse::<AzureConfigKey>().is_ok())? {
        let Ok(key) = one.name.to_ascii_lowercase().parse() else { continue };
        builder = builder.with_config(key, one.value);
        sources.push(one.name);
    }
    for one in settings::of_environment("IDENTITY_ENDPOINT", |key| key == "identity_endpoint")? {
        builder = builder.with_msi_endpoint(one.value);
        sources.push(one.name);
    }
    Ok((builder, sources))
}

/// Whether nothing is signed, so that no credentials are wanted.
fn is_unsigned(builder: &AmazonS3Builder) -> bool {
    builder.get_config_value(&AmazonS3ConfigKey::SkipSignature).is_some_and(|value| value == "true" || value == "1")
}

/// Whether requests may be in the clear: who writes `http://` means it.
fn means_http(address: Option<String>) -> bool {
    address.is_some_and(|address| address.starts_with("http://"))
}

/// One try a request: how often it is made, [`Client::patiently`] decides.
fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, retry_timeout: CONNECT, ..RetryConfig::default() }
}

/// No limit for a whole request, which may be a long one: every step of it has its own.
fn options(remote: &Remote, allow_http: bool) -> ClientOptions {
    ClientOptions::new()
        .with_allow_http(allow_http)
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT.min(remote.timeout))
        .with_pool_max_idle_per_host(REQUESTS)
}

fn wrong(error: object_store::Error) -> Fault {
    match Fault::from(error) {
        Fault::NotReached(why) => Fault::Refused(why),
        fault => fault,
    }
}
