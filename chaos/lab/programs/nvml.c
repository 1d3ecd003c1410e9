/* A stand-in for NVIDIA's management library: it answers from a state file, so that unmodified clients see simulated devices. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "device_state.h"

#define OK 0
#define UNINITIALIZED 1
#define INVALID 2
#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define TOO_SMALL 7
#define LOST 15
#define UNKNOWN 999
typedef int result;
typedef struct device *handle;

static struct state *state;
static int users;

result nvmlInit_v2(void) {
  if (state) { users++; return OK; }
  const char *path = getenv("FAKE_NVML_STATE");
  int file = open(path ? path : STATE_PATH, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 9;
  struct state *seen = mmap(NULL, sizeof *seen, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (seen == MAP_FAILED) return UNKNOWN;
  if (seen->magic != MAGIC || seen->version != VERSION) { munmap(seen, sizeof *seen); return 18; }
  state = seen;
  users = 1;
  return OK;
}
result nvmlInit(void) { return nvmlInit_v2(); }
result nvmlInitWithFlags(unsigned flags) { (void)flags; return nvmlInit_v2(); }
result nvmlShutdown(void) {
  if (!state) return UNINITIALIZED;
  if (--users == 0) { munmap(state, sizeof *state); state = NULL; }
  return OK;
}
const char *nvmlErrorString(result code) {
  switch (code) {
    case OK: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NOT_FOUND: return "Not Found";
    case TOO_SMALL: return "Insufficient Size";
    case 9: return "Driver Not Loaded";
    case LOST: return "GPU is lost";
    case 18: return "Driver/library version mismatch";
    default: return "Unknown Error";
  }
}

static result ready(handle device) {
  if (!state) return UNINITIALIZED;
  if (state->delay_ms) usleep(state->delay_ms * 1000);
  if (device < state->devices || device >= state->devices + state->count) return INVALID;
  return device->lost ? LOST : OK;
}
#define READY(device) do { result code = ready(device); if (code) return code; } while (0)
static result text(char *buffer, unsigned length, const char *words) {
  if (strlen(words) >= length) return TOO_SMALL;
  strcpy(buffer, words);
  return OK;
}
#define NUMBER(function, type, value) \
  result function(handle device, type *result_) { READY(device); *result_ = (type)(value); return OK; }
#define WITHOUT(function) result function(handle device) { READY(device); return NOT_SUPPORTED; }

result nvmlSystemGetDriverVersion(char *buffer, unsigned length) { return state ? text(buffer, length, state->driver) : UNINITIALIZED; }
result nvmlSystemGetNVMLVersion(char *buffer, unsigned length) { return state ? text(buffer, length, "12.570.00") : UNINITIALIZED; }
result nvmlSystemGetCudaDriverVersion(int *version) { if (!state) return UNINITIALIZED; *version = 12080; return OK; }
result nvmlSystemGetCudaDriverVersion_v2(int *version) { return nvmlSystemGetCudaDriverVersion(version); }
result nvmlSystemGetProcessName(unsigned pid, char *buffer, unsigned length) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/comm", pid);
  FILE *file = fopen(path, "r");
  if (!file) return NOT_FOUND;
  char *line = fgets(buffer, (int)length, file);
  fclose(file);
  return line ? OK : NOT_FOUND;
}
result nvmlDeviceGetCount_v2(unsigned *count) { if (!state) return UNINITIALIZED; *count = state->count; return OK; }
result nvmlDeviceGetCount(unsigned *count) { return nvmlDeviceGetCount_v2(count); }
result nvmlDeviceGetHandleByIndex_v2(unsigned index, handle *device) {
  if (!state) return UNINITIALIZED;
  if (index >= state->count) return INVALID;
  *device = &state->devices[index];
  return (*device)->lost ? LOST : OK;
}
result nvmlDeviceGetHandleByIndex(unsigned index, handle *device) { return nvmlDeviceGetHandleByIndex_v2(index, device); }
result nvmlDeviceGetHandleByUUID(const char *uuid, handle *device) {
  if (!state) return UNINITIALIZED;
  for (unsigned i = 0; i < state->count; i++)
    if (!strcmp(state->devices[i].uuid, uuid)) return nvmlDeviceGetHandleByIndex_v2(i, device);
  return NOT_FOUND;
}
result nvmlDeviceGetIndex(handle device, unsigned *index) { READY(device); *index = (unsigned)(device - state->devices); return OK; }
result nvmlDeviceGetMinorNumber(handle device, unsigned *index) { return nvmlDeviceGetIndex(device, index); }
result nvmlDeviceGetName(handle device, char *buffer, unsigned length) { READY(device); return text(buffer, length, device->name); }
result nvmlDeviceGetUUID(handle device, char *buffer, unsigned length) { READY(device); return text(buffer, length, device->uuid); }

struct pci { char legacy[16]; unsigned domain, bus, device, device_id, subsystem; char address[32]; };
result nvmlDeviceGetPciInfo_v3(handle device, struct pci *pci) {
  READY(device);
  memset(pci, 0, sizeof *pci);
  strncpy(pci->address, device->pci, sizeof pci->address - 1);
  strncpy(pci->legacy, device->pci + 4, sizeof pci->legacy - 1);
  sscanf(device->pci, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
  pci->device_id = 0x233010de;
  return OK;
}
result nvmlDeviceGetPciInfo_v2(handle device, struct pci *pci) { return nvmlDeviceGetPciInfo_v3(device, pci); }

struct memory { unsigned long long total, free, used; };
struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };
result nvmlDeviceGetMemoryInfo(handle device, struct memory *memory) {
  READY(device);
  *memory = (struct memory){device->memory_total, device->memory_total - device->memory_used, device->memory_used};
  return OK;
}
result nvmlDeviceGetMemoryInfo_v2(handle device, struct memory_v2 *memory) {
  READY(device);
  unsigned version = memory->version;
  *memory = (struct memory_v2){version, device->memory_total, 0, device->memory_total - device->memory_used, device->memory_used};
  return OK;
}
result nvmlDeviceGetBAR1MemoryInfo(handle device, struct memory *memory) { READY(device); *memory = (struct memory){65536, 65536, 0}; return OK; }
struct utilization { unsigned gpu, memory; };
result nvmlDeviceGetUtilizationRates(handle device, struct utilization *rates) {
  READY(device);
  *rates = (struct utilization){device->utilization, device->memory_utilization};
  return OK;
}
result nvmlDeviceGetTemperature(handle device, unsigned sensor, unsigned *degrees) { (void)sensor; READY(device); *degrees = device->temperature; return OK; }
struct temperature { unsigned version, sensor; int degrees; };
result nvmlDeviceGetTemperatureV(handle device, struct temperature *temperature) { READY(device); temperature->degrees = (int)device->temperature; return OK; }
result nvmlDeviceGetTemperatureThreshold(handle device, unsigned kind, unsigned *degrees) { (void)kind; READY(device); *degrees = 90; return OK; }
NUMBER(nvmlDeviceGetPowerUsage, unsigned, device->power_mw)
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned, device->power_limit_mw)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, device->power_limit_mw)
NUMBER(nvmlDeviceGetPersistenceMode, unsigned, 1)
NUMBER(nvmlDeviceGetPerformanceState, int, 0)
NUMBER(nvmlDeviceGetDisplayActive, unsigned, 0)
NUMBER(nvmlDeviceGetDisplayMode, unsigned, 0)
NUMBER(nvmlDeviceGetComputeMode, int, 0)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, device->pcie_generation)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, device->pcie_width)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, 16)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, device->throttle_reasons)
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, unsigned long long, device->throttle_reasons)
NUMBER(nvmlDeviceGetNumGpuCores, unsigned, 16896)
NUMBER(nvmlDeviceIsMigDeviceHandle, unsigned, 0)
WITHOUT(nvmlDeviceGetFanSpeed)
WITHOUT(nvmlDeviceGetFanSpeed_v2)
WITHOUT(nvmlDeviceGetDriverModel)
WITHOUT(nvmlDeviceGetDriverModel_v2)
WITHOUT(nvmlDeviceGetProcessUtilization)
WITHOUT(nvmlDeviceGetPcieThroughput)
WITHOUT(nvmlDeviceGetSerial)
WITHOUT(nvmlDeviceGetVbiosVersion)
WITHOUT(nvmlDeviceGetTotalEnergyConsumption)
WITHOUT(nvmlDeviceGetNvLinkState)
WITHOUT(nvmlDeviceGetFieldValues)
WITHOUT(nvmlDeviceGetMaxMigDeviceCount)
result nvmlSystemGetConfComputeSettings(void *settings) { (void)settings; return NOT_SUPPORTED; }
WITHOUT(nvmlDeviceGetConfComputeMemSizeInfo)
result nvmlDeviceGetMigMode(handle device, unsigned *now, unsigned *pending) { (void)now; (void)pending; READY(device); return NOT_SUPPORTED; }
result nvmlDeviceGetClockInfo(handle device, int kind, unsigned *clock) {
  READY(device);
  *clock = kind == 2 ? device->memory_clock : device->sm_clock;
  return OK;
}
result nvmlDeviceGetMaxClockInfo(handle device, int kind, unsigned *clock) { READY(device); *clock = kind == 2 ? 2619 : 1980; return OK; }
result nvmlDeviceGetEncoderUtilization(handle device, unsigned *share, unsigned *period) { READY(device); *share = 0; *period = 167000; return OK; }
result nvmlDeviceGetDecoderUtilization(handle device, unsigned *share, unsigned *period) { return nvmlDeviceGetEncoderUtilization(device, share, period); }
result nvmlDeviceGetEccMode(handle device, unsigned *now, unsigned *pending) { READY(device); *now = *pending = 1; return OK; }
result nvmlDeviceGetTotalEccErrors(handle device, int kind, int counter, unsigned long long *count) {
  READY(device);
  if (counter == 0) *count = kind == 0 ? device->ecc_corrected : device->ecc_uncorrected;
  else *count = kind == 0 ? device->ecc_corrected_aggregate : device->ecc_uncorrected_aggregate;
  return OK;
}
result nvmlDeviceGetMemoryErrorCounter(handle device, int kind, int counter, int place, unsigned long long *count) {
  (void)place;
  return nvmlDeviceGetTotalEccErrors(device, kind, counter, count);
}
result nvmlDeviceGetRemappedRows(handle device, unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failed) {
  READY(device);
  *corrected = device->remapped_corrected;
  *uncorrected = device->remapped_uncorrected;
  *pending = device->remap_pending;
  *failed = device->remap_failed;
  return OK;
}
static result nobody(handle device, unsigned *count) { READY(device); *count = 0; return OK; }
result nvmlDeviceGetComputeRunningProcesses_v3(handle device, unsigned *count, void *list) { (void)list; return nobody(device, count); }
result nvmlDeviceGetGraphicsRunningProcesses_v3(handle device, unsigned *count, void *list) { (void)list; return nobody(device, count); }
result nvmlDeviceGetMPSComputeRunningProcesses_v3(handle device, unsigned *count, void *list) { (void)list; return nobody(device, count); }
result nvmlDeviceGetComputeRunningProcesses_v2(handle device, unsigned *count, void *list) { (void)list; return nobody(device, count); }
result nvmlDeviceGetGraphicsRunningProcesses_v2(handle device, unsigned *count, void *list) { (void)list; return nobody(device, count); }
