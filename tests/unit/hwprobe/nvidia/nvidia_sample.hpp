// What nvidia-smi -q -x prints, shortened: an H200 under driver 580, whose memory had one error in
// its life that a spare row repaired (serial numbers invented); and an older card under driver 440.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace trainward::hwprobe::sample {

inline constexpr std::string_view h200 = R"(	<gpu id="00000000:C1:00.0">
		<product_name>NVIDIA H200</product_name>
		<serial>1650000000001</serial>
		<uuid>GPU-00000000-1111-2222-3333-444444444444</uuid>
		<gpu_recovery_action>None</gpu_recovery_action>
		<pci>
			<pci_bus_id>00000000:C1:00.0</pci_bus_id>
			<pci_gpu_link_info>
				<pcie_gen>
					<max_link_gen>5</max_link_gen>
					<current_link_gen>5</current_link_gen>
					<max_host_link_gen>N/A</max_host_link_gen>
				</pcie_gen>
				<link_widths>
					<max_link_width>16x</max_link_width>
					<current_link_width>16x</current_link_width>
				</link_widths>
			</pci_gpu_link_info>
		</pci>
		<fan_speed>N/A</fan_speed>
		<performance_state>P0</performance_state>
		<clocks_event_reasons>
			<clocks_event_reason_gpu_idle>Active</clocks_event_reason_gpu_idle>
			<clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
			<clocks_event_reason_hw_power_brake_slowdown>Not Active</clocks_event_reason_hw_power_brake_slowdown>
			<clocks_event_reason_sw_thermal_slowdown>Not Active</clocks_event_reason_sw_thermal_slowdown>
		</clocks_event_reasons>
		<fb_memory_usage><total>143771 MiB</total></fb_memory_usage>
		<utilization><gpu_util>0 %</gpu_util></utilization>
		<ecc_errors>
			<volatile>
				<sram_correctable>0</sram_correctable>
				<sram_uncorrectable_parity>0</sram_uncorrectable_parity>
				<sram_uncorrectable_secded>0</sram_uncorrectable_secded>
				<dram_correctable>12</dram_correctable>
				<dram_uncorrectable>0</dram_uncorrectable>
			</volatile>
			<aggregate>
				<dram_uncorrectable>1</dram_uncorrectable>
				<sram_threshold_exceeded>No</sram_threshold_exceeded>
			</aggregate>
			<channel_repair_pending>No</channel_repair_pending>
			<tpc_repair_pending>No</tpc_repair_pending>
			<unrepairable_memory>No</unrepairable_memory>
		</ecc_errors>
		<retired_pages>
			<double_bit_retirement><retired_count>N/A</retired_count></double_bit_retirement>
			<pending_retirement>N/A</pending_retirement>
		</retired_pages>
		<remapped_rows>
			<remapped_row_unc>1</remapped_row_unc>
			<remapped_row_pending>No</remapped_row_pending>
			<remapped_row_failure>No</remapped_row_failure>
		</remapped_rows>
		<temperature>
			<gpu_temp>35 C</gpu_temp>
			<gpu_temp_tlimit>52 C</gpu_temp_tlimit>
			<gpu_temp_slow_tlimit_threshold>-2 C</gpu_temp_slow_tlimit_threshold>
			<memory_temp>37 C</memory_temp>
			<gpu_temp_max_mem_tlimit_threshold>0 C</gpu_temp_max_mem_tlimit_threshold>
		</temperature>
		<processes>
		</processes>
	</gpu>
)";

inline constexpr std::string_view older = R"(	<gpu id="00000000:02:00.0">
		<product_name>Tesla V100-PCIE-16GB</product_name>
		<uuid>GPU-older</uuid>
		<pci>
			<pci_bus_id>00000000:02:00.0</pci_bus_id>
			<pci_gpu_link_info>
				<pcie_gen><max_link_gen>3</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
				<link_widths><max_link_width>16x</max_link_width><current_link_width>16x</current_link_width></link_widths>
			</pci_gpu_link_info>
		</pci>
		<fan_speed>ERR!</fan_speed>
		<performance_state>P8</performance_state>
		<clocks_throttle_reasons>
			<clocks_throttle_reason_hw_thermal_slowdown>Not Active</clocks_throttle_reason_hw_thermal_slowdown>
		</clocks_throttle_reasons>
		<ecc_errors>
			<volatile>
				<single_bit><total>3</total></single_bit>
				<double_bit><device_memory>0</device_memory><total>0</total></double_bit>
			</volatile>
		</ecc_errors>
		<retired_pages>
			<multiple_single_bit_retirement><retired_count>2</retired_count></multiple_single_bit_retirement>
			<double_bit_retirement><retired_count>1</retired_count></double_bit_retirement>
			<pending_retirement>No</pending_retirement>
		</retired_pages>
		<remapped_rows>N/A</remapped_rows>
		<temperature>
			<gpu_temp>32 C</gpu_temp>
			<gpu_temp_slow_threshold>87 C</gpu_temp_slow_threshold>
			<memory_temp>40 C</memory_temp>
			<gpu_temp_max_mem_threshold>85 C</gpu_temp_max_mem_threshold>
		</temperature>
	</gpu>
)";

inline std::string log_of(std::string_view gpus, int attached = 1) {
  return fmt::format(
      "<?xml version=\"1.0\" ?>\n"
      "<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v13.dtd\">\n"
      "<nvidia_smi_log>\n"
      "\t<driver_version>580.159.04</driver_version>\n"
      "\t<attached_gpus>{}</attached_gpus>\n{}</nvidia_smi_log>\n",
      attached, gpus);
}

// The text of one element of a GPU replaced; the whole list when `element` holds elements.
inline std::string with(std::string_view gpu, std::string_view element, std::string_view text) {
  std::string out(gpu);
  const std::string open = fmt::format("<{}>", element);
  const auto begin = out.find(open) + open.size();
  const auto end = out.find(fmt::format("</{}>", element), begin);
  return out.replace(begin, end - begin, text);
}

}  // namespace trainward::hwprobe::sample
