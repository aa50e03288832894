import { insideOf } from '../../shared/files/own-path.ts'
import type { Settings } from '../../shared/settings.ts'
import { found } from '../readiness/finding.ts'
import { machineChecks } from '../readiness/machine-checks.ts'
import type { PhoneParts } from '../readiness/phone-check.ts'
import type { PhoneVisits } from '../readiness/phone-visits.ts'
import { type Checks, Readiness } from '../readiness/readiness.ts'
import { cameraClocks } from './camera-clocks.ts'
import type { Listening } from './listening.ts'
import type { ControllerOptions } from './options.ts'
import type { Services } from './services.ts'

/** Readiness of the machine of a controller. */
export interface MachineReadiness {
  readiness: Readiness
  phone: PhoneParts
}

interface ReadinessParts {
  options: ControllerOptions
  listeners: Listening['listeners']
  visits: PhoneVisits
  settings: () => Settings
  /** Bind address. */
  host: () => string
  services: Pick<Services, 'outgoing' | 'media'>
}

/** Composes the checks of this machine; those of the desktop app come with the options. */
export function machineReadiness({
  options,
  listeners,
  visits,
  settings,
  host,
  services,
}: ReadinessParts): MachineReadiness {
  const { dataFolder, recordingsDir, sealKey, siteKey, media, logger } = options
  const phone: PhoneParts = {
    visits,
    host,
    nodeUrl: () => listeners.url('node'),
    isSelfSigned: () => settings().tls.mode === 'self-signed',
  }
  const keychain: Checks =
    siteKey?.place === 'keychain' ? { key: async () => found('keyKeychain', { backend: 'keychain' }) } : {}
  const checks = machineChecks({
    phone,
    listeners,
    settings,
    dataFolder,
    recordingsFolder: recordingsDir,
    ffmpeg: media && (media.ffmpeg ?? ''),
    cameraClocks: (signal) => cameraClocks(services.outgoing, services.media, signal),
    keyFile: sealKey ?? insideOf(dataFolder, siteKey?.file ?? 'seal.key'),
  })
  return { readiness: new Readiness({ ...checks, ...keychain, ...options.readinessChecks }, logger), phone }
}
