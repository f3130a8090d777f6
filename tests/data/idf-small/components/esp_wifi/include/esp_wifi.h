#pragma once

/**
 * @brief Look for access points
 *
 * @param config Which channels are scanned; NULL scans all
 * @param block Whether the call waits until the scan is over
 */
esp_err_t esp_wifi_scan_start(const wifi_scan_config_t *config, bool block);
