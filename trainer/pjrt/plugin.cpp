#include "trainer/pjrt/plugin.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <array>
#include <span>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "trainer/pjrt/named_values.hpp"

namespace trainward::pjrt {
namespace {

constexpr const char* which_file =
    "name the shared library of a PJRT plugin in device_config.plugin, such as pjrt_plugin_tt.so";

// The address of an exported function, or null.
template <typename Function>
Function find_symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

Result<void*> load(const std::filesystem::path& path) {
  dlerror();
  // Local: two plugins may each bring an LLVM of their own.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  return fail(ErrorKind::usage,
              fmt::format("the plugin cannot be loaded: {}", reason != nullptr ? reason : "?"),
              path.string(),
              "it must be a shared library for this machine; where the text above names another "
              "library, that one is missing: install it, or add its folder to LD_LIBRARY_PATH");
}

Result<const abi::Api*> find_api(void* library, const std::filesystem::path& path) {
  const auto get_api = find_symbol<abi::GetApi>(library, "GetPjrtApi");
  if (get_api == nullptr) {
    return fail(ErrorKind::usage, "is a shared library, but no PJRT plugin: it lacks GetPjrtApi",
                path.string(), which_file);
  }
  const abi::Api* api = get_api();
  if (api == nullptr || api->struct_size < offsetof(abi::Api, Error_Destroy)) {
    return fail(ErrorKind::usage, "the plugin gives no table of its calls", path.string(),
                "it may be damaged: install it again");
  }
  const abi::Api_Version& version = api->pjrt_api_version;
  if (version.major_version != abi::api_major) {
    return fail(ErrorKind::usage,
                fmt::format("the plugin speaks version {}.{} of PJRT; this program speaks {}.x",
                            version.major_version, version.minor_version, abi::api_major),
                path.string(), "install a plugin made for PJRT 0.x, or a newer Trainward");
  }
  return api;
}

// Kept open for the digest: what is loaded, whatever takes its name later.
Result<Fd> open_plugin_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    return fail(ErrorKind::usage, "there is no such plugin", path.string(), which_file);
  }
  if (!std::filesystem::is_regular_file(status)) {
    return fail(ErrorKind::usage, "is a folder or device, not a plugin", path.string(), which_file);
  }
  auto file = open_file(path, O_RDONLY | O_CLOEXEC);
  if (!file) file.error().kind = ErrorKind::usage;
  return file;
}

}  // namespace

Plugin::Plugin(std::filesystem::path path, Fd file, const abi::Api& api)
    : path_(std::move(path)),
      file_(std::move(file)),
      calls_(api),
      major_(api.pjrt_api_version.major_version),
      minor_(api.pjrt_api_version.minor_version) {}

Plugin::~Plugin() { shutdown(); }

Result<std::shared_ptr<const Plugin>> Plugin::open(const std::filesystem::path& file) {
  std::error_code error;
  // With a slash in it, so that the loader looks nowhere else.
  auto path = std::filesystem::absolute(file, error);
  if (error) return fail_errno(error.value(), "find the plugin", file.string());
  auto opened = open_plugin_file(path);
  if (!opened) return propagate(opened);
  const auto library = load(path);
  if (!library) return tl::unexpected<Error>(library.error());
  const auto api = find_api(*library, path);
  if (!api) return tl::unexpected<Error>(api.error());
  std::shared_ptr<Plugin> plugin(new Plugin(std::move(path), std::move(*opened), **api));
  if (auto ready = plugin->initialise(); !ready) return propagate(ready);
  plugin->shutdown_ = find_symbol<void (*)()>(*library, "tt_pjrt_shutdown");
  return plugin;
}

Status Plugin::initialise() {
  abi::Plugin_Initialize_Args initialize{};
  const auto initialised =
      calls_.make(&abi::Api::Plugin_Initialize, "Plugin_Initialize", initialize);
  if (!initialised && initialised.error().code != ErrorCode::unimplemented) {
    Error error = to_error(initialised.error());
    error.where = path_.string();
    return tl::unexpected<Error>(std::move(error));
  }
  abi::Plugin_Attributes_Args attributes{};
  // For people only: a plugin that cannot say is as good.
  if (calls_.make(&abi::Api::Plugin_Attributes, "Plugin_Attributes", attributes)) {
    attributes_ = read_named_values(attributes.attributes, attributes.num_attributes);
  }
  return {};
}

Result<std::string> Plugin::digest() const {
  const std::lock_guard lock(digest_mutex_);
  if (digest_) return *digest_;
  Sha256 sha;
  std::array<std::byte, 64 * 1024> piece;
  std::uint64_t at = 0;
  for (;;) {
    auto read = read_at(file_.get(), piece, at, path_);
    if (!read) return propagate(read);
    sha.update({reinterpret_cast<const char*>(piece.data()), *read});
    at += *read;
    if (*read < piece.size()) break;
  }
  digest_ = sha.finish();
  return *digest_;
}

void Plugin::shutdown() const {
  if (shutdown_ == nullptr || shut_down_.exchange(true)) return;
  shutdown_();
}

}  // namespace trainward::pjrt
